"""Times: SQL for timestamps, dates, day numbers and their many spellings, as the integers of a clock.

The result is microseconds since 1970 (in UTC where the data carry a zone) or whole days as given. What a text
column holds is decided by all its values together: the first spelling (`omba.baskets.time_spelling`) that reads every
one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from omba.baskets import Clock
from omba.baskets.iso import FIRST_TICK, FIRST_YEAR, LAST_TICK, ZONE
from omba.baskets.time_spelling import DATES, DAYS, ISO_EXAMPLE, PATTERNS, SINCE_1970, number_spelling
from omba.errors import InputError
from omba.sources.labels import FRACTIONS, INTEGERS, LARGE
from omba.sources.source import Column

ZONED = rf"[0-9] ?{ZONE}\s*$"
"""The end of a time with a zone; a date such as 2017-01-02 ends in digits too, hence `OF_DAY`."""
OF_DAY = r"[0-9]:[0-9]"


@dataclass(frozen=True)
class Times:
    """SQL for the ticks of a clock, and what is worth knowing about how they were read."""

    sql: str
    clock: Clock
    note: str | None = None


def read_times(column: Column) -> Times:
    """How to read the time column."""
    kind, x = column.type, column.sql
    if kind.startswith("TIMESTAMP WITH TIME ZONE"):
        return Times(
            _within_years(f"epoch_us(CASE WHEN isfinite({x}) THEN {x} END)"),
            Clock.DATETIME,
            "times carry a zone and are kept in UTC",
        )
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return Times(_within_years(f"epoch_us(CASE WHEN isfinite({x}) THEN {x}::TIMESTAMP END)"), Clock.DATETIME)
    if kind in INTEGERS or kind.startswith(FRACTIONS) or kind in LARGE | {"UBIGINT"}:
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
    spelling = number_spelling(low, high, not broken)
    if spelling == DAYS:
        return Times(f"({sql})::BIGINT", Clock.DAY, f"{column.name!r} counts days, from {low:.0f} to {high:.0f}")
    if spelling == DATES:
        date = f"try_strptime(({sql})::BIGINT::VARCHAR, '{DATES}')"
        if column.all(f"{date.replace(column.sql, 'x')} IS NOT NULL"):
            return Times(f"epoch_us({date})", Clock.DATETIME, f"{column.name!r} was read as dates such as {low:.0f}")
    elif spelling is not None:
        note = f"{column.name!r} was read as {spelling} since 1970"
        return Times(f"round(({sql}) * {SINCE_1970[spelling][2]})::BIGINT", Clock.DATETIME, note)
    raise InputError(
        f"time column {column.name!r} of {column.source.title} goes from {low:,.15g} to {high:,.15g}, neither days nor "
        "seconds since 1970: give times as dates, as in 2017-10-01, or as day numbers"
    )


def _text(column: Column) -> Times:
    x = f"nullif(trim({column.sql}), '')"
    years = f"TIMESTAMPTZ '{FIRST_YEAR}-01-01' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999'"
    iso = f"trim(x) = '' OR try_cast(trim(x) AS TIMESTAMPTZ) BETWEEN {years}"
    if column.all(iso):
        return _iso(column, x)
    for pattern in PATTERNS:
        if column.all(f"trim(x) = '' OR {_parse('trim(x)', pattern)} IS NOT NULL"):
            return Times(_parse(x, pattern), Clock.DATETIME, _remark(column, pattern))
    best = max([iso, *(f"{_parse('x', pattern)} IS NOT NULL" for pattern in PATTERNS)], key=lambda c: column.ask(c))
    wrong = f"trim(x) <> '' AND ({best}) IS NOT TRUE"
    raise InputError(
        f"time column {column.name!r} holds {column.ask(wrong)[0]:,} values of {column.total():,} that are no time "
        f"({column.first(wrong)}): write times as {ISO_EXAMPLE}, all in one spelling, or give --time another column"
    )


def _iso(column: Column, x: str) -> Times:
    zoned = f"regexp_matches(x, '{ZONED}') AND regexp_matches(x, '{OF_DAY}')"
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
    zones = f"SELECT count(DISTINCT regexp_extract({column.sql}, '{ZONED}', 1)) FROM {column.relation}"
    count = column.engine.execute(zones)[0][0]
    note = "times carry a zone and are kept in UTC" + (f"; {count} zones were mixed" if count > 1 else "")
    return Times(f"epoch_us(try_cast({x} AS TIMESTAMPTZ))", Clock.DATETIME, note)


def _within_years(tick: str) -> str:
    """SQL for a tick within the years that are times; null outside of them."""
    return f"CASE WHEN {tick} BETWEEN {FIRST_TICK} AND {LAST_TICK} THEN {tick} END"


def _parse(x: str, pattern: str) -> str:
    moment = f"try_strptime({x}, '{pattern}')"
    # DuckDB reads 'infinity' by any pattern. A year after 9999 is read by none.
    return f"CASE WHEN year({moment}) >= {FIRST_YEAR} AND lower({x}) NOT LIKE '%inf%' THEN epoch_us({moment}) END"


def _remark(column: Column, pattern: str) -> str:
    turned = pattern.replace("%m", "?").replace("%d", "%m").replace("?", "%d")
    both = turned in PATTERNS and turned != pattern and column.all(f"{_parse('trim(x)', turned)} IS NOT NULL")
    doubt = "; day and month could be the other way round: write 2017-10-01 to be sure" if both else ""
    return f"{column.name!r} was read as {pattern}{doubt}"
