"""Spans: which windows of event time are over, given how far time has moved on and how late baskets may come."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from omba.baskets import Clock, Every
from omba.baskets.clock import MICROSECONDS
from omba.errors import InputError

LONGEST = 366 * MICROSECONDS["d"]
"""The longest that a window may wait for late baskets."""


@dataclass(frozen=True)
class Spans:
    """Window k is [k·every, (k+1)·every), and is over once a moment `lateness` or more after its end was met.

    >>> Spans.parse("1d", "2h").closes(0, 25 * 3_600_000_000, Clock.DATETIME)
    False
    >>> Spans.parse("1d", "2h").closes(0, 26 * 3_600_000_000, Clock.DATETIME)
    True
    """

    every: Every
    count: int
    unit: str

    @classmethod
    def parse(cls, every: str | int | Every, lateness: str | int = "0") -> Spans:
        match = re.match(r"^\s*(\d+)\s*([smhd]?)\s*$", str(lateness).lower())
        if not match or (int(match[1]) and not match[2]):
            raise InputError(f"a lateness of {lateness!r} is not known: write '0', '30m', '2h' or '1d'")
        if int(match[1]) * MICROSECONDS[match[2] or "d"] > LONGEST:
            raise InputError(
                f"a lateness of {lateness!r} is longer than a year: windows would hardly ever close; give less"
            )
        return cls(Every.parse(every), int(match[1]), match[2] or "d")

    def check(self, clock: Clock) -> None:
        """Refuse a clock on which there are no such windows."""
        self.every.on(clock)

    def lateness(self, clock: Clock) -> int:
        """How late a basket may come, in the clock's ticks; where days are counted, whole days begun."""
        ticks = self.count * MICROSECONDS[self.unit]
        return ticks if clock is Clock.DATETIME else -(-ticks // MICROSECONDS["d"])

    def by_time(self) -> bool:
        """Whether windows are spans of time; else they are so many baskets each."""
        return self.every.unit != "baskets"

    def start(self, tick: int, clock: Clock) -> int:
        """The beginning of the window a moment falls in."""
        return self.bounds(tick, clock)[0]

    def bounds(self, tick: int, clock: Clock) -> tuple[int, int]:
        """The window a moment falls in."""
        span = self.every.on(clock)
        key = int(span.keys(np.array([tick], np.int64), clock)[0])
        return span.bounds(key, clock)

    def open_from(self, latest: int, clock: Clock) -> int:
        """Where the oldest window begins that is still open when `latest` has been met."""
        # The window of (latest − lateness) ends after that moment, and all before it end at it or earlier.
        return self.start(latest - self.lateness(clock), clock)

    def closes(self, latest: int, now: int, clock: Clock) -> bool:
        """Whether the window of `latest` is over when time has moved on to `now`."""
        return self.by_time() and self.open_from(now, clock) > self.start(latest, clock)
