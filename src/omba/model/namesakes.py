"""Namesakes: a new product begins near products of like names.

A product's first vector is noise until it has been in some baskets. If its name shares words with names that are known,
it begins at the mean of those products instead: v = v₀ + Σ s²·v / Σ s², where s is the share of the new name's words
that another has, a word counting log(1 + n / names with it). From then on its baskets move it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import log1p
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
Codes = tuple[int, ...]
"""The words of a name, as numbers."""
_NONE: array[int] = array("q")


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
        self._with: dict[int, array[int]] = {}
        self._same: dict[Codes, list[int]] = {}
        self._shares = np.zeros(0)
        """Zeros, in which the shares of known rows are added up."""
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
        if self._with and described:
            # Many products of a window have the words of another one.
            distinct = {codes: place for place, codes in enumerate(dict.fromkeys(codes for _, codes in described))}
            starts = self._starts(table, list(distinct), first)
            table.vectors[[row for row, _ in described]] += starts[[distinct[codes] for _, codes in described]]
        for row, codes in described:
            self._add(row, codes)

    def _starts(self, table: VectorTable, wanted: Sequence[Codes], known: int) -> NDArray[np.float32]:
        """The mean of the known rows with names like each of these words; 0 where there are none."""
        near, weights = np.zeros((len(wanted), NEAREST), np.int64), np.zeros((len(wanted), NEAREST), np.float32)
        for place, codes in enumerate(wanted):
            same = self._same.get(codes, ())
            if len(same) == NEAREST:
                near[place], weights[place] = same, 1 / NEAREST
            else:
                rows, shares = self._find(codes, known)
                # No row is near where the sum is 0.
                near[place, : len(rows)], weights[place, : len(rows)] = rows, shares**2 / np.sum(shares**2)
        starts = np.zeros((len(wanted), table.vectors.shape[1]), np.float32)
        for number in range(NEAREST):
            starts += weights[:, number, None] * table.vectors[near[:, number]]
        return starts

    def _find(self, codes: Codes, known: int) -> tuple[Rows, NDArray[np.float64]]:
        """The known rows with the highest shares of these words, best first, and the shares."""
        having = [self._with.get(code, _NONE) for code in codes]
        worth = [log1p(known / (1 + len(rows))) for rows in having]
        useful = [
            (np.frombuffer(rows, np.int64), weight)
            for rows, weight in zip(having, worth, strict=True)
            if 0 < len(rows) <= COMMON
        ]
        if not useful:
            return np.empty(0, np.int64), np.empty(0)
        if len(self._shares) < known:
            self._shares = np.zeros(2 * known)
        for rows, weight in useful:
            self._shares[rows] += weight
        met = np.concatenate([rows for rows, _ in useful])
        shares = self._shares[met] / sum(worth)
        self._shares[met] = 0
        enough = shares >= LEAST
        found, first = np.unique(met[enough], return_index=True)
        best = np.argsort(-shares[enough][first], kind="stable")[:NEAREST]
        return found[best], shares[enough][first][best]

    def _add(self, row: int, codes: Codes) -> None:
        same = self._same.setdefault(codes, [])
        if len(same) < NEAREST:
            same.append(row)
        for code in codes:
            self._rows.append(row)
            self._words.append(code)
            self._with.setdefault(code, array("q")).append(row)

    def state(self) -> dict[str, NDArray[Any]]:
        """What is needed to go on: each word of a name, as a number, beside the row of its product."""
        return {"rows": np.array(self._rows, np.int32), "words": np.array(self._words, np.int64)}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; snapshots of before have none."""
        rows, codes = state.get("rows", np.empty(0)), state.get("words", np.empty(0)).tolist()
        starts = np.flatnonzero(np.diff(rows, prepend=-1)).tolist()
        for first, after in pairwise([*starts, len(codes)]):
            self._add(int(rows[first]), tuple(codes[first:after]))


def _codes(name: str) -> Codes:
    """The words that say what a product is, as numbers, each once, in their order; colours and sizes only tell variants
    of it apart."""
    codes = (_code(word) for word in words(name))
    return tuple(dict.fromkeys(code for code in codes if code is not None))


@lru_cache(100_000)
def _code(word: str) -> int | None:
    """A word as a number; None for one that only tells variants apart."""
    kept = thing((word,))
    return crc32(kept[0].encode()) if kept else None
