"""Snapshot: everything a model needs to go on, on disk, whole or not at all.

A model folder holds snapshots side by side and a file `current` that names the valid one with the checksum of its
manifest; the manifest holds the checksums of the other files. A snapshot is written aside and synced before
`current` is replaced in one step, so a crash leaves the old one or the new one, never a mixture. Weights are
safetensors, labels Parquet, the rest JSON: nothing in it can run code. A reader whose snapshot is replaced while it
reads takes the new one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from omba.baskets import Clock, Label
from omba.baskets.identity import Identity
from omba.disk import ASIDE, FAILURES, make_private, reason, remove_asides, replace, replace_folder, step
from omba.errors import InputError, OmbaError, SnapshotError
from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.snapshot_checks import check_arrays
from omba.settings import SETTINGS, as_plain

if TYPE_CHECKING:
    from omba.model.omba import OMBA

VERSION = 2
CURRENT = "current"
ARRAYS = "arrays.safetensors"
SNAPSHOTS = "snapshot-*"
Arrays = dict[str, NDArray[Any]]


def save(model: OMBA, folder: Path, keep: int = 1, tables: Mapping[str, pa.Table] | None = None) -> None:
    """Write the model as the folder's current snapshot; the last `keep` stay, older ones are then removed.

    `tables` go into the snapshot too, a Parquet file each, and come back with `load_table`.
    """
    try:
        make_private(folder)
        before = _current(folder)[0] if exists(folder) else None
        number = 0 if before is None else number_of(before) + 1
        name = f"snapshot-{number:06d}"
        remove_asides(folder, SNAPSHOTS)
        with replace_folder(folder / name, "snapshot") as place:
            _write(model, place, tables or {})
        replace(folder / CURRENT, f"{name} {_digest(folder / name / 'manifest.json')}\n".encode())
    except FAILURES as error:
        remove_asides(folder, SNAPSHOTS)
        raise SnapshotError(
            f"the model could not be written to {str(folder)!r} ({reason(error)}): what was saved there before is"
            " untouched; give a folder with room that can be written to"
        ) from error
    step("snapshot current")
    for old in folder.glob(SNAPSHOTS):
        if old.suffix != ASIDE and not number - keep < number_of(old.name) <= number:
            shutil.rmtree(old, ignore_errors=True)
    step("old snapshots removed")


def exists(folder: Path) -> bool:
    """Whether a folder holds a model."""
    return (folder / CURRENT).exists()


def current(folder: Path) -> str:
    """Which snapshot is the valid one, as a word that differs from save to save; "" where there is none."""
    try:
        return (folder / CURRENT).read_text(errors="replace")
    except OSError:
        return ""


def remove(folder: Path) -> None:
    """Remove all snapshots. `current` goes first: without it, the others count for nothing."""
    (folder / CURRENT).unlink(missing_ok=True)
    for old in folder.glob(SNAPSHOTS):
        shutil.rmtree(old, ignore_errors=True)


def number_of(snapshot: str) -> int:
    """The number in a snapshot's name."""
    return int(snapshot.rpartition("-")[2])


def digest_if_whole(place: Path) -> str | None:
    """The checksum of a snapshot's manifest, if all its files are as they were written; else None."""
    try:
        manifest = json.loads((place / "manifest.json").read_text())
        whole = all(_digest(place / file) == expected for file, expected in manifest["files"].items())
        return _digest(place / "manifest.json") if whole and manifest["version"] == VERSION else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read_table(path: Path) -> pa.Table:
    """A table of a snapshot; `pq.read_table` would first bring in pandas, which takes longer than a small model."""
    with pq.ParquetFile(path) as file:
        return file.read()


def load(folder: Path) -> OMBA:
    """The folder's current snapshot as a model."""
    return _open(folder, lambda place, manifest: _read(manifest, place))


def load_with(folder: Path, table: str) -> tuple[OMBA, pa.Table | None]:
    """The folder's current snapshot as a model, and a table that was saved with it, if it was."""

    def both(place: Path, manifest: dict[str, Any]) -> tuple[OMBA, pa.Table | None]:
        file = place / f"{table}.parquet"
        return _read(manifest, place), _read_table(file) if file.name in manifest["files"] else None

    return _open(folder, both)


