"""Reading baskets: every form they come in gives the same ones, in the same order."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import logging
import lzma
import math
import subprocess
import sys
import zipfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omba.baskets import Baskets
from omba.errors import InputError
from omba.sources import read_baskets, sorting, stream_baskets
from omba.sources.items import Items, merge

ROWS = [
    # basket, product, user, time, price, quantity, store
    (2, "soap", "u2", "2017-01-02 09:00:00", 2.5, 1.0, 7),
    (1, "pasta", "u1", "2017-01-01 08:00:00", 1.0, 2.0, 7),
    (1, "sauce", "u1", "2017-01-01 08:00:00", 3.0, 1.0, 7),
    (3, "pasta", "u1", "2017-01-02 09:00:00", 1.25, 1.0, 8),
    (1, "pasta", "u1", "2017-01-01 08:00:00", 2.0, 1.0, 7),
]
NAMES = ["basket_id", "product", "user_id", "timestamp", "price", "quantity", "store_id"]


def frame() -> pd.DataFrame:
    table = pd.DataFrame(ROWS, columns=NAMES)
    table["timestamp"] = pd.to_datetime(table["timestamp"])
    return table


def text(separator: str = ",") -> str:
    return "\n".join(separator.join(map(str, row)) for row in [NAMES, *ROWS]) + "\n"


def write(folder: Path, kind: str) -> Path:
    path = folder / f"sales.{kind}"
    if kind == "csv":
        path.write_text(text())
    elif kind == "tsv":
        path.write_text(text("\t"))
    elif kind == "parquet":
        frame().to_parquet(path)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in ROWS))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(text().encode()))
    elif kind == "csv.bz2":
        path.write_bytes(bz2.compress(text().encode()))
    elif kind == "csv.xz":
        path.write_bytes(lzma.compress(text().encode()))
    elif kind == "csv.zst":
        with pa.output_stream(str(path), "zstd") as stream:
            stream.write(text().encode())
    elif kind == "csv.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("sales.csv", text())
    return path


def seen(baskets: Baskets) -> list[tuple[Any, ...]]:
    """All there is to see of baskets, with NaN as None."""

    def plain(values: list[float] | None) -> list[float | None] | None:
        return values and [None if math.isnan(value) else value for value in values]

    return [(b.id, b.user, b.time, b.products, plain(b.prices), plain(b.quantities), b.store) for b in baskets]


EXPECTED = [
    (1, "u1", datetime(2017, 1, 1, 8), ["pasta", "sauce"], [1.5, 3.0], [3.0, 1.0], 7),
    (2, "u2", datetime(2017, 1, 2, 9), ["soap"], [2.5], [1.0], 7),
    (3, "u1", datetime(2017, 1, 2, 9), ["pasta"], [1.25], [1.0], 8),
]


@pytest.mark.parametrize(
    "kind", ["csv", "tsv", "parquet", "jsonl", "csv.gz", "csv.bz2", "csv.xz", "csv.zst", "csv.zip"]
)
def test_every_kind_of_file_gives_the_same_baskets(tmp_path: Path, kind: str) -> None:
    baskets = read_baskets(write(tmp_path, kind))
    assert seen(baskets) == EXPECTED
    assert baskets.products == ["pasta", "sauce", "soap"]
    assert (baskets.report.rows, baskets.report.kept, baskets.report.merged) == (5, 4, 1)


def test_every_kind_of_frame_gives_the_same_baskets() -> None:
    table = pa.Table.from_pandas(frame())
    polars = pl.from_pandas(frame())
    for source in (frame(), polars, polars.lazy(), table, table.to_reader()):
        assert seen(read_baskets(source)) == EXPECTED


def test_pandas_categories_and_gaps_are_labels_like_any_other() -> None:
    table = pd.DataFrame({"basket": [1.0, 1.0, np.nan], "product": pd.Categorical(["a", "b", "a"])})
    baskets = read_baskets(table)
    assert [(b.id, b.products) for b in baskets] == [(1, ["a", "b"])]
    assert baskets.report.dropped == {"no basket": 1}


def test_a_glob_reads_its_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("product,basket\nsoap,2\n")
    (tmp_path / "a.csv").write_text("basket,product\n1,pasta\n2,sauce\n")
    baskets = read_baskets(tmp_path / "*.csv")
    assert [(b.id, b.products) for b in baskets] == [(1, ["pasta"]), (2, ["sauce", "soap"])]


def test_several_parquet_files_are_one_stream(tmp_path: Path) -> None:
    for name, part in (("1", slice(0, 2)), ("2", slice(2, 5))):
        frame()[part].to_parquet(tmp_path / f"{name}.parquet")
    assert seen(read_baskets(str(tmp_path / "*.parquet"))) == EXPECTED


def test_names_with_quotes_spaces_and_wild_cards_are_just_names(tmp_path: Path) -> None:
    path = tmp_path / "it's [1] *.csv"
    path.write_text('"the ""basket""",wh\'at,row\n1,a,5\n1,b,6\n')
    assert read_baskets(path, basket='the "basket"', product="wh'at")[0].products == ["a", "b"]
    assert read_baskets(path, basket="row", product="wh'at").ids.to_pylist() == [5, 6]


