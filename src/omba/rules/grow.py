"""Grow: rules with several antecedents, from sets of products that were bought together.

Where the evidence is exact, every frequent set is a candidate (`frequent_sets.py`), and no rule of several products
that holds its own against its parts is missed. Where a model counted in bounded memory, the triples that it counted
are. Each set gives at most one rule: the direction with the highest confidence among those that beat every rule to the
same consequent from a part of their antecedents, by more than chance (`productive.py`).

Sets that were too many to be counted exactly come from the space: the products of the best pairs are the nodes of a
graph, and those close to each other are joined: nearer than 999 of 1,000 pairs picked at random. A clique of three or
more is a set of mutually close products.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.rules.addition import member_cosines, pair_lifts
from omba.rules.candidates import Candidates
from omba.rules.counts import Counts
from omba.rules.evidence import Evidence, PartialEvidence, Rows, TripleEvidence
from omba.rules.mining_input import POOL, Floats, MiningInput
from omba.rules.nearest import cosines
from omba.rules.productive import (
    FALSE,
    CountOf,
    best_directions,
    highest_p,
    part_counts,
    tested_sets,
    tried_sets,
    tried_triples,
)

PRIOR = 5
OFTEN = 10
"""Baskets that must hold a larger set: nothing but the counts speaks for it, and with 5 in nine months of groceries
every sixth did not come again in the quarter after (Complete Journey, product types)."""
FORETOLD, WANTED, MANY = 50_000, 5, 2**62
"""Rules of one size whose lift is forecast; where more than a fifth as many are wanted, that of all is."""
MOST_SETS = 20_000
"""Sets looked at for each size: growth is bounded whatever the graph."""


def grow(
    given: MiningInput, pairs: Candidates, most_antecedents: int, false: float = FALSE, pool: int = POOL
) -> list[Candidates]:
    """Rules with 2 to `most_antecedents` antecedents, of which a share `false` is there by chance, at most.

    Where the best `pool` of them are wanted, those that can hardly be among them need not be there.
    """
    if most_antecedents < 2:
        return []
    longest = most_antecedents + 1
    if isinstance(whole_of(given), TripleEvidence):
        return triples_once(given, false, pool)[0]
    if not isinstance(given.evidence, Counts):
        return near_sets(given, pairs, longest, np.inf, false)
    exact, below, highest = given.once((longest, false), lambda: exact_sets(given, longest, false))
    return [*exact, *near_sets(given, pairs, longest, below, highest)] if below > OFTEN else exact


def triples_once(given: MiningInput, false: float = FALSE, pool: int = POOL) -> tuple[list[Candidates], float]:
    """Rules from the triples of the stream, and the highest p among them, looked for once."""
    whole, most = whole_of(given), FORETOLD if WANTED * pool <= FORETOLD else MANY
    if not isinstance(whole, TripleEvidence):
        return [], 0.0
    return given.once((3, false, most), lambda: counted_triples(given, whole, false, most))


def exact_sets(given: MiningInput, longest: int, false: float) -> tuple[list[Candidates], float, dict[int, float]]:
    """Rules from all frequent sets of exact evidence, the count below which sets were not looked at, and the highest p
    of rules from sets of each size."""
    # Here, since what mines sets exactly is slow to import, and a model's own evidence does without.
    from omba.rules.frequent_sets import FrequentSets

    assert isinstance(given.evidence, Counts)
    frequent = FrequentSets(given.evidence, OFTEN, longest)
    found, highest, smaller = [], {}, np.empty((0, 1), np.int64)
    for sets, count in frequent.of_size(2):
        size = sets.shape[1]
        if size > 2:
            tried = tried_triples(smaller[:, 0], smaller[:, 1], len(given.labels)) if size == 3 else tried_sets(smaller)
            rules, highest[size] = productive(given, sets, count, frequent.counts, (size * tried, false))
            found.append(rules)
        smaller = sets
    return found, frequent.least, highest


def counted_triples(
    given: MiningInput, whole: TripleEvidence, false: float, most: int
) -> tuple[list[Candidates], float]:
    """Rules from the triples that were counted while the stream went by, and the highest p among them."""
    sets, count = whole.triples(OFTEN)
    if not len(sets):
        return [], 0.0
    left, right, _ = given.observed(OFTEN) if whole is given.evidence else whole.observed(OFTEN)
    level = 3 * tried_triples(left, right, len(given.labels)), false
    rules, highest = productive(given, sets, count, given.evidence.itemsets, level, most)
    return [rules], highest


def whole_of(given: MiningInput) -> Evidence:
    """The evidence, with all its pairs in sight."""
    return given.evidence.whole if isinstance(given.evidence, PartialEvidence) else given.evidence


def standing_sets(given: MiningInput, sets: NDArray[np.int64], highest: float) -> list[Candidates]:
    """Rules from sets of one size that made rules before, by today's counts and yesterday's highest p."""
    count = given.evidence.itemsets(sets)
    often = np.flatnonzero(count >= OFTEN)
    if not len(often) or highest <= 0:
        return []
    return [productive(given, sets[often], count[often], given.evidence.itemsets, highest)[0]]


def near_sets(
    given: MiningInput, pairs: Candidates, longest: int, below: float, level: dict[int, float] | float
) -> list[Candidates]:
    """Rules from sets of close products that are in fewer than `below` baskets, and often enough.

    `level` is the highest p of each size, or the share of rules that may be there by chance.
    """
    left, right = close_pairs(given, np.unique([pairs.antecedents[:, 0], pairs.consequent]))
    out = []
    for sets in cliques(left, right, longest):
        count = given.evidence.itemsets(sets)
        often = (count >= OFTEN) & (count < below)
        size = sets.shape[1]
        asked = level.get(size, 0.0) if isinstance(level, dict) else (size * len(sets), level)
        if often.any() and asked:
            out.append(productive(given, sets[often], count[often], given.evidence.itemsets, asked)[0])
    return out


def productive(
    given: MiningInput,
    sets: Rows,
    count: Rows,
    count_of: CountOf,
    level: tuple[int, float] | float,
    most: int = MANY,
) -> tuple[Candidates, float]:
    """The best direction of each set that has one which says more than its parts, and the highest p among all.

    `level` is how many rules were tried and how many may be there by chance, or the highest p itself. Of more than
    `most` rules, those of the highest lift are told, two standard deviations of its count below.
    """
    tested = tested_sets(given.counts, sets, count, count_of)
    highest = highest_p(tested.p, *level) if isinstance(level, tuple) else level
    side, best = best_directions(tested, highest)
    chosen = np.flatnonzero(side >= 0)
    side, best, chosen = side[chosen], best[chosen], tested.places[chosen]
    if len(chosen) > most:
        sure = best / given.counts[sets[chosen, side]] * (1 - 2 / np.sqrt(count[chosen]))
        first = np.sort(np.argpartition(-sure, most)[:most])
        side, best, chosen = side[first], best[first], chosen[first]
    return _direct(given, sets[chosen].astype(np.int64), count[chosen], side, best), highest


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


def surest_directions(given: MiningInput, sets: NDArray[np.int64], count: Rows) -> Candidates:
    """Every set in the direction of its highest confidence, redundant or not: what is sold as one need not surprise."""
    size, counts = sets.shape[1], part_counts(given.counts, sets, given.evidence.itemsets)
    confidence = np.array([count / counts[tuple(k for k in range(size) if k != c)] for c in range(size)])
    return _direct(given, sets, count, confidence.argmax(axis=0), confidence.max(axis=0))


def _direct(given: MiningInput, sets: NDArray[np.int64], count: Rows, side: Rows, confidence: Floats) -> Candidates:
    """Sets as candidates, each with the member at its side as the consequent."""
    lone = np.arange(sets.shape[1]) == side[:, None]
    antecedents, consequent = sets[~lone].reshape(len(sets), sets.shape[1] - 1), sets[lone]
    n_a = np.rint(count / confidence).astype(np.int64)
    similarity, expected = _forecast(given, antecedents, consequent, count, n_a)
    return Candidates(antecedents, consequent, similarity, count, n_a, *expected, count > 0)


def _forecast(
    given: MiningInput, antecedents: NDArray[np.int64], consequent: NDArray[np.int64], count: Rows, n_a: Rows
) -> tuple[Floats, tuple[Floats, Floats, Floats]]:
    """Least cosine of the consequent to an antecedent, and the lift expected of the whole.

    The forecast m for the strongest pair stands for `PRIOR` baskets of the larger set: with E together by chance and
    `count` seen, the lift to expect is (PRIOR + count) / (PRIOR / m + E).
    """
    near = member_cosines(given, antecedents, consequent)
    similarity = np.min(near, axis=0)
    if given.forecast is None:
        unknown = np.full(len(count), np.nan)
        return similarity, (unknown, unknown, unknown)
    pairs = pair_lifts(given, antecedents, consequent, near)
    n_b, baskets = given.counts[consequent], (PRIOR + count).astype(np.float64)
    lift = baskets / (PRIOR / np.maximum(pairs.max(axis=0), 1e-9) + n_a * n_b / given.n_baskets)
    sets, exact = np.column_stack([antecedents, consequent]), isinstance(given.evidence, Counts)
    return similarity, given.expect_sets(sets, lift, baskets, n_a, n_b, exact)
