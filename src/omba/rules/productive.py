"""Productive rules: those of several products that say more than every shorter one, and not by chance.

A rule A ⇒ c is held against each part P of its antecedents: among the baskets with P, those with all of A hold c more
often, by Fisher's test (G. Webb, "Discovering Significant Patterns", Machine Learning 68, 2007). Its p is the highest
of these. A shop offers millions of sets to try, so that a small p is no rarity: the p that is small enough is found by
Benjamini and Hochberg's procedure (1995), over all sets that could have been frequent enough to be tried, not only
those that were. That choice goes by the counts of their parts alone, which the test takes as given; sets that were then
met too seldom count as tried, and failed.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from omba.rules import kernels, tails
from omba.rules.evidence import Rows
from omba.rules.search import threads

Floats = NDArray[np.float64]
CountOf = Callable[[Rows], Rows]
"""Baskets with each set of a matrix of rows."""
PartCounts = dict[tuple[int, ...], Rows]
"""Baskets with each part of each set, by the places of its members."""

SIGNIFICANT = 0.01
"""The highest p of a rule, however many pass."""
FALSE = 0.05
"""The share of rules that are there by chance, at most, on average."""
AT_ONCE = 1 << 15
"""Sets whose tests one thread makes at a time."""
DENSE = 1 << 13
"""Products in pairs up to which who met whom is held in bits: 8 MB of them."""


def part_counts(counts: Rows, sets: NDArray[np.integer], count_of: CountOf) -> PartCounts:
    """Baskets with each part of each set; `counts` are those of the products."""
    size = sets.shape[1]
    found: PartCounts = {(k,): counts[sets[:, k]] for k in range(size)}
    for r in range(2, size):
        for part in combinations(range(size), r):
            found[part] = count_of(sets[:, part])
    return found


@dataclass(frozen=True, eq=False)
class Tested:
    """Sets of which a direction says more than its parts, each at a p of 1% for itself.

    Parameters
    ----------
    places
        Where they stand among the sets that were tested.
    p
        The p of every direction: a line for each member that is the consequent; 1 where it is above 1%.
    confidence
        The confidence of every direction.
    """

    places: NDArray[np.int64]
    p: Floats
    confidence: Floats


def tested_sets(counts: Rows, sets: NDArray[np.integer], count: Rows, count_of: CountOf) -> Tested:
    """The sets of one size that pass; what is known of the others is not kept, so that millions can be tested."""
    size = sets.shape[1]

    def test(first: int) -> Tested:
        block = slice(first, first + AT_ONCE)
        parts = part_counts(counts, sets[block], count_of)
        p = p_values(count[block], parts, size)
        passed = np.flatnonzero((p <= SIGNIFICANT).any(axis=0))
        rests = [parts[tuple(k for k in range(size) if k != c)][passed] for c in range(size)]
        return Tested(first + passed, p[:, passed], count[block][passed] / np.array(rests))

    blocks = range(0, max(1, len(sets)), AT_ONCE)
    if len(blocks) == 1:
        return test(0)
    with ThreadPoolExecutor(threads()) as pool:
        found = list(pool.map(test, blocks))
    columns = ([getattr(one, name) for one in found] for name in ("places", "p", "confidence"))
    return Tested(*(np.concatenate(column, axis=-1) for column in columns))


def p_values(count: Rows, parts: PartCounts, size: int) -> Floats:
    """The p of every direction of each set of so many products: a line for each member that is the consequent.

    Where it is above 1%, it may be told as 1.
    """
    p = np.zeros((size, len(count)))
    if size == 3:
        one = np.array([parts[m,] for m in range(3)])
        tails.triple_p(count, one, np.array([parts[two] for two in ((1, 2), (0, 2), (0, 1))]), SIGNIFICANT, p)
        return p
    for c in range(size):
        rest = tuple(k for k in range(size) if k != c)
        for part in (part for r in range(size - 2, 0, -1) for part in combinations(rest, r)):
            tails.raise_p(count, parts[rest], parts[tuple(sorted((*part, c)))], parts[part], p[c])
    return p


def highest_p(p: Floats, tried: int, false: float = FALSE) -> float:
    """The highest p that is small enough, where so many rules were tried and a share `false` of them may be chance.

    >>> highest_p(np.array([0.0001, 0.004, 0.2]), tried=10, false=0.05)
    0.004
    >>> highest_p(np.array([0.0001, 0.004, 0.2]), tried=1000, false=0.05)
    0.0
    """
    if false >= 1:
        return SIGNIFICANT
    ordered = np.sort(p[p <= SIGNIFICANT], axis=None)
    enough = np.flatnonzero(ordered * tried <= false * np.arange(1, len(ordered) + 1))
    return float(ordered[enough[-1]]) if len(enough) else 0.0


def tried_triples(left: Rows, right: Rows, products: int) -> int:
    """Sets of three products of which every two are among the pairs: those that can be frequent as well.

    >>> tried_triples(np.array([0, 0, 1, 2]), np.array([1, 2, 2, 3]), 4)
    1
    """
    degree = np.bincount(left, minlength=products) + np.bincount(right, minlength=products)
    if (degree > 0).sum() <= DENSE:
        # Best sellers first, so that the neighbours of lower number are few words.
        number = np.empty(products, np.int64)
        number[np.argsort(-degree, kind="stable")] = np.arange(products)
        met = int((degree > 0).sum())
        joined = np.zeros((met, met // 64 + 1), np.uint64)
        return int(kernels.count_dense_triangles(number[left], number[right], joined))
    # From the rarer to the more frequent end, so that no node has many behind it.
    turned = (degree[left] > degree[right]) | ((degree[left] == degree[right]) & (left > right))
    start, end = np.where(turned, right, left), np.where(turned, left, right)
    order = np.argsort(start, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(start, minlength=products)))
    return int(kernels.count_triangles(starts, end[order], np.full(products, -1, np.int64)))


def tried_sets(smaller: NDArray[np.integer]) -> int:
    """Sets that two of these make which differ in the last member alone: all that can be frequent, and some more.

    `smaller` are the frequent sets of one product less, a line a set, in order.

    >>> tried_sets(np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4], [1, 2, 3]]))
    3
    """
    if len(smaller) < 2:
        return 0
    new = np.append(True, (smaller[1:, :-1] != smaller[:-1, :-1]).any(axis=1))
    sizes = np.diff(np.append(np.flatnonzero(new), len(smaller)))
    return int((sizes * (sizes - 1) // 2).sum())


def best_directions(tested: Tested, highest: float) -> tuple[Rows, Floats]:
    """Of each set the consequent with the highest confidence among those whose p is low enough, −1 for none; and it."""
    open_ = np.where((tested.p <= highest) & (highest > 0), tested.confidence, -1.0)
    side, best = open_.argmax(axis=0), open_.max(axis=0, initial=-1.0)
    return np.where(best >= 0, side, -1), best
