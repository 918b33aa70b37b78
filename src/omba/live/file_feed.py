"""File feed: a file that rows are added to, or a folder that files are added to, taken in the order of names."""

from __future__ import annotations

import logging
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from omba.errors import InputError
from omba.live.gatherer import Gatherer
from omba.live.growing_file import GrowingFile
from omba.live.inbox import Inbox
from omba.live.records import utc_now
from omba.sources.formats import FORMATS, TEXT

log = logging.getLogger("omba")

BATCH = 1_000
"""Baskets that are handed on together."""
HEAD = 1_024
"""Bytes at the start by which a file is known again."""


class FileFeed:
    """A file or a folder as a source: reads what is new, hands on whole baskets with the position after them.

    Parameters
    ----------
    path
        The file, or the folder whose files are read in the order of their names.
    inbox
        Where baskets are handed to, and where the position is kept.
    given
        The columns that were named, by role.
    since
        The last time the model knows, for a source that is read the first time.
    """

    def __init__(self, path: Path, inbox: Inbox, given: Mapping[str, str | None], since: int | None = None) -> None:
        self.path, self.inbox, self.name = path, inbox, str(path.resolve())
        self.folder = path.is_dir()
        position = inbox.sources.get(self.name, {"since": since})
        self.since, self.heads = position.get("since"), dict(position.get("heads", {}))
        self.gatherer = Gatherer(repr(str(path)), given, position.get("kinds", {}), self.since)
        self.file: str | None = position.get("file")
        self.lines: GrowingFile | None = None
        self.listed: set[str] = set()
        if self.file is not None:
            self._resume(self.file, position["offset"])

    @property
    def counts(self) -> Counter[str]:
        """What became of rows and baskets that are not learned as they came."""
        return self.gatherer.counts

    def read(self) -> int:
        """Hand on what is new; how many baskets."""
        now, handed = utc_now(), 0
        while True:
            lines = self._lines()
            if lines is None:
                break
            self._check(lines)
            later = self._later()
            rows = lines.read(last=later is not None)
            name = lines.path.name
            self.gatherer.add([((name, begin), (name, end), row) for begin, end, row in rows], now)
            handed += self._hand_on(everything=not rows)
            if rows:
                continue
            if later is None:
                break
            self._open(later)
        return handed

    def flush(self) -> int:
        """Take the basket that waits for its end as whole."""
        if self.lines is None or not self.gatherer.pending:
            return 0
        self.gatherer.flush((self.lines.path.name, self.lines.offset), utc_now())
        return self._hand_on(everything=True)

    def acknowledge(self, before: int) -> None:
        """Baskets before this one are in a snapshot; files need not know."""

    def close(self) -> None:
        """Nothing is held open."""

    def _hand_on(self, everything: bool) -> int:
        baskets = self.gatherer.whole
        if not baskets or (len(baskets) < BATCH and not everything):
            return 0
        file, offset = self.gatherer.position
        self.heads = {name: head for name, head in self.heads.items() if name >= file}
        position = {"file": file, "offset": offset, "heads": self.heads, "kinds": self.gatherer.types.to_dict()}
        self.inbox.accept(baskets, source=(self.name, {**position, "since": self.since}))
        self.gatherer.whole = []
        return len(baskets)

    def _lines(self) -> GrowingFile | None:
        if self.lines is None:
            if not self.folder:
                self._open(self.path.name)
            elif (first := self._later()) is not None:
                self._open(first)
        return self.lines

    def _place(self, name: str) -> Path:
        return self.path / name if self.folder else self.path

    def _open(self, name: str, offset: int = 0) -> None:
        place = self._place(name)
        if not place.exists():
            raise InputError(f"there is no file {str(place)!r}: check the path")
        self.lines = GrowingFile(place, offset)
        self.file = name
        self.gatherer.begin_file(untyped=self.lines.format is TEXT)

    def _resume(self, name: str, offset: int) -> None:
        place = self._place(name)
        if not place.exists() and self.folder:
            # Read and tidied away; a basket that waited for its end is then in the journal, or it was not read at all.
            raise InputError(
                f"{str(place)!r}, which was being read, is gone: put it back until the next file has been begun"
            )
        self._open(name, offset)
        assert self.lines is not None
        self._check(self.lines)

    def _check(self, lines: GrowingFile) -> None:
        """Refuse a file that is not the one that was read before, or only a part of it."""
        try:
            with lines.path.open("rb") as stream:
                start = stream.read(HEAD)
            size = lines.path.stat().st_size
        except FileNotFoundError:
            raise InputError(f"{str(lines.path)!r} is gone: put it back, and give the same command again") from None
        name = lines.path.name
        if size < lines.offset:
            raise InputError(
                f"{str(lines.path)!r} has {size:,} bytes, and {lines.offset:,} were read of it: it was cut off or "
                "replaced; give what is new another name, or put files into a folder and follow that"
            )
        length, check = self.heads.get(name, (0, 0))
        if zlib.crc32(start[:length]) != check:
            raise InputError(
                f"{str(lines.path)!r} begins otherwise than when it was read before: it was replaced; give what is new "
                "another name, or put files into a folder and follow that"
            )
        self.heads[name] = (len(start), zlib.crc32(start))

    def _later(self) -> str | None:
        """The next file of the folder, in the order of names."""
        if not self.folder:
            return None
        places = [place for place in self.path.iterdir() if not place.name.startswith(".")]
        names = {place.name for place in places if place.suffix.lower() in FOLLOWED}
        at, new = self.file, names - self.listed if self.listed else set()
        self.listed |= names
        if at is None:
            return min(names, default=None)
        for name in sorted(name for name in new if name < at):
            log.warning("%r came after %r was begun and is passed over: files go in order of names", name, at)
        return min((name for name in names if name > at), default=None)


FOLLOWED = {ending for one in FORMATS if one.follows for ending in one.endings}
