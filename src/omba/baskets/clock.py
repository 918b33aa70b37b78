"""Clocks: how a stream tells time, and how a moment given by a person is read on it.

A stream keeps its times as 64-bit integers. On a `datetime` clock they are microseconds since 1970-01-01
(UTC where the data carry a zone, wall time where they do not); on a `day` clock they are the integer days
the data gave; on no clock at all, file order is all there is.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import Enum

import numpy as np

from omba.baskets.iso import EPOCH, FIRST_TICK, LAST_TICK, check_bounds, read_text, ticks
from omba.errors import InputError, shorten

Moment = datetime | date | np.datetime64 | str | int | float

MICROSECONDS = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
MOST_DAYS = 10**6
"""Whole numbers up to here, and down to its negative, are days."""


class Clock(Enum):
    """What the integers in `times` count."""

    NONE = "none"
    DAY = "day"
    DATETIME = "datetime"

    def read(self, moment: Moment) -> int:
        """The moment as this clock's integer.

        >>> Clock.DATETIME.read("1970-01-02")
        86400000000
        >>> Clock.DAY.read(12)
        12
        """
        if self is Clock.NONE:
            raise InputError(f"{moment!r} is a moment, but these baskets have no time: give a time column")
        if self is Clock.DAY:
            return _day(moment)
        return _microseconds(moment)

    def day(self, tick: int) -> int:
        """The number of the day a tick falls in: a day ends at midnight, in UTC where the data carry a zone."""
        return tick if self is Clock.DAY else tick // MICROSECONDS["d"]

    def show(self, tick: int) -> datetime | int:
        """The integer as a person would write it: a datetime, or a day number."""
        if self is not Clock.DATETIME:
            return int(tick)
        # The end of the last window there can be is a moment that no calendar has.
        return EPOCH + timedelta(microseconds=max(FIRST_TICK, min(int(tick), LAST_TICK)))


def _day(moment: Moment) -> int:
    try:
        day = int(moment)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{shorten(moment)} is not a day number: these baskets count days as integers") from None
    if abs(day) > MOST_DAYS:
        raise InputError(f"{shorten(moment)} is not a day number: days go from {-MOST_DAYS:,} to {MOST_DAYS:,}")
    return day


def _microseconds(moment: Moment) -> int:
    if isinstance(moment, bool | int | float):
        raise InputError(f"{moment!r} is a number, but these baskets have dates: give one such as '2017-10-01'")
    try:
        if isinstance(moment, str):
            return read_text(moment)
        if isinstance(moment, datetime):
            return check_bounds(ticks(moment))
        if isinstance(moment, date):
            return check_bounds(ticks(datetime(moment.year, moment.month, moment.day)))
        return check_bounds(int(np.array(moment, "datetime64[us]").astype(np.int64)))
    except (ValueError, OverflowError):
        raise InputError(
            f"{shorten(moment)} is not a date: write it as '2017-10-01' or '2017-10-01T08:30', of a year from 1000 on"
        ) from None
