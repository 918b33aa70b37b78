"""Windows: a stream cut into the slices the model learns one by one (paper, section 5: one-day windows)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.baskets.clock import MICROSECONDS, MOST_DAYS, Clock
from omba.errors import InputError

DEFAULT_COUNT = 1_000
"""Baskets a window where the stream has no clock."""

DAYS = {"d": 1, "h": 1 / 24, "m": 1 / 1440, "week": 7, "month": 31}
MOST_COUNT = 10**9
"""Days of each unit, and units of a window at most."""

_SPAN = re.compile(r"^\s*(\d*)\s*([a-z]*)\s*$")
_NAMES = {
    "d": "d", "day": "d", "days": "d",
    "h": "h", "hour": "h", "hours": "h",
    "m": "m", "min": "m", "minute": "m", "minutes": "m",
    "w": "week", "week": "week", "weeks": "week",
    "mo": "month", "month": "month", "months": "month",
}  # fmt: skip

YEARS = 100
MOST = {
    "baskets": 10**9, "m": YEARS * 366 * 24 * 60, "h": YEARS * 366 * 24, "d": YEARS * 366, "week": YEARS * 53,
    "month": YEARS * 12,
}  # fmt: skip
"""The longest windows: a century, or a thousand million baskets."""


@dataclass(frozen=True)
class Every:
    """How long a window is: so many baskets, or so many units of time.

    Days and hours are counted from 1970-01-01, so that the same moment falls in the same window wherever a
    stream begins; weeks begin on Monday, months on the first.

    Parameters
    ----------
    count
        How many units.
    unit
        `baskets`, or a unit of time: `m`, `h`, `d`, `week` or `month`.

    >>> Every.parse("7d")
    Every(count=7, unit='d')
    >>> Every.parse(500)
    Every(count=500, unit='baskets')
    """

    count: int
    unit: str

    @classmethod
    def parse(cls, every: str | int | Every) -> Every:
        if isinstance(every, Every):
            return every
        match = _SPAN.match(str(every).lower())
        count = int(match[1] or 1) if match else 0
        unit = "baskets" if match and match[1] and not match[2] else _NAMES.get(match[2], "") if match else ""
        if count * DAYS.get(unit, 0) > MOST_DAYS or count > MOST_COUNT:
            raise InputError(f"a window of {str(every)[:60]!r} is too long: it may be {MOST_DAYS:,} days at most")
        if count < 1 or not unit:
            raise InputError(
                f"a window of {every!r} is not known: write '1d', '1h', '7d', 'week', 'month', or a number of baskets"
            )
        if count > MOST[unit]:
            raise InputError(f"a window of {every!r} is too long: it may have up to {MOST[unit]:,} of these")
        return cls(count, unit)

    def on(self, clock: Clock) -> Every:
        """This span on a given clock: a stream without time falls back to a number of baskets."""
        if self.unit == "baskets":
            return self
        if clock is Clock.NONE:
            return Every(DEFAULT_COUNT, "baskets")
        if clock is Clock.DAY and self.unit in ("h", "m"):
            raise InputError(
                f"a window of '{self.count}{self.unit}' is finer than these baskets, which count whole days"
            )
        return self

    def keys(self, times: NDArray[np.int64], clock: Clock) -> NDArray[np.int64]:
        """The number of the window each time falls in."""
        if self.unit == "week":
            days = times if clock is Clock.DAY else times // MICROSECONDS["d"]
            # 1970-01-01 was a Thursday, three days after a Monday; day numbers have no weekday to respect.
            return (days + (0 if clock is Clock.DAY else 3)) // (7 * self.count)
        if self.unit == "month":
            if clock is Clock.DAY:
                return times // (30 * self.count)
            return times.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64) // self.count
        unit = 1 if clock is Clock.DAY else MICROSECONDS[self.unit]
        return times // (unit * self.count)

    def bounds(self, key: int, clock: Clock) -> tuple[int, int]:
        """First tick of window `key`, and of the one after it."""
        if self.unit == "month" and clock is Clock.DATETIME:
            months = np.array([key, key + 1], dtype=np.int64) * self.count
            first, after = months.astype("datetime64[M]").astype("datetime64[us]").astype(np.int64)
            return int(first), int(after)
        if clock is Clock.DAY:
            span, shift = self.count * {"week": 7, "month": 30}.get(self.unit, 1), 0
        elif self.unit == "week":
            span, shift = 7 * self.count * MICROSECONDS["d"], 3 * MICROSECONDS["d"]
        else:
            span, shift = self.count * MICROSECONDS[self.unit], 0
        return key * span - shift, (key + 1) * span - shift


def runs(keys: NDArray[np.int64]) -> Iterator[tuple[int, int, int]]:
    """(key, first, after) of each run of equal keys."""
    if len(keys) == 0:
        return
    edges = np.flatnonzero(np.diff(keys)) + 1
    for first, after in zip([0, *edges.tolist()], [*edges.tolist(), len(keys)], strict=True):
        yield int(keys[first]), first, after
