"""One meaning of a row on Spark: the matrix of bad rows through a data frame, and where Spark is stricter."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import omba
from bad_rows import MATRIX, matrix_baskets, matrix_drops, matrix_rows, table_of
from omba import spark
from omba.baskets.reasons import UNPAID
from omba.errors import InputError, SparkError
from omba.spark.delimited import read_delimited
from sparks import framed


def test_spark_keeps_and_drops_the_rows_that_every_reader_does(session: Any) -> None:
    # Whether a basket was paid is not asked on Spark, where it would take another pass over all rows.
    paid = [row for case, row in zip(MATRIX, matrix_rows(), strict=True) if case.becomes != UNPAID]
    table = table_of(paid)
    ours, local = spark.read_baskets(framed(session, table)), omba.read_baskets(table)

    report = ours.report()
    assert report.dropped == local.report.dropped == matrix_drops() - Counter({UNPAID: 2})
    assert report.changed == local.report.changed
    assert (report.rows, report.kept, report.merged) == (local.report.rows, local.report.kept, local.report.merged)
    found = [
        (row.user, ours.clock.show(row.time), row.products, [None if x != x else x for x in row.prices])
        for row in ours.frame.orderBy("time", "basket").collect()
    ]
    # Quantities tell a return from a purchase on Spark, and go no further.
    assert found == [basket[:4] for basket in matrix_baskets()]


def test_a_users_day_is_the_same_basket_on_spark(session: Any) -> None:
    times = [datetime(2017, 1, 1, 23, 59, 59, 999_999), datetime(2017, 1, 2), datetime(1969, 12, 31, 23), None]
    for kind, column in (("times", times), ("days", [3, 4, -1, None])):
        table = pa.table({"user": ["ann", "ann", "bob", "bob"], "product": ["a", "b", "c", "d"], "time": column})
        ours, local = spark.read_baskets(framed(session, table)), omba.read_baskets(table)
        found = {row.basket: row.products for row in ours.frame.collect()}
        assert found == {basket.id: basket.products for basket in local}, kind
        assert ours.report().dropped == local.report.dropped


@pytest.mark.parametrize(
    ("codes", "users"),
    [(["007", "12", "7", "12"], ["1.0", "1.0", "2", "2"]), (["7", "12", "7", "-5"], ["02", "02", "2", "2"])],
)
def test_labels_in_csv_are_whole_numbers_only_if_all_of_them_are_written_so(
    session: Any, tmp_path: Path, codes: list[str], users: list[str]
) -> None:
    rows = [f"{number // 2},{code},{user},1.5" for number, (code, user) in enumerate(zip(codes, users, strict=True))]
    # Two files, of which one alone would be of numbers.
    for name, some in (("one", rows[:2]), ("two", rows[2:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["basket,product,user,price", *some]) + "\n")
    frame = read_delimited(session, f"{tmp_path}/*.csv", ",", {"basket": "basket"})

    found = {row.basket: (row.user, row.products, row.prices) for row in spark.read_baskets(frame).frame.collect()}
    local = omba.read_baskets(f"{tmp_path}/*.csv")
    assert found == {one.id: (one.user, sorted(one.products), [1.5] * len(one.products)) for one in local}


@pytest.mark.parametrize(
    ("time", "sentence"),
    [
        # Which spelling a column keeps to takes a look at all of it; Spark says how to make it a timestamp instead.
        (["2017-01-05", "2017-01-06"], "holds string: make it a timestamp"),
        ([1483605000, 1483605001], "too much for a day number: make it a timestamp"),
        ([20170105, 20170106], "too much for a day number: make it a timestamp"),
        ([5.0, 6.0], "holds double: make it a timestamp"),
    ],
)
def test_spellings_of_times_that_take_a_look_at_the_column_are_refused_on_spark(
    session: Any, time: list[Any], sentence: str
) -> None:
    frame = framed(session, pa.table({"basket": [1, 2], "product": ["a", "b"], "time": time}))
    with pytest.raises((InputError, SparkError), match=sentence):
        spark.read_baskets(frame).report()
