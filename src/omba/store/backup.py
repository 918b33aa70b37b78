"""Backup: a copy of a model folder as of one moment, made while it is served and learned into.

The snapshot that `current` names is copied first, then the journal from the snapshot's position on, up to where it is
synced by then: so whatever was acknowledged before the copy began is in it, learned or in the journal. What is there
already and has not changed is not copied again. In the copy, `current` is replaced after everything it needs is there,
and what is not needed any more goes last, so that a copy which is broken off leaves the one before.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from omba.disk import replace, sync
from omba.errors import InputError, SnapshotError, StoreError
from omba.model import snapshot
from omba.store import gaps
from omba.store.checkup import LEVELS, examine
from omba.store.folder import HISTORY, JOURNAL, LEARNER, ModelFolder
from omba.store.frame import Synced, segment, segments
from omba.store.ids import NAME as IDS
from omba.store.journal import forget
from omba.store.loss import Extent, find_losses

FACTS = "backup.json"
TRIES = 20
"""How often a copy is begun anew, because the learner has let go of what was being copied."""


@dataclass
class Copied:
    """What a copy took: files and bytes that were copied, files that were there already, and how far baskets go."""

    files: int = 0
    bytes: int = 0
    kept: int = 0
    baskets: int = 0


def backup(folder: ModelFolder, to: Path) -> Copied:
    """Copy a model folder to another place, or bring the copy there up to date; it is read back before this returns."""
    if not folder.exists and _read_synced(folder.path / JOURNAL) is None:
        raise SnapshotError(f"there is no model in {str(folder)!r} to copy: check --model")
    _refuse_nested(folder.path, to)
    if (to / snapshot.CURRENT).exists() and not (to / FACTS).exists():
        raise InputError(f"{str(to)!r} holds a model that is no backup: give another folder")
    with ModelFolder(to).lock_all():
        copied = _copy(folder, to)
        facts = {"made": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "baskets": copied.baskets}
        replace(to / FACTS, json.dumps(facts).encode())
        _read_back(to)
    return copied


def restore(folder: ModelFolder, source: Path) -> Copied:
    """Put a backup in the place of a model; what was there is moved into a folder beside it, not removed."""
    _refuse_nested(folder.path, source)
    if not (source / FACTS).exists():
        raise InputError(f"{str(source)!r} is no backup: give a folder that 'omba backup' has made")
    _read_back(source)
    with folder.lock_all():
        _set_aside(folder.path)
        copied = _copy(ModelFolder(source), folder.path)
        _read_back(folder.path)
    return copied


def _copy(source: ModelFolder, to: Path) -> Copied:
    for _ in range(TRIES):
        copied = Copied()
        try:
            return _copy_once(source, to, copied)
        except FileNotFoundError:
            # The learner has published meanwhile, and let go of what is not needed after that.
            continue
        except OSError as error:
            raise StoreError(
                f"{str(source)!r} could not be copied to {str(to)!r} ({error.strerror}): what was copied there before "
                "is untouched; give a folder with room that can be written to"
            ) from error
    raise StoreError(f"{str(source)!r} changes faster than it can be copied: try again when less comes in")


def _copy_once(source: ModelFolder, to: Path, copied: Copied) -> Copied:
    current = snapshot.current(source.path)
    name = current.partition(" ")[0]
    extent = Extent()
    if current:
        _copy_tree(source.path / name, to / name, copied)
        manifest = json.loads((to / name / "manifest.json").read_text())
        extent = Extent.of(manifest.get("position") or {})
    _copy_journal(source.path / JOURNAL, to / JOURNAL, extent, copied)
    if snapshot.current(source.path) != current and find_losses(to / JOURNAL, extent):
        raise FileNotFoundError("the learner has let go of a segment that this snapshot needs")
    for file in (source.quarantine_file, source.tokens_file):
        if file.exists():
            _copy_file(file, to / file.name, copied)
    _copy_history(source.path / HISTORY, to / HISTORY, copied)
    if current:
        replace(to / snapshot.CURRENT, current.encode())
    for old in to.glob(snapshot.SNAPSHOTS):
        if old.name != name:
            shutil.rmtree(old, ignore_errors=True)
    # By what the copied snapshot needs, not by what the source still has: the source may have learned more meanwhile.
    forget(to / JOURNAL, extent.begin)
    return copied


def _copy_journal(source: Path, to: Path, extent: Extent, copied: Copied) -> None:
    """Copy what the snapshot needs of the journal, as far as it is synced now."""
    to.mkdir(parents=True, exist_ok=True)
    synced = _read_synced(source)
    if synced is None:
        return
    firsts = [one for one in segments(source) if one <= synced.segment]
    needed = [one for one in firsts if one > extent.begin]
    before = [one for one in firsts if one <= extent.begin][-1:]
    for begin in [*before, *needed]:
        file, place = segment(source, begin), segment(to, begin)
        length = synced.offset if begin == synced.segment else file.stat().st_size
        if place.exists() and place.stat().st_size == length:
            copied.kept += 1
            continue
        # It only ever grows, so what is there of it stays, if it is the beginning of the same.
        _append(file, place, length, copied)
    for file in source.glob("ids-*"):
        if IDS.fullmatch(file.name):
            _copy_file(file, to / file.name, copied)
    if (source / gaps.FILE).exists():
        _copy_file(source / gaps.FILE, to / gaps.FILE, copied)
    replace(to / "synced", synced.pack())
    copied.baskets = synced.end


def _read_synced(journal: Path) -> Synced | None:
    """How far the journal is synced; read again if that came in the middle of a write."""
    for _ in range(TRIES):
        synced = Synced.read(journal)
        if synced is not None or not (journal / "synced").exists():
            return synced
        time.sleep(0.01)
    raise StoreError(
        f"{str(journal / 'synced')!r} is damaged: start 'omba serve' on the model once, which writes it anew, and copy "
        "it then"
    )


def _append(file: Path, place: Path, length: int, copied: Copied) -> None:
    there = place.stat().st_size if place.exists() else 0
    with file.open("rb") as stream, place.open("r+b" if there else "wb") as out:
        if there > length or (there and stream.read(there) != place.read_bytes()):
            there = 0
        stream.seek(there)
        out.truncate(there)
        out.seek(there)
        left = length - there
        while left > 0 and (data := stream.read(min(left, 1 << 20))):
            out.write(data)
            left -= len(data)
        out.flush()
        os.fsync(out.fileno())
    copied.files, copied.bytes = copied.files + 1, copied.bytes + length - there


def _copy_history(source: Path, to: Path, copied: Copied) -> None:
    """Copy labels and entries; one that is thinned meanwhile is left out."""
    if not source.is_dir():
        return
    to.mkdir(parents=True, exist_ok=True)
    names = set()
    for place in sorted(source.iterdir(), reverse=True):
        # Entries before labels, which only ever come in: so every entry has its own.
        names.add(place.name)
        try:
            (_copy_file if place.is_file() else _copy_tree)(place, to / place.name, copied)
        except FileNotFoundError:
            names.discard(place.name)
    for place in to.iterdir():
        if place.name not in names:
            shutil.rmtree(place) if place.is_dir() else place.unlink()


def _copy_tree(source: Path, to: Path, copied: Copied) -> None:
    to.mkdir(parents=True, exist_ok=True)
    for file in source.iterdir():
        _copy_file(file, to / file.name, copied)
    sync(to)


def _copy_file(file: Path, place: Path, copied: Copied) -> None:
    """Copy a file that is written whole or not at all, unless the same is there."""
    found = file.stat()
    if place.exists() and (place.stat().st_size, place.stat().st_mtime_ns) == (found.st_size, found.st_mtime_ns):
        copied.kept += 1
        return
    replace(place, file.read_bytes(), found.st_mode & 0o666)
    os.utime(place, ns=(found.st_atime_ns, found.st_mtime_ns))
    copied.files, copied.bytes = copied.files + 1, copied.bytes + found.st_size


def _read_back(place: Path) -> None:
    broken = [one for one in examine(ModelFolder(place)) if LEVELS[one.state] > 1]
    if broken:
        raise StoreError(f"the copy in {str(place)!r} is not whole: {broken[0].text}")


def _set_aside(folder: Path) -> None:
    parts = [snapshot.CURRENT, JOURNAL, HISTORY, LEARNER, *(old.name for old in folder.glob(snapshot.SNAPSHOTS))]
    there = [folder / part for part in parts if (folder / part).exists()]
    number = 1
    while (aside := folder / f"before-restore-{number}").exists():
        number += 1
    aside.mkdir(parents=True)
    for part in there:
        part.rename(aside / part.name)


def _refuse_nested(folder: Path, other: Path) -> None:
    one, two = folder.resolve(), other.resolve()
    if one == two or one in two.parents or two in one.parents:
        raise InputError(f"{str(other)!r} and {str(folder)!r} lie in each other: give a folder elsewhere")
