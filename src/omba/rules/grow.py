"""Grow: rules with several antecedents, from sets of products that are close to each other or bought together.

Where the evidence is exact, every frequent set is a candidate (`frequent_sets.py`), and no rule of several products
that holds its own against its parts is missed. Where a model counted in bounded memory, sets come from the space:
The products of the best pairs are the nodes of a graph, and those close to each other are joined: nearer than 999 of
1,000 pairs picked at random. A clique of three or more is a set of mutually close products. Each such set that was
bought together often enough gives at most one rule: the direction with the highest confidence, and only if that beats
every rule to the same consequent from a part of its antecedents, by more than chance: among the baskets with the part,
those with all antecedents hold the consequent more often, Fisher's p at most 1% (a *productive* rule, G. Webb,
"Discovering Significant Patterns", Machine Learning 68, 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from omba.rules.candidates import Candidates
from omba.rules.counts import Counts
from omba.rules.evidence import Rows
from omba.rules.frequent_sets import FrequentSets
from omba.rules.measures import measure
from omba.rules.mining_input import Floats, MiningInput
from omba.rules.nearest import cosines

CountOf = Callable[[Rows], Rows]
"""Baskets with each set of a matrix of rows."""

SIGNIFICANT, PRIOR = 0.01, 5
OFTEN = 10
"""Baskets that must hold a larger set: nothing but the counts speaks for it, and with 5 in nine months of groceries
every sixth did not come again in the quarter after (Complete Journey, product types)."""
MOST_SETS = 20_000
"""Sets looked at for each size: growth is bounded whatever the graph."""


def grow(given: MiningInput, pairs: Candidates, most_antecedents: int) -> list[Candidates]:
    """Rules with 2 to `most_antecedents` antecedents, from the graph of the products in the given pairs."""
    if most_antecedents < 2:
        return []
    exact, below = exact_sets(given, most_antecedents + 1)
    return [*exact, *near_sets(given, pairs, most_antecedents, below)] if below > OFTEN else exact


def exact_sets(given: MiningInput, longest: int) -> tuple[list[Candidates], float]:
    """Rules from all frequent sets of exact evidence, and the count below which sets were not looked at."""
    counts = given.evidence
    if not isinstance(counts, Counts):
        return [], np.inf

    def find() -> tuple[list[Candidates], float]:
        frequent = FrequentSets(counts, OFTEN, longest)
        found = [best_directions(given, sets, count, frequent.counts) for sets, count in frequent.of_size(3)]
        return found, frequent.least

    return given.once(longest, find)


def near_sets(given: MiningInput, pairs: Candidates, most_antecedents: int, below: float = np.inf) -> list[Candidates]:
    """Rules from sets of close products that are in fewer than `below` baskets, and often enough."""
    left, right = close_pairs(given, np.unique([pairs.antecedents[:, 0], pairs.consequent]))
    out = []
    for sets in cliques(left, right, most_antecedents + 1):
        count = given.evidence.itemsets(sets)
        often = (count >= OFTEN) & (count < below)
        if often.any():
            out.append(best_directions(given, sets[often], count[often], given.evidence.itemsets))
    return out


def close_pairs(given: MiningInput, rows: Rows) -> tuple[Rows, Rows]:
    """Pairs of these rows that are close, the nearest first."""
    vectors = np.ascontiguousarray(given.vectors[rows], np.float32)
    a, b = np.triu_indices(len(rows), 1)
    cosine = cosines(vectors, a, b)
    close = np.flatnonzero(cosine >= closeness(given))
    close = close[np.argsort(-cosine[close], kind="stable")]
    return rows[a[close]], rows[b[close]]


def closeness(given: MiningInput) -> float:
    """The cosine that one pair in 1,000 exceeds, of pairs picked at random; with few products, 3 pairs a product."""
    known = np.flatnonzero(given.counts >= OFTEN)
    if len(known) < 2:
        return 1.0
    left, right = np.random.default_rng(0).choice(known, (2, 100_000))
    apart = left != right
    vectors = np.ascontiguousarray(given.vectors, np.float32)
    return float(np.quantile(cosines(vectors, left[apart], right[apart]), 1 - max(0.001, min(1.0, 3 / len(known)))))


def cliques(left: Rows, right: Rows, largest: int) -> list[NDArray[np.int64]]:
    """Sets of 3 to `largest` rows of which every two are joined, each sorted, one array a size."""
    friends: dict[int, set[int]] = {}
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        friends.setdefault(a, set()).add(b)
        friends.setdefault(b, set()).add(a)
    sets = [tuple(sorted(pair)) for pair in zip(left.tolist(), right.tolist(), strict=True)]
    out = []
    for _ in range(3, largest + 1):
        larger = []
        for members in sets:
            common = set.intersection(*(friends[m] for m in members))
            larger += [(*members, c) for c in sorted(common) if c > members[-1]]
            if len(larger) >= MOST_SETS:
                break
        if not larger:
            break
        sets = larger[:MOST_SETS]
        out.append(np.array(sets, np.int64))
    return out


def best_directions(given: MiningInput, sets: NDArray[np.int64], count: Rows, count_of: CountOf) -> Candidates:
    """The best direction of each set; sets with none that is not redundant are left out."""
    size = sets.shape[1]
    counts = subset_counts(given, sets, count_of)
    best, side = np.zeros(len(sets)), np.full(len(sets), -1)
    for c in range(size):
        rest = tuple(k for k in range(size) if k != c)
        confidence = count / counts[rest]
        better = confidence > best
        for part in (part for r in range(1, size - 1) for part in combinations(rest, r)):
            with_part = counts[tuple(sorted((*part, c)))]
            better &= confidence > with_part / counts[part]
            left = np.flatnonzero(better)
            better[left] = (
                measure("fishers_p", count[left], counts[rest][left], with_part[left], counts[part][left])
                <= SIGNIFICANT
            )
        best, side = np.where(better, confidence, best), np.where(better, c, side)
    chosen = np.flatnonzero(side >= 0)
    return _direct(given, sets[chosen], count[chosen], side[chosen], best[chosen])


def surest_directions(given: MiningInput, sets: NDArray[np.int64], count: Rows) -> Candidates:
    """Every set in the direction of its highest confidence, redundant or not: what is sold as one need not surprise."""
    size, counts = sets.shape[1], subset_counts(given, sets, given.evidence.itemsets)
    confidence = np.array([count / counts[tuple(k for k in range(size) if k != c)] for c in range(size)])
    return _direct(given, sets, count, confidence.argmax(axis=0), confidence.max(axis=0))


def _direct(given: MiningInput, sets: NDArray[np.int64], count: Rows, side: Rows, confidence: Floats) -> Candidates:
    """Sets as candidates, each with the member at its side as the consequent."""
    lone = np.arange(sets.shape[1]) == side[:, None]
    antecedents, consequent = sets[~lone].reshape(len(sets), sets.shape[1] - 1), sets[lone]
    n_a = np.rint(count / confidence).astype(np.int64)
    similarity, expected = _forecast(given, antecedents, consequent, count, n_a)
    return Candidates(antecedents, consequent, similarity, count, n_a, *expected, count > 0)


def subset_counts(given: MiningInput, sets: NDArray[np.int64], count_of: CountOf) -> dict[tuple[int, ...], Rows]:
    """Baskets with each part of each set, by the places of its members."""
    size = sets.shape[1]
    counts: dict[tuple[int, ...], Rows] = {(k,): given.counts[sets[:, k]] for k in range(size)}
    for r in range(2, size):
        for part in combinations(range(size), r):
            counts[part] = count_of(sets[:, part])
    return counts


def _forecast(
    given: MiningInput, antecedents: NDArray[np.int64], consequent: NDArray[np.int64], count: Rows, n_a: Rows
) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """Least cosine of the consequent to an antecedent, and the lift expected of the whole.

    The forecast m for the strongest pair stands for `PRIOR` baskets of the larger set: with E together by chance and
    `count` seen, the lift to expect is (PRIOR + count) / (PRIOR / m + E).
    """
    vectors = np.ascontiguousarray(given.vectors, np.float32)
    members = [antecedents[:, k] for k in range(antecedents.shape[1])]
    near = [cosines(vectors, member, consequent) for member in members]
    similarity = np.min(near, axis=0)
    if given.forecast is None:
        unknown = np.full(len(count), np.nan)
        return similarity, (unknown, unknown, unknown)
    pairs = np.array(
        [
            given.expect(member, consequent, cosine, given.evidence.pairs(member, consequent))[0]
            for member, cosine in zip(members, near, strict=True)
        ]
    )
    n_b, baskets = given.counts[consequent], (PRIOR + count).astype(np.float64)
    lift = baskets / (PRIOR / np.maximum(pairs.max(axis=0), 1e-9) + n_a * n_b / given.n_baskets)
    return similarity, given.expect_sets(np.column_stack([antecedents, consequent]), lift, baskets, n_a, n_b)