def peek(folder: Path) -> dict[str, Any]:
    """The manifest of the current snapshot, without reading the rest; empty where there is no model."""
    if not exists(folder):
        return {}
    return _open(folder, lambda place, manifest: manifest, whole=False)


Read = TypeVar("Read")
UNREADABLE = (
    OSError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError,
    SafetensorError, pa.ArrowException, OmbaError,
)  # fmt: skip
"""What reading a snapshot raises that is not what a snapshot should be, whoever made it so."""


def _open(folder: Path, read: Callable[[Path, dict[str, Any]], Read], whole: bool = True) -> Read:
    """Read the current snapshot; one that is replaced and removed meanwhile is let go of for the new one."""
    if not exists(folder):
        raise SnapshotError(f"there is no model in {str(folder)!r}: 'omba learn SOURCE --model {folder}' makes one")
    while True:
        name, digest = _current(folder)
        try:
            manifest = _manifest(folder, name, digest)
            if not whole:
                return read(folder / name, manifest)
            _check(folder, name, manifest, [file for file in manifest["files"] if file != ARRAYS])
            # Nearly all of it are the arrays: they are read while their checksum is worked out, and no answer is given
            # before it is known to be right.
            with ThreadPoolExecutor(1, "omba check") as pool:
                checked = pool.submit(_check, folder, name, manifest, [ARRAYS])
                try:
                    found = read(folder / name, manifest)
                finally:
                    checked.result()
            return found
        except UNREADABLE as error:
            if _current(folder)[0] != name:
                continue
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"the model in {str(folder)!r} cannot be read ({error}): save it anew") from error


def _manifest(folder: Path, name: str, digest: str) -> dict[str, Any]:
    """The manifest, once it is known to be as it was written."""
    place = folder / name
    if _digest(place / "manifest.json") != digest:
        raise SnapshotError(f"the model in {str(folder)!r} was changed after it was saved: its manifest differs")
    manifest: dict[str, Any] = json.loads((place / "manifest.json").read_text())
    if manifest["version"] != VERSION:
        raise SnapshotError(
            f"the model in {str(folder)!r} has format {manifest['version']}, and this omba reads {VERSION}: learn it"
            " anew with 'omba learn'"
        )
    return manifest


def _check(folder: Path, name: str, manifest: dict[str, Any], files: Iterable[str]) -> None:
    """Raise unless these files are as they were written."""
    for file in files:
        if _digest(folder / name / file) != manifest["files"][file]:
            raise SnapshotError(f"the model in {str(folder)!r} is damaged: {file} is cut off or was changed")


def _write(model: OMBA, place: Path, tables: Mapping[str, pa.Table]) -> None:
    arrays: Arrays = {f"evidence.{k}": v for k, v in model.evidence.state().items()}
    arrays |= {f"sets.{k}": v for k, v in model.sets.state().items()}
    arrays |= {f"seasons.{k}": v for k, v in model.seasons.state().items()}
    arrays |= {f"namesakes.{k}": v for k, v in model.namesakes.state().items()}
    arrays |= {f"weekly_sales.{k}": v for k, v in model.weekly_sales.state().items()}
    arrays |= {f"forecast.{k}": v for k, v in model.forecast.state().items()}
    for level, space in enumerate(model.spaces):
        arrays |= {f"space{level}.{k}": v for k, v in space.state().items()}
    arrays |= {f"prices.{k}": v for k, v in model.prices.state().items()}
    arrays |= {"blend.weights": model.blend.weights, "blend.hessian": model.blend.hessian}
    if model.blend.network is not None:
        arrays |= {f"network.{k}": v for k, v in model.blend.network.state().items()}
    arrays |= {f"questions.{k}": v for k, v in model.questions.state().items()}
    arrays |= {"parents": model.hierarchy.parents} | model.extra_state()
    save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, place / ARRAYS)
    pq.write_table(_labels(model.product_rows.vocabulary.labels), place / "products.parquet")
    pq.write_table(_labels(model.user_rows.vocabulary.labels), place / "users.parquet")
    pq.write_table(_labels(model.hierarchy.vocabulary.labels), place / "categories.parquet")
    if model.attributes is not None:
        pq.write_table(model.attributes, place / "attributes.parquet")
        pq.write_table(model.descriptions.vote_table(), place / "votes.parquet")
    for name, table in tables.items():
        pq.write_table(table, place / f"{name}.parquet")
    files = sorted(p.name for p in place.iterdir())
    manifest = {
        "version": VERSION,
        "kind": type(model).__name__,
        "settings": {name: as_plain(value) for name, value in model.get_params().items()},
        "windows": model.n_windows,
        "clock": model.clock.value,
        "last_time": model.last_time,
        "level": model.hierarchy.level,
        "clues": {"among": list(model.blend.names), **model.questions.names()},
        "network": [] if model.blend.network is None else list(model.blend.network.names),
        "position": model.position,
        "identity": model.identity.to_dict(),
        "files": {file: _digest(place / file) for file in files},
    }
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1))


