"""Bad input gets one clear sentence, with the value, the place and a way out; and no row is lost unseen."""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from omba.baskets.reasons import (
    NO_BASKET,
    NO_PRODUCT,
    NO_TIME,
    NO_USER,
    PRICE_MISSING,
    PRICE_NOT_POSITIVE,
    QUANTITY_MISSING,
    RETURNED,
)
from omba.errors import InputError
from omba.sources import read_baskets, stream_baskets


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def sentence(source: Any, **columns: str) -> str:
    """The one sentence reading ends in; streaming must end in the same."""
    with pytest.raises(InputError) as caught:
        read_baskets(source, **columns)
    with pytest.raises(InputError) as again:
        list(stream_baskets(source, **columns))
    assert str(caught.value) == str(again.value)
    assert "\n" not in str(caught.value)
    assert "Traceback" not in str(caught.value)
    return str(caught.value)


def times(*values: Any) -> pd.DataFrame:
    return pd.DataFrame({"basket": range(len(values)), "product": "a", "time": list(values)})


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    put(tmp_path, "sales.csv", "basket,product\n1,a\n")
    path = str(tmp_path / "salse.csv")
    assert sentence(path) == f"there is no file {path!r}; did you mean 'sales.csv'?"
    assert sentence("nowhere/at-all.csv") == "there is no file 'nowhere/at-all.csv': check the path"


def test_a_glob_that_matches_nothing_and_a_folder_are_no_files(tmp_path: Path) -> None:
    assert "no file matches" in sentence(tmp_path / "*.csv")
    assert "is a folder: give the files in it, for instance" in sentence(tmp_path)


def test_files_of_different_kinds_are_not_mixed(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", "basket,product\n1,a\n")
    put(tmp_path, "a.jsonl", '{"basket": 1, "product": "a"}\n')
    assert "files of different kinds (json, text): read each apart" in sentence(tmp_path / "a.*")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.jsonl", "a.dat", "a.csv.gz"])
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, name: str) -> None:
    content = gzip.compress(b"") if name.endswith("gz") else b""
    assert "is empty: give a file with at least a basket in it" in sentence(put(tmp_path, name, content))


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    assert "is empty" in sentence(put(tmp_path, "bom.csv", b"\xef\xbb\xbf"))
    assert "has a header and no rows" in sentence(put(tmp_path, "header.csv", "basket,product\n"))
    pd.DataFrame({"basket": [], "product": []}).to_parquet(tmp_path / "none.parquet")
    assert "has no rows" in sentence(tmp_path / "none.parquet")
    assert "has no rows" in sentence(pd.DataFrame({"basket": [], "product": []}))
    assert "there is no list to read" in sentence([])


@pytest.mark.parametrize("source", [None, 5, object()])
def test_what_holds_no_baskets_is_refused(source: object) -> None:
    assert "holds no baskets: give a path, a data frame, or lists of products" in sentence(source)


def test_a_list_of_texts_is_no_list_of_baskets() -> None:
    assert "basket 0 is 'pasta', not a list of products" in sentence(["pasta", "sauce"])
    assert "basket 0 holds the product 1.5: a product is text or a whole number" in sentence([[1.5]])


def test_a_missing_column_names_the_nearest(tmp_path: Path) -> None:
    path = put(tmp_path, "s.csv", "basket_id,prodct,price\n1,a,2\n")
    assert sentence(path, product="product") == (
        f"{str(path)!r} has no column 'product' among 'basket_id', 'prodct', 'price'; did you mean 'prodct'?"
    )
    assert "no column of" in sentence(path)
    assert "is known to hold products: name it with product" in sentence(path)
    assert "tells the basket: name it with basket" in sentence(path, product="prodct", basket="")


