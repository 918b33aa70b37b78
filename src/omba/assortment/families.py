"""Families: products that are variants of one thing, or a set that is sold as one.

Three things speak for it. Names that say the same thing but for a colour, a size or a number; names alike but for one
word, where the products also sell alike; and rules that hold both ways between products that share a word or a
category. The links of the last two kinds are joined strongest first, and two groups become one only where half of the
pairs between them are linked: a chain of neighbours is no family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.assortment.family_name import family_name
from omba.assortment.name_groups import NameGroups

Rows = NDArray[np.int64]
Floats = NDArray[np.floating]
Pairs = tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]
"""(rows, rows, baskets with both)."""
Links = tuple[Rows, Rows, Floats]
"""(rows, rows, strength)."""

DENSE = 0.5
"""The share of pairs between two groups that must be linked before they become one."""
LARGEST = 64
"""Products of a family at most."""
FEWEST = 5
"""Baskets with both products before a rule that holds both ways says anything."""
MUTUAL, LIFT = 0.05, 3.0
"""The confidence both ways of a set sold as one, and its lift, at the least."""
SHARED, WEIGHT, ENOUGH = 0.3, 1.5, 0.75
"""The share of what both are called that their names have in common, at least; and that share with so many times the
confidence both ways must be enough: names half alike need a confidence of 0.17, two thirds alike 0.06."""
CALLED_ALIKE = 0.55
"""Members with so much of their names in common count as linked when two groups are looked at: variants that hardly
sell have nothing else to be linked by."""
TIGHT = 0.6
"""Products of one category bought together so regularly both ways are a set, if they have no names."""
BUYERS, SHARED_BUYERS = 5, 0.2
"""Where customers are known, so many of them must buy both, and the confidence need only be so high: of such pairs of
one category in Complete Journey 96% are of one type, and 68% of those with a confidence of 0.6, mostly a customer's."""
NEAR = 0.3
"""Products alike but for a word have vectors at least so near, or are bought together `FEWEST` times or more."""


@dataclass(frozen=True, eq=False)
class Families:
    """The families of a catalogue, those that sell most first.

    Parameters
    ----------
    family
        The family of each product by its row, −1 where it is in none.
    labels
        The products.
    titles
        What each product is called, its label where it has no name.
    counts
        Baskets with each product.

    >>> shop = ["PURSE RED", "PURSE BLUE", "TEA POT"]
    >>> groups = NameGroups(shop, [None] * 3)
    >>> none = np.zeros(0, np.int64)
    >>> found = find_families(groups, shop, shop, np.array([5, 4, 9]), (none, none, none), 9, np.zeros((3, 2)))
    >>> found.names, found.family.tolist()
    (['PURSE RED, BLUE'], [0, 0, -1])
    """

    family: NDArray[np.int32]
    labels: Sequence[object]
    titles: Sequence[str]
    counts: NDArray[np.integer]

    def __len__(self) -> int:
        return int(self.family.max(initial=-1)) + 1

    @cached_property
    def members(self) -> list[Rows]:
        """The rows of each family, best sellers first."""
        order = np.lexsort((-self.counts, self.family))
        inside = order[self.family[order] >= 0]
        return np.split(inside, np.flatnonzero(np.diff(self.family[inside])) + 1) if len(inside) else []

    @cached_property
    def names(self) -> list[str]:
        """What each family is called, by what the names of its members share."""
        return [family_name([self.titles[row] for row in rows.tolist()]) for rows in self.members]

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """A number for each product that is the same for all of a family, and of a product in none its own."""
        alone = len(self) + np.arange(len(self.family))
        return np.where(self.family >= 0, self.family, alone)

    def of_row(self, row: int) -> str | None:
        """The name of a product's family, None where it is in none."""
        family = int(self.family[row])
        return None if family < 0 else self.names[family]

    def table(self) -> pa.Table:
        """A row a family: its number, its name, how many products and baskets with them, and the products."""
        baskets = [int(self.counts[rows].sum()) for rows in self.members]
        products = [[self.labels[row] for row in rows.tolist()] for rows in self.members]
        same = {type(label) for each in products for label in each}
        if same - {int}:
            products = [[str(label) for label in each] for each in products]
        return pa.table(
            {
                "family": pa.array(range(len(self)), pa.int64()),
                "name": pa.array(self.names, pa.string()),
                "size": pa.array([len(rows) for rows in self.members], pa.int64()),
                "sold": pa.array(baskets, pa.int64()),
                "products": pa.array(products, pa.list_(pa.int64() if same == {int} else pa.string())),
            }
        )


def find_families(
    groups: NameGroups,
    labels: Sequence[object],
    titles: Sequence[str],
    counts: NDArray[np.integer],
    observed: Pairs,
    baskets: int,
    vectors: Floats,
    buyers: Callable[[Rows, Rows], Rows] | None = None,
) -> Families:
    """The families of products by their names, the pairs observed in so many baskets, and their vectors.

    `buyers` tells how many customers buy both products of pairs, where customers are known.
    """
    joined = Joining(len(groups), lambda a, b: int((groups.overlap(a, b) >= CALLED_ALIKE).sum()))
    for rows in groups.same:
        joined.put(rows)
    links = _alike(groups, counts, observed, vectors), _mutual(groups, counts, observed, baskets, buyers)
    for left, right in _strongest_first(links):
        joined.link(left, right)
    joined.settle()
    return Families(number(joined.roots(), counts), labels, titles, counts)


def _strongest_first(parts: Sequence[Links]) -> Iterator[tuple[int, int]]:
    left, right, strength = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((right, left, -strength))
    yield from zip(left[order].tolist(), right[order].tolist(), strict=True)


