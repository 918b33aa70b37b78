"""Snapshots: whole or not at all, and refused in one sentence when they are not what was saved."""

import json
import os

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.baskets import Baskets
from omba.errors import SnapshotError
from omba.model import snapshot


@pytest.fixture
def folder(tmp_path):
    model = omba.OMBA(dim=8, pairs=10_000).fit(Baskets.from_lists([["a", 7], ["7", "é"]] * 40), 20)
    model.save(tmp_path / "model")
    return tmp_path / "model"


def newest(folder):
    return next(p for p in folder.iterdir() if p.name.startswith("snapshot-"))


def test_labels_come_back_as_the_model_spells_them(folder, tmp_path):
    # Among text, 7 is '7', and the same product.
    assert sorted(map(repr, omba.OMBA.load(folder).products)) == sorted(map(repr, ["a", "7", "é"]))

    omba.OMBA(dim=8, pairs=10_000).fit(Baskets.from_lists([[3, 7], [7, 9]] * 40), 20).save(tmp_path / "whole")
    assert omba.OMBA.load(tmp_path / "whole").products == [3, 7, 9]


def test_saving_again_replaces_the_snapshot_and_leaves_nothing_behind(folder):
    model = omba.OMBA.load(folder)
    model.partial_fit(Baskets.from_lists([["b", "c"]] * 10))
    model.save(folder)
    assert np.array_equal(omba.OMBA.load(folder).product_vectors, model.product_vectors)
    assert sorted(p.name for p in folder.iterdir()) == ["current", "snapshot-000001"]


@pytest.mark.parametrize("file", ["arrays.safetensors", "products.parquet", "manifest.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_a_damaged_snapshot_is_refused_in_one_sentence(folder, file, damage):
    path = newest(folder) / file
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    else:
        data[len(data) // 2] ^= 1
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else data)
    with pytest.raises(SnapshotError, match="model in") as caught:
        omba.OMBA.load(folder)
    assert "\n" not in str(caught.value)


def test_a_snapshot_of_another_version_is_refused(folder):
    import hashlib

    path = newest(folder) / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": 99}))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "current").write_text(f"{path.parent.name} {digest}\n")
    with pytest.raises(SnapshotError, match="format 99"):
        omba.OMBA.load(folder)


def test_a_missing_model_says_how_to_make_one(tmp_path):
    with pytest.raises(SnapshotError, match="omba learn"):
        omba.OMBA.load(tmp_path / "nothing")


def test_a_crash_before_the_switch_leaves_the_old_model_whole(folder, monkeypatch):
    before = omba.OMBA.load(folder)
    model = omba.OMBA.load(folder)
    model.partial_fit(Baskets.from_lists([["b", "c"]] * 10))
    real = os.fsync

    def dies(handle):
        dies.left -= 1
        if dies.left == 0:
            raise OSError(28, "No space left on device")
        real(handle)

    for step in range(1, 9):
        dies.left = step
        monkeypatch.setattr(os, "fsync", dies)
        with pytest.raises(SnapshotError, match="No space left"):
            model.save(folder)
        monkeypatch.setattr(os, "fsync", real)
        kept = omba.OMBA.load(folder)
        assert np.array_equal(kept.product_vectors, before.product_vectors)
    model.save(folder)
    assert np.array_equal(omba.OMBA.load(folder).product_vectors, model.product_vectors)


def test_as_many_snapshots_stay_as_wanted_and_tables_and_position_come_back(folder):
    model = omba.OMBA.load(folder)
    model.position = {"next": 7}
    for rules in range(4):
        snapshot.save(model, folder, keep=2, tables={"rules": pa.table({"n": [rules]})})

    again, table = snapshot.load_with(folder, "rules")
    assert sorted(p.name for p in folder.iterdir()) == ["current", "snapshot-000003", "snapshot-000004"]
    assert table["n"].to_pylist() == [3]
    assert again.position == snapshot.peek(folder)["position"] == {"next": 7}
    assert snapshot.load_with(folder, "others")[1] is None
    assert snapshot.peek(folder / "nothing") == {}


def test_a_reader_whose_snapshot_is_removed_while_it_reads_takes_the_new_one(folder, monkeypatch):
    newer, real = omba.OMBA.load(folder).partial_fit(Baskets.from_lists([["b", "c"]] * 10)), snapshot.load_file

    def slow(path):
        monkeypatch.setattr(snapshot, "load_file", real)
        newer.save(folder)
        return real(path)

    monkeypatch.setattr(snapshot, "load_file", slow)

    assert omba.OMBA.load(folder).n_baskets == newer.n_baskets
