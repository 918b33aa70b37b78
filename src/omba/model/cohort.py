"""Cohort: a sample of pairs with what is known of them now, to compare with what the next baskets bring."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model import counting, likelihood
from omba.model.evidence import LARGEST, Evidence, empty_table
from omba.model.late_sales import LateSales

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

SHORTEST, LONGEST = 500, 50_000
"""Baskets a cohort is watched for, at least and at most; in between, a quarter of those before it."""
OFTEN = 5
"""Pairs seen so many times are rules already; fewer, they are rare."""
CELL = 250
"""Pairs sampled for each stretch of cosines, of the unseen, the rare and the frequent each, so that all weigh alike."""
DRAWN = 1 << 14
"""Pairs drawn to find those."""
EVEN, FAIR, BEST = 1 << 12, 2500, 1500
"""Pairs drawn alike of all, of those seen and of those seen often, and strongest pairs, that are watched besides."""
WHOLE = ("sold", "baskets", "level")
"""What a cohort holds that is not by pair."""
DRAWN_EVEN, DRAWN_FAIR, DRAWN_BEST = 1, 2, 4
"""Signs of pairs drawn alike of all, drawn alike of their kind, and strongest."""
ANCHORS, OTHERS, NEAR = 256, 8192, 24
"""Close pairs: so many products, each with the nearest of so many others."""


@dataclass
class Cohort:
    """Pairs with their cosine and counts at the start, and what was counted since.

    Parameters
    ----------
    a, b
        The rows of the two products of each pair.
    cosine
        The cosine of each pair at the start.
    n_ab, n_a, n_b
        Baskets with both products, and with each, at the start.
    later
        Baskets with both products since then.
    sold
        Baskets with each product since then, by row.
    baskets
        All baskets before the start, and since.
    even
        Whether a pair is one of those drawn alike, which stand for all pairs of products met a few times.
    fair
        Whether a pair was drawn alike with all of its kind: unseen, rare or often seen.
    foreseen
        The share of baskets that chance alone would bring each pair into, by sales of late where those are lower.
    rising, falling, timing
        How sales of late compare with the usual ones, as `LateSales.moves` tells it.
    level
        By how much more often all pairs were expected to come together than before.
    """

    a: Rows
    b: Rows
    cosine: Floats
    n_ab: Longs
    n_a: Longs
    n_b: Longs
    later: Longs
    sold: Longs
    baskets: Longs
    even: NDArray[np.bool_]
    fair: NDArray[np.bool_]
    foreseen: Floats
    rising: Floats
    falling: Floats
    timing: Floats
    level: Floats

    @cached_property
    def _table(self) -> Words:
        """Where each pair is among them, by its key."""
        table = empty_table(2 * len(self.a) + 1)
        counting.insert(counting.pack_pairs(self.a, self.b), np.arange(len(self.a), dtype=np.uint64), table)
        return table

    @classmethod
    def draw(
        cls, vectors: Vectors, evidence: Evidence, edges: Floats, rng: np.random.Generator, late: LateSales
    ) -> Cohort:
        """Pairs seen, seen often, close, and any, about as many of each kind from each stretch of cosines.

        To those come the strongest pairs, and pairs drawn alike, which stand for all.
        """
        near, others, even = sample_near(vectors, evidence, rng), sample_any(evidence, rng), sample_even(evidence, rng)
        seen, often, best = evidence.draw(DRAWN, int(rng.integers(2**62)), OFTEN, BEST)
        drawn = (seen[:FAIR], DRAWN_FAIR), (seen[FAIR:], 0), (often[:FAIR], DRAWN_FAIR), (often[FAIR:], 0)
        others_too = (pack(*near), 0), (pack(*others), 0), (pack(*even), DRAWN_EVEN)
        pairs, signs = merge(*drawn, (best, DRAWN_BEST), *others_too)
        a, b = counting.left_of(pairs), counting.right_of(pairs)
        # Of a pair whose count was let go little is known: it is neither unseen nor seen so many times. Of those drawn
        # alike it is one seen once, since all pairs meet less often than they did if only the unseen are left of them.
        n_ab = evidence.pairs(a, b)
        without = np.flatnonzero(n_ab == 0)
        trace = without[evidence.seen(a[without], b[without])]
        told, n_ab[trace] = np.ones(len(a), bool), 1
        told[trace] = signs[trace] & DRAWN_EVEN > 0
        a, b, n_ab, signs = a[told], b[told], n_ab[told], signs[told]
        cosine, counts, n = np.empty(len(a)), evidence.counts, evidence.n_baskets
        likelihood.cosines(a, b, vectors, cosine)
        cosine[~np.isfinite(cosine)] = 0.0
        cells = (3 * np.searchsorted(edges, cosine) + (n_ab > 0) + (n_ab >= OFTEN)).astype(np.int16)
        chosen = signs > 0
        chosen[first_of_each(cells, rng.permutation(len(a)), CELL)] = True
        kept = np.flatnonzero(chosen)
        a, b, signs = a[kept], b[kept], signs[kept]
        none = np.zeros(len(a), np.int64), np.zeros(len(counts), np.int64)
        usual_a, usual_b, late_a, late_b = counts[a] / n, counts[b] / n, late.share(a), late.share(b)
        foreseen = np.minimum(usual_a * usual_b, late_a * late_b)
        moves = late.moves(late_a, late_b, usual_a, usual_b, n)
        known = cosine[kept], n_ab[kept], counts[a], counts[b]
        alike, fair = signs & DRAWN_EVEN > 0, signs & (DRAWN_EVEN | DRAWN_FAIR) > 0
        drawn_as = alike, fair, foreseen, *moves.T.copy(), np.array([late.level])
        return cls(a, b, *known, *none, np.array([n, 0], np.int64), *drawn_as)

    def sold_since(self) -> Cohort:
        """The pairs of which both products were sold since the start; of others nothing was learned."""
        kept = np.flatnonzero(self.chance > 0)
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return Cohort(**{name: column if name in WHOLE else column[kept] for name, column in columns.items()})

    @property
    def over(self) -> bool:
        """Whether enough baskets have gone by to judge."""
        before, since = self.baskets.tolist()
        return bool(since >= min(max(before // 4, SHORTEST), LONGEST))

    @property
    def chance(self) -> Floats:
        """How often chance alone would have brought each pair together, given what was sold since."""
        return self.sold[self.a] * self.sold[self.b] / max(int(self.baskets[1]), 1)

    @property
    def by_chance(self) -> Floats:
        """How often chance alone would have brought each pair together before the start."""
        return self.n_a * self.n_b / max(int(self.baskets[0]), 1)

    @property
    def moves(self) -> Floats:
        """How the pairs' sales moved."""
        return np.column_stack([self.rising, self.falling, self.timing])

    def watch(self, offsets: Longs, items: Rows) -> None:
        """Count a window; baskets with more products than the evidence pairs are left out."""
        self.baskets[1] += counting.count_held(offsets, items, LARGEST, self._table, self.later, self.sold)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        return {field.name: getattr(self, field.name).copy() for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> Cohort:
        """The reverse of `state`; what an older one did not save did not move."""
        still = np.zeros(len(state["a"]))
        known = {"falling": still, "timing": still, "level": np.ones(1)} | state
        return cls(**{field.name: known[field.name].copy() for field in fields(cls)})


def distinct_pairs(a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Pairs of two different products, each once, in order."""
    # Sorting takes a tenth of the time that `np.unique` takes here.
    keys = np.sort(counting.pack_pairs(a[a != b], b[a != b]))
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return counting.left_of(keys), counting.right_of(keys)


def pack(a: Rows, b: Rows) -> Words:
    """Pairs of two different products, as one number each."""
    other = a != b
    return np.asarray(counting.pack_pairs(a[other], b[other]))


def merge(*drawn: tuple[Words, int]) -> tuple[Words, NDArray[np.uint8]]:
    """Packed pairs, each once and in order, with the signs of all the samples that it is in."""
    keys = np.concatenate([pairs for pairs, _ in drawn])
    signs = np.repeat(np.array([sign for _, sign in drawn], np.uint8), [len(pairs) for pairs, _ in drawn])
    if not len(keys):
        return keys, signs
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    return keys[first], np.bitwise_or.reduceat(signs[order], first)


def first_of_each(cells: NDArray[np.int16], order: Longs, most: int) -> Longs:
    """The first places of each cell in an order, so many of each at most."""
    # Small numbers are sorted by their digits, in place of one look at all pairs a cell.
    placed = order[np.argsort(cells[order], kind="stable")]
    starts = np.cumsum(np.append(0, np.bincount(cells)))
    within = np.arange(len(placed)) - np.repeat(starts[:-1], np.diff(starts))
    return np.asarray(placed[within < most])


def repeated_products(evidence: Evidence) -> Rows:
    """Products met more than once."""
    return np.flatnonzero(evidence.counts > 1).astype(np.int32)


def sample_any(evidence: Evidence, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Pairs of known products, half of the draws by how often they are bought."""
    rows, half = repeated_products(evidence), DRAWN // 2
    if len(rows) == 0:
        return rows, rows
    weight = np.cumsum(evidence.counts[rows])
    a, b = (
        np.append(np.searchsorted(weight, rng.random(half) * weight[-1], "right"), rng.integers(0, len(rows), half))
        for _ in range(2)
    )
    return rows[a], rows[b]


def sample_even(evidence: Evidence, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Pairs of products met a few times at least, each as likely as the next."""
    rows = np.flatnonzero(evidence.counts >= OFTEN).astype(np.int32)
    if len(rows) < 2:
        return rows[:0], rows[:0]
    a, b = rng.integers(0, len(rows), (2, EVEN))
    return distinct_pairs(rows[a], rows[b])


def sample_near(vectors: Vectors, evidence: Evidence, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Pairs that are close: some products, and the nearest to each among some thousands of others."""
    others = rng.permutation(repeated_products(evidence))[:OTHERS]
    near = min(NEAR, len(others) - 1)
    if near < 1:
        return others[:0], others[:0]
    with np.errstate(all="ignore"):
        unit = vectors[others]
        unit /= np.maximum(np.sqrt(np.einsum("ij,ij->i", unit, unit)), 1e-12)[:, None]
        cosines = unit[:ANCHORS] @ unit.T
    nearest = np.empty((len(cosines), near + 1), np.int64)
    likelihood.highest_of_each(cosines, nearest)
    return np.repeat(others[:ANCHORS], near + 1), others[nearest].ravel()