def test_lists_of_products_are_baskets_in_their_order() -> None:
    baskets = read_baskets(iter([["pasta", "sauce", "pasta"], [], [None, 7, "sauce"]]))
    assert [(b.id, b.products) for b in baskets] == [(0, ["pasta", "sauce"]), (2, [7, "sauce"])]
    assert (baskets.report.rows, baskets.report.kept, baskets.report.merged) == (6, 4, 1)
    assert baskets.report.dropped == {"no product": 1}


def test_common_names_are_recognised_and_said(caplog: pytest.LogCaptureFixture) -> None:
    table = pd.DataFrame({"InvoiceNo": [1], "StockCode": ["85123A"], "Description": ["HEART"], "CustomerID": [9]})
    with caplog.at_level(logging.INFO, "omba"):
        baskets = read_baskets(table)
    assert baskets.report.columns == {"basket": "InvoiceNo", "product": "StockCode", "user": "CustomerID"}
    assert baskets.attributes.to_pylist() == [{"product": "85123A", "name": "HEART"}]
    said = "recognised basket = 'InvoiceNo', product = 'StockCode', user = 'CustomerID'"
    assert said in baskets.report.notes
    assert [said in record.message for record in caplog.records] == [True]


def test_a_column_can_be_left_out_by_giving_it_no_name() -> None:
    assert read_baskets(frame(), user="", price="").user_codes is None
    assert set(read_baskets(frame(), user="", price="").report.columns) == {
        "basket", "product", "time", "quantity", "store",
    }  # fmt: skip


def test_without_a_basket_column_a_basket_is_a_users_day() -> None:
    baskets = read_baskets(frame().drop(columns="basket_id"))
    assert [(b.id, b.products) for b in baskets] == [
        ("u1 2017-01-01", ["pasta", "sauce"]),
        ("u2 2017-01-02", ["soap"]),
        ("u1 2017-01-02", ["pasta"]),
    ]
    days = read_baskets(pd.DataFrame({"user": [1, 1, 1], "day": [4, 3, 4], "item": ["a", "b", "c"]}))
    assert [(b.id, b.time, b.products) for b in days] == [("1 3", 3, ["b"]), ("1 4", 4, ["a", "c"])]


def test_attributes_ride_along() -> None:
    table = frame().assign(department=["care", "food", "food", None, "food"], colour="red")
    known = {row["product"]: row for row in read_baskets(table).attributes.to_pylist()}
    assert known["pasta"] == {"product": "pasta", "department": "food"}
    chosen = read_baskets(table, attributes=["colour"]).attributes
    assert chosen.column_names == ["product", "colour"]
    assert read_baskets(table, attributes=[]).attributes is None


