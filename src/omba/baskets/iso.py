"""ISO: dates and times as ISO 8601 writes them, and a little looser. Whoever is given one as text reads it here.

Times are of the years 1000 to 9999; a year of two digits would pass for the year 17, which is no reading.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

EPOCH = datetime(1970, 1, 1)


def ticks(moment: datetime) -> int:
    """Microseconds since 1970, in UTC where the moment has a zone."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


FIRST_YEAR = 1000
FIRST_TICK = ticks(datetime(FIRST_YEAR, 1, 1))
LAST_TICK = ticks(datetime(9999, 12, 31, 23, 59, 59, 999_999))
"""Times lie between these."""

ZONE = r"(Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2}){0,2}|[A-Z][A-Za-z]+/[A-Za-z_/]+)"
"""A zone as it ends a time: UTC, an offset or the name of a place. DuckDB and Python read this pattern alike."""
_ISO = re.compile(
    r"([0-9]{4})([-/])([0-9]{1,2})\2([0-9]{1,2})"
    rf"(?:(?:T| +)([0-9]{{1,2}}):([0-9]{{2}})(?::([0-9]{{2}})(?:\.([0-9]+))?)?(?: ?{ZONE})?)?"
)


def read_iso(text: str) -> tuple[int, bool]:
    """The tick of a time in ISO, and whether it had a zone; what is not ISO is a ValueError.

    >>> read_iso("1970-01-02T01:00+01:00"), read_iso("1970-1-2")
    ((86400000000, True), (86400000000, False))
    """
    if len(text) in (10, 16, 19, 26) and text[4] == text[7] == "-" and text[10:11] in "T " and text[13:14] in ":":
        # The usual forms; Python reads them quicker, and to the same, but for midnight as 24:00.
        with suppress(ValueError):
            usual = datetime.fromisoformat(text)
            return check_bounds(ticks(usual)), usual.tzinfo is not None
    found = _ISO.fullmatch(text)
    if found is None:
        raise ValueError(text)
    year, _, month, day, hour, minute, second, fraction, zone = found.groups()
    since = timedelta(
        hours=int(hour or 0),
        minutes=int(minute or 0),
        seconds=int(second or 0),
        microseconds=int(f"{fraction or 0:0<6}"[:6]),
    )
    if int(minute or 0) > 59 or int(second or 0) > 59 or since > timedelta(days=1):
        raise ValueError(text)
    moment = datetime(int(year), int(month), int(day)) + since
    tick = check_bounds(ticks(moment if zone is None else moment.replace(tzinfo=_zone(zone))))
    return tick, zone is not None


def read_text(text: str) -> int:
    """The tick of a time that a person or a program wrote, with a zone or without; else a ValueError.

    >>> read_text("19700102") == read_text("1970-1-2") == read_text("1970-01-01T23:30-00:30")
    True
    """
    try:
        # Python reads the same and more of ISO 8601, and quicker; what it does not read may be of the looser kind.
        return check_bounds(ticks(datetime.fromisoformat(text)))
    except (ValueError, OverflowError):
        with suppress(OverflowError):
            return read_iso(text.strip())[0]
        raise ValueError(text) from None


def check_bounds(tick: int) -> int:
    """The tick, if it is of the years that times have; else a ValueError."""
    if not FIRST_TICK <= tick <= LAST_TICK:
        raise ValueError(tick)
    return tick


def _zone(name: str) -> tzinfo:
    if name in ("Z", "UTC", "GMT"):
        return UTC
    if name[0] not in "+-":
        try:
            return ZoneInfo(name)
        except (OSError, KeyError):
            raise ValueError(name) from None
    digits = name[1:].replace(":", "").ljust(6, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:4]), seconds=int(digits[4:]))
    return timezone(-offset if name[0] == "-" else offset)