def test_later_files_must_have_the_columns_of_the_first(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", "basket,product\n1,a\n")
    put(tmp_path, "b.csv", "basket,item\n1,a\n")
    assert "b.csv' has no column 'product', which the files before it have" in sentence(tmp_path / "*.csv")


def test_text_in_a_price_column_is_counted_and_placed(tmp_path: Path) -> None:
    content = 'basket,product,amount\n1,"a\nb",2\n1,"c\nd",N/A\n2,d,\n3,e,free\n'
    assert sentence(put(tmp_path, "s.csv", content), price="amount") == (
        "price column 'amount' holds text in 2 of 4 rows (first: 'N/A', line 4): give --price another column, or clean "
        "it; rows with no price are weighted as the product's mean"
    )
    frame = pd.DataFrame({"basket": [1, 2], "product": ["a", "b"], "quantity": ["1", "two"]})
    assert "quantity column 'quantity' holds text in 1 of 2 rows (first: 'two', row 2)" in sentence(frame)
    assert "price column 'flag' of the data frame holds boolean" in sentence(
        pd.DataFrame({"basket": [1], "product": ["a"], "flag": [True]}), price="flag"
    )


def test_the_place_names_the_file_where_there_are_several(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", "basket,product,price\n1,a,1\n")
    second = put(tmp_path, "b.csv", "basket,product,price\n1,a,1\n1,b,x\n")
    assert f"(first: 'x', line 3 of {str(second)!r})" in sentence(tmp_path / "*.csv")


def test_rows_are_dropped_or_changed_for_a_reason_and_the_total_adds_up(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "s.csv",
        "basket,product,time,price,quantity\n"
        "1,a,2017-01-01,0,1\n"  # a price of zero is not known
        "1,b,2017-01-01,-3,1\n"  # nor is a negative one
        "1,c,2017-01-01,,\n"  # nor one that is missing; a quantity that is missing is one
        "1,d,2017-01-01,nan,1\n"
        "1,e,2017-01-01,1,0\n"  # nothing was taken
        "1,e,2017-01-01,1,-2\n"  # it was brought back
        "1,,2017-01-01,1,1\n"
        ",a,2017-01-01,1,1\n"
        "1,a,,1,1\n"
        "1,a,2017-01-01,3,2\n"  # again in the basket
        "1,a,2017-01-01,3,2\n",  # and a row twice
    )
    baskets = read_baskets(path)
    (basket,) = baskets
    assert basket.products == ["a", "b", "c", "d"]
    assert basket.prices[0] == 3.0
    assert str(basket.prices[1:]) == "[nan, nan, nan]"
    assert basket.quantities == [5.0, 1.0, 1.0, 1.0]
    report = baskets.report
    assert report.dropped == Counter({NO_PRODUCT: 1, NO_BASKET: 1, NO_TIME: 1, RETURNED: 2})
    assert report.changed == Counter({PRICE_MISSING: 2, PRICE_NOT_POSITIVE: 2, QUANTITY_MISSING: 1})
    assert (report.rows, report.kept, report.merged) == (11, 4, 2)
    assert report.rows == report.kept + report.merged + sum(report.dropped.values())
    assert "2 dropped: quantity zero or negative: a return or a correction" in str(report)


def test_a_row_without_user_has_no_basket_where_a_basket_is_a_users_day() -> None:
    baskets = read_baskets(pd.DataFrame({"user": ["u", None], "day": [1, 1], "product": ["a", "b"]}))
    assert [b.id for b in baskets] == ["u 1"]
    assert baskets.report.dropped == {NO_USER: 1}


def test_all_rows_may_be_dropped_and_that_is_said() -> None:
    baskets = read_baskets(pd.DataFrame({"basket": [1, 2], "product": [None, ""], "price": [1.0, 2.0]}))
    assert (len(baskets), baskets.n_items, list(baskets.windows(2))) == (0, 0, [])
    assert baskets.report.dropped == {NO_PRODUCT: 2}


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = put(tmp_path, "bom.csv", b'\xef\xbb\xbf"basket","product"\r\n"1","a"\r\n')
    assert read_baskets(path)[0].products == ["a"]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.csv", b"basket,product\n1,a\n2,caf\xe9\n", "byte 0xE9 near '2,caf\ufffd', line 3"),
        ("a.csv", b"basket,prod\xe9\n1,a\n", "line 1"),
        ("a.jsonl", b'{"basket": 1, "product": "a"}\n{"basket": 1, "product": "\xff"}\n', "byte 0xFF"),
        ("a.dat", b"1 2\n1 \xe9\n", "line 2"),
        ("a.csv", "basket,product\n1,a\n".encode("utf-16"), "iconv -f utf-16"),
    ],
)
def test_broken_utf8_is_placed(tmp_path: Path, name: str, content: bytes, place: str) -> None:
    said = sentence(put(tmp_path, name, content))
    assert "is not UTF-8" in said
    assert place in said
    assert "convert it" in said