def test_arules_basket_form_is_a_line_a_basket(tmp_path: Path) -> None:
    path = tmp_path / "groceries.csv"
    path.write_text('citrus fruit,semi-finished bread,yoghurt\n\n"soap, ""soft""", milk\nmilk,milk\n,beer\n')
    baskets = read_baskets(path)
    assert [b.products for b in baskets] == [
        ["citrus fruit", "semi-finished bread", "yoghurt"], ['soap, "soft"', "milk"], ["milk"], ["beer"],
    ]  # fmt: skip
    assert "read with a basket a line, products apart by ','" in baskets.report.notes
    assert (baskets.report.rows, baskets.report.kept, baskets.report.merged) == (9, 7, 1)
    assert baskets.report.dropped == {"no product": 1}


def test_lines_of_equal_length_are_baskets_when_the_caller_says_so(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("pasta,sauce\nsoap,milk\n")
    assert [b.products for b in read_baskets(path, form="baskets")] == [["pasta", "sauce"], ["soap", "milk"]]


@pytest.mark.parametrize("name", ["retail.dat", "retail.txt", "retail.spmf"])
def test_integer_lines_of_fimi_and_spmf_are_baskets(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("@CONVERTED_FROM_TEXT\n@ITEM=1=pasta\n@ITEM=2=sauce, red\n1 2 3\n2  1 \n10\n")
    baskets = read_baskets(path)
    assert [b.products for b in baskets] == [[1, 2, 3], [2, 1], [10]]
    assert baskets.attributes.to_pylist()[:2] == [{"product": 1, "name": "pasta"}, {"product": 2, "name": "sauce, red"}]


def test_products_in_a_list_are_a_row_a_basket(tmp_path: Path) -> None:
    path = tmp_path / "baskets.jsonl"
    path.write_text(
        '{"id": "b1", "user": "u1", "time": "2017-01-02", "products": [{"id": "pasta", "price": 2, "quantity": 3}]}\n'
        '{"id": "b0", "user": null, "time": "2017-01-01", "products": [{"id": "2017"}, {"id": "soap", "price": 4}]}\n'
    )
    baskets = read_baskets(path)
    assert seen(baskets) == [
        ("b0", None, datetime(2017, 1, 1), ["2017", "soap"], [None, 4.0], [1.0, 1.0], None),
        ("b1", "u1", datetime(2017, 1, 2), ["pasta"], [2.0], [3.0], None),
    ]
    plain = pd.DataFrame({"products": [["a", "b"], ["c"]]})
    assert [(b.id, b.products) for b in read_baskets(plain)] == [(0, ["a", "b"]), (1, ["c"])]
    assert [b.products for b in read_baskets(pl.from_pandas(plain))] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["1201", "7"], [1201, 7]),
        (["01201", "7"], ["01201", "7"]),
        (["1201", "x"], ["1201", "x"]),
        (["9223372036854775808", "7"], ["9223372036854775808", "7"]),
        (["+7", "8"], ["+7", "8"]),
        (["-7", "0"], [-7, 0]),
        (["1.0", "2"], [1, 2]),
        (["1.5", "2"], ["1.5", "2"]),
        (["パスタ", "salsiccia è 🍝"], ["パスタ", "salsiccia è 🍝"]),
        ([" a", "NULL"], [" a", "NULL"]),
    ],
)
def test_a_label_in_csv_is_a_number_only_if_all_of_them_come_back_the_same(
    tmp_path: Path, values: list[str], labels: list[Any]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("basket,product\n" + "".join(f"1,{value}\n" for value in values), encoding="utf-8")
    assert read_baskets(path)[0].products == labels


def test_text_that_looks_like_a_number_stays_text_where_the_source_has_types(tmp_path: Path) -> None:
    assert read_baskets(pd.DataFrame({"basket": [1], "product": ["7"]}))[0].products == ["7"]
    path = tmp_path / "a.jsonl"
    path.write_text('{"basket": 1, "product": "7"}\n{"basket": 2, "product": "2017-01-01"}\n')
    assert read_baskets(path).products == ["7", "2017-01-01"]


def test_large_unsigned_identifiers_survive() -> None:
    table = pa.table({"basket": pa.array([1]), "product": pa.array([2**64 - 1], pa.uint64())})
    assert read_baskets(table)[0].products == [2**64 - 1]


cell = st.sampled_from(["a", "b", "c", "d", ""])
number = st.sampled_from(["", "-1", "0", "1", "2.5"])
stamp = st.sampled_from(["2017-01-01", "2017-01-02", "2017-01-08", ""])
rows = st.lists(st.tuples(st.sampled_from(["1", "2", "3", ""]), cell, cell, stamp, number, number), min_size=1)


def oracle(table: list[tuple[str, ...]]) -> list[tuple[Any, ...]]:
    """The same baskets by the plainest of loops."""
    visits: dict[str, list[tuple[str, ...]]] = {}
    for row in table:
        basket, product, _, time, _, quantity = row
        if basket and product and time and not (quantity and float(quantity) <= 0):
            visits.setdefault(basket, []).append(row)
    unpaid = [basket for basket, members in visits.items() if all(row[4] and float(row[4]) <= 0 for row in members)]
    if 2 * len(unpaid) <= len(visits):
        visits = {basket: members for basket, members in visits.items() if basket not in unpaid}
    found = []
    for basket, members in visits.items():
        products: dict[str, tuple[list[float], list[float]]] = {}
        for _, product, _, _, price, quantity in members:
            known, pieces = products.setdefault(product, ([], []))
            known += [float(price)] if price and float(price) > 0 else []
            pieces.append(float(quantity) if quantity else 1.0)
        user = next((row[2] for row in members if row[2]), None)
        prices = [sum(known) / len(known) if known else None for known, _ in products.values()]
        quantities = [sum(pieces) for _, pieces in products.values()]
        time = datetime.fromisoformat(members[0][3])
        found.append((int(basket), user, time, list(products), prices, quantities, None))
    return sorted(found, key=lambda visit: visit[2])


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows, st.integers(1, 9))
def test_reading_and_streaming_agree_with_the_plainest_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: list[tuple[str, ...]], chunk: int
) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["basket", "product", "user", "time", "price", "quantity"], *table])
    whole = read_baskets(path)
    expected = oracle(table)
    assert seen(whole) == [(id_, *rest) for id_, *rest in expected]
    report = whole.report
    assert report.rows == len(table) == report.kept + report.merged + report.dropped.total()

    monkeypatch.setattr(sorting, "CHUNK", chunk)
    with stream_baskets(path, every="week") as stream:
        windows = list(stream.windows())
    assert [visit for window in windows for visit in seen(window)] == expected
    assert [w.items.tolist() for w in windows] == [w.items.tolist() for w in whole.windows("week")]
    assert [(w.start, w.stop) for w in windows] == [(w.start, w.stop) for w in whole.windows("week")]
    assert list(stream.product_vocabulary) == list(whole.product_vocabulary)
    assert list(stream.user_vocabulary) == list(whole.user_vocabulary)
    assert stream.report == report


