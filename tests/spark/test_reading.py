"""Reading and counting on Spark."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import omba
from omba import spark
from omba.baskets import Baskets
from omba.errors import InputError, SparkError
from omba.spark.cluster import to_arrow
from sparks import framed, on_spark


def test_rows_are_read_as_everywhere(session: Any) -> None:
    table = pa.table(
        {
            "basket_id": [1, 1, 1, 2, 2, 2, 3, None, 4, 5, 5],
            "product": ["a", "a", "b", "a", "", "e", "c", "a", "d", "a", "c"],
            "user_id": ["u", "u", "u", "v", "v", "v", None, "w", "w", "w", "w"],
            "day": [1, 1, 1, 2, 2, 2, 2, 2, 9, 9, 9],
            "price": [1.0, 3.0, None, -1.0, 1.0, None, 2.0, 1.0, 1.0, 0.0, -2.0],
            "quantity": [1, 1, 1, 1, 1, 1, 1, 1, -1, 1, 1],
        }
    )
    local, ours = omba.read_baskets(table), spark.read_baskets(framed(session, table))
    report = ours.report()
    assert (report.rows, report.kept, report.merged, report.dropped, report.changed) == (
        local.report.rows, local.report.kept, local.report.merged, local.report.dropped, local.report.changed,
    )  # fmt: skip
    found = sorted((row.basket, row.user, row.time, row.products, row.prices) for row in ours.frame.collect())
    assert [(b, u, t, p) for b, u, t, p, _ in found] == [(b.id, b.user, b.time, sorted(b.products)) for b in local]
    assert np.allclose([found[0][4], [found[1][4][0]] * 2], [[2.0, np.nan], [np.nan] * 2], equal_nan=True)


def test_columns_that_cannot_be_used_are_told(session: Any) -> None:
    table = pa.table({"basket_id": [1.5, 2.0], "product": ["a", "b"], "time": ["1 May", "2 May"], "price": ["x", "1"]})
    frame = framed(session, table)
    with pytest.raises(InputError, match=r"time column 'time' .* holds string: make it a timestamp"):
        spark.read_baskets(frame)
    with pytest.raises(InputError, match=r"price column 'price' .* not numbers"):
        spark.read_baskets(frame, time="")
    with pytest.raises(SparkError, match=r"column 'basket_id' holds fractions \(one is 1.5\)"):
        spark.read_baskets(frame, time="", price="").report()
    with pytest.raises(InputError, match="no column 'prodct'"):
        spark.read_baskets(frame, product="prodct")


def test_windows_are_cut_where_they_are_everywhere(session: Any) -> None:
    few = omba.datasets.synthetic(baskets=60, products=120, users=20, days=60, pairs=1).baskets
    ours = on_spark(session, few)
    for every in ("week", "month"):
        with ours.cut(every) as windows:
            found = [(len(w), w.start, w.stop) for w in windows]
        assert found == [(len(w), w.start, w.stop) for w in few.windows(every)]


def test_baskets_without_time_are_shared_out(session: Any) -> None:
    table = pa.table({"basket": list(range(300)) * 2, "product": ["a"] * 300 + ["b"] * 300})
    with spark.read_baskets(framed(session, table)).cut(100) as windows:
        assert [len(w) > 50 for w in windows] == [True] * 3
        assert sum(map(len, windows)) == 300


@pytest.mark.thorough
def test_pair_counts_are_those_of_duckdb(session: Any, journey: Baskets) -> None:
    few = journey.between(None, "2017-01-06")
    ours = on_spark(session, few)
    database = duckdb.connect()
    database.register("rows", few.to_arrow())
    truth = database.sql(
        "WITH items AS (SELECT DISTINCT basket_id, product FROM rows) "
        "SELECT x.product AS a, y.product AS b, count(*) AS count FROM items x JOIN items y "
        "ON x.basket_id = y.basket_id AND x.product < y.product GROUP BY ALL"
    ).to_arrow_table()
    order = [("a", "ascending"), ("b", "ascending")]
    found = to_arrow(spark.count_pairs(ours, largest=None)).sort_by(order)
    assert len(truth) > 50_000
    assert found.to_pydict() == truth.sort_by(order).to_pydict()
    least = to_arrow(spark.count_pairs(ours, minimum=10, largest=None))
    assert len(least) == pc.sum(pc.greater_equal(truth["count"], 10)).as_py()
    single = database.sql("SELECT product, count(DISTINCT basket_id) FROM rows GROUP BY ALL").fetchall()
    assert dict(zip(*to_arrow(spark.count_products(ours)).to_pydict().values(), strict=True)) == dict(single)


def test_a_giant_basket_is_paired_in_part_only(session: Any) -> None:
    table = pa.table({"basket": [1] * 500 + [2, 2], "product": [f"p{i:03}" for i in range(500)] + ["p000", "p001"]})
    ours = spark.read_baskets(framed(session, table))
    assert spark.count_pairs(ours, largest=50).count() in (50 * 49 // 2, 50 * 49 // 2 + 1)
    assert spark.count_pairs(ours, largest=None).count() == 500 * 499 // 2
