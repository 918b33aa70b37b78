"""The model folder: one place knows where each part of a model lies."""

import ast
from pathlib import Path

import pytest

import omba
from omba.errors import SnapshotError, StoreError
from omba.live import Inbox, Learner
from omba.service.http.tokens import Tokens
from omba.store import ModelFolder

SOURCES = Path(omba.__file__).parent
NAMES = {"current", "history", "journal", "learner.json", "lock", "tokens.json"}
BEGINNINGS = ("at-", "snapshot-")
OWNERS = {
    "store/folder.py": NAMES,
    "store/lock.py": {"lock"},
    "store/history.py": {"at-"},
    "model/snapshot.py": {"current", "snapshot-"},
}
"""Which file may spell which name: the folder all of them, and the parts their own."""


def spelled(tree):
    """The names of parts that a module spells: as a part of a path, as a constant of its own, or in a pattern."""
    for node in ast.walk(tree):
        parts = []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            parts = [node.right]
        elif isinstance(node, ast.Assign):
            several = isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)
            parts = node.value.elts if several else [node.value]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = node.args if node.func.attr in ("glob", "joinpath", "startswith", "with_name") else []
        for part in parts:
            if isinstance(part, ast.JoinedStr):
                part = part.values[0]
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield from (name for name in NAMES if part.value == name)
                yield from (name for name in BEGINNINGS if part.value.startswith(name))


def test_no_other_module_spells_the_names_of_a_model_folder():
    found = {file.relative_to(SOURCES).as_posix(): ast.parse(file.read_text()) for file in SOURCES.rglob("*.py")}
    wrong = {file: set(spelled(tree)) - OWNERS.get(file, set()) for file, tree in found.items()}
    assert {file: names for file, names in wrong.items() if names} == {}


def test_the_owners_spell_the_names_so_the_test_above_would_see_them():
    for file, names in OWNERS.items():
        assert set(spelled(ast.parse((SOURCES / file).read_text()))) >= names - {"current", "lock"}


@pytest.fixture
def folder(tmp_path):
    """A model that has learned two windows live, with its history and a token."""
    world = omba.datasets.synthetic(baskets=300, products=60, users=10, days=3, pairs=4, seed=2).baskets
    with_times = [{"time": basket.time.isoformat(), "products": list(basket.products)} for basket in world]
    inbox, learner = Inbox(tmp_path), Learner(tmp_path, settings={"dim": 8, "epochs": 1})
    inbox.accept(with_times)
    learner.drain()
    learner.close()
    inbox.close()
    Tokens(tmp_path).make(["read"])
    return ModelFolder(tmp_path)


def test_a_folder_tells_what_it_holds(folder):
    model, rules = folder.load_with_rules()

    assert folder.exists
    assert folder.position() == folder.manifest()["position"] == model.position
    assert rules.num_rows > 0
    assert len(folder.history.entries) == len(folder.stamp.entries) == 2
    assert folder.read_synced().end == 300
    assert folder.learner_file.exists()


def test_a_cleared_folder_holds_nothing_but_its_tokens(folder):
    folder.clear()

    assert not folder.exists
    assert sorted(part.name for part in folder.path.iterdir()) == ["lock", "tokens.json"]
    with pytest.raises(SnapshotError, match="there is no model"):
        folder.load()


def test_the_stamp_changes_with_each_save_and_each_entry(folder):
    before = folder.stamp
    assert folder.stamp == before
    folder.save(folder.load())
    assert folder.stamp != before
    assert folder.stamp.entries == before.entries


def test_one_learner_holds_a_folder_at_a_time(tmp_path):
    folder = ModelFolder(tmp_path)
    with folder.lock(), pytest.raises(StoreError, match="learns into"):
        folder.lock()
    folder.lock().release()


def test_a_folder_that_is_not_there_is_no_model_and_stays_so(tmp_path):
    folder = ModelFolder(tmp_path / "nothing")
    assert (folder.exists, folder.manifest(), folder.position(), folder.read_synced()) == (False, {}, {}, None)
    assert folder.stamp.snapshot == ""
    assert not folder.path.exists()
