"""Spelling: how a growing file writes its times, settled by the rows that are there first and kept from then on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from omba.baskets import Clock
from omba.errors import InputError
from omba.sources.times import MOST_DAYS, SINCE_1970, SPELLINGS

ISO, DAYS, DATES = "iso", "days", "%Y%m%d"
SCALES = {unit: scale for unit, _, _, scale in SINCE_1970}


@dataclass(frozen=True)
class Spelling:
    """One way to write times: ISO, days or seconds and the like since 1970 as numbers, or a pattern of `strptime`."""

    name: str

    @property
    def clock(self) -> Clock:
        return Clock.DAY if self.name == DAYS else Clock.DATETIME

    def read(self, value: Any) -> int | None:
        """The tick of a time, or None where it is not written like this."""
        try:
            if self.name == DAYS:
                return int(value)
            if self.name in SCALES:
                return round(float(value) * SCALES[self.name])
            if self.name == ISO:
                return Clock.DATETIME.read(str(value).strip())
            moment = datetime.strptime(str(value).strip(), self.name)
            # A year of two digits passes as %Y, for the year 17.
            return Clock.DATETIME.read(moment) if moment.year >= 1000 else None
        except (ValueError, OverflowError):
            return None

    @classmethod
    def of(cls, values: Sequence[Any], title: str) -> Spelling:
        """The first spelling that reads all the times.

        >>> Spelling.of(["25/12/2017 08:30"], "a file")
        Spelling(name='%d/%m/%Y %H:%M')
        """
        numbers = _numbers(values)
        if numbers is not None:
            return cls(_unit(numbers, title))
        for name in (ISO, *SPELLINGS):
            if all(cls(name).read(value) is not None for value in values):
                return cls(name)
        odd = next(value for value in values if cls(ISO).read(value) is None)
        raise InputError(
            f"{title} has the time {odd!r}, and no spelling reads it and the others: write times as YYYY-MM-DD hh:mm:ss"
        )


def _numbers(values: Sequence[Any]) -> list[float] | None:
    try:
        return [float(value) for value in values]
    except ValueError:
        return None


def _unit(numbers: Sequence[float], title: str) -> str:
    low, high = min(numbers), max(numbers)
    whole = all(number == round(number) for number in numbers)
    if whole and low >= -MOST_DAYS and high <= MOST_DAYS:
        return DAYS
    if whole and all(Spelling(DATES).read(round(number)) is not None for number in numbers):
        return DATES
    for unit, least, bound, _ in SINCE_1970:
        if least <= low and high < bound:
            return unit
    raise InputError(
        f"the times of {title} go from {low:,.15g} to {high:,.15g}, neither days nor seconds since 1970: write them as "
        "YYYY-MM-DD hh:mm:ss"
    )