def test_a_stream_can_be_run_again_with_other_windows(tmp_path: Path) -> None:
    path = write(tmp_path, "parquet")
    with stream_baskets(path) as stream:
        assert [len(window) for window in stream] == [1, 2]
        assert [len(window) for window in stream.windows(2)] == [2, 1]
        assert [len(window) for window in stream.windows("month")] == [3]
        assert (stream.report.rows, stream.report.kept, stream.report.merged) == (5, 4, 1)


def test_a_run_left_half_way_ends_where_another_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("basket,product,day\n" + "".join(f"{b},a,{b}\n" for b in range(9_999)))
    monkeypatch.setattr(sorting, "CHUNK", 100)
    with stream_baskets(path) as stream:
        left = stream.windows()
        next(left)
        assert sum(len(window) for window in stream.windows()) == 9_999
        with pytest.raises(InputError, match="this run of the stream is over"):
            list(left)


def test_the_report_of_a_stream_adds_up_at_all_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("basket,product,day\n" + "".join(f"{b},{p},{b}\n" for b in range(20) for p in ("a", "", "b", "a")))
    monkeypatch.setattr(sorting, "CHUNK", 3)
    with stream_baskets(path) as stream:
        for count, _ in enumerate(stream.windows(), 1):
            report = stream.report
            assert report.rows == report.kept + report.merged + report.dropped.total()
            assert report.kept >= 2 * count
    assert report.rows == 80


