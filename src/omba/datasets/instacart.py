"""Instacart: three million orders of the 2017 Kaggle competition, from the folder its files lie in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from omba.baskets import Baskets
from omba.baskets.alignment import align
from omba.errors import InputError
from omba.sources import read_baskets
from omba.sources.engine import Engine, literal

FILES = ("orders", "order_products__prior", "order_products__train", "products", "aisles", "departments")


def instacart(folder: str | Path) -> Baskets:
    """The orders as baskets. The data hide the dates, so days are counted from each user's first order, day 0.

    Products are their ids; their names, aisles and departments are in the attributes.

    Parameters
    ----------
    folder
        Where the unpacked files are.

    >>> instacart("instacart-market-basket-analysis")  # doctest: +SKIP
    """
    files = {name: Path(folder) / f"{name}.csv" for name in FILES}
    missing = [path.name for path in files.values() if not path.is_file()]
    if missing:
        raise InputError(f"{str(folder)!r} has no {', '.join(missing)}: give the folder of the Kaggle files, unpacked")
    engine = Engine(bounded=False)
    try:
        for name, path in files.items():
            engine.execute(f"CREATE VIEW {name} AS SELECT * FROM read_csv({literal(path)}, header = true)")
        rows = engine.connection.sql(
            """
            SELECT order_id, product_id, user_id, day
            FROM (FROM order_products__prior UNION ALL FROM order_products__train)
            JOIN (SELECT order_id, user_id, sum(coalesce(days_since_prior_order, 0)::BIGINT)
                         OVER (PARTITION BY user_id ORDER BY order_number)::BIGINT AS day FROM orders) USING (order_id)
            ORDER BY day, user_id, order_id, add_to_cart_order
            """
        ).to_arrow_table()
        known = engine.connection.sql(
            """
            SELECT product_id AS product, product_name AS name, aisle, department
            FROM products LEFT JOIN aisles USING (aisle_id) LEFT JOIN departments USING (department_id)
            """
        ).to_arrow_table()
    finally:
        engine.close()
    baskets = read_baskets(rows, "order_id", "product_id", "user_id", "day")
    return replace(baskets, attributes=align(known, baskets.product_vocabulary))
