"""Times: timestamps, dates, day numbers and their many spellings, as the integers of a clock.

The result is microseconds since 1970 (in UTC where the data carry a zone) or whole days as given. What a text
column holds is decided by all its values together: the first spelling that reads every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from omba.baskets import Clock
from omba.errors import InputError
from omba.sources.labels import FRACTIONS, INTEGERS
from omba.sources.source import Column

ISO = "YYYY-MM-DD hh:mm:ss"
ZONE = r"\d[ ]?(Z|z|UTC|GMT|[+-]\d{1,2}(:?\d{2})?|[A-Z][A-Za-z]+/[A-Za-z_/]+)\s*$"
"""The end of a time with a zone; a date such as 2017-01-02 ends in digits too, hence `CLOCK`."""
CLOCK = r"\d:\d"

_DAYS = ["%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"]
_HOURS = ["", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p"]
SPELLINGS = [day + hour for hour, day in product(_HOURS, _DAYS)]

SINCE_1970 = [
    ("seconds", 10**8, 10**11, 10**6),
    ("milliseconds", 10**11, 10**14, 10**3),
    ("microseconds", 10**14, 10**17, 1),
]
"""Whole numbers as large as these count from 1970 (1973 to 5138); small ones are days."""
MOST_DAYS = 10**6


@dataclass(frozen=True)
class Times:
    """SQL for the ticks of a clock, and what is worth knowing about how they were read."""

    sql: str
    clock: Clock
    note: str | None = None


def times(column: Column) -> Times:
    """How to read the time column."""
    kind, x = column.type, column.sql
    if kind.startswith("TIMESTAMP WITH TIME ZONE"):
        return Times(f"epoch_us({x})", Clock.DATETIME, "times carry a zone and are kept in UTC")
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return Times(f"epoch_us(CASE WHEN isfinite({x}) THEN {x}::TIMESTAMP END)", Clock.DATETIME)
    if kind in INTEGERS or kind.startswith(FRACTIONS) or kind in ("UBIGINT", "HUGEINT"):
        return _numbers(column, f"CASE WHEN isfinite({x}::DOUBLE) THEN {x}::DOUBLE END")
    if kind != "VARCHAR":
        raise InputError(f"time column {column.name!r} of {column.source.title} holds {kind.lower()}: give another one")
    if column.all("trim(x) = '' OR try_cast(x AS BIGINT) IS NOT NULL"):
        return _numbers(column, f"try_cast({x} AS DOUBLE)")
    return _text(column)


def _numbers(column: Column, sql: str) -> Times:
    found = (
        f"SELECT min(x), max(x), count(x) FILTER (WHERE x <> round(x)) FROM (SELECT {sql} AS x FROM {column.relation})"
    )
    low, high, broken = column.engine.execute(found)[0]
    if low is None:
        return Times("NULL::BIGINT", Clock.DAY)
    if not broken and low >= -MOST_DAYS and high <= MOST_DAYS:
        return Times(f"({sql})::BIGINT", Clock.DAY, f"{column.name!r} counts days, from {low:.0f} to {high:.0f}")
    date = f"try_strptime(({sql})::BIGINT::VARCHAR, '%Y%m%d')"
    if (
        not broken
        and low >= 19000101
        and high <= 21001231
        and column.all(f"{date.replace(column.sql, 'x')} IS NOT NULL")
    ):
        return Times(f"epoch_us({date})", Clock.DATETIME, f"{column.name!r} was read as dates such as {low:.0f}")
    for unit, least, bound, scale in SINCE_1970:
        if least <= low and high < bound:
            note = f"{column.name!r} was read as {unit} since 1970"
            return Times(f"round(({sql}) * {scale})::BIGINT", Clock.DATETIME, note)
    raise InputError(
        f"time column {column.name!r} of {column.source.title} goes from {low:,.15g} to {high:,.15g}, neither days nor "
        "seconds since 1970: give times as dates, as in 2017-10-01, or as day numbers"
    )


def _text(column: Column) -> Times:
    x = f"nullif(trim({column.sql}), '')"
    iso = "trim(x) = '' OR try_cast(x AS TIMESTAMPTZ) IS NOT NULL"
    if column.all(iso):
        return _iso(column, x)
    for spelling in SPELLINGS:
        if column.all(f"trim(x) = '' OR {_spelt('trim(x)', spelling)} IS NOT NULL"):
            return Times(f"epoch_us({_spelt(x, spelling)})", Clock.DATETIME, _remark(column, spelling))
    best = max([iso, *(f"{_spelt('x', spelling)} IS NOT NULL" for spelling in SPELLINGS)], key=lambda c: column.ask(c))
    wrong = f"trim(x) <> '' AND NOT ({best})"
    raise InputError(
        f"time column {column.name!r} holds {column.ask(wrong)[0]:,} values of {column.total():,} that are no time "
        f"({column.first(wrong)}): write times as {ISO}, all in one spelling, or give --time another column"
    )


def _iso(column: Column, x: str) -> Times:
    zoned = f"regexp_matches(x, '{ZONE}') AND regexp_matches(x, '{CLOCK}')"
    filled = "trim(x) <> ''"
    with_zone, values = column.ask(zoned, filled)
    if not with_zone:
        return Times(f"epoch_us(try_cast({x} AS TIMESTAMP))", Clock.DATETIME)
    if with_zone < values:
        naive = f"{filled} AND NOT ({zoned})"
        raise InputError(
            f"time column {column.name!r} mixes {with_zone:,} times with a zone and {values - with_zone:,} without "
            f"({column.first(naive)}): write all of them with a zone, or none"
        )
    zones = f"SELECT count(DISTINCT regexp_extract({column.sql}, '{ZONE}', 1)) FROM {column.relation}"
    count = column.engine.execute(zones)[0][0]
    note = "times carry a zone and are kept in UTC" + (f"; {count} zones were mixed" if count > 1 else "")
    return Times(f"epoch_us(try_cast({x} AS TIMESTAMPTZ))", Clock.DATETIME, note)


def _spelt(x: str, spelling: str) -> str:
    # A year of two digits passes as %Y, for the year 17: such a reading is no reading.
    return f"CASE WHEN year(try_strptime({x}, '{spelling}')) >= 1000 THEN try_strptime({x}, '{spelling}') END"


def _remark(column: Column, spelling: str) -> str:
    turned = spelling.replace("%m", "?").replace("%d", "%m").replace("?", "%d")
    both = turned in SPELLINGS and turned != spelling and column.all(f"{_spelt('trim(x)', turned)} IS NOT NULL")
    doubt = "; day and month could be the other way round: write 2017-10-01 to be sure" if both else ""
    return f"{column.name!r} was read as {spelling}{doubt}"
