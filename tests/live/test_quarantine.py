"""What the learner would refuse is refused at the door; what it fails at all the same does not stop the rest."""

import json
from itertools import pairwise

import pytest

from omba import OMBA
from omba.errors import InputError
from omba.live import Inbox, Learner, status
from omba.live.failing import find_failing
from omba.live.learner import WindowFailed
from omba.live.spans import Spans
from omba.live.status import LearnerStatus
from omba.store import ModelFolder

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}


def basket(name, when, *products):
    return {"id": name, "time": when, "products": [*(products or ("tea", "milk"))]}


def test_day_numbers_are_refused_where_windows_are_hours_and_dates_are_taken_after_that(tmp_path):
    inbox = Inbox(tmp_path, "1h")
    with pytest.raises(InputError, match="a window of '1h' is finer than these baskets, which count whole days"):
        inbox.accept([basket(1, 5)])
    assert inbox.accept([basket(1, "2017-01-01")]).accepted == 1
    inbox.close()


@pytest.mark.parametrize(("every", "lateness"), [("99999999999d", "0"), ("1d", "99999999999d"), ("10000000000", "0")])
def test_windows_and_waits_of_absurd_length_are_refused_in_a_sentence(every, lateness):
    with pytest.raises(InputError, match=r"longer than a year|too long"):
        Spans.parse(every, lateness)


def test_a_basket_that_fails_twice_goes_into_quarantine_and_learning_goes_on(tmp_path, caplog):
    inbox = Inbox(tmp_path)
    inbox.accept([basket("a", "2017-01-01")])
    # As one that an earlier version let in.
    inbox.journal.append([0], [b'{"time":"2017-01-01","products":[{"id":"tea","price":"dear"}]}'])
    inbox.accept([basket("b", "2017-01-01"), basket("c", "2017-01-02")])
    for _ in range(2):
        learner = Learner(tmp_path, history=None, settings=SETTINGS)
        learner.drain()
        assert learner.model.n_baskets == 2
        learner.close()
        found = status(tmp_path)
        assert (found["baskets_quarantined"], found["baskets_waiting"], found["baskets_lost"]) == (1, 1, 0)
    inbox.close()
    (line,) = ModelFolder(tmp_path).quarantine_file.read_text().splitlines()
    assert json.loads(line)["number"] == 1
    assert "TypeError" in json.loads(line)["reason"]
    assert json.loads(line)["basket"]["products"][0]["price"] == "dear"
    assert caplog.text.count("go into quarantine") == 1


def test_a_window_that_fails_twice_goes_into_quarantine_with_all_its_baskets(tmp_path, monkeypatch):
    inbox = Inbox(tmp_path)
    inbox.accept([basket("a", "2017-01-01"), basket("poison", "2017-01-02"), basket("c", "2017-01-03")])
    inbox.accept([basket("d", "2017-01-04")])
    real = OMBA.partial_fit

    def fails(model, window, allow_late=False):
        if window.start == 17168 * 86_400_000_000:
            raise ZeroDivisionError("poison")
        return real(model, window, allow_late=allow_late)

    monkeypatch.setattr(OMBA, "partial_fit", fails)
    for _ in range(2):
        learner = Learner(tmp_path, history=None, settings=SETTINGS)
        with pytest.raises(Exception, match="a window of 1 baskets could not be learned: ZeroDivisionError"):
            learner.drain()
        learner.close()
    learner = Learner(tmp_path, history=None, settings=SETTINGS)
    learner.drain()
    assert learner.model.n_baskets == 2
    learner.close()
    inbox.close()
    assert [status(tmp_path)[f"baskets_{name}"] for name in ("quarantined", "waiting", "lost")] == [1, 1, 0]


@pytest.mark.parametrize("history", [None, "1d"])
def test_of_a_window_that_fails_only_the_baskets_to_blame_go_into_quarantine(tmp_path, monkeypatch, history):
    inbox = Inbox(tmp_path)
    days = [basket(f"{day}-{k}", f"2017-01-0{day}") for day in (1, 2, 3) for k in range(20)]
    for place in (27, 38):
        days[place]["products"].append({"id": "poison", "category": "odd"})
    inbox.accept(days)
    real = OMBA.partial_fit

    def fails(model, window, allow_late=False):
        if any("poison" in one.products for one in window):
            raise ZeroDivisionError("poison")
        return real(model, window, allow_late=allow_late)

    monkeypatch.setattr(OMBA, "partial_fit", fails)
    for _ in range(2):
        learner = Learner(tmp_path, history=history, settings=SETTINGS)
        with pytest.raises(WindowFailed, match="a window of 20 baskets could not be learned: ZeroDivisionError"):
            learner.drain()
        learner.close()
    learner = Learner(tmp_path, history=history, settings=SETTINGS)
    learner.drain()
    assert learner.model.n_baskets == 38
    learner.close()
    inbox.close()
    lines = [json.loads(line) for line in ModelFolder(tmp_path).quarantine_file.read_text().splitlines()]
    assert [line["number"] for line in lines] == [27, 38]
    assert {line["reason"] for line in lines} == {"ZeroDivisionError: poison"}
    assert [status(tmp_path)[f"baskets_{name}"] for name in ("quarantined", "waiting", "lost")] == [2, 20, 0]


