"""Namesakes: a new product begins near products of like names.

A product's first vector is noise until it has been in some baskets. If its name shares words with names that are known,
it begins at the mean of those products instead: v = v₀ + Σ s²·v / Σ s², where s is the share of the new name's words
that another has, a word counting log(1 + n / names with it). From then on its baskets move it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.assortment.words import thing, words
from omba.baskets import Label
from omba.baskets.names import NAME
from omba.model.tables import VectorTable

NEAREST = 8
"""Products that a new one begins between, at most."""
LEAST = 0.3
"""The share of a new name's words that another must have to count."""
COMMON = 200
"""A word in more names than this tells of no thing, and is not looked up."""

Rows = NDArray[np.int64]


class Namesakes:
    """Which products have which words in their names, as they were when they were first met.

    >>> table = VectorTable(dim=2, seed=0, kind=0)
    >>> known = Namesakes()
    >>> table.grow(2)
    >>> known.place(table, 0, ["RED TEA CUP", "DOOR MAT"])
    >>> table.vectors[:] = [[1, 0], [0, 1]]
    >>> table.grow(3)
    >>> known.place(table, 2, ["BLUE TEA CUP"])
    >>> bool(table.vectors[2, 0] > 0.5 > table.vectors[2, 1])
    True
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._words: list[int] = []
        self._with: dict[int, list[int]] = {}
        self._same: dict[tuple[int, ...], list[int]] = {}
        self._attributes: pa.Table | None = None
        self._names: dict[str, str] = {}
        """What the products in the attributes are called, read once for as long as they stay the same."""

    def names_of(self, labels: Sequence[Label], attributes: pa.Table | None) -> list[str | None]:
        """What products are called, None for those without a name."""
        if attributes is None or NAME not in attributes.column_names or not labels:
            return []
        if attributes is not self._attributes:
            products = pc.cast(attributes["product"], pa.string()).to_pylist()
            pairs = zip(products, attributes[NAME].to_pylist(), strict=True)
            self._attributes, self._names = attributes, {product: name for product, name in pairs if name is not None}
        return [self._names.get(str(label)) for label in labels]

    def place(self, table: VectorTable, first: int, names: Sequence[str | None]) -> None:
        """Move new rows, from `first` on, to where those with names like theirs are, and remember their names."""
        known = {name: _codes(name) for name in dict.fromkeys(names) if name}
        described = [(first + place, known[name]) for place, name in enumerate(names) if name and known[name]]
        if self._with:
            # Many products of a window have the words of another one.
            starts = {
                codes: self._start(table, codes, first) for codes in dict.fromkeys(codes for _, codes in described)
            }
            for row, codes in described:
                start = starts[codes]
                if start is not None:
                    table.vectors[row] += start
        for row, codes in described:
            self._add(row, codes)

    def _start(self, table: VectorTable, codes: tuple[int, ...], known: int) -> NDArray[np.float32] | None:
        """The mean of the known rows with names like these words; None where there are none."""
        near, shares = self._find(codes, known)
        if not len(near):
            return None
        weights = (shares**2 / np.sum(shares**2)).astype(np.float32)
        return np.asarray(weights @ table.vectors[near])

    def _find(self, codes: tuple[int, ...], known: int) -> tuple[Rows, NDArray[np.float64]]:
        """The known rows with the highest shares of these words, best first, and the shares."""
        same = self._same.get(codes, [])
        if len(same) == NEAREST:
            return np.array(same), np.ones(NEAREST)
        having = [self._with.get(code, []) for code in codes]
        worth = np.log1p([known / (1 + len(rows)) for rows in having])
        useful = [(rows, weight) for rows, weight in zip(having, worth, strict=True) if 0 < len(rows) <= COMMON]
        if not useful:
            return np.empty(0, np.int64), np.empty(0)
        found, where = np.unique(np.concatenate([np.array(rows) for rows, _ in useful]), return_inverse=True)
        each = np.repeat([weight for _, weight in useful], [len(rows) for rows, _ in useful])
        shares = np.bincount(where, each).astype(np.float64) / worth.sum()
        best = np.argsort(-shares, kind="stable")[:NEAREST]
        best = best[shares[best] >= LEAST]
        return found[best], shares[best]

    def _add(self, row: int, codes: tuple[int, ...]) -> None:
        same = self._same.setdefault(codes, [])
        if len(same) < NEAREST:
            same.append(row)
        for code in codes:
            self._rows.append(row)
            self._words.append(code)
            self._with.setdefault(code, []).append(row)

    def state(self) -> dict[str, NDArray[Any]]:
        """What is needed to go on: each word of a name, as a number, beside the row of its product."""
        return {"rows": np.array(self._rows, np.int32), "words": np.array(self._words, np.int64)}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; snapshots of before have none."""
        rows, codes = state.get("rows", np.empty(0)), state.get("words", np.empty(0)).tolist()
        starts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
        for first, after in pairwise([*starts, len(codes)]):
            self._add(int(rows[first]), tuple(codes[first:after]))


def _codes(name: str) -> tuple[int, ...]:
    """The words that say what a product is, as numbers, each once, in their order; colours and sizes only tell variants
    of it apart."""
    codes = (_code(word) for word in words(name))
    return tuple(dict.fromkeys(code for code in codes if code is not None))


@lru_cache(100_000)
def _code(word: str) -> int | None:
    """A word as a number; None for one that only tells variants apart."""
    kept = thing((word,))
    return crc32(kept[0].encode()) if kept else None
