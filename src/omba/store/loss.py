"""Loss: baskets that were accepted and are not in the journal any more, found before anything is built on it.

Three tell what there must be: `synced`, how far the journal was on the disk; the position of the snapshot, how far it
was learned; and the segments themselves, each of which begins where the one before has ended.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omba.errors import StoreError
from omba.store import gaps
from omba.store.frame import CHECK, HEAD, MAGIC, START, Synced, decode, frames, segment, segments


@dataclass(frozen=True)
class Extent:
    """Which baskets a model still needs from its journal, as its position tells.

    Parameters
    ----------
    begin
        The first basket of the open windows, from which on the journal is read again.
    next
        The first basket that the model has not looked at.
    """

    begin: int = 0
    next: int = 0

    @classmethod
    def of(cls, position: Mapping[str, Any]) -> Extent:
        """The extent by the position of a snapshot."""
        following = int(position.get("next", 0))
        return cls(int(position.get("from", following)), following)


@dataclass(frozen=True)
class Loss:
    """Baskets from `first` on, up to `after`, that are missing, and how that shows."""

    first: int
    after: int
    reason: str

    def __str__(self) -> str:
        return f"{self.after - self.first:,} baskets from number {self.first:,} on are missing: {self.reason}"


def find_losses(folder: Path, extent: Extent) -> list[Loss]:
    """What is missing from a journal; nothing where all that was accepted and is still needed is there."""
    # First `synced`, then the segments: a writer may be at work, and they only grow.
    synced, firsts, accepted = Synced.read(folder), segments(folder), gaps.read(folder)
    end = max(extent.next, synced.end if synced else 0)
    losses, number, ended = [], extent.begin, end
    for first in firsts[max(0, bisect_right(firsts, extent.begin) - 1) :]:
        number = gaps.skip(accepted, number)
        if first > number:
            losses.append(Loss(number, first, f"what leads up to {segment(folder, first).name!r} is cut off or gone"))
        ended = reach(segment(folder, first), first)
        number = max(number, ended)
    ended = gaps.skip(accepted, ended if firsts else number)
    if ended < end:
        cut = "the journal ends there, and was once synced further"
        old = "the journal is an older copy than the model, and lacks what was accepted later too"
        losses.append(Loss(ended, end, cut if synced and synced.end == end else old))
    return losses


def refuse_losses(folder: Path, extent: Extent | None) -> None:
    """Raise where baskets are missing, with a sentence that tells which, and what may be done."""
    firsts = segments(folder)
    losses = find_losses(folder, extent or Extent(firsts[0] if firsts else 0))
    for loss in losses:
        # Perhaps they are there, behind a place that cannot be read.
        for first in firsts[: bisect_right(firsts, loss.first)][-1:]:
            data = segment(folder, first).read_bytes()
            refuse_damage(folder, first, data, max((f.stop for f in frames(data, first)), default=len(START)))
    if losses:
        raise StoreError(f"in {str(folder)!r} " + "; ".join([*map(str, losses), remedy(folder)]))


def remedy(folder: Path) -> str:
    """What to do about baskets that are missing from a journal."""
    return (
        f"put back what is missing, take the last backup ('omba restore --model {folder.parent} FROM'), or go on "
        f"without these baskets by 'omba doctor --model {folder.parent} --accept-loss', and have them sent again"
    )


def reach(file: Path, first: int) -> int:
    """The number after the last basket of a segment, by the heads of its frames alone."""
    with file.open("rb") as stream:
        size, offset = os.fstat(stream.fileno()).st_size, len(START)
        while len(head := _head(stream, offset)) == HEAD.size:
            magic, length, begin, count, _ = HEAD.unpack(head)
            offset += HEAD.size + CHECK.size + length
            if magic != MAGIC or begin != first or offset > size:
                break
            first = begin + count
    return first


def _head(stream: Any, offset: int) -> bytes:
    stream.seek(offset)
    return bytes(stream.read(HEAD.size))


def refuse_damage(folder: Path, first: int, data: bytes, offset: int) -> None:
    """Raise if there is a whole frame beyond the place where the frames break off: then it is no torn tail."""
    at = offset - 1
    while (at := data.find(MAGIC, at + 1)) >= 0:
        if decode(data, at):
            raise damage(folder, first, offset)


def damage(folder: Path, first: int, offset: int) -> StoreError:
    return StoreError(
        f"{str(segment(folder, first))!r} is damaged at byte {offset:,}, and baskets come after it: {remedy(folder)}"
    )