@pytest.mark.parametrize("damage", ["end", "most", "middle", "all"])
def test_a_damaged_parquet_file_is_said_to_be_cut_off(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.parquet"
    pd.DataFrame({"basket": range(1000), "product": "a"}).to_parquet(path)
    whole = path.read_bytes()
    path.write_bytes(
        {"end": whole[:-9], "most": whole[:99], "middle": whole[:40] + bytes(60) + whole[100:], "all": b"?"}[damage]
    )
    assert f"{str(path)!r} is cut off, or is no Parquet file (" in sentence(path)


@pytest.mark.parametrize("ending", ["gz", "zst", "bz2", "xz", "zip"])
def test_a_file_that_is_not_packed_as_it_says_is_refused(tmp_path: Path, ending: str) -> None:
    path = put(tmp_path, f"a.csv.{ending}", "basket,product\n1,a\n")
    assert f"{str(path)!r} cannot be opened or unpacked (" in sentence(path)


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    content = gzip.compress(b"basket,product\n" + b"".join(b"%d,a\n" % i for i in range(9_999)))
    assert "cannot be opened or unpacked (" in sentence(put(tmp_path, "a.csv.gz", content[:-100]))


def test_lines_with_too_many_or_too_few_fields_are_placed(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", "basket,product\n1,a\n2,b,c\n")
    assert f"line 3 of {str(path)!r} has 3 fields where the header has 2" in sentence(path)
    path = put(tmp_path, "b.csv", "basket,product,price\n1,a,1\n2,b\n")
    assert f"line 3 of {str(path)!r} has 2 fields where the header has 3" in sentence(path)
    assert "is no proper CSV: look for a quote left open" in sentence(put(tmp_path, "c.csv", 'basket,product\n1,"a\n'))


def test_a_line_that_is_no_json_is_placed(tmp_path: Path) -> None:
    path = put(tmp_path, "a.jsonl", '{"basket": 1, "product": "a"}\n{"basket": 1, "pro')
    assert f"line 2 of {str(path)!r} is no JSON object" in sentence(path)
    assert "holds no JSON objects" in sentence(put(tmp_path, "b.jsonl", "1\n2\n"))


def test_labels_are_text_or_whole_numbers() -> None:
    frame = pd.DataFrame({"basket": [1, 1], "product": [1.0, 1.5]})
    assert "column 'product' of the data frame holds fractions (first: '1.5', row 2)" in sentence(frame)
    assert "holds struct" in sentence(pa.table({"basket": [{"a": 1}], "product": ["a"]}))


def test_numbers_and_text_in_one_column_are_all_text_and_it_is_said() -> None:
    frame = pd.DataFrame({"InvoiceNo": [536365, "C536379"], "StockCode": [22423, "85123A"]})
    baskets = read_baskets(frame)
    assert baskets.products == ["22423", "85123A"]
    assert "'StockCode' mixes numbers and text: all of it was taken as text" in baskets.report.notes


def test_mixed_time_zones_are_brought_to_utc_and_it_is_said() -> None:
    baskets = read_baskets(times("2017-01-01T10:00:00+02:00", "2017-01-01T08:30:00Z", "2017-01-01 02:00:00-05:30"))
    assert [b.time.strftime("%H:%M") for b in baskets] == ["07:30", "08:00", "08:30"]
    assert "times carry a zone and are kept in UTC; 3 zones were mixed" in baskets.report.notes


def test_times_with_and_without_a_zone_do_not_mix(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "basket,product,time\n1,a,2017-01-01T10:00:00+02:00\n2,b,2017-01-01 08:30:00\n")
    assert sentence(path) == (
        "time column 'time' mixes 1 times with a zone and 1 without (first: '2017-01-01 08:30:00', line 3): "
        "write all of them with a zone, or none"
    )
    frame = times(datetime(2017, 1, 1, tzinfo=UTC), datetime(2017, 1, 1))
    assert "mixes 1 times with a zone and 1 without" in sentence(frame)


def test_python_times_of_several_zones_are_brought_to_utc() -> None:
    east = timezone(timedelta(hours=2))
    baskets = read_baskets(times(datetime(2017, 1, 1, 9, tzinfo=UTC), datetime(2017, 1, 1, 10, tzinfo=east)))
    assert [b.time for b in baskets] == [datetime(2017, 1, 1, 8), datetime(2017, 1, 1, 9)]


@pytest.mark.parametrize(
    ("values", "first", "note"),
    [
        (["2017-01-02", "2017-01-01"], datetime(2017, 1, 1), None),
        (["1/13/2017", "2/1/2017"], datetime(2017, 1, 13), "'time' was read as %m/%d/%Y"),
        (["13/1/2017 8:30", "2/1/2017 9:00"], datetime(2017, 1, 2, 9), "'time' was read as %d/%m/%Y %H:%M"),
        (["31.12.2016", "1.1.2017"], datetime(2016, 12, 31), "'time' was read as %d.%m.%Y"),
        (["3", "12"], 3, "'time' counts days, from 3 to 12"),
        (["20170102", "20170101"], datetime(2017, 1, 1), "'time' was read as dates such as 20170101"),
        (["1483228800", "1483228801"], datetime(2017, 1, 1), "'time' was read as seconds since 1970"),
        (["1483228800000"], datetime(2017, 1, 1), "'time' was read as milliseconds since 1970"),
    ],
)
def test_times_are_read_in_many_spellings_and_it_is_said(
    tmp_path: Path, values: list[str], first: datetime | int, note: str | None
) -> None:
    rows = "".join(f"{i},a,{value}\n" for i, value in enumerate(values))
    baskets = read_baskets(put(tmp_path, "t.csv", "basket,product,time\n" + rows))
    assert baskets[0].time == first
    assert note is None or note in baskets.report.notes
    if all(value.isdigit() for value in values):
        assert read_baskets(times(*map(int, values)))[0].time == first


def test_a_date_that_can_be_read_both_ways_is_pointed_out() -> None:
    (note,) = [note for note in read_baskets(times("1/3/2017", "2/1/2017")).report.notes if "read as" in note]
    assert "day and month could be the other way round" in note


def test_what_is_no_time_is_counted_and_placed(tmp_path: Path) -> None:
    path = put(tmp_path, "t.csv", "basket,product,time\n1,a,2017-01-01\n2,b,2017-02-30\n3,c,soon\n")
    assert "time column 'time' holds 2 values of 3 that are no time (first: '2017-02-30', line 3)" in sentence(path)
    assert "goes from 1 to 3,000,000, neither days nor seconds since 1970" in sentence(times(1, 3_000_000))
    assert "holds boolean: give another one" in sentence(times(True, False))
