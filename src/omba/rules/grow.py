"""Grow: rules with several antecedents, from sets of products that are all close to each other.

The products of the best pairs are the nodes of a graph, and those close to each other are joined: nearer than 999 of
1,000 pairs picked at random. A clique of three or more is a set of mutually close products. Each such set that was
bought together often enough gives at most one rule: the direction with the highest confidence, and only if that beats
every rule to the same consequent from a part of its antecedents, by more than chance: among the baskets with the part,
those with all antecedents hold the consequent more often, Fisher's p at most 1% (a *productive* rule, G. Webb,
"Discovering Significant Patterns", Machine Learning 68, 2007).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from omba.rules.candidates import Candidates
from omba.rules.evidence import Rows
from omba.rules.measures import measure
from omba.rules.mining_input import Floats, MiningInput
from omba.rules.nearest import cosines

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
    left, right = close_pairs(given, np.unique([pairs.antecedents[:, 0], pairs.consequent]))
    out = []
    for sets in cliques(left, right, most_antecedents + 1):
        count = given.evidence.itemsets(sets)
        often = count >= OFTEN
        if often.any():
            out.append(best_directions(given, sets[often], count[often]))
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


def best_directions(given: MiningInput, sets: NDArray[np.int64], count: Rows) -> Candidates:
    """The best direction of each set; sets with none that is not redundant are left out."""
    size = sets.shape[1]
    counts = subset_counts(given, sets)
    best, side = np.zeros(len(sets)), np.full(len(sets), -1)
    for c in range(size):
        rest = tuple(k for k in range(size) if k != c)
        confidence = count / counts[rest]
        better = confidence > best
        for part in (part for r in range(1, size - 1) for part in combinations(rest, r)):
            with_part = counts[tuple(sorted((*part, c)))]
            p = measure("fishers_p", count, counts[rest], with_part, counts[part])
            better &= (confidence > with_part / counts[part]) & (p <= SIGNIFICANT)
        best, side = np.where(better, confidence, best), np.where(better, c, side)
    chosen = np.flatnonzero(side >= 0)
    sets, side, count = sets[chosen], side[chosen], count[chosen]
    lone = np.arange(size) == side[:, None]
    antecedents, consequent = sets[~lone].reshape(len(sets), size - 1), sets[lone]
    n_a = np.rint(count / best[chosen]).astype(np.int64)
    similarity, expected = _forecast(given, antecedents, consequent, count, n_a)
    return Candidates(antecedents, consequent, similarity, count, n_a, *expected, count > 0)


def subset_counts(given: MiningInput, sets: NDArray[np.int64]) -> dict[tuple[int, ...], Rows]:
    """Baskets with each part of each set, by the places of its members."""
    size = sets.shape[1]
    counts: dict[tuple[int, ...], Rows] = {(k,): given.counts[sets[:, k]] for k in range(size)}
    for r in range(2, size):
        for part in combinations(range(size), r):
            counts[part] = given.evidence.itemsets(sets[:, part])
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
    low, high = given.interval(np.column_stack([antecedents, consequent]), lift, baskets, n_a, n_b)
    return similarity, (lift, low, high)
