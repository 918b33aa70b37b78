"""Checkup: everything that is kept of a model looked through, part by part; nothing is changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from omba.disk import ASIDE
from omba.errors import InputError, OmbaError, SnapshotError
from omba.model import OMBA
from omba.model.snapshot import SNAPSHOTS
from omba.store import gaps
from omba.store.folder import JOURNAL, ModelFolder
from omba.store.frame import NAME, START, frames, segment, segments
from omba.store.ids import NAME as IDS
from omba.store.ids import read_keys
from omba.store.loss import damage, refuse_damage

RESTORE = "take the last backup by 'omba restore --model {} FROM'"

LEVELS = {"whole": 0, "damaged": 1, "broken": 2}
"""What each state means to a script: nothing to do, damage that learning does not mind, damage that it does."""


@dataclass(frozen=True)
class PartState:
    """What was found of one part.

    Parameters
    ----------
    part
        The part of the folder.
    state
        `whole`; `damaged` where learning goes on all the same; `broken` where it does not.
    text
        What it is like.
    remedy
        What to do, where something is to be done.
    """

    part: str
    state: str
    text: str
    remedy: str = ""


def examine(folder: ModelFolder) -> list[PartState]:
    """All findings, in the order of the parts."""
    if not folder.path.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}: check --model")
    return [finding for part, look in PARTS.items() for finding in _safely(part, look, folder)]


def _safely(part: str, look: Callable[[ModelFolder], Iterator[PartState]], folder: ModelFolder) -> list[PartState]:
    try:
        return list(look(folder))
    except OmbaError as error:
        return [PartState(part, "broken", str(error))]


def _snapshot(folder: ModelFolder) -> Iterator[PartState]:
    if not folder.exists:
        yield PartState("snapshot", "whole", "there is no model yet")
        return
    try:
        model = folder.load()
    except OmbaError as error:
        yield PartState(
            "snapshot", "broken", str(error), f"{RESTORE.format(folder)}, or begin anew with 'omba learn --new'"
        )
        return
    shown = f"{model.n_baskets:,} baskets in {model.n_windows:,} windows, {len(model.products):,} products"
    yield PartState("snapshot", "whole", f"checksums, versions and labels are right: {shown}")
    yield from _arrays(folder, model)


def _arrays(folder: ModelFolder, model: OMBA) -> Iterator[PartState]:
    """Whether every array has the rows it should have, and only numbers in it."""
    products, users = len(model.products), len(model.users)
    wrong = [
        name
        for name, array, rows in (
            ("product vectors", model.product_vectors, products),
            ("product counts", model.product_counts, products),
            ("user vectors", model.user_vectors, users),
        )
        if len(array) != rows or not np.isfinite(array).all()
    ]
    if (model.product_counts < 0).any():
        wrong.append("product counts")
    if wrong:
        yield PartState(
            "arrays", "broken", f"{', '.join(wrong)} do not fit the labels or are no numbers", RESTORE.format(folder)
        )
    else:
        yield PartState("arrays", "whole", "vectors and counts fit the labels, and all are numbers")


def _journal(folder: ModelFolder) -> Iterator[PartState]:
    place = folder.path / JOURNAL
    if (folder.read_synced() is None) and not segments(place):
        yield PartState("journal", "whole", "there is none")
        return
    try:
        folder.refuse_losses()
        baskets = sum(_count(folder, first) for first in segments(place))
    except OmbaError as error:
        yield PartState("journal", "broken", str(error))
        return
    yield PartState("journal", "whole", f"{baskets:,} baskets in {len(segments(place)):,} segments")
    stray = [file.name for file in place.glob("segment-*") if not NAME.fullmatch(file.name) and file.suffix != ASIDE]
    if stray:
        yield PartState("journal", "damaged", f"{stray[0]!r} is no segment and is not looked at", "move it elsewhere")
    if given_up := gaps.read(place):
        lost = sum(after - first for first, after in given_up)
        yield PartState("journal", "whole", f"{lost:,} baskets were lost earlier and given up")


def _count(folder: ModelFolder, first: int) -> int:
    """Baskets in a segment, all its frames read; one that is broken raises, unless a crash may have left it so."""
    place = folder.path / JOURNAL
    data, stop, after = segment(place, first).read_bytes(), len(START), first
    for frame in frames(data, first):
        stop, after = frame.stop, frame.after
    if stop < len(data):
        refuse_damage(place, first, data, stop)
        synced = folder.read_synced()
        if first != segments(place)[-1] or (synced is not None and synced.end > after):
            raise damage(place, first, stop)
    return after - first


def _ids(folder: ModelFolder) -> Iterator[PartState]:
    bad, count = [], 0
    for file in sorted((folder.path / JOURNAL).glob("ids-*")):
        if IDS.fullmatch(file.name):
            keys = read_keys(file)
            bad += [file.name] if keys is None else []
            count += 0 if keys is None else len(keys)
    for name in bad:
        yield PartState("ids", "damaged", f"{name!r} is damaged: baskets of then would be learned again if sent again")
    if not bad:
        yield PartState("ids", "whole", f"{count:,} ids of sealed segments")


def _history(folder: ModelFolder) -> Iterator[PartState]:
    history, bad = folder.history, 0
    entries = history.entries
    for name in sorted({*history.names} - {entry.folder.name for entry in entries}):
        bad += 1
        yield PartState(
            "history", "damaged", f"the entry {name!r} cannot be read", "remove it; learning goes on without it"
        )
    for entry in entries:
        try:
            ends = len(entry.vectors), len(entry.counts), entry.rules.num_rows
            if ends[:2] != (entry.n_labels, entry.n_labels):
                raise SnapshotError(f"the entry {entry.folder.name!r} does not have a vector for each product")
        except OmbaError as error:
            bad += 1
            yield PartState("history", "damaged", str(error))
    try:
        labels = len(history.labels)
        if entries and labels < max(entry.n_labels for entry in entries):
            raise SnapshotError(f"there are {labels:,} labels, fewer than products in the entries")
    except OmbaError as error:
        bad += 1
        yield PartState("history", "damaged", str(error), "the learner writes them anew with the next entry")
    if not bad:
        yield PartState("history", "whole", f"{len(entries):,} entries")


def _tokens(folder: ModelFolder) -> Iterator[PartState]:
    if not folder.tokens_file.exists():
        yield PartState("tokens", "whole", "there are none: the service answers this machine only")
        return
    try:
        tokens = json.loads(folder.tokens_file.read_text())
        if not isinstance(tokens, list) or not all(
            isinstance(one, dict) and {"hash", "scopes"} <= set(one) for one in tokens
        ):
            raise ValueError("it is no list of tokens")
    except (OSError, ValueError) as error:
        yield PartState("tokens", "damaged", f"tokens.json cannot be read ({error})", "make new ones with 'omba token'")
        return
    yield PartState("tokens", "whole", f"{len(tokens):,} tokens")


def _quarantine(folder: ModelFolder) -> Iterator[PartState]:
    if folder.quarantine_file.exists():
        count = len(folder.quarantine_file.read_bytes().splitlines())
        yield PartState(
            "quarantine", "damaged", f"{count:,} baskets could not be learned", "see quarantine.jsonl for the reasons"
        )
    else:
        yield PartState("quarantine", "whole", "every basket could be learned")


def _room(folder: ModelFolder) -> Iterator[PartState]:
    """A snapshot is written beside the current one, so there must be room for it."""
    free = shutil.disk_usage(folder.path).free
    needed = sum(file.stat().st_size for old in folder.path.glob(SNAPSHOTS) for file in old.glob("*"))
    state = "broken" if free < needed else "whole"
    remedy = "make room on this disk" if free < needed else ""
    yield PartState(
        "room", state, f"{free / 1e6:,.0f} MB are free, and the next snapshot needs about {needed / 1e6:,.1f}", remedy
    )


PARTS: dict[str, Callable[[ModelFolder], Iterator[PartState]]] = {
    "snapshot": _snapshot, "journal": _journal, "ids": _ids, "history": _history, "tokens": _tokens,
    "quarantine": _quarantine, "room": _room,
}  # fmt: skip
