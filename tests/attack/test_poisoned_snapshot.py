"""A snapshot that was made to do harm, with checksums that hold, is refused in one sentence when it is loaded."""

import hashlib
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

import omba
from omba.cli import run
from omba.errors import SnapshotError
from omba.model.snapshot_checks import CHECKS
from serving import SMALL, learn

WORLD = pa.table(
    {
        "basket_id": [i // 3 for i in range(1_200)],
        "user_id": [f"u{i // 3 % 20}" for i in range(1_200)],
        "timestamp": [f"2017-01-{1 + i // 60:02d}" for i in range(1_200)],
        "product": [f"p{(i * i + i // 7) % 40}" for i in range(1_200)],
        "price": [1.0 + i % 9 for i in range(1_200)],
        "category": [f"c{(i * i + i // 7) % 40 % 5}" for i in range(1_200)],
    }
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("poison") / "model"
    omba.OMBA(**SMALL).fit(omba.read_baskets(WORLD), "1d").save(folder)
    return folder


@pytest.fixture
def poison(saved, tmp_path):
    """Change the snapshot by a function of its folder, and have all checksums hold again."""
    folder = tmp_path / "model"
    shutil.copytree(saved, folder)
    place = next(folder.glob("snapshot-*"))

    def change(harm, manifest=lambda kept: None):
        harm(place)
        kept = json.loads((place / "manifest.json").read_text())
        manifest(kept)
        if isinstance(kept.get("files"), dict):
            kept["files"] = {name: digest(place / name) for name in kept["files"]}
        (place / "manifest.json").write_text(json.dumps(kept))
        (folder / "current").write_text(f"{place.name} {digest(place / 'manifest.json')}\n")
        return folder

    return change


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def with_array(name, change):
    def harm(place):
        arrays = load_file(place / "arrays.safetensors")
        arrays[name] = np.ascontiguousarray(change(arrays[name].copy()))
        save_file(arrays, place / "arrays.safetensors")

    return harm


def set_first(value):
    def change(array):
        array.reshape(-1)[0] = value
        return array

    return change


HARMS = {
    "parents out of bounds": with_array("parents", set_first(2**31 - 1)),
    "parents cut": with_array("parents", lambda array: array[:-1]),
    "parents below": with_array("parents", set_first(-7)),
    "vectors not finite": with_array("space0.products", set_first(np.nan)),
    "users not finite": with_array("space0.users", set_first(np.inf)),
    "categories not finite": with_array("space1.products", set_first(-np.inf)),
    "fewer vectors": with_array("space0.products", lambda array: array[:-3]),
    "shorter vectors": with_array("space0.products", lambda array: array[:, :-1]),
    "another kind": with_array("space0.products", lambda array: array.astype(np.float64)),
    "memory out of bounds": with_array("space0.memory_rows", set_first(10**6)),
    "memory cut": with_array("space0.memory_strength", lambda array: array[:-5]),
    "sets out of bounds": with_array("sets.members", lambda array: np.array([[0, 1, 41]], np.int32)),
    "triples out of bounds": with_array("sets.triples", lambda array: np.array([[0, 1, 41]], np.int32)),
    "triples cut": with_array("sets.values", lambda array: array[:-1]),
    "pairs out of bounds": with_array("evidence.keys", set_first(2**63)),
    "pairs cut": with_array("evidence.values", lambda array: array[:-1]),
    "counts below zero": with_array("space0.counts", set_first(-1)),
    "weights not finite": with_array("blend.weights", set_first(np.nan)),
    "labels cut": lambda place: pq.write_table(
        pq.read_table(place / "products.parquet")[:-5], place / "products.parquet"
    ),
    "labels twice": lambda place: pq.write_table(
        pa.concat_tables([pq.read_table(place / "users.parquet")[:1]] * 20), place / "users.parquet"
    ),
    "no labels": lambda place: pq.write_table(pa.table({"x": [1]}), place / "products.parquet"),
}


@pytest.mark.parametrize("name", HARMS)
def test_arrays_that_would_lead_out_of_bounds_are_refused(poison, name, capsys):
    folder = poison(HARMS[name])
    with pytest.raises(SnapshotError, match="cannot be read"):
        omba.OMBA.load(folder)
    assert run(["rank", "--model", str(folder), "--basket", "p1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def sets(**values):
    return lambda kept: kept.update(values)


MANIFESTS = {
    "a version of the future": sets(version=99),
    "a setting of the future": lambda kept: kept["settings"].update(colour="green"),
    "a setting out of bounds": lambda kept: kept["settings"].update(dim=10**9),
    "another length": lambda kept: kept["settings"].update(dim=17),
    "settings that are none": sets(settings=[1]),
    "no settings": lambda kept: kept.pop("settings"),
    "an unknown kind": sets(kind="Wizard"),
    "a clock that is none": sets(clock="sundial"),
    "windows that are no number": sets(windows="many"),
    "a time that is no number": sets(last_time=[1]),
    "a position that is none": sets(position=7),
    "a level that is none": sets(level=[2]),
    "files that are none": sets(files=3),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_that_this_version_does_not_know_is_refused_in_a_sentence(poison, name):
    with pytest.raises(SnapshotError, match="model in"):
        omba.OMBA.load(poison(lambda place: None, MANIFESTS[name]))


def test_a_setting_of_a_newer_version_is_named(poison):
    with pytest.raises(SnapshotError, match="colour"):
        omba.OMBA.load(poison(lambda place: None, MANIFESTS["a setting of the future"]))


def test_a_model_that_learns_no_categories_is_loaded(tmp_path):
    model = omba.OMBA(**SMALL, categories=False).fit(omba.read_baskets(WORLD), "1d")
    model.save(tmp_path)
    assert np.array_equal(omba.OMBA.load(tmp_path).product_vectors, model.product_vectors)


def test_every_array_of_a_snapshot_has_a_check(saved, tmp_path):
    learn(tmp_path)
    for folder in (saved, tmp_path):
        names = load_file(next(folder.glob("snapshot-*")) / "arrays.safetensors").keys()
        assert names - CHECKS.keys() == set(), "give these a line in model/snapshot_checks.py"
