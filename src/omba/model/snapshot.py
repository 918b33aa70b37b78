"""Snapshot: everything a model needs to go on, on disk, whole or not at all.

A model folder holds snapshots side by side and a file `current` that names the valid one with the checksum of its
manifest; the manifest holds the checksums of the other files. A snapshot is written aside and synced before
`current` is replaced in one step, so a crash leaves the old one or the new one, never a mixture. Weights are
safetensors, labels Parquet, the rest JSON: nothing in it can run code.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from omba.baskets import Clock, Label
from omba.errors import InputError, OmbaError, SnapshotError
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast

if TYPE_CHECKING:
    from omba.model.omba import OMBA

VERSION = 1
CURRENT = "current"
Arrays = dict[str, NDArray[Any]]


def save(model: OMBA, folder: Path) -> None:
    """Write the model as the folder's current snapshot; the one before it is then removed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        before = _current(folder)[0] if (folder / CURRENT).exists() else None
        name = f"snapshot-{0 if before is None else int(before.rpartition('-')[2]) + 1:06d}"
        aside = folder / f"{name}.aside"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        _write(model, aside)
        shutil.rmtree(folder / name, ignore_errors=True)
        aside.rename(folder / name)
        _sync(folder)
        _replace(folder / CURRENT, f"{name} {_digest(folder / name / 'manifest.json')}\n")
    except OSError as error:
        raise SnapshotError(
            f"the model could not be written to {str(folder)!r} ({error.strerror}): what was saved there before is"
            " untouched; give a folder with room that can be written to"
        ) from error
    if before is not None:
        shutil.rmtree(folder / before, ignore_errors=True)


def load(folder: Path) -> OMBA:
    """The folder's current snapshot as a model."""
    if not (folder / CURRENT).exists():
        raise SnapshotError(f"there is no model in {str(folder)!r}: 'omba learn SOURCE --model {folder}' makes one")
    name, digest = _current(folder)
    place = folder / name
    try:
        if _digest(place / "manifest.json") != digest:
            raise SnapshotError(f"the model in {str(folder)!r} was changed after it was saved: its manifest differs")
        manifest = json.loads((place / "manifest.json").read_text())
        if manifest["version"] != VERSION:
            raise SnapshotError(
                f"the model in {str(folder)!r} has format {manifest['version']}, and this omba reads {VERSION}"
            )
        for file, expected in manifest["files"].items():
            if _digest(place / file) != expected:
                raise SnapshotError(f"the model in {str(folder)!r} is damaged: {file} is cut off or was changed")
        return _read(manifest, place)
    except (OSError, KeyError, ValueError, SafetensorError, pa.ArrowException) as error:
        if isinstance(error, OmbaError):
            raise
        raise SnapshotError(f"the model in {str(folder)!r} cannot be read ({error}): save it anew") from error


def _write(model: OMBA, place: Path) -> None:
    arrays: Arrays = {f"evidence.{k}": v for k, v in model.evidence.state().items()}
    arrays |= {f"sets.{k}": v for k, v in model.sets.state().items()}
    arrays |= {f"forecast.{k}": v for k, v in model.forecast.state().items()}
    for level, space in enumerate(model.spaces):
        arrays |= {f"space{level}.{k}": v for k, v in space.state().items()}
    arrays |= {f"prices.{k}": v for k, v in model.prices.state().items()}
    arrays |= {"blend.weights": model.blend.weights, "blend.hessian": model.blend.hessian}
    arrays |= {"parents": model.hierarchy.parents} | model.extra_state()
    save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, place / "arrays.safetensors")
    pq.write_table(_labels(model.product_rows.vocabulary.labels), place / "products.parquet")
    pq.write_table(_labels(model.user_rows.vocabulary.labels), place / "users.parquet")
    pq.write_table(_labels(model.hierarchy.vocabulary.labels), place / "categories.parquet")
    if model.attributes is not None:
        pq.write_table(model.attributes, place / "attributes.parquet")
    files = sorted(p.name for p in place.iterdir())
    manifest = {
        "version": VERSION,
        "kind": type(model).__name__,
        "settings": model.get_params(),
        "windows": model.n_windows,
        "clock": model.clock.value,
        "last_time": model.last_time,
        "level": model.hierarchy.level,
        "files": {file: _digest(place / file) for file in files},
    }
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1))
    for file in [*files, "manifest.json"]:
        _sync(place / file)
    _sync(place)


def _read(manifest: dict[str, Any], place: Path) -> OMBA:
    from omba.model.variants import KINDS

    settings = manifest["settings"]
    if isinstance(settings["value"], list):
        settings["value"] = tuple(settings["value"])
    if manifest["kind"] not in KINDS:
        raise InputError(f"it is a {manifest['kind']!r}, which this omba does not know")
    model = KINDS[manifest["kind"]](**settings)
    arrays = {name: np.array(array) for name, array in load_file(place / "arrays.safetensors").items()}
    model.product_rows.vocabulary.add(_from_labels(pq.read_table(place / "products.parquet")))
    model.user_rows.vocabulary.add(_from_labels(pq.read_table(place / "users.parquet")))
    model.hierarchy.vocabulary.add(_from_labels(pq.read_table(place / "categories.parquet")))
    model.hierarchy.level, model.hierarchy.parents = manifest["level"], arrays["parents"]
    if (place / "attributes.parquet").exists():
        model.attributes = pq.read_table(place / "attributes.parquet")
    levels = 2 if "space1.counts" in arrays else 1
    model.add_levels(levels)
    for level, space in enumerate(model.spaces):
        space.load(_under(arrays, f"space{level}."))
    model.prices.load(_under(arrays, "prices."))
    model.sets.load(_under(arrays, "sets."))
    model.evidence = Evidence.from_state(_under(arrays, "evidence."))
    model.forecast = Forecast.from_state(_under(arrays, "forecast."))
    model.blend.weights, model.blend.hessian = arrays["blend.weights"], arrays["blend.hessian"]
    model.load_extra(arrays)
    model.n_windows, model.clock, model.last_time = manifest["windows"], Clock(manifest["clock"]), manifest["last_time"]
    return model


def _under(arrays: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _labels(labels: list[Label]) -> pa.Table:
    """Labels as text, with a flag for those that were integers."""
    whole = [isinstance(label, int) for label in labels]
    return pa.table(
        {"label": pa.array([str(label) for label in labels], pa.string()), "whole": pa.array(whole, pa.bool_())}
    )


def _from_labels(table: pa.Table) -> list[Label]:
    pairs = zip(table["label"].to_pylist(), table["whole"].to_pylist(), strict=True)
    return [int(label) if whole else label for label, whole in pairs]


def _current(folder: Path) -> tuple[str, str]:
    name, _, digest = (folder / CURRENT).read_text().strip().partition(" ")
    if not name.startswith("snapshot-") or "/" in name or len(digest) != 64:
        raise SnapshotError(f"{str(folder / CURRENT)!r} does not name a snapshot: it was cut off or changed")
    return name, digest


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _replace(file: Path, text: str) -> None:
    aside = file.with_suffix(".aside")
    aside.write_text(text)
    _sync(aside)
    aside.replace(file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
