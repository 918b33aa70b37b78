"""Cohort: a sample of pairs with what is known of them now, to compare with what the next baskets bring."""

from __future__ import annotations

from dataclasses import dataclass, fields
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
MOST = 1 << 40
"""More pairs than there are: all of them."""
WHOLE = ("sold", "baskets", "level")
"""What a cohort holds that is not by pair."""
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

    def __post_init__(self) -> None:
        self._table = empty_table(2 * len(self.a) + 1)
        counting.insert(counting.pack_pairs(self.a, self.b), np.arange(len(self.a), dtype=np.uint64), self._table)

    @classmethod
    def draw(
        cls, vectors: Vectors, evidence: Evidence, edges: Floats, rng: np.random.Generator, late: LateSales
    ) -> Cohort:
        """Pairs seen, seen often, close, and any, about as many of each kind from each stretch of cosines.

        To those come the strongest pairs, and pairs drawn alike, which stand for all.
        """
        near, others, even = sample_near(vectors, evidence, rng), sample_any(evidence, rng), sample_even(evidence, rng)
        seen, often = evidence.sample(DRAWN, int(rng.integers(2**62))), evidence.sample(MOST, 0, OFTEN)
        best, some = strongest(evidence, *often), rng.permutation(len(often[0]))[:DRAWN]
        often = often[0][some], often[1][some]
        drawn = seen, often, best, near, others, even
        a, b = distinct_pairs(*(np.concatenate(rows) for rows in zip(*drawn, strict=True)))
        # Of a pair whose count was let go little is known: it is neither unseen nor seen so many times. Of those drawn
        # alike it is one seen once, since all pairs meet less often than they did if only the unseen are left of them.
        told = (evidence.pairs(a, b) > 0) | ~evidence.seen(a, b) | held_in(a, b, even)
        a, b = a[told], b[told]
        alike = held_in(a, b, even)
        # Both samples are in random order or cut by it, so that their first pairs are drawn alike too.
        first = rng.permutation(len(seen[0]))[:FAIR]
        fair = (
            alike | held_in(a, b, (seen[0][first], seen[1][first])) | held_in(a, b, (often[0][:FAIR], often[1][:FAIR]))
        )
        cosine, n_ab, counts = np.empty(len(a)), np.maximum(evidence.pairs(a, b), evidence.seen(a, b)), evidence.counts
        likelihood.cosines(a, b, vectors, cosine)
        cosine = np.nan_to_num(cosine, posinf=0.0, neginf=0.0)
        cells = 3 * np.searchsorted(edges, cosine) + (n_ab > 0) + (n_ab >= OFTEN)
        order = rng.permutation(len(a))
        parts = [order[cells[order] == cell][:CELL] for cell in range(3 * len(edges) + 3)]
        kept = np.unique(np.concatenate([*parts, np.flatnonzero(fair | held_in(a, b, best))]))
        a, b, n = a[kept], b[kept], evidence.n_baskets
        none = np.zeros(len(a), np.int64), np.zeros(len(counts), np.int64)
        usual_a, usual_b, late_a, late_b = counts[a] / n, counts[b] / n, late.share(a), late.share(b)
        foreseen = np.minimum(usual_a * usual_b, late_a * late_b)
        moves = late.moves(late_a, late_b, usual_a, usual_b, n)
        known = cosine[kept], n_ab[kept], counts[a], counts[b]
        signs = alike[kept], fair[kept], foreseen, *moves.T.copy(), np.array([late.level])
        return cls(a, b, *known, *none, np.array([n, 0], np.int64), *signs)

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


def held_in(a: Rows, b: Rows, pairs: tuple[Rows, Rows]) -> NDArray[np.bool_]:
    """Which of the pairs are among others."""
    return np.isin(counting.pack_pairs(a, b), counting.pack_pairs(*pairs))


def strongest(evidence: Evidence, a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Of the pairs those whose lift is surely the highest."""
    n_ab, counts = evidence.pairs(a, b), evidence.counts
    sure = (n_ab - 2 * np.sqrt(n_ab)) / (counts[a] * counts[b])
    best = np.argpartition(-sure, BEST)[:BEST] if len(sure) > BEST else np.arange(len(sure))
    return a[best], b[best]


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
        unit = vectors[others] / np.maximum(np.linalg.norm(vectors[others], axis=1, keepdims=True), 1e-12)
        cosines = np.nan_to_num(unit[:ANCHORS] @ unit.T)
    nearest = np.argpartition(-cosines, near, axis=1)[:, : near + 1]
    return np.repeat(others[:ANCHORS], near + 1), others[nearest].ravel()