def _alike(groups: NameGroups, counts: NDArray[np.integer], observed: Pairs, vectors: Floats) -> Links:
    """Products that are alike but for a word, and are bought together or like each other."""
    left, right = groups.alike
    together = look_up(observed, left, right)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) + 1e-12
    cosine = np.einsum("ij,ij->i", vectors[left], vectors[right]) / (lengths[left] * lengths[right])
    # What was hardly sold yet has nothing but its name to go by.
    unknown = np.minimum(counts[left], counts[right]) < FEWEST
    keep = np.flatnonzero((cosine >= NEAR) | (together >= FEWEST) | unknown)
    left, right, together = left[keep], right[keep], together[keep]
    confidence = together / np.maximum(np.maximum(counts[left], counts[right]), 1)
    return left, right, groups.overlap(left, right) + confidence


def _mutual(
    groups: NameGroups,
    counts: NDArray[np.integer],
    observed: Pairs,
    baskets: int,
    buyers: Callable[[Rows, Rows], Rows] | None,
) -> Links:
    """Products between which rules hold both ways, and which share a word, or of which nothing but that is known."""
    left, right, together = (np.asarray(column, np.int64) for column in observed)
    confidence = together / np.maximum(np.maximum(counts[left], counts[right]), 1)
    lift = confidence * baskets / np.maximum(np.minimum(counts[left], counts[right]), 1)
    some = np.flatnonzero((together >= FEWEST) & (confidence >= MUTUAL) & (lift >= LIFT))
    left, right, confidence = left[some], right[some], confidence[some]
    category = groups.category_numbers[left]
    same = category == groups.category_numbers[right]
    named = groups.named[left] & groups.named[right]
    shared = groups.overlap(left, right)
    alike = (shared >= SHARED) & (shared + WEIGHT * confidence >= ENOUGH)
    sold_as_one = confidence >= TIGHT
    if buyers is not None:
        sold_as_one = (confidence >= SHARED_BUYERS) & (buyers(left, right) >= BUYERS)
    chosen = np.flatnonzero(same & np.where(named, alike, (category >= 0) & sold_as_one))
    return left[chosen], right[chosen], shared[chosen] + confidence[chosen]


def look_up(observed: Pairs, a: Rows, b: Rows) -> Rows:
    """How often pairs were observed; those observed stand in order."""
    left, right, together = observed
    keys = (left.astype(np.int64) << 32) | right
    asked = (np.minimum(a, b) << 32) | np.maximum(a, b)
    if not len(keys):
        return np.zeros(len(asked), np.int64)
    place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[place] == asked, together[place], 0)


def number(roots: NDArray[np.int64], counts: NDArray[np.integer]) -> NDArray[np.int32]:
    """Groups of two or more numbered from 0, those that sell most first; −1 for products alone."""
    group, size = np.unique(roots, return_inverse=True, return_counts=True)[1:]
    sold = np.bincount(group, weights=counts, minlength=len(size))
    order = np.lexsort((np.arange(len(size)), -sold))
    order = order[size[order] > 1]
    numbers = np.full(len(size), -1, np.int32)
    numbers[order] = np.arange(len(order))
    return numbers[group]


class Joining:
    """Groups that grow by links: two become one where enough of the pairs between them are linked.

    Parameters
    ----------
    products
        How many there are.
    alike
        Of pairs of rows, how many count as linked by their names.
    """

    def __init__(self, products: int, alike: Callable[[Rows, Rows], int]) -> None:
        self.group = list(range(products))
        """The group of each product, named by one of its rows."""
        self.members: dict[int, list[int]] = {}
        self.linked: dict[int, dict[int, int]] = {}
        """How many pairs are linked between a group and others."""
        self.alike = alike

    def roots(self) -> Rows:
        """The group of each product."""
        return np.array(self.group, np.int64)

    def rows(self, group: int) -> list[int]:
        return self.members.get(group, [group])

    def put(self, rows: Sequence[int]) -> None:
        """Make one group of rows that are in none yet."""
        self.members[rows[0]] = list(rows)
        for row in rows:
            self.group[row] = rows[0]

    def link(self, left: int, right: int) -> None:
        """Link two products, and join their groups where that makes the links between them dense."""
        a, b = self.group[left], self.group[right]
        if a == b:
            return
        for one, other in ((a, b), (b, a)):
            between = self.linked.setdefault(one, {})
            between[other] = between.get(other, 0) + 1
        self._try(a, b)

    def settle(self) -> None:
        """Join what has become dense as groups grew."""
        for a in list(self.linked):
            for b in list(self.linked.get(a, ())):
                if b in self.linked.get(a, ()):
                    self._try(a, b)

    def _try(self, a: int, b: int) -> None:
        left, right = self.rows(a), self.rows(b)
        pairs = len(left) * len(right)
        if len(left) + len(right) > LARGEST:
            return
        if self.linked[a][b] < DENSE * pairs:
            rows = np.array(left, np.int64), np.array(right, np.int64)
            if self.alike(np.repeat(rows[0], len(right)), np.tile(rows[1], len(left))) < DENSE * pairs:
                return
        self._join(a, b)

    def _join(self, a: int, b: int) -> None:
        if len(self.rows(a)) < len(self.rows(b)):
            a, b = b, a
        gone = self.rows(b)
        self.members[a] = self.rows(a) + gone
        self.members.pop(b, None)
        for row in gone:
            self.group[row] = a
        for other, links in self.linked.pop(b).items():
            self.linked[other].pop(b)
            if other != a:
                both = self.linked[a].get(other, 0) + links
                self.linked[a][other] = self.linked[other][a] = both
