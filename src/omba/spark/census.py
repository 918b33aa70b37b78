"""Census: who and what is in a window, by part, before anything of it is learned.

A part is a share of the users. The driver has to know which rows of its tables each part will touch, and new products
and users must have theirs before a part can learn. What comes to the driver is a count for each product and user of
each part: as much as the tables it holds, however many baskets there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.baskets import Label
from omba.model.prices import HALF, STEPS

SCHEMA = (
    "part int, baskets long, first long, last long, products array<{product}>, counts array<long>, sums array<double>, "
    "known array<long>, users array<{user}>, visits array<long>, histogram array<long>"
)


@dataclass(frozen=True)
class Share:
    """What one part holds.

    Parameters
    ----------
    products
        The labels of its products.
    counts
        Baskets with each of them.
    sums
        The sum of the known prices of each.
    known
        How many prices those are.
    users
        The labels of its users.
    visits
        Baskets of each user.
    """

    products: pa.Array
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    known: NDArray[np.int64]
    users: pa.Array
    visits: NDArray[np.int64]


@dataclass(frozen=True)
class Census:
    """A window in figures.

    Parameters
    ----------
    baskets
        How many there are.
    first, last
        The times of the first and the last.
    histogram
        Their prices, in the steps that `Prices` keeps.
    shares
        What each part holds, by its number; parts without baskets are left out.
    """

    baskets: int
    first: int
    last: int
    histogram: NDArray[np.int64]
    shares: dict[int, Share]

    @classmethod
    def of(cls, lines: pa.Table) -> Census:
        """From the lines of all tasks; a part may have lines from several."""
        number = lines["part"].to_numpy()
        shares = {int(part): _share(lines.filter(pc.equal(lines["part"], int(part)))) for part in np.unique(number)}
        baskets = int(pc.sum(lines["baskets"]).as_py() or 0)
        first, last = (pc.min(lines["first"]).as_py(), pc.max(lines["last"]).as_py()) if baskets else (0, 0)
        flat = _numbers(lines["histogram"]) if len(lines) else np.zeros(2 * HALF, np.int64)
        return cls(baskets, first, last, flat.reshape(-1, 2 * HALF).sum(axis=0), shares)


def count(anchor: float, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """A line for each part met in a task's baskets; a task may have none."""
    held = batches.to_batches() if isinstance(batches, pa.Table) else list(batches)
    if not held:
        return
    table = pa.Table.from_batches(held)
    for part in np.unique(table["part"].to_numpy()):
        yield _line(table.filter(pc.equal(table["part"], int(part))), int(part), anchor)


def _line(table: pa.Table, part: int, anchor: float) -> pa.RecordBatch:
    products = pc.list_flatten(table["products"]).combine_chunks()
    prices = pc.list_flatten(table["prices"]).to_numpy().astype(np.float64)
    names, places = _distinct(products)
    known = np.isfinite(prices) & (prices > 0)
    users, visitors = _distinct(table["user"].combine_chunks().drop_null())
    columns: dict[str, Any] = {
        "part": pa.array([part], pa.int32()),
        "baskets": pa.array([len(table)], pa.int64()),
        "first": pa.array([pc.min(table["time"]).as_py()], pa.int64()),
        "last": pa.array([pc.max(table["time"]).as_py()], pa.int64()),
        "products": _one(names),
        "counts": _one(pa.array(np.bincount(places, minlength=len(names)))),
        "sums": _one(pa.array(np.bincount(places[known], weights=prices[known], minlength=len(names)))),
        "known": _one(pa.array(np.bincount(places[known], minlength=len(names)))),
        "users": _one(users),
        "visits": _one(pa.array(np.bincount(visitors, minlength=len(users)))),
        "histogram": _one(pa.array(histogram(prices[known], anchor))),
    }
    return pa.RecordBatch.from_pydict(columns)


def histogram(prices: NDArray[np.float64], anchor: float) -> NDArray[np.int64]:
    """Prices in the steps that `Prices` keeps."""
    if anchor <= 0.0 or len(prices) == 0:
        return np.zeros(2 * HALF, np.int64)
    bins = np.floor(np.log2(prices / anchor) * STEPS + 1e-6).astype(np.int64) + HALF
    return np.bincount(np.clip(bins, 0, 2 * HALF - 1), minlength=2 * HALF)


def _share(lines: pa.Table) -> Share:
    names, places = _distinct(pc.list_flatten(lines["products"]).combine_chunks())
    users, visitors = _distinct(pc.list_flatten(lines["users"]).combine_chunks())

    def total(name: str, at: NDArray[np.int64], n: int) -> NDArray[Any]:
        return np.bincount(at, weights=_numbers(lines[name]), minlength=n)

    counts, sums, known = (total(name, places, len(names)) for name in ("counts", "sums", "known"))
    visits = total("visits", visitors, len(users))
    return Share(names, counts.astype(np.int64), sums, known.astype(np.int64), users, visits.astype(np.int64))


def _distinct(labels: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Each label once, and the place of every label among them."""
    encoded = labels.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)


def _one(values: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)


def _numbers(column: pa.ChunkedArray) -> NDArray[Any]:
    numbers: NDArray[Any] = pc.list_flatten(column).to_numpy()
    return numbers


def label_list(labels: pa.Array) -> list[Label]:
    """Labels as Python knows them."""
    found: list[Label] = labels.to_pylist()
    return found
