"""Itemsets: a table of sets of products, each with the baskets that hold all of it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets.extras import extra
from omba.patterns import set_tables
from omba.patterns.miner import Tree
from omba.patterns.transactions import Codes, Longs, Transactions

AT_ONCE = 1 << 13
"""Sets made into Python's at a time."""


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Sets of products in columns, shorter ones first and those of one length in the order of their products.

    Parameters
    ----------
    transactions
        The baskets they were counted in.
    groups
        Of each length: the sets, a line a set and numbers in rising order, and their counts.
    min_count
        The baskets that each is in, at least.
    complete
        Whether these are all there are; False where the search was ended before.
    by_count
        The places of the sets in the table where it is told by their counts; None where it is told by length.

    >>> from omba.patterns import find_itemsets
    >>> found = find_itemsets([["tea", "milk"], ["tea", "milk"], ["tea"]], min_count=2)
    >>> for products, count in found:
    ...     print(products, count)
    ('tea',) 3
    ('milk',) 2
    ('tea', 'milk') 2
    """

    transactions: Transactions
    groups: list[tuple[Codes, Longs]]
    min_count: int
    complete: bool = True
    by_count: Longs | None = None

    def __len__(self) -> int:
        return len(self.count) if self.by_count is None else len(self.by_count)

    def __iter__(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        return zip(map(tuple, self.lists()), self._select(self.count).tolist(), strict=True)

    def __repr__(self) -> str:
        short = "" if self.complete else ", incomplete"
        return f"Itemsets({len(self):,} sets in {self.min_count:,} of {self.n_baskets:,} baskets or more{short})"

    @property
    def n_baskets(self) -> int:
        return len(self.transactions)

    @cached_property
    def count(self) -> Longs:
        """Baskets with each set, by length."""
        return np.concatenate([np.empty(0, np.int64), *(counts for _, counts in self.groups)])

    @cached_property
    def offsets(self) -> Longs:
        """Where the products of each set begin in `items`."""
        lengths = [np.full(len(counts), sets.shape[1], np.int64) for sets, counts in self.groups]
        return np.append(0, np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths])))

    @cached_property
    def items(self) -> Codes:
        """The numbers of the products of all sets, one set after another."""
        return np.concatenate([np.empty(0, np.int32), *(sets.ravel() for sets, _ in self.groups)])

    @property
    def support(self) -> NDArray[np.float64]:
        """The share of baskets with each set, as the table tells them."""
        return self._select(self.count) / max(1, self.n_baskets)

    def lists(self, use_colnames: bool = True) -> list[list[Any]]:
        """The products of each set: by their labels, or by their numbers."""
        names = np.empty(len(self.transactions.labels), object)
        names[:] = list(self.transactions.labels)
        out: list[list[Any]] = []
        for sets, _ in self.groups:
            out += (names[sets] if use_colnames else sets).tolist()
        return out if self.by_count is None else [out[row] for row in self.by_count.tolist()]

    def frozensets(self, use_colnames: bool = True) -> NDArray[Any]:
        """The sets as a column of frozensets."""
        labels = self.transactions.labels
        made = [as_frozensets(sets, labels if use_colnames else range(len(labels))) for sets, _ in self.groups]
        return self._select(np.concatenate([np.empty(0, object), *made]))

    def to_pandas(self, use_colnames: bool = True) -> Any:
        """A frame with mlxtend's columns, `support` and `itemsets`; its `attrs` tell whether it is complete."""
        pandas = extra("pandas", "a frame of itemsets", "pandas")
        frame = pandas.DataFrame({"support": self.support, "itemsets": self.frozensets(use_colnames)})
        frame.attrs.update(baskets=self.n_baskets, min_count=self.min_count, complete=self.complete)
        return frame

    def to_arrow(self) -> pa.Table:
        """An Arrow table with the sets as lists, their supports and their counts."""
        lists = self.lists()
        kind = pa.int64() if all(isinstance(one, int) for items in lists for one in items) else pa.string()
        cast = int if kind == pa.int64() else str
        sets = pa.array([[cast(one) for one in items] for items in lists], pa.list_(kind))
        return pa.table({"support": self.support, "itemsets": sets, "count": self._select(self.count)})

    def to_polars(self) -> Any:
        """A polars frame with the sets as lists."""
        return extra("polars", "a frame of itemsets", "polars").from_arrow(self.to_arrow())

    def _select(self, column: NDArray[Any]) -> NDArray[Any]:
        return column if self.by_count is None else column[self.by_count]


def as_frozensets(sets: Codes, labels: Sequence[Any]) -> NDArray[Any]:
    """Sets of one length, a line a set, as frozensets of the labels of their products.

    Some are made at a time, so that few lists of products are held beside them. Python looks for cycles whenever many
    objects are new, though sets of labels have none: for 400,000 sets that takes three times as long as making them.

    >>> as_frozensets(np.array([[0, 2]], np.int32), "abc").tolist() == [frozenset("ac")]
    True
    """
    names, out = np.empty(len(labels), object), np.empty(len(sets), object)
    names[:] = list(labels)
    looking = gc.isenabled()
    gc.disable()
    try:
        for first in range(0, len(sets), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            out[some] = list(map(frozenset, names[sets[some]].tolist()))
    finally:
        if looking:
            gc.enable()
    return out


def frame_bytes(length: int) -> int:
    """Bytes of a set of so many products in a frame: the frozenset, its place and its support."""
    return sys.getsizeof(frozenset(range(length))) + 16


def lay_out(tree: Tree, always: Codes, min_len: int) -> list[tuple[Codes, Longs]]:
    """The sets of a tree by their lengths, in order; `always` are products that are in each of them."""
    groups = []
    reported = np.where(tree.count > 0, tree.length, 0)
    for length in np.flatnonzero(np.bincount(reported)).tolist():
        if length == 0 or length + len(always) < min_len:
            continue
        nodes = np.flatnonzero(reported == length)
        sets = np.empty((len(nodes), int(length)), np.int32)
        set_tables.unfold(tree.parent, tree.item, nodes, tree.names, sets)
        if len(always):
            sets = np.sort(np.hstack([sets, np.tile(always, (len(sets), 1))]), axis=1).astype(np.int32)
        order = order_of(sets)
        groups.append((sets[order], tree.count[nodes[order]].astype(np.int64)))
    return groups


def order_of(sets: Codes) -> Longs:
    """The order in which sets of one length stand: by their first products, then by the next."""
    bits = max(1, int(sets.max()).bit_length()) if sets.size else 1
    words = np.empty((-(-sets.shape[1] // (64 // bits)), len(sets)), np.uint64)
    set_tables.pack(sets, bits, words)
    return np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
