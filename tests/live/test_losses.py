"""What was acknowledged and is gone from the disk is missed at start, and given up only by a person's word."""

import json
import shutil

import pytest

from omba.cli import run
from omba.errors import StoreError
from omba.live import Inbox, Learner, start, status
from omba.store import ModelFolder
from omba.store.frame import segments
from patience import wait_until

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}


def day(number, count=20):
    """Baskets of one day."""
    return [
        {"id": f"{number}-{k}", "time": f"2017-01-{number:02d}T{k % 24:02d}:00", "products": ["tea", f"p{k}"]}
        for k in range(count)
    ]


def take(folder, *days):
    """Accept and learn these days."""
    inbox, learner = Inbox(folder), Learner(folder, history=None, settings=SETTINGS)
    try:
        for one in days:
            inbox.accept(day(one))
            learner.drain()
    finally:
        inbox.close()
        learner.close()
    return learner


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("omba.store.journal.SEGMENT_BASKETS", 30)
    return tmp_path / "model"


@pytest.fixture
def mixed(folder, tmp_path):
    """A copy of a folder that was made while baskets came: its journal is older than its snapshot."""
    take(folder, 1, 2, 3)
    shutil.copytree(folder / "journal", tmp_path / "early")
    take(folder, 4, 5, 6, 7)
    shutil.rmtree(folder / "journal")
    shutil.copytree(tmp_path / "early", folder / "journal")
    return folder


def cut(folder):
    file = sorted((folder / "journal").glob("segment-*"))[-1]
    file.write_bytes(file.read_bytes()[:-40])


@pytest.fixture
def torn(folder):
    """A folder whose last segment was cut off after its baskets had been acknowledged."""
    take(folder, 1, 2)
    inbox = Inbox(folder)
    inbox.accept(day(3, 5))
    inbox.accept(day(4, 5))
    inbox.close()
    cut(folder)
    return folder


@pytest.fixture
def deleted(folder):
    """A folder from which a segment is gone that was not learned yet."""
    take(folder, 1)
    inbox = Inbox(folder)
    for one in (2, 3, 4, 5, 6):
        inbox.accept(day(one))
    inbox.close()
    (folder / "journal" / f"segment-{segments(folder / 'journal')[1]:020d}").unlink()
    return folder


@pytest.mark.parametrize("damage", ["mixed", "torn", "deleted"])
def test_missing_baskets_are_refused_by_who_accepts_and_by_who_learns_and_shown_in_the_status(damage, request):
    folder = request.getfixturevalue(damage)
    for begin in (Inbox, Learner):
        with pytest.raises(
            StoreError, match=r"\d+ baskets from number \d+ on are missing: .*omba restore.*--accept-loss"
        ):
            begin(folder)

    learner = start(folder, settings=SETTINGS)
    try:
        wait_until(lambda: status(folder)["error"])
    finally:
        learner.stop()
    assert "are missing" in status(folder)["error"]


@pytest.mark.parametrize(("damage", "lost"), [("mixed", 60), ("torn", 5), ("deleted", 40)])
def test_once_given_up_what_is_left_is_learned_and_what_is_gone_can_be_sent_again(damage, lost, request, capsys):
    folder = request.getfixturevalue(damage)
    assert run(["doctor", "--model", str(folder)]) == 2
    assert "are missing" in " ".join(capsys.readouterr().out.split())
    assert run(["doctor", "--model", str(folder), "--accept-loss", "--json", "-"]) == 0
    accepted = json.loads(capsys.readouterr().out)["accepted"]
    assert sum(one["baskets"] for one in accepted) == lost

    before = ModelFolder(folder).position()
    learner = take(folder, *range(8, 10))
    assert status(folder)["error"] is None
    assert learner.model.n_baskets > 0
    # All but the last day, and but what is gone, is learned; nothing waits that is not there.
    assert status(folder)["baskets_waiting"] == 20
    assert before.get("next", 0) <= learner.windows.next == ModelFolder(folder).read_synced().end
    inbox = Inbox(folder)
    missing = {"mixed": day(7), "torn": day(4, 5), "deleted": day(4)}[damage]
    assert inbox.accept(missing).accepted == len(missing)
    inbox.close()


def test_learning_anew_does_not_touch_the_journal_of_a_running_service(folder, tmp_path, capsys):
    (tmp_path / "sales.csv").write_text("basket,product\n1,tea\n1,milk\n2,tea\n")
    inbox = Inbox(folder)
    inbox.accept(day(1))
    for more in ([], ["--follow"]):
        assert run(["learn", str(tmp_path / "sales.csv"), "--model", str(folder), "--new", *more]) == 2
        assert "takes in baskets for" in capsys.readouterr().err
    assert inbox.accept(day(2)).accepted == 20
    inbox.close()
    assert take(folder, 3).windows.learned == 40