def test_a_stream_leaves_nothing_behind(tmp_path: Path) -> None:
    stream = stream_baskets(write(tmp_path, "csv.zip"))
    folder = stream.engine.folder  # type: ignore[attr-defined]
    assert (folder / "unpacked" / "sales.csv").is_file()
    assert len(list(stream)) == 2
    stream.close()
    assert not folder.exists()


def test_lists_are_streamed_in_windows_of_so_many_baskets() -> None:
    stream = stream_baskets(([f"p{i}", "p0"] for i in range(5)), every=2)
    windows = list(stream.windows())
    assert [[b.id for b in window] for window in windows] == [[0, 1], [2, 3], [4]]
    assert windows[2][0].products == ["p4", "p0"]
    assert stream.report.kept == 9


def test_a_basket_takes_user_and_time_of_its_first_row_and_says_how_many_differ() -> None:
    table = pd.DataFrame({"basket": [1, 1, 2], "product": ["a", "b", "c"], "user": ["x", "y", "z"], "day": [9, 2, 5]})
    baskets = read_baskets(table)
    assert [(b.id, b.user, b.time) for b in baskets] == [(2, "z", 5), (1, "x", 9)]
    assert "1 baskets have rows with different times: the first one counts" in baskets.report.notes
    assert "1 baskets have rows with different users: the first one counts" in baskets.report.notes


def test_rows_out_of_time_order_are_sorted_and_it_is_said() -> None:
    table = pd.DataFrame({"basket": [1, 2, 3], "product": ["a", "b", "c"], "day": [2, 1, 2]})
    baskets = read_baskets(table)
    assert [b.id for b in baskets] == [2, 1, 3]
    assert "rows were not in time order: they were sorted" in baskets.report.notes
    assert not any("sorted" in note for note in read_baskets(table.sort_values("day")).report.notes)


def test_baskets_of_one_product_and_of_five_thousand_are_baskets() -> None:
    table = pd.DataFrame({"basket": [1] + [2] * 5_000, "product": [0, *range(5_000)]})
    assert read_baskets(table).sizes.tolist() == [1, 5_000]


def test_rows_are_merged_as_the_plainest_loop_would() -> None:
    random = np.random.default_rng(0)
    visits = np.sort(random.integers(0, 50, 20_000))
    codes = random.integers(0, 300, 20_000).astype(np.int32)
    prices = random.choice([np.nan, -1.0, 0.0, 1.0, 2.0], 20_000)
    quantities = random.choice([np.nan, 1.0, 3.0], 20_000)
    known: dict[tuple[int, int], list[float]] = {}
    pieces: Counter[tuple[int, int]] = Counter()
    for visit, code, price, quantity in zip(visits, codes, prices, quantities, strict=True):
        known.setdefault((visit, code), []).extend([price] if price > 0 else [])
        pieces[visit, code] += 1 if np.isnan(quantity) else quantity
    merged = merge(Items(visits, codes, prices, quantities))
    assert list(zip(merged.visits, merged.codes, strict=True)) == list(known)
    expected = [np.mean(prices) if prices else np.nan for prices in known.values()]
    np.testing.assert_allclose(merged.prices, expected)
    assert merged.quantities.tolist() == list(pieces.values())


def test_parquet_of_dictionaries_and_bytes_is_text(tmp_path: Path) -> None:
    table = pa.table(
        {"basket": [1, 1], "product": pa.array(["a", "b"]).dictionary_encode(), "user": pa.array([b"x", b"x"])}
    )
    parquet.write_table(table, tmp_path / "d.parquet")
    assert seen(read_baskets(tmp_path / "d.parquet"))[0][:4] == (1, "x", None, ["a", "b"])


def test_neither_pandas_nor_polars_is_needed(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name in ('pandas', 'polars'): raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "import pyarrow as pa; from omba.sources import read_baskets\n"
        f"print(len(read_baskets({str(write(tmp_path, 'csv'))!r})), "
        "len(read_baskets(pa.table({'basket': [1], 'product': ['a']}))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "3 1\n", done.stderr
