"""Salvage: a journal that has lost baskets made fit to go on with, once a person has said that they are given up.

All frames that are whole stay, also those behind a damaged place; what is damaged is set aside, not thrown away; what
is missing becomes a gap that readers step over; and the ids of what is missing are let go of, so that it can be sent
again. Numbers go on after the last basket there ever was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from omba.disk import replace, sync
from omba.store import gaps
from omba.store.frame import MAGIC, START, JournalFrame, Synced, decode, frames, segment, segments
from omba.store.ids import Ids
from omba.store.loss import Extent, Loss, find_losses, reach

ASIDE = "set-aside"
"""The folder in the journal for what could not be read."""


def accept_losses(folder: Path, extent: Extent) -> list[Loss]:
    """Give up what is missing, so that the journal can be opened again; what that was. Both locks are to be held."""
    for first in segments(folder):
        _mend_segment(folder, first)
    losses = find_losses(folder, extent)
    if not losses:
        return []
    end = losses[-1].after
    gaps.write(folder, [*gaps.read(folder), *((loss.first, loss.after) for loss in losses)])
    _let_go_of_ids(folder, [loss for loss in losses if loss.after > extent.next], segments(folder))
    _tell(folder, end)
    return losses


def _tell(folder: Path, end: int) -> None:
    """Have the journal end at a basket or after it, in a new segment where the last one does not come so far."""
    firsts, synced = segments(folder), Synced.read(folder)
    if not firsts or reach(segment(folder, firsts[-1]), firsts[-1]) < end:
        replace(segment(folder, end), START)
        firsts = [*firsts, end]
    last = segment(folder, firsts[-1])
    now = Synced(firsts[-1], last.stat().st_size, reach(last, firsts[-1]), synced.repeated if synced else 0)
    replace(folder / "synced", now.pack())


def runs(data: bytes) -> Iterator[tuple[int, list[JournalFrame]]]:
    """The whole frames of a segment, in runs that follow on each other without a break, each with where it begins."""
    at = 0
    while (at := data.find(MAGIC, at)) >= 0:
        frame = decode(data, at)
        if frame is None:
            at += 1
            continue
        run = list(frames(START + data[at:], frame.first))
        yield at, run
        at += run[-1].stop - len(START)


def _mend_segment(folder: Path, first: int) -> None:
    """Leave of a segment what can be read; if that is not all, the file as it was is set aside."""
    file = segment(folder, first)
    data = file.read_bytes()
    found = list(runs(data))
    if data.startswith(START) and len(found) <= 1 and len(data) == (found[0][1][-1].stop if found else len(START)):
        return
    (folder / ASIDE).mkdir(exist_ok=True)
    os.link(file, _free(folder / ASIDE / file.name))
    # The first run takes the place of the file, so it comes last: until then everything is where it was.
    for at, run in reversed(found):
        replace(segment(folder, run[0].first), START + data[at : at + run[-1].stop - len(START)])
    if not found or found[0][1][0].first != first:
        file.unlink()
    sync(folder)


def _let_go_of_ids(folder: Path, losses: list[Loss], firsts: list[int]) -> None:
    """Forget ids of baskets that are gone, and keep those of the frames that are left."""
    ids = Ids(folder)
    ids.load()
    begins = sorted({*ids.sealed, *firsts})
    for begin in list(ids.sealed):
        after = next((other for other in begins if other > begin), 2**63)
        if any(loss.first < after and loss.after > begin for loss in losses):
            left = segment(folder, begin)
            keys = {key for frame in frames(left.read_bytes(), begin) for key in frame.keys} if left.exists() else set()
            (folder / f"ids-{begin:020d}").unlink()
            ids.keep(begin, keys - {0})


def _free(place: Path) -> Path:
    """The place, or the first one like it that is not taken."""
    number, free = 1, place
    while free.exists():
        number, free = number + 1, place.with_name(f"{place.name}.{number}")
    return free
