"""Inbox: takes in baskets from many threads at once, and answers when they are on the disk.

Baskets that come while the disk is busy wait for it together and share the next sync (group commit), so that load
makes frames larger rather than syncs more frequent.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike
from time import monotonic
from typing import Any

from omba.baskets import Clock
from omba.errors import InputError, StoreError
from omba.live.records import Record, line, record, utc_now
from omba.live.spans import Spans
from omba.store import ModelFolder

SILENCE = 300.0
"""Seconds without a basket after which the clock on the wall may close a window."""

ARRIVAL, ARRIVALS = 1.0, 3_600
"""When baskets came is known to the second, for the last so many seconds in which some did."""


@dataclass(frozen=True)
class Receipt:
    """What became of baskets that are now safe: learned once each, however often they were sent."""

    accepted: int
    repeated: int


@dataclass(eq=False)
class Group:
    """What shares a frame."""

    keys: list[int] = field(default_factory=list)
    baskets: list[bytes] = field(default_factory=list)
    sources: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    repeated: int = 0
    latest: int | None = None
    done: bool = False
    error: StoreError | None = None


@dataclass(frozen=True, eq=False)
class Entered:
    """Baskets on their way to the disk, and what their receipt will be once they, and what they repeat, are there."""

    group: Group | None
    waits: set[Group]
    receipt: Receipt


class Inbox:
    """The accepting end of a model folder. One a folder; any number of threads."""

    def __init__(self, folder: str | PathLike[str], every: str | int = "1d", lateness: str | int = "0") -> None:
        self.folder = ModelFolder(folder)
        if self.folder.exists:
            # Where somebody learns into the folder, it is mended already.
            with suppress(StoreError), self.folder.lock():
                self.folder.mend_current()
        self.journal = self.folder.open_journal()
        manifest = self.folder.manifest()
        self.spans = Spans.parse(every, lateness)
        state = json.loads(self.journal.state) if self.journal.state else manifest.get("position") or {}
        self.sources: dict[str, Any] = dict(state.get("sources", {}))
        """How far each source was read."""
        self.clock = Clock(state.get("clock") or manifest.get("clock", "none"))
        self.latest: int | None = state.get("latest")
        """The latest time that was met, by the baskets or by the clock on the wall."""
        self.spans.check(self.clock)
        self._coming = Group()
        self._first: Group | None = None
        """The group with the first baskets of a stream, whose clock holds once they are on the disk."""
        self._unsafe: dict[int, Group] = {}
        """Keys of ids that wait for the disk."""
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._heard, self._marked = monotonic(), False
        self._arrivals: deque[tuple[int, float]] = deque([(self.journal.end, monotonic())], ARRIVALS)
        """How far the journal had come at some moments, the latest last."""

    @property
    def accepted(self) -> int:
        """Baskets taken in so far, since the model began."""
        return self.journal.end

    @property
    def repeated(self) -> int:
        """Baskets that came again, and were left out."""
        return self.journal.repeated

    def oldest(self, read: int) -> float:
        """How many seconds ago the oldest basket came that a learner has not read, which has come to number `read`."""
        if read >= self.accepted:
            return 0.0
        arrivals = list(self._arrivals)
        return monotonic() - next((moment for end, moment in arrivals if end > read), arrivals[0][1])

    def accept(
        self,
        baskets: Sequence[Mapping[str, Any] | Record],
        source: tuple[str, Mapping[str, Any]] | None = None,
        now: datetime | None = None,
    ) -> Receipt:
        """Take in baskets, all or none; back once they are on the disk.

        An id that was met before, among the last million, is left out. `source` tells how far a source was read with
        these baskets, and is kept with them; a source that is read by position has no need of ids, so there none are
        looked for.
        """
        return self.settle(self.enter(baskets, source, now))

    def enter(
        self,
        baskets: Sequence[Mapping[str, Any] | Record],
        source: tuple[str, Mapping[str, Any]] | None = None,
        now: datetime | None = None,
    ) -> Entered:
        """The first half of `accept`, which waits for nothing: baskets that cannot be used are refused here."""
        now = now or utc_now()
        records = [one if isinstance(one, Record) else record(one, now) for one in baskets]
        if not records and source is None:
            return Entered(None, set(), Receipt(0, 0))
        with self._lock:
            group, waits, accepted = self._join(records, source)
        self._heard = monotonic()
        return Entered(group, waits, Receipt(accepted, len(records) - accepted))

    def settle(self, entered: Entered) -> Receipt:
        """The second half: back once they are on the disk. Whoever comes first writes for all that have entered."""
        group, waits = entered.group, entered.waits
        if group is None:
            return entered.receipt
        self._commit(group)
        for other in waits - {group}:
            self._commit(other)
        error = next((other.error for other in (group, *waits) if other.error), None)
        if error is not None:
            raise StoreError(str(error)) from error
        return entered.receipt

    def mark(self, now: datetime | None = None, silence: float = SILENCE) -> bool:
        """If no basket has come for a while and the clock on the wall says that a window has ended, close it.

        To be called now and then. The journal is told, so that reading it again closes the window at the same place.
        """
        quiet = monotonic() - self._heard >= silence
        if self.clock is not Clock.DATETIME or self.latest is None or self._marked or not quiet:
            return False
        tick = Clock.DATETIME.read(now or utc_now())
        with self._lock:
            if not self.spans.closes(self.latest, tick, self.clock):
                return False
            group = self._coming
            group.latest = tick
            self._marked = True
        self._commit(group)
        if group.error:
            raise StoreError(str(group.error)) from group.error
        return True

    def close(self) -> None:
        """Let go of the folder; baskets under way are on the disk by then."""
        with self._writing:
            self.journal.close()

    def _join(
        self, records: list[Record], source: tuple[str, Mapping[str, Any]] | None
    ) -> tuple[Group, set[Group], int]:
        """Put what is new into the group that waits for the disk; with it, the groups that hold what is not."""
        clock = self.check_clock(records)
        group, waits, accepted = self._coming, set(), 0
        keys = [0 if source else one.key for one in records]
        known = self.journal.ids.contain(keys)
        for one, key, old in zip(records, keys, known, strict=True):
            if key and (earlier := self._unsafe.get(key)):
                waits.add(earlier)
                group.repeated += 1
            elif old:
                group.repeated += 1
            else:
                accepted += 1
                self._marked = False
                group.keys.append(key)
                group.baskets.append(one.line)
                group.latest = one.tick if group.latest is None else max(group.latest, one.tick)
                if key:
                    self._unsafe[key] = group
        if source:
            group.sources[source[0]] = source[1]
        if clock is not self.clock:
            # Known from here on, but not settled before the disk has these baskets.
            self.clock, self._first = clock, group
        return group, waits, accepted

    def _commit(self, group: Group) -> None:
        """Wait for the disk; who comes first writes for all that wait."""
        with self._writing:
            if group.done:
                return
            with self._lock:
                self._coming = Group()
            try:
                self._write(group)
            except StoreError as error:
                group.error = error
            with self._lock:
                for key in group.keys:
                    self._unsafe.pop(key, None)
                if group is self._first:
                    self._settle_clock(group)
            group.done = True

    def _settle_clock(self, first: Group) -> None:
        """The clock that came with the first baskets holds, unless the disk did not take them and nobody else waits."""
        waiting = self._coming if self._coming.keys else None
        self._first = None if first.error is None else waiting
        if first.error is not None and waiting is None:
            self.clock = Clock.NONE

    def check_clock(self, records: list[Record]) -> Clock:
        """Refuse a basket that tells time otherwise than those before it; else the clock of the stream with these."""
        clock = self.clock
        for one in records:
            if clock is Clock.NONE:
                self.spans.check(one.clock)
                clock = one.clock
            if one.clock is not clock:
                days = "counts days, as whole numbers" if clock is Clock.DAY else "has dates and times"
                raise InputError(f"a basket tells time by {one.clock.value}, but this stream {days}: keep to that")
        return clock

    def _write(self, group: Group) -> None:
        if not group.keys and not group.sources and group.latest is None:
            self.journal.repeat(group.repeated)
            return
        latest = max((tick for tick in (self.latest, group.latest) if tick is not None), default=None)
        sources = {**self.sources, **group.sources}
        state = line({"clock": self.clock.value, "latest": latest, "sources": sources})
        self.journal.append(group.keys, group.baskets, state, group.repeated)
        self.latest, self.sources = latest, sources
        now, (end, moment) = monotonic(), self._arrivals[-1]
        if end < self.journal.end and (now - moment >= ARRIVAL or len(self._arrivals) == 1):
            self._arrivals.append((self.journal.end, now))
        elif end < self.journal.end:
            self._arrivals[-1] = (self.journal.end, moment)
