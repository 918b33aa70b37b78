"""Bad rows, and every reader they are run through: what the tests of sources and of Spark share.

A row is given in Python's values and written as each reader wants it. `MATRIX` says what becomes of it: kept as a
product of its basket, or dropped for a reason.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet

from omba.baskets import Baskets, Clock
from omba.baskets.reasons import NO_BASKET, NO_PRODUCT, NO_TIME, RETURNED, UNPAID
from omba.errors import InputError
from omba.live.gatherer import Gatherer
from omba.live.growing_file import GrowingFile
from omba.live.open_window import OpenWindow, Vocabularies
from omba.live.records import Record, record, tick_of
from omba.sources import read_baskets, stream_baskets
from omba.sources.formats import TEXT

Row = dict[str, Any]
NOW = datetime(2020, 1, 1)
GOOD: Row = {
    "basket": 0,
    "product": "tea",
    "user": "ann",
    "time": datetime(2017, 1, 2, 10),
    "price": 2.0,
    "quantity": 1.0,
}


@dataclass(frozen=True)
class Case:
    """A row by what is odd about it, and what becomes of it: (product, price, quantity), or a drop reason."""

    name: str
    odd: Row
    becomes: tuple[Any, float | None, float] | str

    @property
    def row(self) -> Row:
        return GOOD | {"user": self.name} | self.odd


MATRIX = [
    Case("nothing is odd", {}, ("tea", 2.0, 1.0)),
    Case("no product", {"product": None}, NO_PRODUCT),
    Case("empty product", {"product": ""}, NO_PRODUCT),
    Case("no basket", {"basket": None}, NO_BASKET),
    Case("no user", {"user": None}, ("tea", 2.0, 1.0)),
    Case("empty user", {"user": ""}, ("tea", 2.0, 1.0)),
    Case("no time", {"time": None}, NO_TIME),
    Case("no product and no time", {"product": None, "time": None}, NO_PRODUCT),
    Case("no product, returned", {"product": None, "quantity": -1.0}, NO_PRODUCT),
    Case("quantity zero", {"quantity": 0.0}, RETURNED),
    Case("quantity negative", {"quantity": -2.0}, RETURNED),
    Case("quantity minus infinity", {"quantity": -math.inf}, ("tea", 2.0, 1.0)),
    Case("quantity missing", {"quantity": None}, ("tea", 2.0, 1.0)),
    Case("quantity NaN", {"quantity": math.nan}, ("tea", 2.0, 1.0)),
    Case("quantity a half", {"quantity": 0.5}, ("tea", 2.0, 0.5)),
    Case("price missing", {"price": None}, ("tea", None, 1.0)),
    Case("price zero", {"price": 0.0}, UNPAID),
    Case("price negative", {"price": -3.0}, UNPAID),
    Case("price NaN", {"price": math.nan}, ("tea", None, 1.0)),
    Case("price infinite", {"price": math.inf}, ("tea", None, 1.0)),
    Case("price tiny", {"price": 0.25}, ("tea", 0.25, 1.0)),
    Case("product of spaces", {"product": "  "}, ("  ", 2.0, 1.0)),
    Case("spaces around", {"product": " tea "}, (" tea ", 2.0, 1.0)),
    Case("a comma and a quote", {"product": 'tea, "green"'}, ('tea, "green"', 2.0, 1.0)),
    Case("two lines", {"product": "tea\ngreen"}, ("tea\ngreen", 2.0, 1.0)),
    Case("digits among text", {"product": "7"}, ("7", 2.0, 1.0)),
    Case("leading zeros", {"product": "007"}, ("007", 2.0, 1.0)),
    Case("a fraction of zero as text", {"product": "13085.0"}, ("13085", 2.0, 1.0)),
    Case("superscript two", {"product": "²"}, ("²", 2.0, 1.0)),
    Case("two minus signs", {"product": "--5"}, ("--5", 2.0, 1.0)),
    Case("NULL as text", {"product": "NULL"}, ("NULL", 2.0, 1.0)),
    Case("nan as text", {"product": "nan"}, ("nan", 2.0, 1.0)),
    Case("not ASCII", {"product": "パスタ 🍝"}, ("パスタ 🍝", 2.0, 1.0)),
    Case("a very long number", {"product": "9" * 5_000}, ("9" * 5_000, 2.0, 1.0)),
    Case("a moment before midnight", {"time": datetime(2017, 1, 2, 23, 59, 59, 999_999)}, ("tea", 2.0, 1.0)),
    Case("the year 1000", {"time": datetime(1000, 1, 1)}, ("tea", 2.0, 1.0)),
]


def matrix_rows() -> list[Row]:
    """The matrix as the rows of one file, a basket each, numbered as in the matrix."""
    return [case.row | ({"basket": n} if "basket" not in case.odd else {}) for n, case in enumerate(MATRIX, 1)]


def matrix_baskets() -> list[tuple[Any, ...]]:
    """What is kept of the matrix, in time order."""
    found = [
        (row["user"] or None, row["time"], [case.becomes[0]], [case.becomes[1]], [case.becomes[2]])
        for case, row in zip(MATRIX, matrix_rows(), strict=True)
        if not isinstance(case.becomes, str)
    ]
    return sorted(found, key=lambda basket: basket[1])


def matrix_drops() -> Counter[str]:
    return Counter(case.becomes for case in MATRIX if isinstance(case.becomes, str))


@dataclass(frozen=True)
class Outcome:
    """What a reader made of rows: (user, time, products, prices, quantities) of each basket, and the drops."""

    baskets: list[tuple[Any, ...]]
    dropped: Counter[str]

    @property
    def products(self) -> list[Any]:
        return [product for basket in self.baskets for product in basket[2]]

    @property
    def times(self) -> list[Any]:
        return [basket[1] for basket in self.baskets]


def see(baskets: Baskets, dropped: Counter[str]) -> Outcome:
    """All that every reader has of baskets; a price that is not known is None, and no quantities are ones."""

    def prices(values: list[float] | None, n: int) -> list[float | None]:
        return [None if math.isnan(value) else value for value in values] if values else [None] * n

    found = [
        (b.user, b.time, b.products, prices(b.prices, len(b.products)), b.quantities or [1.0] * len(b.products))
        for b in baskets
    ]
    return Outcome(found, dropped)


def text_of(value: Any) -> str:
    return "" if value is None else str(value)


def write_text(
    folder: Path, rows: Sequence[Row], separator: str = ",", name: str = "rows.csv", end: str = "\n"
) -> Path:
    """The rows as delimited text; names first, quotes where they are needed."""

    def quoted(value: str) -> str:
        return f'"{value.replace(chr(34), chr(34) * 2)}"' if set(value) & {separator, '"', "\n"} else value

    lines = [list(rows[0]), *([text_of(value) for value in row.values()] for row in rows)]
    path = folder / name
    path.write_bytes(("".join(separator.join(map(quoted, line)) + end for line in lines)).encode())
    return path


def write_json(folder: Path, rows: Sequence[Row]) -> Path:
    """The rows as JSON lines; what JSON has no word for is left out, as most programs do."""
    path = folder / "rows.jsonl"
    plain = [
        {name: str(value) if isinstance(value, datetime) else value for name, value in row.items()} for row in rows
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in plain))
    return path


def table_of(rows: Sequence[Row]) -> pa.Table:
    """The rows as an Arrow table; a column of numbers and text becomes one of text."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return pa.table({name: _column(values) for name, values in columns.items()})


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values])


