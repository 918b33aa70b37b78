"""A backup is of one moment, made while baskets come, costs what has changed, and gives back what was acknowledged."""

import json
import shutil
import threading

import numpy as np
import pytest

import omba
from omba.cli import run
from omba.errors import InputError, StoreError
from omba.live import Inbox, Learner, status
from omba.store import ModelFolder
from omba.store import backup as backup_module
from omba.store.backup import backup, restore

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}


def baskets(first, after):
    return [
        {
            "id": k,
            "time": f"2017-{1 + k // 480:02d}-{1 + k // 24 % 20:02d}T{k % 24:02d}:00",
            "products": ["tea", f"p{k % 7}"],
        }
        for k in range(first, after)
    ]


def learn_all(folder):
    """Everything that a folder holds, learned; the last day is over by one basket more."""
    inbox, learner = Inbox(folder), Learner(folder, history=None, settings=SETTINGS)
    inbox.accept([{"id": "last", "time": "2018-01-01", "products": ["closing time"]}])
    learner.drain()
    inbox.close()
    learner.close()
    return learner.model


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("omba.store.journal.SEGMENT_BASKETS", 50)
    return tmp_path / "model"


def test_a_backup_while_baskets_come_holds_all_that_was_acknowledged_before_it_and_learns_to_the_same_bits(
    folder, tmp_path
):
    inbox, learner = Inbox(folder), Learner(folder, history="7d", settings=SETTINGS)
    acknowledged, stop = 0, threading.Event()

    def send():
        nonlocal acknowledged
        for first in range(0, 960, 12):
            inbox.accept(baskets(first, first + 12))
            acknowledged = first + 12
            learner.drain()
            if stop.is_set():
                break

    thread = threading.Thread(target=send)
    thread.start()
    made = 0
    while made < 8 or thread.is_alive():
        before = acknowledged
        copied = backup(ModelFolder(folder), tmp_path / "copy")
        assert copied.baskets >= before
        made += 1
        if made > 12:
            stop.set()
    thread.join()
    inbox.close()
    learner.close()
    copied = backup(ModelFolder(folder), tmp_path / "copy")
    assert copied.baskets == acknowledged
    assert backup(ModelFolder(folder), tmp_path / "copy").bytes == 0, "nothing has changed since"

    restore(ModelFolder(tmp_path / "again"), tmp_path / "copy")
    again, model = learn_all(tmp_path / "again"), learn_all(folder)
    assert again.n_baskets == model.n_baskets == acknowledged
    assert again.products == model.products
    assert np.array_equal(again.product_vectors, model.product_vectors)


def test_what_was_there_before_a_restore_is_kept_and_ids_are_known_again(folder, tmp_path, capsys):
    inbox, learner = Inbox(folder), Learner(folder, history=None, settings=SETTINGS)
    inbox.accept(baskets(0, 200))
    learner.drain()
    assert run(["backup", "--model", str(folder), str(tmp_path / "copy"), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["baskets"] == 200
    with pytest.raises(StoreError, match=r"learns into|takes in baskets"):
        restore(ModelFolder(folder), tmp_path / "copy")
    inbox.accept(baskets(200, 300))
    inbox.close()
    learner.close()
    shutil.rmtree(folder / "journal")

    assert run(["restore", "--model", str(folder), str(tmp_path / "copy")]) == 0

    assert (folder / "before-restore-1" / "current").exists()
    inbox = Inbox(folder)
    receipt = inbox.accept(baskets(150, 300))
    assert (receipt.accepted, receipt.repeated) == (100, 50)
    inbox.close()
    assert learn_all(folder).n_baskets == 300
    assert status(folder)["error"] is None


def test_what_the_learner_lets_go_of_while_it_is_copied_stays_in_the_copy_as_long_as_the_copy_needs_it(
    folder, tmp_path, monkeypatch
):
    inbox, learner = Inbox(folder), Learner(folder, history=None, settings=SETTINGS)
    inbox.accept(baskets(0, 130))
    learner.drain()
    inbox.accept(baskets(130, 160))
    backup(ModelFolder(folder), tmp_path / "copy")
    inbox.accept(baskets(160, 170))
    copy_journal = backup_module._copy_journal

    def publish_first(*arguments):
        inbox.accept(baskets(170, 400))
        learner.drain()
        monkeypatch.setattr(backup_module, "_copy_journal", copy_journal)
        return copy_journal(*arguments)

    monkeypatch.setattr(backup_module, "_copy_journal", publish_first)
    assert backup(ModelFolder(folder), tmp_path / "copy").baskets == 400
    inbox.close()
    learner.close()


def test_how_far_a_journal_is_synced_is_read_again_in_the_middle_of_a_write_and_refused_if_damaged(folder, tmp_path):
    inbox = Inbox(folder)
    inbox.accept(baskets(0, 60))
    inbox.close()
    whole = (folder / "journal" / "synced").read_bytes()
    (folder / "journal" / "synced").write_bytes(whole[:-1] + b"?")
    with pytest.raises(StoreError, match=r"is damaged: start 'omba serve'"):
        backup(ModelFolder(folder), tmp_path / "copy")
    threading.Timer(0.05, (folder / "journal" / "synced").write_bytes, [whole]).start()
    assert backup(ModelFolder(folder), tmp_path / "copy").baskets == 60


def test_a_backup_of_damage_is_refused_and_so_is_one_into_a_model(folder, tmp_path):
    inbox = Inbox(folder)
    inbox.accept(baskets(0, 60))
    inbox.close()
    backup(ModelFolder(folder), tmp_path / "copy")
    for place in (folder, folder / "inside"):
        with pytest.raises(InputError, match="lie in each other"):
            backup(ModelFolder(folder), place)
    omba.OMBA(**SETTINGS).save(tmp_path / "other")
    with pytest.raises(InputError, match="holds a model that is no backup"):
        backup(ModelFolder(folder), tmp_path / "other")
    with pytest.raises(InputError, match="is no backup"):
        restore(ModelFolder(folder), tmp_path / "other")
    sorted((folder / "journal").glob("segment-*"))[0].unlink()
    with pytest.raises(StoreError, match=r"is not whole: .* are missing"):
        backup(ModelFolder(folder), tmp_path / "third")
