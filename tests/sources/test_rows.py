"""One meaning of a row: every reader keeps and drops the same ones, and reads their values alike."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bad_rows import GOOD, MATRIX, READERS, Outcome, Row, matrix_baskets, matrix_drops, matrix_rows, post, write_text
from omba.baskets.reasons import NO_NUMBER, NO_PRODUCT, NO_TIME, UNPAID
from omba.baskets.spelling import drop_fraction
from omba.errors import InputError
from omba.live.gatherer import Gatherer
from omba.live.growing_file import GrowingFile
from omba.sources import read_baskets
from omba.sources.files import find_format
from omba.sources.formats import COMPRESSIONS, FORMATS, compression_of, format_of, spark_reader

REFUSED = "refused"


def outcome(reader: str, folder: Path, rows: list[Row]) -> Outcome | str:
    try:
        return READERS[reader](folder, rows)
    except InputError:
        return REFUSED


def column(role: str, values: list[Any]) -> list[Row]:
    """A basket for each value, otherwise good."""
    return [GOOD | {"basket": n, role: value} for n, value in enumerate(values, 1)]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_keeps_and_drops_the_same_rows_for_the_same_reasons(tmp_path: Path, reader: str) -> None:
    found = outcome(reader, tmp_path, matrix_rows())

    assert isinstance(found, Outcome)
    assert found.baskets == matrix_baskets()
    assert found.dropped == matrix_drops()


def test_over_http_a_basket_with_a_product_is_kept_and_one_without_is_refused_whole() -> None:
    # A basket over HTTP needs neither id nor time, and what went back is left out of it when it is learned.
    needs = [(case, row) for case, row in zip(MATRIX, matrix_rows(), strict=True) if row["basket"] and row["time"]]
    found = post([row for _, row in needs])

    expected = {row["user"] or None: case.becomes for case, row in needs if not isinstance(case.becomes, str)}
    got = {user: (*products, *prices, *pieces) for user, _, products, prices, pieces in found.baskets}
    assert got == expected
    assert found.dropped == {REFUSED: sum(case.becomes == NO_PRODUCT for case, _ in needs), UNPAID: 2}


def test_lists_of_products_hold_the_same_labels() -> None:
    baskets = read_baskets([["tea", "", None, float("nan"), 7, 13085.0, "007", "²", " ", "--5"], [None]])

    assert [basket.products for basket in baskets] == [["tea", 7, 13085, "007", "²", " ", "--5"]]
    assert baskets.report.dropped == {NO_PRODUCT: 4}
    for odd in (1.5, float("inf"), True, 2**64, [1]):
        with pytest.raises(InputError, match="a product is text or a whole number"):
            read_baskets([[odd]])


UNTYPED = ["CSV", "CSV followed"]
TYPED = ["JSON lines", "Parquet", "pandas", "JSON lines followed"]
"""One reader of each kind, for questions that are asked of many columns."""


@pytest.mark.parametrize("reader", UNTYPED)
@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["1201", "-7", "0"], [1201, -7, 0]),
        (["1201", ""], [1201]),
        (["1201", "x7"], ["1201", "x7"]),
        (["1201", "007"], ["1201", "007"]),
        (["1201", "-0"], ["1201", "-0"]),
        (["1201", "--5"], ["1201", "--5"]),
        (["1201", "+7"], ["1201", "+7"]),
        (["1201", " 7"], ["1201", " 7"]),
        (["1201", "²"], ["1201", "²"]),
        (["1201", "١٢"], ["1201", "١٢"]),
        (["1201", "13085.0"], [1201, 13085]),
        (["x7", "13085.0"], ["x7", "13085"]),
        (["1201", "1e3"], ["1201", "1e3"]),
        (["1201", "1_000"], ["1201", "1_000"]),
        (["9223372036854775807", "-9223372036854775808"], [2**63 - 1, -(2**63)]),
        (["1201", "9223372036854775808"], ["1201", "9223372036854775808"]),
        (["1201", "9" * 5_000], ["1201", "9" * 5_000]),
    ],
)
def test_labels_in_text_are_whole_numbers_only_if_all_of_them_are(
    tmp_path: Path, reader: str, values: list[str], labels: list[Any]
) -> None:
    assert outcome(reader, tmp_path, column("product", values)).products == labels


@pytest.mark.parametrize("reader", TYPED)
@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1201, -7], [1201, -7]),
        ([1201, None], [1201]),
        ([13085.0, 7.0], [13085, 7]),
        (["1201", "7"], ["1201", "7"]),
        (["tea", 7], ["tea", "7"]),
        ([2**63 - 1, 0], [2**63 - 1, 0]),
    ],
)
def test_labels_that_have_a_type_keep_it_and_among_text_numbers_are_text(
    tmp_path: Path, reader: str, values: list[Any], labels: list[Any]
) -> None:
    assert outcome(reader, tmp_path, column("product", values)).products == labels


LATER = ["CSV followed", "JSON lines followed"]
"""Readers that take a row at a time, and go on: what others refuse a column for costs them a row or a value."""


@pytest.mark.parametrize("reader", [*UNTYPED, *TYPED])
@pytest.mark.parametrize(
    ("role", "values", "becomes"),
    [
        # Others refuse the column with a count and a place; a followed file goes on, and counts.
        ("price", [2.0, "free"], {"prices": [2.0, None]}),
        ("quantity", [1.0, "two"], {"quantities": [1.0, 1.0]}),
        ("product", [7.0, 1.5], {"dropped": {NO_PRODUCT: 1}}),
        ("product", [True, False], {"dropped": {NO_PRODUCT: 2}}),
    ],
)
def test_a_column_that_cannot_be_read_is_refused_where_it_is_read_whole(
    tmp_path: Path, reader: str, role: str, values: list[Any], becomes: dict[str, Any]
) -> None:
    found = outcome(reader, tmp_path, column(role, values))

    if role == "product" and reader in UNTYPED:
        # In text these are labels like any other.
        assert isinstance(found, Outcome)
        assert found.products == [drop_fraction(str(value)) for value in values]
        return

    if reader not in LATER:
        assert found == REFUSED
        return
    assert isinstance(found, Outcome)
    seen = {
        "prices": [prices[0] for *_, prices, _ in found.baskets],
        "quantities": [pieces[0] for *_, pieces in found.baskets],
        "dropped": found.dropped,
    }
    assert {name: seen[name] for name in becomes} == becomes


FIRST = datetime(2017, 1, 5, 8, 30)
DAY = datetime(2017, 1, 5)


@pytest.mark.parametrize("reader", [*UNTYPED, "JSON lines", "JSON lines followed", "pandas"])
@pytest.mark.parametrize(
    ("values", "times"),
    [
        (["2017-01-05 08:30", "2017-01-05"], [DAY, FIRST]),
        (["2017-1-5T8:30", "2017/01/05"], [DAY, FIRST]),
        ([" 2017-01-05 08:30:00.000000 "], [FIRST]),
        (["2017-01-05T10:30:00+02:00", "2017-01-05 08:30:00Z", "2017-01-05 08:30 UTC"], [FIRST] * 3),
        (["2017-01-05 09:30 Europe/Berlin"], [FIRST]),
        (["2017-01-05T10:30:00+02:00", "2017-01-05 08:30:00"], REFUSED),
        (["2017-01-04 24:00:00"], [DAY]),
        (["2017-01-05 08:60"], REFUSED),
        (["2017-02-30"], REFUSED),
        (["20170105T083000"], REFUSED),
        (["12017-01-05"], REFUSED),
        (["17-01-05"], REFUSED),
        (["0017-01-05"], REFUSED),
        (["infinity"], REFUSED),
        (["nan"], REFUSED),
        (["soon", "2017-01-05"], REFUSED),
        (["01/05/2017", ""], [DAY]),
        (["13/01/2017 8:30", "5/1/2017 8:30"], [FIRST, datetime(2017, 1, 13, 8, 30)]),
        (["5.1.2017 08:30:00"], [FIRST]),
        (["05-Jan-2017"], [DAY]),
        (["01/05/17"], REFUSED),
        ([5, -3], [-3, 5]),
        (["5", "-3"], [-3, 5]),
        ([5.0, None], [5]),
        ([1_000_000], [1_000_000]),
        ([1_000_001], REFUSED),
        ([5, 2.5], REFUSED),
        ([20170105, 20170106], [DAY, datetime(2017, 1, 6)]),
        (["20170105"], [DAY]),
        ([20170230], REFUSED),
        ([25000105], REFUSED),
        ([1483605000], [FIRST]),
        (["1483605000"], [FIRST]),
        ([1483605000.5], [FIRST.replace(microsecond=500_000)]),
        ([1483605000000], [FIRST]),
        ([1483605000000000], [FIRST]),
        ([5_000_000], REFUSED),
        ([5, 1483605000], REFUSED),
        ([10**18], REFUSED),
    ],
)
def test_times_are_read_alike(tmp_path: Path, reader: str, values: list[Any], times: list[Any] | str) -> None:
    found = outcome(reader, tmp_path, column("time", values))

    assert (found if isinstance(found, str) else found.times) == times


@pytest.mark.parametrize(
    ("time", "read"),
    [
        ("2017-01-05T08:30:00Z", FIRST),
        ("2017-1-5 8:30", FIRST),
        ("20170105", DAY),
        # Of a basket that comes alone, Python's ISO 8601 is taken too.
        ("20170105T083000", FIRST),
        (20170105, DAY),
        (1483605000, FIRST),
        (1483605000000, FIRST),
        (17, 17),
        (1_000_001, None),
        (5_000_000, None),
        (25000105, None),
        ("0017-01-05", None),
        ("01/05/2017", None),
    ],
)
def test_the_time_of_a_basket_over_http_means_what_it_means_in_a_file(
    time: str | int, read: datetime | int | None
) -> None:
    found = post(column("time", [time]))

    assert found.times == ([] if read is None else [read])
    assert found.dropped == ({REFUSED: 1} if read is None else {})


def test_times_outside_of_the_calendar_are_no_times_in_columns_of_times(tmp_path: Path) -> None:
    ticks = pa.array([0, -(10**17), 10**18, None], pa.timestamp("us"))
    baskets = read_baskets(pa.table({"basket": [1, 2, 3, 4], "product": ["a"] * 4, "time": ticks}))

    assert [basket.time for basket in baskets] == [datetime(1970, 1, 1)]
    assert baskets.report.dropped == {NO_TIME: 3}


@pytest.mark.parametrize("reader", READERS)
def test_a_users_day_ends_at_midnight_and_in_utc_where_there_is_a_zone(tmp_path: Path, reader: str) -> None:
    plain = ["2017-01-01 23:59:59.999999", "2017-01-02 00:00:00", "2017-01-02 23:59:59"]
    zoned = ["2017-01-02 00:59:59+01:00", "2017-01-02 01:00:00+01:00", "2017-01-03 00:00:00+01:00"]
    for times in (plain, zoned):
        rows = [{"user": "ann", "product": name, "time": time} for name, time in zip("abc", times, strict=True)]
        found = outcome(reader, tmp_path, rows)
        assert isinstance(found, Outcome)
        assert [basket[2] for basket in found.baskets] == [["a"], ["b", "c"]]


def test_a_file_that_is_followed_drops_later_what_the_first_rows_would_have_been_refused_for(tmp_path: Path) -> None:
    path = write_text(tmp_path, column("time", ["2017-01-05", "2017-01-06"]))
    file, gatherer = GrowingFile(path), Gatherer("a file", {}, {}, None)
    gatherer.begin_file(untyped=True)
    gatherer.add(file.read(), datetime(2020, 1, 1))
    odd = ["soon", "2017-01-07T00:00Z", "20170107", "17", "inf", "0017-01-07"]
    with path.open("a") as stream:
        stream.write("".join(f"{n},tea,ann,{time},1,1\n" for n, time in enumerate(odd, 7)))
        stream.write("20,tea,ann,2017-01-07,free,1\n")
    gatherer.add(file.read(), datetime(2020, 1, 1))
    gatherer.flush(None, datetime(2020, 1, 1))

    assert gatherer.counts == Counter({f"dropped: {NO_TIME}": len(odd), NO_NUMBER["price"]: 1})
    assert len(gatherer.whole) == 3


@pytest.mark.parametrize("ending", [ending for one in FORMATS for ending in one.endings])
def test_an_ending_means_the_same_format_to_every_reader(tmp_path: Path, ending: str) -> None:
    for packed in ("", *(one.ending for one in COMPRESSIONS)):
        check_ending(tmp_path / f"sales.2017{ending.upper()}{packed}", ending, packed)


def check_ending(path: Path, ending: str, packed: str) -> None:
    found = format_of(path)

    assert found is find_format(path)
    assert found is not None
    assert ending in found.endings
    compression = compression_of(path)
    assert (compression.ending if compression else "") == packed
    if found.spark and (compression is None or compression.spark):
        assert spark_reader(str(path)) == found.spark
    else:
        with pytest.raises(InputError, match="is of no kind that is read on Spark"):
            spark_reader(str(path))


def test_what_only_spark_unpacks_is_said(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv.snappy"
    path.write_bytes(b"x")
    with pytest.raises(InputError, match=r"is packed as \.snappy, which Spark alone reads: unpack it first"):
        read_baskets(path)
