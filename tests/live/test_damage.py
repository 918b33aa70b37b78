"""Damage to what is kept beside the model is said once, and stops neither learning nor accepting nor starting."""

import json
import shutil

import pytest

from omba.cli import run
from omba.live import Inbox, Learner, status
from omba.service.state import Service
from omba.service.views.published import Published
from omba.store import ModelFolder

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}
PRODUCTS = ["tea", "milk", "soap", "bread", "jam"]


def day(number):
    date, own = f"2017-01-{number:02d}", f"p{number}"
    return [
        {"id": f"{number}-{k}", "time": f"{date}T{k:02d}:00", "products": [*PRODUCTS[k % 3 : k % 3 + 3], own]}
        for k in range(24)
    ]


def take(folder, *days):
    inbox = Inbox(folder)
    learner = Learner(folder, history="1d", settings=SETTINGS)
    for one in days:
        inbox.accept(day(one))
        learner.drain()
    inbox.close()
    learner.close()
    return learner


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("damage") / "model"
    take(folder, 1, 2, 3, 4)
    assert len(ModelFolder(folder).history.entries) >= 2
    return folder


@pytest.fixture
def folder(learned, tmp_path):
    return shutil.copytree(learned, tmp_path / "model")


def cut_labels(folder):
    file = sorted((folder / "history").glob("labels-*"))[0]
    file.write_bytes(file.read_bytes()[:50])


def lose_labels(folder):
    sorted((folder / "history").glob("labels-*"))[0].unlink()


def spoil_entry(folder):
    entry = sorted((folder / "history").glob("at-*"))[-1]
    (entry / "entry.json").write_text('{"tick": "soon"}')


def spoil_vectors(folder):
    for entry in (folder / "history").glob("at-*"):
        (entry / "products.safetensors").write_bytes(b"cut off")


def spoil_rules(folder):
    for entry in (folder / "history").glob("at-*"):
        (entry / "rules.parquet").write_bytes(b"cut off")


def stray_segment(folder):
    (folder / "journal" / "segment-00000000000000000000.bak").write_bytes(b"a copy")


def spoil_current(folder):
    (folder / "current").write_bytes(b"\xff\xfe\x00 snapshot")


def odd_learner(folder):
    (folder / "learner.json").write_text('{"baskets_learned": [], "last_window": {"start": {}}, "error": 3}')


def spoil_ids(folder):
    (folder / "journal" / "ids-00000000000000000000").write_bytes(b"omba ids 1\nwhatever")


DAMAGES = [
    cut_labels, lose_labels, spoil_entry, spoil_vectors, spoil_rules, stray_segment, spoil_current, odd_learner,
    spoil_ids,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_learning_accepting_and_answering_go_on(folder, damage, caplog):
    damage(folder)
    found = run(["doctor", "--model", str(folder)])
    # The learner needs to know its snapshot, and mends that; the rest it does not need.
    assert found == {"spoil_current": 2, "odd_learner": 0}.get(damage.__name__, 1)

    learner = take(folder, 5, 6)

    assert learner.model.n_baskets == 5 * 24
    assert (status(folder)["error"], status(folder)["baskets_waiting"]) == (None, 24)
    assert ModelFolder(folder).history.entries[-1].n_baskets == 5 * 24
    assert ModelFolder(folder).history.labels == learner.model.products
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == len(set(said)), "each is said once"
    service = Service(Published(folder))
    assert service.health()["status"] == "ok"
    assert service.facts()["rules"] > 0


def test_a_whole_folder_is_told_as_such(folder, capsys):
    assert run(["doctor", "--model", str(folder), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["part"] for one in found["findings"]} == {
        "snapshot", "arrays", "journal", "ids", "history", "tokens", "quarantine", "room",
    }  # fmt: skip
    assert all(one["state"] == "whole" for one in found["findings"])


def test_damage_to_the_model_itself_is_told_with_what_to_do(folder, capsys):
    (place,) = [folder / (folder / "current").read_text().split()[0]]
    (place / "arrays.safetensors").write_bytes(b"cut off")
    assert run(["doctor", "--model", str(folder), "--json", "-"]) == 2
    (one,) = [one for one in json.loads(capsys.readouterr().out)["findings"] if one["state"] == "broken"]
    assert (one["part"], "omba restore" in one["remedy"]) == ("snapshot", True)
