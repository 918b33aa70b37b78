"""Productive rules: those of several products that say more than every shorter one, and not by chance.

A rule A ⇒ c is held against each part P of its antecedents: among the baskets with P, those with all of A hold c more
often, by Fisher's test (G. Webb, "Discovering Significant Patterns", Machine Learning 68, 2007). Its p is the highest
of these. A shop offers millions of sets to try, so that a small p is no rarity: the p that is small enough is found by
Benjamini and Hochberg's procedure (1995), over all sets that could have been frequent enough to be tried, not only
those that were. That choice goes by the counts of their parts alone, which the test takes as given; sets that were then
met too seldom count as tried, and failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from omba.rules import kernels
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


def part_counts(counts: Rows, sets: NDArray[np.integer], count_of: CountOf) -> PartCounts:
    """Baskets with each part of each set; `counts` are those of the products."""
    size = sets.shape[1]
    found: PartCounts = {(k,): counts[sets[:, k]] for k in range(size)}
    for r in range(2, size):
        for part in combinations(range(size), r):
            found[part] = count_of(sets[:, part])
    return found


def p_values(count: Rows, parts: PartCounts, size: int) -> Floats:
    """The p of every direction of each set of so many products: a line for each member that is the consequent."""
    p = np.zeros((size, len(count)))

    def test(block: slice) -> None:
        for c in range(size):
            rest = tuple(k for k in range(size) if k != c)
            for part in (part for r in range(size - 2, 0, -1) for part in combinations(rest, r)):
                with_part = parts[tuple(sorted((*part, c)))]
                kernels.raise_p(count[block], parts[rest][block], with_part[block], parts[part][block], p[c, block])

    blocks = [slice(first, first + AT_ONCE) for first in range(0, len(count), AT_ONCE)]
    if len(blocks) == 1:
        test(blocks[0])
    elif blocks:
        with ThreadPoolExecutor(threads()) as pool:
            list(pool.map(test, blocks))
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


def best_directions(confidence: Sequence[Floats], p: Floats, highest: float) -> tuple[Rows, Floats]:
    """Of each set the consequent with the highest confidence among those whose p is low enough, −1 for none; and it."""
    open_ = np.where(p <= highest, np.array(confidence), -1.0) if highest > 0 else np.full(p.shape, -1.0)
    side, best = open_.argmax(axis=0), open_.max(axis=0, initial=-1.0)
    return np.where(best >= 0, side, -1), best
