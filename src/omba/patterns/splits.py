"""Splits: every way to part a frequent set into antecedents and consequents, by looking up the counts of both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.errors import InputError
from omba.patterns import set_tables
from omba.patterns.transactions import Codes, Longs

ROOM, MOST = 1 << 16, set_tables.DEEP
"""Rules told at a time, to begin with, and products of a set, at most. Of arrays of 4 MB NumPy asks for huge pages, of
which the first rule would fill 2 MB each."""
ANY, ANTECEDENT, CONSEQUENT, NEITHER = range(4)
"""Where a product must stand."""

Places = tuple[Codes, Codes, Codes]
"""Of each rule: the places of the whole set, of its antecedents and of its consequents."""


@dataclass(frozen=True, eq=False)
class Sides:
    """What the two sides of a rule may be.

    Parameters
    ----------
    antecedents
        The least and the most products on the left.
    consequents
        The same on the right.
    chosen
        Where each product must stand; None leaves all free.
    """

    antecedents: tuple[int, int] = (1, MOST)
    consequents: tuple[int, int] = (1, MOST)
    chosen: NDArray[np.int8] | None = None


class Incomplete(InputError):
    """A set has a part whose support is not among the sets."""


def split(
    offsets: Longs, items: Codes, support: NDArray[np.float64], min_confidence: float = 0.0, sides: Sides | None = None
) -> Iterator[Places]:
    """The rules of the sets, some at a time, set after set; those below a confidence are never made.

    Set n is `items[offsets[n]:offsets[n + 1]]`, and every part of a set must be a set as well.
    """
    sides = sides or Sides()
    products = int(items.max()) + 1 if len(items) else 0
    chosen = np.zeros(products, np.int8) if sides.chosen is None else sides.chosen
    needed = int(np.isin(chosen, (ANTECEDENT, CONSEQUENT)).sum())
    index = index_sets(offsets, items, products)
    bounds = np.array([*sides.antecedents, *sides.consequents], np.int64)
    # A hair below, since the exact comparison is made with the numbers as they are told.
    floor = min_confidence * (1 - 1e-9)
    missing, room, first, sets = np.full(1, -1, np.int64), ROOM, 0, len(offsets) - 1
    while first < sets:
        places = tuple(np.empty(room, np.int32) for _ in range(3))
        reached, written = set_tables.split(
            first, sets, (offsets, items, support), index, floor, bounds, chosen, needed, places, missing
        )
        if missing[0] >= 0:
            raise Incomplete(
                f"the table lacks a part of set {int(missing[0])}: give all frequent sets, or mine with kind='frequent'"
            )
        if written == 0 and reached < sets:
            room *= 4
        if written:
            yield places[0][:written], places[1][:written], places[2][:written]
        first = reached


def index_sets(
    offsets: Longs, items: Codes, products: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32]]:
    """The hash of each set, the keys it is made of, and a table from hashes to sets.

    All hashes are seen to differ, and every part that is looked up is a set of the table, so that none is mistaken.
    """
    sets = len(offsets) - 1
    hashes = np.empty(sets, np.uint64)
    for seed in range(8):
        keys = np.random.default_rng(seed).integers(1, 2**64 - 1, products, np.uint64, endpoint=True)
        slots = np.full(1 << max(4, (2 * sets).bit_length()), -1, np.int32)
        set_tables.hash_sets(offsets, items, keys, hashes)
        if set_tables.build_index(hashes, slots):
            return hashes, keys, slots
    raise InputError("the table holds a set twice: give each set once")
