"""The long form: a row a product, as most people keep baskets in files and data frames."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from omba.baskets.clock import Clock
from omba.baskets.vocabulary import Vocabulary
from omba.errors import InputError

if TYPE_CHECKING:
    from omba.baskets.baskets import Baskets


def long_table(baskets: Baskets) -> pa.Table:
    """The baskets as an Arrow table with the column names of `read_baskets`, and the products' attributes."""
    visit = np.repeat(np.arange(len(baskets)), baskets.sizes)
    ids = pa.array(np.arange(len(baskets))) if baskets.ids is None else baskets.ids
    columns: dict[str, Any] = {"basket_id": ids.take(pa.array(visit))}
    columns["product"] = label_column(baskets.product_vocabulary, baskets.items)
    if baskets.user_codes is not None:
        columns["user_id"] = label_column(baskets.user_vocabulary, baskets.user_codes[visit])
    if baskets.times is not None:
        ticks = pa.timestamp("us") if baskets.clock is Clock.DATETIME else pa.int64()
        columns["timestamp"] = pa.array(baskets.times[visit]).cast(ticks)
    if baskets.prices is not None:
        columns["price"] = pa.array(baskets.prices, from_pandas=True)
    if baskets.quantities is not None:
        columns["quantity"] = pa.array(baskets.quantities)
    if baskets.store_codes is not None:
        columns["store_id"] = label_column(baskets.store_vocabulary, baskets.store_codes[visit])
    return pa.table(columns | _attributes(baskets))


def write_long(baskets: Baskets, path: str | Path) -> None:
    """Write the long form; the ending of the name says how."""
    kind = Path(path).suffix.lower()
    if kind in (".csv", ".tsv"):
        csv.write_csv(long_table(baskets), str(path), csv.WriteOptions(delimiter="," if kind == ".csv" else "\t"))
    elif kind in (".parquet", ".pq"):
        parquet.write_table(long_table(baskets), str(path))
    else:
        raise InputError(f"{str(path)!r} does not say what to write: end the name in .csv, .tsv or .parquet")


SHOWN = 5
"""Baskets that a notebook shows."""


def show_html(baskets: Baskets) -> str:
    """How many baskets there are, and the first of them, as a table in HTML."""
    rows = []
    for basket in baskets.slice(0, min(SHOWN, len(baskets))):
        cells = (basket.id, basket.time, basket.user, ", ".join(map(str, basket.products)))
        rows.append("".join(f"<td>{'' if cell is None else escape(str(cell))}</td>" for cell in cells))
    head = "".join(f"<th>{name}</th>" for name in ("basket", "time", "user", "products"))
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><caption>{escape(repr(baskets))}</caption><tr>{head}</tr>{body}</table>"


def label_column(vocabulary: Vocabulary, codes: NDArray[np.int32]) -> pa.Array:
    """The labels of codes as an Arrow column, null where a code is −1; labels of both kinds become text."""
    labels = list(vocabulary)
    if len({type(label) for label in labels}) > 1:
        labels = [str(label) for label in labels]
    return pa.array(labels).take(pa.array(codes, mask=codes < 0))


def _attributes(baskets: Baskets) -> dict[str, Any]:
    if baskets.attributes is None:
        return {}
    rows = np.full(len(baskets.product_vocabulary) + 1, -1)
    codes = baskets.product_vocabulary.find(baskets.attributes["product"].to_pylist())
    rows[codes] = np.arange(len(codes))
    rows[-1] = -1  # where products the vocabulary does not know have landed
    places = rows[baskets.items]
    described = baskets.attributes.drop_columns("product").take(pa.array(places, mask=places < 0))
    return {name: described[name] for name in described.column_names}
