"""Name groups: products whose names say that they are variants of one thing, found by what their names share.

Every name is put under the thing it says the product is, and under that thing with one word left out. Products that
meet under one of these are not compared with any others, so the work grows with the names and not with their pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from omba.assortment.kernels import share_words
from omba.assortment.words import Words, templates, thing, words

Rows = NDArray[np.int64]

MOST = 64
"""Products under one thing, at most: more are a numbering such as *product 1* to *product 900*, not variants."""
ALIKE = 24
"""Products that are alike but for a word, at most; beyond that the words left are those of half the shop."""
SHARE = 0.25
"""Nor are more than a quarter of all products variants of one thing, unless the shop is tiny."""
COMMON = 0.02
"""A word in a larger share of the names says little about what a product is."""
SAME_KIND = 0.2
"""What a common first or last word adds to the share of common words."""


class NameGroups:
    """What the names of products say about which are variants of one thing.

    Parameters
    ----------
    names
        The name of each product, None where it has none.
    categories
        The category of each, None where it has none: products of two categories are no variants of one thing.
    """

    def __init__(self, names: Sequence[str | None], categories: Sequence[str | None]) -> None:
        self.words: list[Words] = [words(name) if name else () for name in names]
        self.things: list[Words] = [thing(each) for each in self.words]
        self.categories = categories
        self.same = self._find_same()

    def __len__(self) -> int:
        return len(self.words)

    def _find_same(self) -> list[list[int]]:
        """Rows of products that are one thing, but for words that tell variants apart.

        Where that would be too many, their names are a numbering and say nothing.
        """
        groups: dict[tuple[str | None, Words], list[int]] = {}
        for row, each in enumerate(self.things):
            if each and sum(map(len, each)) > 3:
                groups.setdefault((self.categories[row], tuple(sorted(each))), []).append(row)
        same = []
        for (_, each), rows in groups.items():
            if len(rows) > min(MOST, max(SHARE * len(self), 8 if len(each) > 1 else 2)):
                for row in rows:
                    self.things[row] = ()
            elif len(rows) > 1:
                same.append(rows)
        return same

    @cached_property
    def alike(self) -> tuple[Rows, Rows]:
        """Pairs of products whose things differ in one word, which is not the last."""
        groups: dict[tuple[str | None, Words], list[int]] = {}
        for row, each in enumerate(self.things):
            if len(each) > 2:
                for template in templates(each):
                    groups.setdefault((self.categories[row], template), []).append(row)
            if len(each) > 1:
                # *BLOCK WORD* beside *LOVE BLOCK WORD*: the plain one is its own template.
                groups.setdefault((self.categories[row], each), []).append(row)
        pairs: set[tuple[int, int]] = set()
        for rows in groups.values():
            if 1 < len(rows) <= ALIKE:
                pairs.update(combinations(sorted(set(rows)), 2))
            elif len(rows) > ALIKE:
                pairs.update(pairwise(rows))
        left, right = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
        return left, right

    @cached_property
    def _numbered(self) -> tuple[Rows, NDArray[np.int32], NDArray[np.int32], Rows]:
        """The words of all things as numbers, in order: where those of each begin, the words, the first and the last
        of each, and how many products have each word."""
        numbers: dict[str, int] = {}
        each = [sorted({numbers.setdefault(word, len(numbers)) for word in one}) for one in self.things]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in each])]).astype(np.int64)
        flat = np.array([number for one in each for number in one], np.int32)
        ends = [
            (numbers[one[0]], numbers[one[-1]]) if one else (-1 - row, -1 - row) for row, one in enumerate(self.things)
        ]
        frequency = np.bincount(flat, minlength=len(numbers)).astype(np.int64)
        return offsets, flat, np.array(ends, np.int32).reshape(-1, 2), frequency

    @cached_property
    def named(self) -> NDArray[np.bool_]:
        """Whether the name of each product says what it is."""
        return np.array([bool(one) for one in self.things], bool)

    @cached_property
    def category_numbers(self) -> Rows:
        """A number for each category, the same for products of one; −1 for none."""
        numbers: dict[str | None, int] = {None: -1}
        return np.array([numbers.setdefault(one, len(numbers) - 1) for one in self.categories], np.int64)

    def overlap(self, a: Rows, b: Rows) -> NDArray[np.float64]:
        """The share of what two products are called that their names have in common; 0 where that says little."""
        offsets, flat, ends, frequency = self._numbered
        shares = np.zeros(len(a), np.float64)
        rare = int(max(COMMON * len(self), 8))
        share_words(a, b, offsets, flat, ends, frequency, rare, SAME_KIND, shares)
        return shares
