"""Names: products asked for by what they are called, or a part of it, at every door alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.baskets.vocabulary import Label
from omba.errors import LONGEST, UnknownError, shorten

NAME = "name"
"""The column of the attributes that holds what products are called."""
SHORTEST = 3
"""Letters that a part of a name has at least: shorter ones are in too many names to mean any."""
LISTED = 5
"""Products listed where a text may mean several."""
CODE = re.compile(r"\S*[0-9]\S*")
"""A text that is a code rather than a name: one word with a digit in it."""

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProductNames:
    """What products are called. Row i of every column is product `labels[i]`.

    Parameters
    ----------
    labels
        The products.
    names
        Their names beside the labels, None for one that has none.
    counts
        Baskets with each, so that best sellers are listed first; None lists them as they come.

    >>> shop = ProductNames(["85099B", "22411"], ["JUMBO BAG RED", "JUMBO SHOPPER"], np.array([9, 7]))
    >>> shop.row("jumbo bag"), shop.row("tea")
    (0, -1)
    >>> shop.row("jumbo")
    Traceback (most recent call last):
    ...
    omba.errors.UnknownError: product 'jumbo' may be any of JUMBO BAG RED (85099B), JUMBO SHOPPER (22411): give one of \
these codes
    """

    labels: Sequence[Label]
    names: Sequence[str | None]
    counts: NDArray[np.integer] | None = None

    @cached_property
    def spelt(self) -> pa.Array:
        """The labels as text to be searched."""
        return pa.array([str(label).casefold() for label in self.labels], pa.string())

    @cached_property
    def called(self) -> pa.Array:
        """What each product is called, to be searched: its name, or its label where it has none."""
        names = pa.array(self.names, pa.string())
        return pc.coalesce(pc.utf8_trim_whitespace(pc.utf8_lower(names)), self.spelt)

    @cached_property
    def _groups(self) -> tuple[Places, Places]:
        """Which products are spelt alike but for case, spaces and leading zeros, and which have the same name."""
        codes = [re.sub(r"\s", "", str(label)).upper().lstrip("0") for label in self.labels]
        names = [re.sub(r"[\W_]", "", name or "").casefold() for name in self.names]
        return _number(codes), _number(names)

    @cached_property
    def _second_codes(self) -> NDArray[np.bool_]:
        """Which products are spelt like another one that is in more baskets."""
        counts = np.zeros(len(self.labels), np.int64) if self.counts is None else self.counts
        _, groups, sizes = np.unique(self._groups[0], return_inverse=True, return_counts=True)
        best = np.zeros(len(sizes), np.int64)
        np.maximum.at(best, groups, counts)
        return np.asarray((sizes[groups] > 1) & (counts < best[groups]))

    def suspect(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether that a pair was never bought together may only be how codes were typed: both are one product, or one
        is a second spelling of another's code."""
        odd = self._second_codes
        return np.asarray(self.alike(left, right) | odd[left] | odd[right])

    def alike(self, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Whether both products of each pair of rows may be one product under two codes.

        >>> shop = ProductNames(["85123A", "85123a", "7", "22411"], [None, "HEART", "TEA", "tea."])
        >>> shop.alike(np.array([0, 2, 1]), np.array([1, 3, 2])).tolist()
        [True, True, False]
        """
        same = [groups[left] == groups[right] for groups in self._groups]
        return np.asarray(same[0] | same[1])

    def row(self, text: Label) -> int:
        """The row of the one product that goes by a name, or whose name holds it or all words of it; −1 for none.

        A text that may mean several is an error that lists the best sellers among them.
        """
        matching = self._match(str(text).casefold().strip())
        if len(matching) > 1:
            raise UnknownError(f"product {shorten(text)} may be any of {self._list(matching)}: give one of these codes")
        return int(matching[0]) if len(matching) else -1

    def _match(self, text: str) -> Places:
        if not SHORTEST <= len(text) <= LONGEST:
            return np.empty(0, np.int64)
        for match in (pc.equal(self.called, text), pc.match_substring(self.called, text)):
            found = np.flatnonzero(match.to_numpy(zero_copy_only=False))
            if len(found):
                return found
        words = [pc.match_substring(self.called, word).to_numpy(zero_copy_only=False) for word in text.split()]
        return np.flatnonzero(np.logical_and.reduce(words))

    def _list(self, rows: Places) -> str:
        """Some products, best sellers first, with the number of those that are left out."""
        best = rows if self.counts is None else rows[np.argsort(-self.counts[rows], kind="stable")]
        listed = ", ".join(show(self.labels[row], self.names[row]) for row in best[:LISTED].tolist())
        return f"{listed} and {len(best) - LISTED:,} more" if len(best) > LISTED else listed


def _number(texts: Sequence[str]) -> Places:
    """A number for each text, the same for equal ones; none is equal to an empty one."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) if text else -1 - k for k, text in enumerate(texts)])


def is_code(text: Label) -> bool:
    """Whether a text is a code, as tills write them, and no part of a name.

    >>> [is_code(text) for text in ("22423", "85123A", "gift_0001", "tea", "set of 6", 7)]
    [True, True, True, False, False, True]
    """
    return CODE.fullmatch(str(text).strip()) is not None


def show(product: Label, name: str | None) -> str:
    """A product as a person reads it: its name with the label beside, or the label alone."""
    return str(product) if name is None or name == str(product) else f"{name} ({product})"
