"""Time spelling: the ways in which data write their times, and which of them a column or a growing file keeps to.

Numbers are days where all are small and whole; dates where they read as 20170131; seconds, milliseconds or microseconds
since 1970 where they are as large as those are today. Text is ISO, or one of the usual patterns of day, month and year.
A column keeps to one spelling, the first that reads all of its values. Times are of the years 1000 to 9999; what is
outside of them is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from typing import Any

from omba.baskets.clock import MOST_DAYS, Clock
from omba.baskets.iso import check_bounds, read_iso, read_text, ticks
from omba.baskets.spelling import as_number
from omba.errors import InputError

ISO_EXAMPLE = "YYYY-MM-DD hh:mm:ss"
"""How a person is told to write times."""

ISO, ZONED, DAYS, DATES = "iso", "iso with a zone", "days", "%Y%m%d"
"""The names of spellings; the others are a unit of `SINCE_1970`, or a pattern of `PATTERNS`."""

SINCE_1970 = {
    "seconds": (10**8, 10**11, 10**6),
    "milliseconds": (10**11, 10**14, 10**3),
    "microseconds": (10**14, 10**17, 1),
}
"""What large numbers count: from the least one on, before the bound (1973 to 5138), and microseconds in one."""
FIRST_DATE, LAST_DATE = 19000101, 21001231
"""Whole numbers between these are dates, if the calendar has them."""

_DAYS = ["%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"]
_HOURS = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]
PATTERNS = [day + hour for hour, day in product(_HOURS, _DAYS)]
"""The usual patterns, in the order they are tried: month before day where both would do."""


@dataclass(frozen=True)
class TimeSpelling:
    """One way to write times.

    Parameters
    ----------
    name
        `iso` or `iso with a zone`, `days`, a unit since 1970 such as `seconds`, or a pattern of `strptime`.

    >>> TimeSpelling("%d/%m/%Y").read("25/12/2017") == TimeSpelling("iso").read("2017-12-25")
    True
    """

    name: str

    @property
    def clock(self) -> Clock:
        """What the ticks of these times count."""
        return Clock.DAY if self.name == DAYS else Clock.DATETIME

    def read(self, value: Any) -> int | None:
        """The tick of a time, or None where it is not written like this."""
        try:
            if self.name == DAYS or self.name == DATES or self.name in SINCE_1970:
                return self._read_number(value if type(value) is int else as_number(value))
            if self.name in (ISO, ZONED):
                tick, zoned = read_iso(str(value).strip())
                return tick if zoned == (self.name == ZONED) else None
            return check_bounds(ticks(datetime.strptime(str(value).strip(), self.name)))
        except (ValueError, OverflowError):
            return None

    def _read_number(self, number: float | None) -> int | None:
        if number is None or number_spelling(number, number, number == round(number)) != self.name:
            return None
        if self.name == DAYS:
            return int(number)
        if self.name == DATES:
            return ticks(datetime.strptime(str(int(number)), DATES))
        return round(number * SINCE_1970[self.name][2])

    @classmethod
    def of(cls, values: Sequence[Any], title: str) -> TimeSpelling:
        """The first spelling that reads all the times.

        >>> TimeSpelling.of(["25/12/2017 08:30"], "a file")
        TimeSpelling(name='%d/%m/%Y %H:%M')
        """
        numbers = _numbers(values)
        if numbers:
            return cls(_name_numbers(numbers, title))
        for name in (ISO, ZONED, *PATTERNS):
            if all(cls(name).read(value) is not None for value in values):
                return cls(name)
        odd = next(value for value in values if cls(ISO).read(value) is None)
        raise InputError(
            f"{title} has the time {odd!r}, and no spelling reads it and the others: write times as {ISO_EXAMPLE}, all "
            "with a zone, or none"
        )


def number_spelling(low: float, high: float, whole: bool) -> str | None:
    """What numbers between these count, as the name of a spelling; None where they are no times.

    >>> number_spelling(1, 365, True), number_spelling(20170101, 20171231, True), number_spelling(1.5e9, 1.6e9, False)
    ('days', '%Y%m%d', 'seconds')
    """
    if whole and low >= -MOST_DAYS and high <= MOST_DAYS:
        return DAYS
    if whole and low >= FIRST_DATE and high <= LAST_DATE:
        return DATES
    return next((unit for unit, (least, bound, _) in SINCE_1970.items() if least <= low and high < bound), None)


def read_time(value: object) -> tuple[Clock, int]:
    """A time that comes alone, with no column to tell its spelling: ISO, or a number; else a ValueError.

    >>> read_time(12), read_time("20170102") == read_time("2017-01-02")
    ((<Clock.DAY: 'day'>, 12), True)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        name = number_spelling(value, value, value == value // 1)
        tick = TimeSpelling(name).read(value) if name else None
        if name is None or tick is None:
            raise ValueError(value)
        return TimeSpelling(name).clock, tick
    if isinstance(value, datetime):
        return Clock.DATETIME, check_bounds(ticks(value))
    if not isinstance(value, str):
        raise ValueError(value)
    return Clock.DATETIME, read_text(value)


def is_missing(value: object) -> bool:
    """Whether a time is not there at all, rather than badly written."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _numbers(values: Sequence[Any]) -> list[float] | None:
    try:
        numbers = [as_number(value) for value in values]
    except ValueError:
        return None
    return [number for number in numbers if number is not None]


def _name_numbers(numbers: Sequence[float], title: str) -> str:
    low, high = min(numbers), max(numbers)
    name = number_spelling(low, high, all(number == round(number) for number in numbers))
    if name is None or any(TimeSpelling(name).read(number) is None for number in numbers):
        raise InputError(
            f"the times of {title} go from {low:,.15g} to {high:,.15g}, neither days nor seconds since 1970: write "
            f"them as {ISO_EXAMPLE}"
        )
    return name
