"""Delimited text on Spark: columns of the types that Spark finds in them, but labels as they are spelt.

Spark takes 007 for 7. Here as in every other reader, the labels of a column are whole numbers only where each of them
comes back the same when it is read as one and written again; otherwise they are text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omba.baskets.spelling import WHOLE_SQL, ZERO_FRACTION
from omba.sources.columns import resolve
from omba.spark.roles import quote

LABELS = ("basket", "product", "user")


def read_delimited(session: Any, source: str, separator: str, given: Mapping[str, str | None]) -> Any:
    """The files of a source as a data frame; columns that are not `given` by role are recognised by their names."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    options = {"header": True, "sep": separator}
    schema = session.read.options(**options, inferSchema=True).csv(source).schema
    roles = resolve({**given, "store": ""}, None, schema.names, "the data frame").roles
    labels = [name for role, name in roles.items() if role in LABELS]
    for field in schema:
        if field.name in labels:
            field.dataType = StringType()
    frame = session.read.options(**options).schema(schema).csv(source)
    spelt = [F.regexp_replace(F.col(quote(name)), ZERO_FRACTION, "$1").alias(f"l{i}") for i, name in enumerate(labels)]
    whole = [F.bool_and(F.expr(WHOLE_SQL.format(x=f"l{i}"))) for i in range(len(labels))]
    for name, label, is_whole in zip(labels, spelt, frame.select(*spelt).agg(*whole).first(), strict=True):
        if is_whole:
            frame = frame.withColumn(name, label.cast("long"))
    return frame
