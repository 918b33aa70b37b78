"""Clocks: how a stream tells time, and how a moment given by a person is read on it.

A stream keeps its times as 64-bit integers. On a `datetime` clock they are microseconds since 1970-01-01
(UTC where the data carry a zone, wall time where they do not); on a `day` clock they are the integer days
the data gave; on no clock at all, file order is all there is.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from enum import Enum

import numpy as np

from omba.errors import InputError

Moment = datetime | date | np.datetime64 | str | int | float

MICROSECONDS = {"s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
EPOCH = datetime(1970, 1, 1)


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
        return EPOCH + timedelta(microseconds=int(tick)) if self is Clock.DATETIME else int(tick)


def _day(moment: Moment) -> int:
    try:
        return int(moment)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise InputError(f"{moment!r} is not a day number: these baskets count days as integers") from None


def _microseconds(moment: Moment) -> int:
    if isinstance(moment, bool | int | float):
        raise InputError(f"{moment!r} is a number, but these baskets have dates: give one such as '2017-10-01'")
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise InputError(f"{moment!r} is not a date: write it as '2017-10-01' or '2017-10-01T08:30'") from None
    if isinstance(moment, datetime):
        return ticks(moment)
    if isinstance(moment, date):
        return ticks(datetime(moment.year, moment.month, moment.day))
    return int(np.array(moment, "datetime64[us]").astype(np.int64))


def ticks(moment: datetime) -> int:
    """Microseconds since 1970, in UTC where the moment has a zone."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