def _read(manifest: dict[str, Any], place: Path) -> OMBA:
    from omba.model.variants import KINDS

    settings = manifest["settings"]
    unknown = ", ".join(map(repr, settings.keys() - SETTINGS.keys()))
    if unknown:
        raise InputError(f"it has the setting {unknown}, which this omba does not know: a newer one may")
    check_facts(manifest)
    if isinstance(settings["value"], list):
        settings["value"] = tuple(settings["value"])
    if manifest["kind"] not in KINDS:
        raise InputError(f"it is a {manifest['kind']!r}, which this omba does not know")
    model = KINDS[manifest["kind"]](**settings)
    arrays: Arrays = load_file(place / ARRAYS)
    model.product_rows.vocabulary.add(_from_labels(_read_table(place / "products.parquet")))
    model.user_rows.vocabulary.add(_from_labels(_read_table(place / "users.parquet")))
    model.hierarchy.vocabulary.add(_from_labels(_read_table(place / "categories.parquet")))
    sizes = {
        "products": len(model.product_rows.vocabulary),
        "users": len(model.user_rows.vocabulary),
        "categories": len(model.hierarchy.vocabulary),
        "dim": model.dim,
    }
    check_arrays(arrays, sizes)
    model.hierarchy.level, model.hierarchy.parents = manifest["level"], arrays["parents"]
    if (place / "attributes.parquet").exists():
        model.attributes = _read_table(place / "attributes.parquet")
        votes = _read_table(place / "votes.parquet") if (place / "votes.parquet").exists() else None
        model.descriptions.load(model.attributes, votes)
    levels = 2 if "space1.counts" in arrays else 1
    model.add_levels(levels)
    for level, space in enumerate(model.spaces):
        space.load(_under(arrays, f"space{level}."))
    model.prices.load(_under(arrays, "prices."))
    model.sets.load(_under(arrays, "sets."))
    model.seasons.load(_under(arrays, "seasons."))
    model.namesakes.load(_under(arrays, "namesakes."))
    model.weekly_sales.load(_under(arrays, "weekly_sales."))
    model.evidence = Evidence.from_state(_under(arrays, "evidence."))
    model.forecast = Forecast.from_state(_under(arrays, "forecast."))
    model.blend.fill(tuple(manifest["clues"]["among"]), arrays["blend.weights"], arrays["blend.hessian"])
    if model.blend.network is not None and "network.weights" in arrays:  # snapshots of before have none
        model.blend.network.load(tuple(manifest["network"]), _under(arrays, "network."))
    model.questions.load(manifest["clues"], _under(arrays, "questions."))
    model.load_extra(arrays)
    model.n_windows, model.clock, model.last_time = manifest["windows"], Clock(manifest["clock"]), manifest["last_time"]
    model.position = manifest.get("position", {})
    vars(model.identity).update(vars(Identity.from_dict(manifest.get("identity", {}))))
    return model


FACTS: dict[str, tuple[type, ...]] = {
    "windows": (int,), "last_time": (int,), "clock": (str,), "level": (str, type(None)), "position": (dict,),
    "network": (list,),
}  # fmt: skip
"""What the manifest tells beside settings and files, and of which type each is."""


def check_facts(manifest: dict[str, Any]) -> None:
    """Refuse a manifest whose facts are of other types than those that are written."""
    for name, types in FACTS.items():
        if name in manifest and not isinstance(manifest[name], types):
            raise InputError(f"its {name} is {manifest[name]!r}")


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
    name, _, digest = (folder / CURRENT).read_text(errors="replace").strip().partition(" ")
    if not name.startswith("snapshot-") or "/" in name or len(digest) != 64:
        raise SnapshotError(f"{str(folder / CURRENT)!r} does not name a snapshot: it was cut off or changed")
    return name, digest


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
