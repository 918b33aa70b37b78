"""Wording: what a code is called in a till, and one and many in what is said about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omba.sources.engine import Engine


def number_of(count: int, one: str, many: str) -> str:
    """So many of them, in the number that goes with it.

    >>> number_of(1, "code is", "codes are"), number_of(1_200, "code is", "codes are")
    ('1 code is', '1,200 codes are')
    """
    return f"{count:,} {one if count == 1 else many}"


def name_products(engine: Engine, named: bool, priced: bool) -> str:
    """Make the table `called` of what products are mostly called, and give its name; a0 is a row's, if `named`.

    A line that was not paid is called "damaged" or "lost", so those that were paid decide, where there are some. Of
    names that are as usual it is the one that comes first.
    """
    paid = "count(*) FILTER (WHERE price > 0)" if priced else "0"
    # A name is mostly that of many rows: counting them first, and choosing then, takes a third of DuckDB's mode.
    names = (
        f"SELECT product, trim(a0) AS name, count(*) AS n, {paid} AS paid, min(row) AS first FROM rows "
        "WHERE drop_reason IS NULL AND a0 IS NOT NULL GROUP BY product, trim(a0)"
    )
    best = "arg_min(name, (-least(paid, 1), -CASE WHEN paid > 0 THEN paid ELSE n END, first))"
    query = f"SELECT product, {best} AS name FROM ({names}) GROUP BY product"
    if not named:
        query = "SELECT DISTINCT product, NULL::VARCHAR AS name FROM rows WHERE drop_reason IS NULL"
    engine.execute(f"CREATE OR REPLACE TABLE called AS {query}")
    return "called"
