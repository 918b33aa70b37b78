"""Roles: the columns of a Spark data frame by what they stand for, of their types, with the drop reason of each row.

What a row means is said in `omba.baskets`, for Spark as for every other reader. Spark does not look at the values
before it is asked for baskets, so it takes fewer spellings: times are timestamps, dates or days; numbers are numbers.
"""

from __future__ import annotations

from fnmatch import translate
from typing import Any

from omba.baskets import Clock
from omba.baskets.clock import MICROSECONDS, MOST_DAYS
from omba.baskets.identity import Identity
from omba.baskets.iso import FIRST_TICK, LAST_TICK
from omba.baskets.reasons import EXCLUDED, UNPAID, drop_reason_sql
from omba.baskets.spelling import ZERO_FRACTION
from omba.errors import InputError
from omba.sources.columns import Columns

WHOLE = ("byte", "short", "integer", "long", "tinyint", "smallint", "int", "bigint")
FRACTIONS = ("float", "double", "decimal")
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def take_roles(frame: Any, columns: Columns) -> tuple[Any, Clock]:
    """The frame with a column for each role it has, `drop_reason` (null where a row is kept), and how it tells time."""
    from pyspark.sql import functions as F

    kinds = dict(frame.dtypes)
    values = {
        role: label(frame[name], name, kinds[name])
        for role, name in columns.roles.items()
        if role in ("basket", "product", "user")
    }
    clock = Clock.NONE
    if "time" in columns.roles:
        name = columns.roles["time"]
        values["time"], clock = time(frame[name], name, kinds[name])
    for role in ("price", "quantity"):
        if role in columns.roles:
            values[role] = number(frame[columns.roles[role]], role, columns.roles[role], kinds[columns.roles[role]])
    attributes = [frame[name].alias(f"a{i}") for i, name in enumerate(columns.attributes.values())]
    rows = frame.select(*(value.alias(role) for role, value in values.items()), *attributes)
    if "basket" not in values:
        rows = rows.withColumn("basket", F.concat_ws(" ", F.col("user").cast("string"), F.expr(_day(clock))))
    return rows.withColumn("drop_reason", F.expr(drop_reason_sql(columns.roles, quote))), clock


def fold_rows(rows: Any, identity: Identity) -> Any:
    """The rows with each product under the code it goes by, what is left out marked so, and users who are customers."""
    from pyspark.sql import functions as F

    product = F.col("product").cast("string")
    if identity.fold:
        pairs = [F.lit(text) for pair in identity.fold.items() for text in pair]
        product = F.coalesce(F.create_map(*pairs)[product], product)
    if identity.fold or identity.exclude:
        kept = F.col("drop_reason")
        rows = rows.withColumn("product", product)
        for pattern in identity.exclude:
            odd = F.lower("product").rlike(translate(pattern.lower()).replace("\\Z", "$").replace("\\z", "$"))
            kept = F.coalesce(kept, F.when(odd, EXCLUDED))
        rows = rows.withColumn("drop_reason", kept)
    if identity.nobody and "user" in rows.columns:
        known = ~F.col("user").cast("string").isin(identity.nobody)
        rows = rows.withColumn("user", F.when(known, F.col("user")))
    return rows


def drop_unpaid(rows: Any) -> Any:
    """The rows with those of baskets marked that hold nothing but prices of zero or less, unless most baskets do."""
    from pyspark.sql import functions as F

    paid = F.max(F.coalesce(F.col("price"), F.lit(1.0)) > 0).alias("paid")
    baskets = rows.where("drop_reason IS NULL").groupBy("basket").agg(paid)
    # Where most baskets have no price above zero, prices are not told, and say nothing about sales.
    few = baskets.agg((2 * F.count_if(~F.col("paid")) <= F.count("*")).alias("few"))
    unpaid = baskets.where("NOT paid").crossJoin(F.broadcast(few)).where("few").select("basket")
    marked = rows.join(unpaid.withColumn("unpaid", F.lit(True)), "basket", "left")
    reason = F.coalesce("drop_reason", F.when(F.col("unpaid"), UNPAID))
    return marked.withColumn("drop_reason", reason).drop("unpaid").select(*rows.columns)


def quote(name: str) -> str:
    """A name quoted for Spark's SQL."""
    return f"`{name.replace('`', '``')}`"


def _day(clock: Clock) -> str:
    """SQL for the day of a row, as `Clock.day` has it and as the id of a user's day spells it."""
    if clock is Clock.DAY:
        return "CAST(time AS STRING)"
    width = MICROSECONDS["d"]
    return f"CAST(date_from_unix_date(CAST((time - pmod(time, {width})) div {width} AS INT)) AS STRING)"


def label(column: Any, name: str, kind: str) -> Any:
    """Text or whole numbers; empty text is no label."""
    from pyspark.sql import functions as F

    if kind in WHOLE:
        return column.cast("long")
    if kind.startswith(FRACTIONS):
        broken = F.raise_error(F.concat(F.lit(f"column '{name}' holds fractions (one is "), column, F.lit(
            "): labels are text or whole numbers")))  # fmt: skip
        return F.when(column.isNull() | F.isnan(column.cast("double")), F.lit(None).cast("long")).otherwise(
            F.when(column == F.floor(column), column.cast("long")).otherwise(broken.cast("long"))
        )
    if kind == "string" or kind.startswith(("varchar", "char")):
        return F.nullif(F.regexp_replace(column, ZERO_FRACTION, "$1"), F.lit(""))
    raise InputError(f"column {name!r} of the data frame holds {kind}: labels are text or whole numbers")


def number(column: Any, role: str, name: str, kind: str) -> Any:
    """A number, null where there is none or it is not finite."""
    from pyspark.sql import functions as F

    if kind not in WHOLE and not kind.startswith(FRACTIONS):
        raise InputError(
            f"{role} column {name!r} of the data frame holds {kind}, not numbers: cast it, or give another"
        )
    x = column.cast("double")
    return F.when(~F.isnan(x) & (F.abs(x) != float("inf")), x)


def time(column: Any, name: str, kind: str) -> tuple[Any, Clock]:
    """Ticks of a clock: microseconds since 1970 as the session shows them, or whole days as given."""
    from pyspark.sql import functions as F

    if kind == "date" or kind.startswith("timestamp"):
        wall = column.cast("timestamp_ntz")
        tick = F.timestamp_diff("MICROSECOND", F.expr(EPOCH), wall)
        return F.when(tick.between(FIRST_TICK, LAST_TICK), tick), Clock.DATETIME
    if kind in WHOLE:
        day = column.cast("long")
        wrong = F.raise_error(F.concat(F.lit(f"time column '{name}' holds "), day, F.lit(
            ", too much for a day number: make it a timestamp, as with timestamp_seconds()")))  # fmt: skip
        return F.when(F.abs(day) > MOST_DAYS, wrong.cast("long")).otherwise(day), Clock.DAY
    raise InputError(
        f"time column {name!r} of the data frame holds {kind}: make it a timestamp, as with to_timestamp()"
    )
