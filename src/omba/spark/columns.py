"""Columns: those of a Spark data frame in their roles and as their types allow, with the fate of each row told."""

from __future__ import annotations

from typing import Any

from omba.baskets import Clock
from omba.baskets import report as why
from omba.errors import InputError
from omba.sources.columns import Columns

MOST_DAYS = 10**6
WHOLE = ("byte", "short", "integer", "long", "tinyint", "smallint", "int", "bigint")
FRACTIONS = ("float", "double", "decimal")
EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"


def roles(frame: Any, columns: Columns) -> tuple[Any, Clock]:
    """The frame with a column for each role it has, `fate` (why a row is dropped, or null), and how it tells time."""
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
        day = F.col("time") if clock is Clock.DAY else F.floor(F.col("time") / 86_400_000_000)
        rows = rows.withColumn("basket", F.concat_ws(" ", F.col("user").cast("string"), day.cast("string")))
    return rows.withColumn("fate", fate(columns)), clock


def fate(columns: Columns) -> Any:
    """Why a row is dropped, in the words of every other reader; null where it is kept."""
    from pyspark.sql import functions as F

    told = F.when(F.col("product").isNull(), why.NO_PRODUCT)
    if "basket" in columns.roles:
        told = told.when(F.col("basket").isNull(), why.NO_BASKET)
    else:
        told = told.when(F.col("user").isNull(), why.NO_USER)
    if "time" in columns.roles:
        told = told.when(F.col("time").isNull(), why.NO_TIME)
    if "quantity" in columns.roles:
        told = told.when(F.col("quantity") <= 0, why.RETURNED)
    return told


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
        return F.nullif(column, F.lit(""))
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
        return F.timestamp_diff("MICROSECOND", F.expr(EPOCH), wall), Clock.DATETIME
    if kind in WHOLE:
        day = column.cast("long")
        wrong = F.raise_error(F.concat(F.lit(f"time column '{name}' holds "), day, F.lit(
            ", too much for a day number: make it a timestamp, as with timestamp_seconds()")))  # fmt: skip
        return F.when(F.abs(day) > MOST_DAYS, wrong.cast("long")).otherwise(day), Clock.DAY
    raise InputError(
        f"time column {name!r} of the data frame holds {kind}: make it a timestamp, as with to_timestamp()"
    )
