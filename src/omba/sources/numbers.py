"""Numbers: SQL for prices and quantities, as `omba.baskets.spelling.as_number` reads them, and a clear word where a
column holds something else.
"""

from __future__ import annotations

from omba.errors import InputError
from omba.sources.labels import FRACTIONS, INTEGERS, LARGE
from omba.sources.source import Column

REMEDY = {
    "price": "rows with no price are weighted as the product's mean",
    "quantity": "rows with no quantity count as one piece",
}


def number_sql(column: Column, role: str) -> str:
    """SQL for the numbers of a column; null where there is none, or it is not finite."""
    x = column.sql
    if column.type == "VARCHAR":
        _refuse_text(column, role)
        x = f"try_cast({x} AS DOUBLE)"
    elif column.type not in INTEGERS | LARGE | {"UBIGINT"} and not column.type.startswith(FRACTIONS):
        raise InputError(
            f"{role} column {column.name!r} of {column.source.title} holds {column.type.lower()}, not numbers: "
            f"give {role} another column"
        )
    return f"CASE WHEN isfinite({x}::DOUBLE) THEN {x}::DOUBLE END"


def _refuse_text(column: Column, role: str) -> None:
    text = "trim(x) <> '' AND try_cast(x AS DOUBLE) IS NULL"
    (count,) = column.ask(text)
    if count:
        raise InputError(
            f"{role} column {column.name!r} holds text in {count:,} of {column.total():,} rows "
            f"({column.first(text)}): give --{role} another column, or clean it; {REMEDY[role]}"
        )
