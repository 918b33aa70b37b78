"""Row index: the codes of a stream's vocabulary turned into the rows of the model's tables.

New labels of a window take rows in sorted order, and the products of a basket are sorted by row, so that neither
the order of products in a basket nor the way a source numbers them leaves a trace in the model.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label, Vocabulary, find_label
from omba.baskets.identity import Identity


class RowIndex:
    """The row of each label in a model's tables, and the translation from the codes of the last stream it met.

    Parameters
    ----------
    role
        Whose labels they are: `product` or `user`.
    identity
        How the model spells them.
    """

    def __init__(self, role: str, identity: Identity) -> None:
        self.role, self.identity, self.vocabulary = role, identity, Vocabulary()
        self._theirs: Vocabulary | None = None
        self._known = np.empty(0, np.int32)

    def _translation(self, theirs: Vocabulary) -> NDArray[np.int32]:
        """Row of each of their codes, −1 where it was not met yet."""
        if theirs is not self._theirs:
            self._theirs, self._known = theirs, np.empty(0, np.int32)
        if len(theirs) > len(self._known):
            new = self._find(theirs.labels[len(self._known) :])
            self._known = np.append(self._known, new)
        return self._known

    def take(self, codes: NDArray[np.int32], theirs: Vocabulary) -> NDArray[np.int32]:
        """The row of each code, with new rows for labels not met before; −1 stays −1."""
        known = self._translation(theirs)
        rows = _translate(known, codes)
        missing = np.unique(codes[(rows < 0) & (codes >= 0)])
        if len(missing) == 0:
            return rows
        known[missing] = self.rows_of(theirs.take(missing.tolist()))
        return _translate(known, codes)

    def find(self, codes: NDArray[np.int32], theirs: Vocabulary) -> NDArray[np.int32]:
        """The row of each code, −1 where the model does not know it."""
        if theirs is self.vocabulary:
            return codes
        if theirs is self._theirs:
            return _translate(self._translation(theirs), codes)
        return _translate(self._find(theirs), codes)

    def rows_of(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        """The row of each label, with new rows in the order of the labels for those not met before."""
        given = list(labels)
        self.identity.admit(given, self.role, self.vocabulary)
        spelt = [self.identity.spell(label, self.role) for label in given]
        self.vocabulary.add(sorted({label for label in spelt if label not in self.vocabulary}, key=label_order))
        return self.vocabulary.find(spelt)

    def row(self, name: Label) -> int:
        """The row of a label as somebody typed it, −1 where it is not known."""
        meant = self.identity.fold.get(str(name), name) if self.role == "product" else name
        known = find_label(meant, self.vocabulary.codes)
        return -1 if known is None else self.vocabulary.codes[known]

    def _find(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        return self.vocabulary.find([self.identity.spell(label, self.role) for label in labels])


def _translate(table: NDArray[np.int32], codes: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.append(table, np.int32(-1))[codes]


def label_order(label: Label) -> tuple[bool, Label]:
    """The key by which new labels are sorted: numbers first, then text."""
    return isinstance(label, str), label


def sort_baskets(offsets: NDArray[np.int64], items: NDArray[np.int32]) -> NDArray[np.int64]:
    """The order that sorts the products of each basket by row."""
    # Basket and row as one number: sorting one column takes a quarter of the time of two.
    basket = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.argsort((basket << 32) + items, kind="stable")


def drop_repeats(
    offsets: NDArray[np.int64], items: NDArray[np.int32], order: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order without a product's second place in its basket, and the offsets then: 7 and '7' may meet in one.

    >>> drop_repeats(np.array([0, 3, 4]), np.array([5, 2, 5, 5]), np.array([1, 0, 2, 3]))
    (array([0, 2, 3]), array([1, 0, 3]))
    """
    basket = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    same = np.append(False, (np.diff(items[order]) == 0) & (np.diff(basket) == 0))[: len(order)]
    if not same.any():
        return offsets, order
    return np.append(0, np.cumsum(np.bincount(basket[~same], minlength=len(offsets) - 1))), order[~same]


def roll_up(
    offsets: NDArray[np.int64], items: NDArray[np.int32], parents: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Baskets of products as baskets of their categories, each category once; products without one are left out.

    >>> roll_up(np.array([0, 3, 4]), np.array([0, 1, 2, 0]), np.array([5, 5, -1], np.int32))
    (array([0, 1, 2]), array([5, 5], dtype=int32))
    """
    basket = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    above = parents[items].astype(np.int64)
    width = int(parents.max(initial=0)) + 1
    keys = np.sort((basket * width + above)[above >= 0])
    keys = keys[np.diff(keys, prepend=-1) != 0]
    starts = np.searchsorted(keys, np.arange(len(offsets)) * width)
    return starts.astype(np.int64), (keys % width).astype(np.int32)
