"""Attributes: what the rows of a source say of each product, and which of several names it mostly goes by."""

from __future__ import annotations

import pyarrow as pa

from omba.baskets.descriptions import HALF, nothing_sql
from omba.sources.engine import Engine, identifier, literal

ROWS = "FROM rows WHERE drop_reason IS NULL"


def read_attributes(engine: Engine, names: list[str], latest_first: str) -> tuple[pa.Table, pa.Table | None]:
    """A row a product with its attributes, and the votes behind those that are text, the latest rows first."""
    types = {name: kind for name, kind, *_ in engine.execute("DESCRIBE rows")}
    columns, joins, votes = [], [], []
    for i, name in enumerate(names):
        if types[f"a{i}"] == "VARCHAR":
            _count_votes(engine, i, name, latest_first)
            columns.append(f"best{i}.value AS {identifier(name)}")
            joins.append(f"LEFT JOIN best{i} USING (product)")
            voted = f'product::VARCHAR AS product, {literal(name)} AS "column", value, weight, n AS rows'
            votes.append(f"SELECT {voted} FROM vote{i}")
        else:
            columns.append(f"known{i} AS {identifier(name)}")
    others = "".join(f", arg_min(a{i}, row) AS known{i}" for i, _ in enumerate(names) if types[f"a{i}"] != "VARCHAR")
    met = f"(SELECT product, min(row) AS first{others} {ROWS} GROUP BY product) met"
    table = engine.connection.sql(
        f"SELECT product, {', '.join(columns)} FROM {met} {' '.join(joins)} ORDER BY first"
    ).to_arrow_table()
    return table, engine.connection.sql(" UNION ALL ".join(votes)).to_arrow_table() if votes else None


def _count_votes(engine: Engine, i: int, name: str, latest_first: str) -> None:
    """Make `vote`, a row for each value of a product with its weight, and `best`, the value that wins."""
    value = f"trim(a{i})" if name == "name" else f"a{i}"
    nothing = nothing_sql(f"a{i}")
    said = f"SELECT product, {value} AS value, * EXCLUDE (product) {ROWS} AND a{i} IS NOT NULL AND NOT {nothing}"
    engine.execute(
        f"CREATE TABLE vote{i} AS SELECT product, value, count(*) AS n, count(*)::DOUBLE AS weight, max(row) AS last "
        f"FROM ({said}) GROUP BY product, value"
    )
    engine.execute(f"CREATE TABLE torn{i} AS SELECT product FROM vote{i} GROUP BY product HAVING count(*) > 1")
    if engine.execute(f"SELECT 1 FROM torn{i} LIMIT 1"):
        # To number the rows of a product is dear, and needless where all of them say the same.
        age = f"row_number() OVER (PARTITION BY product ORDER BY {latest_first}) - 1"
        aged = f"SELECT product, value, {age} AS age FROM ({said}) WHERE product IN (FROM torn{i})"
        faded = f"SELECT product, value, sum(pow(0.5, age / {HALF}.0)) AS weight FROM ({aged}) GROUP BY product, value"
        engine.execute(
            f"UPDATE vote{i} SET weight = faded.weight FROM ({faded}) faded "
            f"WHERE vote{i}.product = faded.product AND vote{i}.value = faded.value"
        )
    engine.execute(
        f"CREATE TABLE best{i} AS SELECT product, value FROM vote{i} "
        "QUALIFY row_number() OVER (PARTITION BY product ORDER BY weight DESC, last DESC) = 1"
    )
