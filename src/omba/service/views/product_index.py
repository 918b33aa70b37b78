"""Product index: all products with what is known of them, made ready to be searched as you type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import UnknownError, nearest
from omba.model.hierarchy import LEVELS

UNSORTED = "unsorted"
"""The department of products of which none is known."""
COMPARED = 2_000
"""Names that an unknown one is compared with: to compare it with all would take seconds of a large shop."""


class ProductIndex:
    """Products by row: label, baskets, mean price, and the attributes that rode along with the baskets."""

    def __init__(
        self,
        labels: Sequence[Label],
        rows: Mapping[Label, int],
        counts: NDArray[np.integer],
        prices: NDArray[np.floating] | None,
        attributes: pa.Table | None,
    ) -> None:
        self.labels, self.rows, self.counts, self.prices = labels, rows, counts, prices
        self.attributes = aligned(attributes, rows, len(labels))

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, product: Label) -> int:
        """The row of a product; text stands for a number where the labels are numbers."""
        row = self.rows.get(product, self.rows.get(number(product), -1))
        if not 0 <= row < len(self):
            raise UnknownError(f"product {product!r} is not known here{self._like(product)}")
        return row

    def _like(self, product: Label) -> str:
        near = self._texts_matching(re.split(r"\W+", str(product).casefold()), any_word=True)
        best = near[np.argsort(-self.counts[near], kind="stable")][:COMPARED]
        return nearest(product, [self.labels[row] for row in (*best.tolist(), *self.best[:COMPARED].tolist())])

    @cached_property
    def best(self) -> NDArray[np.int64]:
        """Rows, best sellers first."""
        return np.argsort(-self.counts, kind="stable")

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """Where each row stands among the best sellers."""
        place = np.empty(len(self), np.int64)
        place[self.best] = np.arange(len(self))
        return place

    @cached_property
    def _names(self) -> pa.Array:
        return pa.array([str(label).casefold() for label in self.labels], pa.string())

    @cached_property
    def _texts(self) -> pa.Array:
        """Label and attributes of each product as one text."""
        words = [pc.utf8_lower(self.attributes[name].fill_null("")) for name in self.levels]
        return pc.binary_join_element_wise(self._names, *words, "\n") if words else self._names

    @cached_property
    def levels(self) -> list[str]:
        """The columns of the attributes that hold words."""
        return [name for name in self.attributes if pa.types.is_string(self.attributes[name].type)]

    def ready(self) -> ProductIndex:
        """Work out the index now rather than at the first request."""
        _ = self.best, self._place, self._texts, self.category, self.department
        return self

    def search(self, text: str, category: str | None, limit: int) -> tuple[int, list[int]]:
        """How many products match, and the first of them: all words of the text must be found in the product's name
        or attributes. First come names that are the text, then those in which a word begins with it; best sellers
        first among equals."""
        words = text.casefold().split()
        rows = self._texts_matching(words) if words else self.best
        if category is not None:
            rows = rows[np.isin(rows, self.members(category))]
        if not words:
            return len(rows), rows[:limit].tolist()
        rank = self._place[rows].copy()
        names = self._names.take(pa.array(rows))
        start = pc.match_substring_regex(names, r"(^|\W)" + re.escape(" ".join(words)))
        exact = pc.equal(names, " ".join(words))
        rank += len(self) * (2 - start.to_numpy(zero_copy_only=False).astype(int))
        rank[exact.to_numpy(zero_copy_only=False)] -= 2 * len(self)
        few = np.argpartition(rank, limit - 1)[:limit] if limit < len(rank) else np.arange(len(rank))
        return len(rows), rows[few[np.argsort(rank[few])]].tolist()

    def _texts_matching(self, words: Sequence[str], any_word: bool = False) -> NDArray[np.int64]:
        kept = np.full(len(self), not any_word)
        for word in words:
            found = pc.match_substring(self._texts, word).to_numpy(zero_copy_only=False)
            kept = kept | (found if word else False) if any_word else kept & found
        return np.flatnonzero(kept)

    def members(self, category: str) -> NDArray[np.int64]:
        """The rows of the products with this value in any column of the attributes, whatever its case."""
        kept = np.zeros(len(self), bool)
        for name in self.levels:
            here = pc.equal(pc.utf8_lower(self.attributes[name]), category.lower())
            kept |= here.fill_null(False).to_numpy(zero_copy_only=False)
        if not kept.any():
            names = {value for name in self.levels for value in pc.unique(self.attributes[name]).to_pylist() if value}
            raise UnknownError(f"category {category!r} is not known here{nearest(category, names)}")
        return np.flatnonzero(kept)

    @cached_property
    def category(self) -> list[str | None]:
        """The finest known group of each product."""
        return self._level(0)

    @cached_property
    def department(self) -> list[str | None]:
        """The coarsest known group of each product."""
        return self._level(-1)

    def _level(self, place: int) -> list[str | None]:
        known = [name for name in LEVELS if name in self.levels]
        return self.attributes[known[place]].to_pylist() if known else [None] * len(self)

    @property
    def named(self) -> bool:
        """Whether products have a name beside their label, such as a description beside an article number."""
        return "name" in self.levels

    def name(self, row: int) -> str | None:
        """The name of a product beside its label, if it has one."""
        value = self.attributes["name"][row].as_py() if self.named else None
        return None if value is None else str(value)

    def price(self, row: int) -> float | None:
        value = float("nan") if self.prices is None else float(self.prices[row])
        return round(value, 4) if np.isfinite(value) else None

    def record(self, row: int) -> dict[str, Any]:
        """A product as plain values."""
        return {
            "id": self.labels[row],
            "name": self.name(row),
            "category": self.category[row],
            "department": self.department[row],
            "count": int(self.counts[row]),
            "price": self.price(row),
        }


def aligned(attributes: pa.Table | None, rows: Mapping[Label, int], n: int) -> dict[str, pa.Array]:
    """The columns of the attributes in the order of the rows, null where a product has none."""
    if attributes is None:
        return {}
    labels = attributes["product"].to_pylist()
    places = np.array([rows.get(label, rows.get(number(label), n)) for label in labels], np.int64)
    known = np.flatnonzero(places < n)
    source = np.full(n, -1, np.int64)
    source[places[known]] = known
    take = pa.array(source, mask=source < 0)
    columns = {}
    for name in attributes.column_names:
        column = attributes[name].combine_chunks()
        if pa.types.is_dictionary(column.type):
            column = column.cast(pa.string())
        if name != "product":
            columns[name] = column.take(take)
    return columns


def number(label: Label) -> Label:
    """A text of digits as the number it may stand for.

    >>> number("12"), number("12a"), number(7)
    (12, '12a', 7)
    """
    return int(label) if isinstance(label, str) and re.fullmatch("-?[0-9]{1,18}", label) else label
