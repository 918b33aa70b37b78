"""Health knows whether the learner lives, refuses or ends again and again, and how long baskets wait for it."""

import json
import os
import time

import pytest

from omba.live import Inbox
from omba.service import state
from omba.service.state import Service
from omba.service.views.published import Published
from omba.store import ModelFolder


@pytest.fixture
def service(tmp_path):
    inbox = Inbox(tmp_path)
    inbox.accept([{"id": 1, "products": ["tea", "milk"]}])
    yield Service(Published(tmp_path), inbox)
    inbox.close()


def say(service, age=0.0, **facts):
    """Have the learner say something, so many seconds ago."""
    file = ModelFolder(service.published.folder).learner_file
    file.write_text(json.dumps(facts))
    os.utime(file, (time.time() - age,) * 2)


def test_a_learner_that_lives_and_has_read_everything_is_well(service):
    say(service, baskets_read=1)
    found = service.health()
    assert (found["status"], found["baskets_unread"], found["oldest_waiting"]) == ("ok", 0, 0.0)
    assert found["heartbeat"] < 10


def test_a_learner_without_a_sign_of_life_while_baskets_wait_is_not(service, monkeypatch):
    say(service, age=100, baskets_read=0)
    assert service.health()["status"] == "ok", "the basket has only just come"
    monkeypatch.setattr(state, "STILL", 0.001)
    time.sleep(0.01)
    assert service.health()["error"] == "the learner has given no sign of life, and 1 baskets wait for it"
    say(service, age=100, baskets_read=1)
    assert service.health()["status"] == "ok", "nothing waits"


def test_a_learner_that_ends_again_and_again_or_refuses_is_not_and_no_path_is_told(service):
    say(service, baskets_read=1, failures=3, restarts=7)
    assert service.health()["error"] == "the learner has ended 3 times in a row: see /status"
    say(service, baskets_read=1, error="the journal in '/secret/place' has lost baskets")
    assert service.health()["error"] == "the learner does not go on: see /status"
    assert "/secret/place" in service.facts()["error"]


def test_a_basket_that_waits_too_long_is_said(service, monkeypatch):
    monkeypatch.setattr(state, "LATE", 0.001)
    say(service, baskets_read=0)
    time.sleep(0.01)
    assert "a basket has waited for the learner" in service.health()["error"]


def test_metrics_tell_the_signs_of_life(service):
    say(service, baskets_read=0, restarts=2)
    text = service.metrics.text(service.facts())
    for line in (
        "omba_restarts_total 2",
        "omba_baskets_unread 1",
        "omba_heartbeat_seconds ",
        "omba_oldest_waiting_seconds ",
    ):
        assert f"\n{line}" in text
