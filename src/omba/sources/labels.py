"""Labels: SQL for what a product, user, basket or store is called, spelt as `omba.baskets.spelling` says."""

from __future__ import annotations

from omba.baskets.spelling import WHOLE_SQL, ZERO_FRACTION
from omba.errors import InputError
from omba.sources.source import Column

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
LARGE = {"HUGEINT", "UHUGEINT"}
FRACTIONS = ("FLOAT", "DOUBLE", "DECIMAL")


def label_sql(column: Column) -> str:
    """SQL for the labels of a column; empty text is no label."""
    x, kind = column.sql, column.type
    if kind in INTEGERS:
        return f"{x}::BIGINT"
    if kind == "UBIGINT":
        return x
    if kind in LARGE:
        # JSON with numbers of both signs arrives like this, however small they are.
        least, bound = -(2**63), 2**63
        if column.all(f"x >= {least} AND x < {bound}"):
            return f"{x}::BIGINT"
        if column.all(f"x >= 0 AND x < {2**64}"):
            return f"{x}::UBIGINT"
    if kind.startswith(FRACTIONS):
        return _whole(column)
    if kind == "BOOLEAN" or kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
        raise InputError(
            f"column {column.name!r} of {column.source.title} holds {kind.lower()}: labels are text or whole numbers"
        )
    if column.source.untyped and column.all(WHOLE_SQL.format(x=_drop_fraction("x"))):
        return f"{_drop_fraction(x)}::BIGINT"
    return f"nullif({_drop_fraction(f'{x}::VARCHAR')}, '')"


def _drop_fraction(x: str) -> str:
    """SQL for a text without a fraction of zero; patterns are dear, so few values are held against one."""
    return f"CASE WHEN contains({x}, '.0') THEN regexp_replace({x}, '{ZERO_FRACTION}', '\\1') ELSE {x} END"


def _whole(column: Column) -> str:
    # A column of whole numbers with gaps arrives as floats from pandas.
    broken = f"x IS NOT NULL AND NOT isnan(x::DOUBLE) AND (x <> round(x) OR abs(x) >= {2**63})"
    if column.ask(broken) != (0,):
        raise InputError(
            f"column {column.name!r} of {column.source.title} holds fractions ({column.first(broken)}): "
            "labels are text or whole numbers"
        )
    return f"CASE WHEN NOT isnan({column.sql}::DOUBLE) THEN {column.sql}::BIGINT END"
