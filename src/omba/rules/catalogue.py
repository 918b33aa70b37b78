"""Catalogue: what is known of the products beside their vectors, and how they are found.

Labels, prices and categories, made ready to be searched as somebody types: the names and attributes of all products
stand in Arrow arrays, so that one pass over 70,000 of them takes milliseconds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from omba.assortment.families import Families
from omba.assortment.relations import Relations
from omba.baskets import Label, find_label
from omba.baskets.identity import Identity
from omba.baskets.names import NAME, ProductNames, is_code, show
from omba.errors import LONGEST, InputError, UnknownError, nearest, shorten

COMPARED = 2_000
"""Names that an unknown one is compared with: to compare it with all would take seconds of a large shop."""

Places = NDArray[np.int64]
Floats = NDArray[np.float64]


class SalesOutlook(Protocol):
    """What the same weeks a year ago say of the coming ones."""

    ahead: int

    @property
    def met(self) -> bool: ...
    @property
    def known(self) -> bool: ...
    @property
    def moves(self) -> NDArray[np.bool_]: ...
    @property
    def returns(self) -> float: ...
    @property
    def part_of_time(self) -> float: ...
    @property
    def weights(self) -> Floats: ...
    def day(self, place: int) -> np.datetime64: ...
    def begins(self, sets: ArrayLike) -> list[np.datetime64]: ...
    def profile(self, rows: ArrayLike) -> Floats: ...
    def rates_of(self, groups: Sequence[NDArray[np.integer]]) -> Floats: ...
    def seasons_of(self, groups: Sequence[NDArray[np.integer]]) -> list[str]: ...
    def factors(self, sets: ArrayLike) -> tuple[Floats, Floats]: ...
    def doubtful(self, sets: ArrayLike) -> NDArray[np.bool_]: ...
    def once(self, sets: ArrayLike) -> NDArray[np.bool_]: ...
    def chance(self, sets: ArrayLike) -> Floats: ...
    def going_on(self, sets: ArrayLike) -> Floats: ...
    def fallen(self, sets: ArrayLike) -> Floats: ...
    @property
    def sales_change(self) -> Floats: ...
    def sales_spread(self, groups: Sequence[NDArray[np.integer]]) -> Floats: ...


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Products by label. Row i of every array is product `labels[i]`.

    Parameters
    ----------
    labels
        The products, each once.
    prices
        The mean price of each, NaN where it is not known; None where no prices are known at all.
    attributes
        A table with a column `product` and whatever else rode along with the baskets, such as categories.
    counts
        Baskets with each product, so that best sellers come first; without, the order is that of the labels.
    codes
        The row of each label, where it is known already: to number 70,000 labels again takes a while. It may know
        products that came after these labels.
    seasons
        Tells the season of the products in each line of rows together, "" where there is none.
    identity
        Which codes are folded into others, and which are left out.
    find_families
        Tells which products are variants of one thing, when that is first asked for; None where it is not known.
    find_relations
        Tells what products are to each other, likewise.
    amounts
        What each product brings in a basket that holds it, price times quantity; None where no prices are known.
    find_outlook
        Tells what the same weeks a year ago say of the next period, or of so many fortnights to come.

    >>> shop = Catalogue(["green tea", "tea pot", 7], counts=np.array([2, 9, 4]))
    >>> shop.find("7"), shop.search("tea", None, 5)
    (7, (2, [1, 0]))
    """

    labels: Sequence[Label] = field(default_factory=list)
    prices: NDArray[np.floating] | None = None
    attributes: pa.Table | None = None
    counts: NDArray[np.integer] | None = None
    codes: Mapping[Label, int] | None = None
    seasons: Callable[[NDArray[np.integer]], list[str]] | None = None
    identity: Identity | None = None
    find_families: Callable[[], Families] | None = None
    find_relations: Callable[[], Relations] | None = None
    amounts: NDArray[np.floating] | None = None
    find_outlook: Callable[..., SalesOutlook] | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def families(self) -> Families | None:
        """Which products are variants of one thing; None where that is not known."""
        return None if self.find_families is None else self.find_families()

    @cached_property
    def outlook(self) -> SalesOutlook | None:
        """How sales should stand in the next period: by the same weeks a year ago, if it says that they are known."""
        return None if self.find_outlook is None else self.find_outlook()

    def amount(self, product: Label) -> float:
        """What a product brings in a basket that holds it, NaN where that is not known."""
        row = self.rows.get(product, -1)
        return float("nan") if self.amounts is None or not 0 <= row < len(self.amounts) else float(self.amounts[row])

    @cached_property
    def relations(self) -> Relations | None:
        """What products are to each other; None where that is not known."""
        return None if self.find_relations is None else self.find_relations()

    @cached_property
    def rows(self) -> Mapping[Label, int]:
        """The row of each label."""
        return {label: row for row, label in enumerate(self.labels)} if self.codes is None else self.codes

    def known_row(self, product: Label) -> int | None:
        """The row of a product, None where it is not known; text is taken for a number where labels are numbers."""
        fold = self.identity.fold if self.identity is not None else {}
        label = find_label(fold.get(str(product), product), self.rows)
        row = -1 if label is None else self.rows[label]
        return row if 0 <= row < len(self) else None

    def row(self, product: Label) -> int:
        """The row of a product by its label, its name or a part of its name, in this order.

        A text that may mean several products is an error that lists the best sellers among them, and one that means
        none an error that suggests the nearest names.
        """
        row = self.known_row(product)
        if row is None:
            row = self.product_names.row(product)
        if row < 0:
            raise UnknownError(f"product {shorten(product)} is not known here{self._like(product)}")
        return row

    def row_in_basket(self, product: Label) -> int | None:
        """The row of a product of a basket by its label or its name; None where it is not known.

        A till writes codes, and one that is not known is no part of a name.
        """
        row = self.known_row(product)
        if row is None and not is_code(product) and not (self.identity and self.identity.product(product) is None):
            row = self.product_names.row(product)
        return row if row is not None and row >= 0 else None

    def find(self, product: Label) -> Label:
        """The product's own label, as `row` finds it."""
        return self.labels[self.row(product)]

    def _like(self, product: Label) -> str:
        """The nearest names among the best sellers and those that share a word with the product."""
        if len(str(product)) > LONGEST:
            return ""
        near = self._match(self._texts, re.split(r"\W+", str(product).casefold()), any_word=True)
        best = near[np.argsort(self._place[near], kind="stable")][:COMPARED]
        return nearest(product, [self.labels[row] for row in (*best.tolist(), *self.best[:COMPARED].tolist())])

    def price(self, product: Label) -> float:
        """The product's mean price, NaN where it is not known."""
        row = self.rows.get(product, -1)
        return float("nan") if self.prices is None or not 0 <= row < len(self) else float(self.prices[row])

    def season(self, sets: Sequence[Sequence[Label]]) -> list[str]:
        """When in the year the products of each set are mostly sold together; "" where there is no such time."""
        found = [""] * len(sets)
        if self.seasons is None:
            return found
        for size in {len(labels) for labels in sets}:
            places = [place for place, labels in enumerate(sets) if len(labels) == size]
            rows = np.array([[self.rows.get(label, len(self)) for label in sets[place]] for place in places])
            for place, season in zip(places, self.seasons(rows), strict=True):
                found[place] = season
        return found

    def chance(self, sets: Sequence[Sequence[Label]]) -> Floats:
        """By how much baskets with each set will change in the next period by the sales of its products, its last
        product the consequent; 1 where nothing is known of the time of year."""
        return self._by_size(sets, self.outlook.chance) if self.outlook is not None else np.ones(len(sets))

    def _by_size(self, sets: Sequence[Sequence[Label]], factor: Callable[[ArrayLike], Floats]) -> Floats:
        """A factor of each set, by the rows of its products; sets of one size are asked together."""
        factors = np.ones(len(sets))
        for size in {len(labels) for labels in sets}:
            places = [place for place, labels in enumerate(sets) if len(labels) == size]
            rows = np.array([[self.rows.get(label, len(self)) for label in sets[place]] for place in places])
            factors[places] = factor(rows)
        return factors

    # Names.

    @property
    def named(self) -> bool:
        """Whether products have names beside their labels, such as descriptions beside article numbers."""
        return NAME in self.levels

    @cached_property
    def names(self) -> list[str | None]:
        """The name of each product beside its label, None where it has none."""
        names: list[str | None] = self.columns[NAME].to_pylist() if self.named else [None] * len(self)
        return names

    def name(self, product: Label) -> str | None:
        """The name of a product beside its label; None where it has none or is not known."""
        row = self.rows.get(product, -1) if self.named else -1
        return self.names[row] if 0 <= row < len(self) else None

    def show(self, product: Label) -> str:
        """A product as a person reads it: its name with the label beside, which tells products of one name apart.

        >>> names = pa.table({"product": ["85099B", "22411"], "name": ["JUMBO BAG", None]})
        >>> [Catalogue(["85099B", "22411"], attributes=names).show(label) for label in ("85099B", "22411")]
        ['JUMBO BAG (85099B)', '22411']
        """
        return show(product, self.name(product))

    # Categories.

    @cached_property
    def columns(self) -> dict[str, pa.Array]:
        """The columns of the attributes in the order of the rows, null where a product has none."""
        if self.attributes is None:
            return {}
        found = [find_label(label, self.rows) for label in self.attributes["product"].to_pylist()]
        places = np.array([-1 if label is None else self.rows[label] for label in found], np.int64)
        known = np.flatnonzero((places >= 0) & (places < len(self)))
        source = np.full(len(self), -1, np.int64)
        source[places[known]] = known
        # Made of its buffers: `pa.array` would first bring in pandas, which takes longer than a small model.
        there = pa.py_buffer(np.packbits(source >= 0, bitorder="little"))
        take = pa.Array.from_buffers(pa.int64(), len(source), [there, pa.py_buffer(source)])
        columns = {}
        for name in self.attributes.column_names:
            column = self.attributes[name].combine_chunks()
            if pa.types.is_dictionary(column.type):
                column = column.cast(pa.string())
            if name != "product":
                columns[name] = column.take(take)
        return columns

    @cached_property
    def levels(self) -> list[str]:
        """The columns of the attributes that hold words."""
        return [name for name, column in self.columns.items() if pa.types.is_string(column.type)]

    @cached_property
    def categories(self) -> Counter[str]:
        """Every category of any level, and how many products are in it."""
        size: Counter[str] = Counter()
        for name in self.levels:
            size.update(value for value in self.columns[name].to_pylist() if value)
        return size

    def members(self, category: str) -> Places:
        """The rows of the products with this value in any column of the attributes, whatever its case."""
        if self.attributes is None:
            raise InputError(
                f"category {category!r} cannot be looked up: nothing but the labels of the products is known"
            )
        inside = np.zeros(len(self), bool)
        for name in self.levels:
            here = pc.equal(pc.utf8_lower(self.columns[name]), category.lower())
            inside |= here.fill_null(False).to_numpy(zero_copy_only=False)
        if not inside.any():
            raise UnknownError(f"category {category!r} is not known here{nearest(category, self.categories)}")
        return np.flatnonzero(inside)

    def in_category(self, category: str) -> set[Label]:
        """The products with this value in any column of the attributes, whatever its case."""
        return {self.labels[row] for row in self.members(category).tolist()}

    # Search.

    @cached_property
    def best(self) -> Places:
        """Rows, best sellers first."""
        return np.arange(len(self)) if self.counts is None else np.argsort(-self.counts, kind="stable")

    @cached_property
    def _place(self) -> Places:
        """Where each row stands among the best sellers."""
        place = np.empty(len(self), np.int64)
        place[self.best] = np.arange(len(self))
        return place

    @cached_property
    def product_names(self) -> ProductNames:
        """What products are called, to be found by it."""
        return ProductNames(self.labels, self.names, self.counts)

    @property
    def _spelt(self) -> pa.Array:
        return self.product_names.spelt

    @property
    def _called(self) -> pa.Array:
        return self.product_names.called

    @cached_property
    def _texts(self) -> pa.Array:
        """Label and attributes of each product as one text."""
        words = [pc.utf8_lower(self.columns[name].fill_null("")) for name in self.levels]
        return pc.binary_join_element_wise(self._spelt, *words, "\n") if words else self._spelt

    def ready(self) -> Catalogue:
        """Work out the index now rather than at the first question."""
        _ = self.rows, self.best, self._place, self._texts, self._called, self.names
        return self

    def search(self, text: str, category: str | None, limit: int) -> tuple[int, list[int]]:
        """How many products match, and the rows of the first of them: all words of the text must be found in the
        product's name or attributes. First come names that are the text, then those in which a word begins with it;
        best sellers first among equals."""
        words = text.casefold().split()
        rows = self._match(self._texts, words) if words else self.best
        if category is not None:
            rows = rows[np.isin(rows, self.members(category))]
        if not words:
            return len(rows), rows[:limit].tolist()
        rank = self._place[rows].copy()
        start, exact = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        for texts in (self._spelt, self._called) if self.named else (self._spelt,):
            names = texts.take(pa.array(rows))
            begins = pc.match_substring_regex(names, r"(^|\W)" + re.escape(" ".join(words)))
            start |= begins.to_numpy(zero_copy_only=False)
            exact |= pc.equal(names, " ".join(words)).to_numpy(zero_copy_only=False)
        rank += len(self) * (2 - start.astype(int))
        rank[exact] -= 2 * len(self)
        few = np.argpartition(rank, limit - 1)[:limit] if limit < len(rank) else np.arange(len(rank))
        return len(rows), rows[few[np.argsort(rank[few])]].tolist()

    def rows_with(self, word: str) -> NDArray[np.bool_]:
        """Whether the label or the name of each product holds a word."""
        found = [pc.match_substring(texts, word.casefold()) for texts in (self._spelt, self._called)]
        return np.asarray(pc.or_(*found).to_numpy(zero_copy_only=False))

    def _match(self, texts: pa.Array, words: Sequence[str], any_word: bool = False) -> Places:
        matching = np.full(len(self), not any_word)
        for word in words:
            found = pc.match_substring(texts, word).to_numpy(zero_copy_only=False)
            matching = matching | (found if word else False) if any_word else matching & found
        return np.flatnonzero(matching)