def test_what_fails_only_together_stays_together_and_the_search_has_an_end():
    assert find_failing(range(64), lambda part: {3, 4} <= set(part)) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert find_failing(range(64), lambda part: False) == [*range(64)]
    tried = []
    found = find_failing(range(100_000), lambda part: tried.append(1) is None)
    assert sorted(found) == [*range(100_000)]
    assert len(tried) <= 100


def test_an_odd_word_of_the_learner_is_not_believed(tmp_path):
    inbox = Inbox(tmp_path)
    inbox.accept([basket("a", "2017-01-01"), basket("c", "2017-01-02")])
    odd = [
        "[1, 2]",
        '"x"',
        "\0" * 9,
        '{"baskets_learned": "7", "last_window": 3, "learning": []}',
        '{"baskets_late": -1}',
    ]
    for word in odd:
        ModelFolder(tmp_path).learner_file.write_text(word)
        assert status(tmp_path)["baskets_waiting"] == 2
    learner = Learner(tmp_path, history=None, settings=SETTINGS)
    learner.drain()
    learner.close()
    inbox.close()
    assert status(tmp_path)["baskets_learned"] == 1


def test_a_first_window_of_returns_alone_is_told_by_its_dates(tmp_path):
    inbox = Inbox(tmp_path)
    inbox.accept([{"time": "2017-01-01", "products": [{"id": "tea", "quantity": -1}]}, basket("a", "2017-01-02")])
    learner = Learner(tmp_path, history=None, settings=SETTINGS)
    learner.drain()
    learner.close()
    inbox.close()
    assert status(tmp_path)["last_window"] == {
        "start": "2017-01-01T00:00:00", "stop": "2017-01-02T00:00:00", "baskets": 1
    }  # fmt: skip


def test_counters_never_fall_also_with_baskets_of_returns_only(tmp_path):
    from omba.service.state import Service
    from omba.service.views.published import Published

    inbox, learner = Inbox(tmp_path), Learner(tmp_path, history=None, settings=SETTINGS)
    service, seen = Service(Published(tmp_path), inbox), []
    for day in range(1, 5):
        inbox.accept([basket(f"{day}", f"2017-01-0{day}", "tea", "milk", "soap")])
        returned = [{"id": "tea", "quantity": -1}]
        inbox.accept([{"id": f"r{day}", "time": f"2017-01-0{day}", "products": returned}])
        for step in (lambda: None, learner.drain, service.published.look):
            step()
            facts = service.facts()
            seen.append([facts["baskets_accepted"], facts["baskets_learned"], facts["baskets_of_returns"]])
    learner.close()
    inbox.close()
    assert seen == sorted(seen)
    assert all(later >= earlier for a, b in pairwise(seen) for earlier, later in zip(a, b, strict=True))
    # Returns are known as such before their window ends.
    assert seen[-1] == [8, 6, 4]
    # A learner that begins again from its snapshot says no less than before.
    before = status(tmp_path)["baskets_learned"]
    Learner(tmp_path, history=None, settings=SETTINGS).close()
    assert status(tmp_path)["baskets_learned"] == before


def test_a_learner_that_starts_behind_what_it_said_last_lets_no_counter_fall(tmp_path):
    inbox = Inbox(tmp_path)
    inbox.accept([{"id": number, "time": "2017-01-01", "products": ["tea"]} for number in range(9)])
    before = LearnerStatus(ModelFolder(tmp_path))
    before.tell(baskets_learned=9, windows_closed=3, baskets_read=9)

    again = LearnerStatus(ModelFolder(tmp_path))
    again.tell(baskets_learned=2, windows_closed=1, baskets_read=2)

    assert (again.facts["baskets_learned"], again.facts["windows_closed"], again.facts["baskets_read"]) == (9, 3, 2)
    inbox.close()
