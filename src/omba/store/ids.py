"""Ids: which baskets were accepted lately, in bounded space, so that one sent twice is learned once.

An id is kept as a number of 64 bits; two of a million ids are taken for the same once in some 10¹³ baskets. Ids come
in as the journal's active segment grows; when it is sealed, they become a sorted array in a file of its own, which
stays when the segment goes. Whole files are let go of as soon as the others still hold a million.
"""

from __future__ import annotations

import logging
import re
import zlib
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.disk import replace

log = logging.getLogger("omba")

REMEMBERED = 1_000_000
"""Ids that are remembered at least."""
START = b"omba ids 1\n"
NAME = re.compile(r"ids-(\d{20})")
Keys = NDArray[np.uint64]


def key(label: Label | None) -> int:
    """An id as 64 bits; 7 and '7' are two ids. No id is 0.

    >>> key(None), key(7) == key("7")
    (0, False)
    """
    if label is None:
        return 0
    text = f"{'#' if isinstance(label, int) else ''}{label}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") or 1


class Ids:
    """The keys of the active segment, and sorted arrays of those before, oldest first."""

    def __init__(self, folder: Path, remembered: int = REMEMBERED) -> None:
        self.folder, self.remembered = folder, remembered
        self.active: set[int] = set()
        self.sealed: dict[int, Keys] = {}

    def __len__(self) -> int:
        return len(self.active) + sum(map(len, self.sealed.values()))

    def load(self) -> None:
        """Read what is kept on disk."""
        for file in sorted(self.folder.glob("ids-*")):
            if not NAME.fullmatch(file.name):
                continue
            keys = read_keys(file)
            if keys is None:
                log.warning("%r is damaged and left out: ids of then are not known as repeated any more", str(file))
                continue
            self.sealed[int(file.name.removeprefix("ids-"))] = keys

    def contain(self, keys: Sequence[int]) -> list[bool]:
        """Whether each key was met; 0 never was. Safe while another thread adds."""
        active, sealed = self.active, self.sealed
        found = [key in active for key in keys]
        if sealed and not all(found):
            asked = np.array(keys, np.uint64)
            older = np.zeros(len(asked), np.bool_)
            for kept in sealed.values():
                older |= kept[np.minimum(np.searchsorted(kept, asked), len(kept) - 1)] == asked
            found = [a or b for a, b in zip(found, older.tolist(), strict=True)]
        return found

    def add(self, keys: Iterable[int]) -> None:
        self.active.update(keys)
        self.active.discard(0)

    def turn(self) -> None:
        """Begin a new segment's set; the active one has been kept. What is older than a million ids is let go."""
        self.active = set()
        spare = len(self) - self.remembered
        for begin in sorted(self.sealed):
            spare -= len(self.sealed[begin])
            if spare < 0:
                break
            (self.folder / name(begin)).unlink(missing_ok=True)
            self.sealed = {other: keys for other, keys in self.sealed.items() if other != begin}

    def keep(self, first: int, keys: Iterable[int]) -> None:
        """Keep the ids of the segment that begins at basket `first` in a file."""
        ordered = np.sort(np.fromiter(keys, np.uint64))
        if not len(ordered):
            return
        body = ordered.tobytes()
        replace(self.folder / name(first), START + zlib.crc32(body).to_bytes(4, "little") + body)
        self.sealed = {**self.sealed, first: ordered}


def read_keys(file: Path) -> Keys | None:
    """The keys in a file of ids; None where it is damaged."""
    data = file.read_bytes()
    body = data[len(START) + 4 :]
    if not data.startswith(START) or data[len(START) :][:4] != zlib.crc32(body).to_bytes(4, "little"):
        return None
    return np.frombuffer(body, np.uint64)


def name(first: int) -> str:
    return f"ids-{first:020d}"