def _read(source: Any) -> Outcome:
    baskets = read_baskets(source)
    return see(baskets, baskets.report.dropped)


def _stream(path: Path) -> Outcome:
    with stream_baskets(path) as stream:
        return see(stream.read(), stream.report.dropped)


def _window(records: Sequence[Record]) -> Baskets:
    """The records as the learner takes them out of the journal."""
    window = OpenWindow(Vocabularies())
    for number, one in enumerate(records):
        basket = json.loads(one.line)
        window.add(number, tick_of(basket["time"]), basket)
    return window.window(records[0].clock if records else Clock.NONE, None, None)


def follow(path: Path) -> Outcome:
    """A file that is followed, up to its end."""
    file = GrowingFile(path)
    gatherer = Gatherer(repr(str(path)), {}, {}, None)
    gatherer.begin_file(untyped=file.format is TEXT)
    while rows := file.read(last=True):
        gatherer.add(rows, NOW)
    gatherer.flush(None, NOW)
    dropped = {reason.removeprefix("dropped: "): n for reason, n in gatherer.counts.items() if "dropped" in reason}
    others = {reason: n for reason, n in gatherer.counts.items() if "dropped" not in reason}
    assert not any("cannot be used" in reason for reason in others), others
    window = _window(gatherer.whole)
    return see(window, Counter(dropped) + window.report.dropped)


def post(rows: Sequence[Row]) -> Outcome:
    """Baskets over HTTP, a row each: one that cannot be used is refused, and counted as such."""
    records, refused = [], Counter[str]()
    for row in rows:
        product = {"id": row["product"]} | {name: row[name] for name in ("price", "quantity") if name in row}
        time = row.get("time")
        basket = {"id": row["basket"], "user": row.get("user"), "time": time, "products": [product]}
        try:
            records.append(record({k: v for k, v in basket.items() if v is not None}, NOW))
        except InputError:
            refused["refused"] += 1
    window = _window(records)
    return see(window, refused + window.report.dropped)


READERS: dict[str, Callable[[Path, Sequence[Row]], Outcome]] = {
    "CSV": lambda folder, rows: _read(write_text(folder, rows)),
    "TSV": lambda folder, rows: _read(write_text(folder, rows, "\t", "rows.tsv")),
    "CSV from Windows": lambda folder, rows: _read(
        with_mark(write_text(folder, rows, ";", end="\r\n")),
    ),
    "CSV streamed": lambda folder, rows: _stream(write_text(folder, rows)),
    "JSON lines": lambda folder, rows: _read(write_json(folder, rows)),
    "Parquet": lambda folder, rows: _read(_parquet(folder, rows)),
    "Arrow": lambda folder, rows: _read(table_of(rows)),
    "pandas": lambda folder, rows: _read(pd.DataFrame(rows)),
    "polars": lambda folder, rows: _read(pl.from_arrow(table_of(rows))),
    "CSV followed": lambda folder, rows: follow(write_text(folder, rows)),
    "CSV from Windows followed": lambda folder, rows: follow(with_mark(write_text(folder, rows, ";", end="\r\n"))),
    "TSV followed": lambda folder, rows: follow(write_text(folder, rows, "\t", "rows.tsv")),
    "JSON lines followed": lambda folder, rows: follow(write_json(folder, rows)),
}


def with_mark(path: Path) -> Path:
    """The file with a byte order mark in front."""
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    return path


def _parquet(folder: Path, rows: Sequence[Row]) -> Path:
    path = folder / "rows.parquet"
    parquet.write_table(table_of(rows), path)
    return path
