"""Cohort: a sample of pairs with what is known of them now, to compare with what the next baskets bring."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model import counting, likelihood
from omba.model.evidence import LARGEST, Evidence, empty_table

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

SHORTEST, LONGEST = 500, 50_000
"""Baskets a cohort is watched for, at least and at most; in between, a quarter of those before it."""
OFTEN = 5
"""Pairs seen so many times are rules already; fewer, they are rare."""
CELL = 1500
"""Pairs sampled for each stretch of cosines, of the unseen, the rare and the frequent each, so that all weigh alike."""
DRAWN = 1 << 16
"""Pairs drawn to find those."""
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

    def __post_init__(self) -> None:
        self._table = empty_table(2 * len(self.a) + 1)
        counting.insert(counting.pack_pairs(self.a, self.b), np.arange(len(self.a), dtype=np.uint64), self._table)

    @classmethod
    def draw(cls, vectors: Vectors, evidence: Evidence, edges: Floats, rng: np.random.Generator) -> Cohort:
        """Pairs seen, seen often, close, and any, about as many of each kind from each stretch of cosines."""
        near, others = sample_near(vectors, evidence, rng), sample_any(evidence, rng)
        seen, often = (evidence.sample(DRAWN, int(rng.integers(2**62)), minimum) for minimum in (1, OFTEN))
        a, b = (np.concatenate(rows) for rows in zip(seen, often, near, others, strict=True))
        a, b = distinct_pairs(a, b)
        cosine, n_ab = np.empty(len(a)), evidence.pairs(a, b)
        likelihood.cosines(a, b, vectors, cosine)
        cells = 3 * np.searchsorted(edges, cosine) + (n_ab > 0) + (n_ab >= OFTEN)
        order = rng.permutation(len(a))
        kept = np.sort(np.concatenate([order[cells[order] == cell][:CELL] for cell in range(3 * len(edges) + 3)]))
        a, b, counts = a[kept], b[kept], evidence.counts
        none = np.zeros(len(a), np.int64), np.zeros(len(counts), np.int64)
        baskets = np.array([evidence.n_baskets, 0], np.int64)
        return cls(a, b, cosine[kept], n_ab[kept], counts[a], counts[b], *none, baskets)

    @property
    def over(self) -> bool:
        """Whether enough baskets have gone by to judge."""
        before, since = self.baskets.tolist()
        return bool(since >= min(max(before // 4, SHORTEST), LONGEST))

    @property
    def chance(self) -> Floats:
        """How often chance alone would have brought each pair together, given what was sold since."""
        return self.sold[self.a] * self.sold[self.b] / max(int(self.baskets[1]), 1)

    def watch(self, offsets: Longs, items: Rows) -> None:
        """Count a window; baskets with more products than the evidence pairs are left out."""
        self.baskets[1] += counting.count_held(offsets, items, LARGEST, self._table, self.later, self.sold)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        return {field.name: getattr(self, field.name).copy() for field in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> Cohort:
        """The reverse of `state`."""
        return cls(**{field.name: state[field.name].copy() for field in fields(cls)})


def distinct_pairs(a: Rows, b: Rows) -> tuple[Rows, Rows]:
    """Pairs of two different products, each once, in order."""
    keys = np.unique(counting.pack_pairs(a[a != b], b[a != b]))
    return counting.left_of(keys), counting.right_of(keys)


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


def sample_near(vectors: Vectors, evidence: Evidence, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Pairs that are close: some products, and the nearest to each among some thousands of others."""
    others = rng.permutation(repeated_products(evidence))[:OTHERS]
    near = min(NEAR, len(others) - 1)
    if near < 1:
        return others[:0], others[:0]
    unit = vectors[others] / np.maximum(np.linalg.norm(vectors[others], axis=1, keepdims=True), 1e-12)
    cosines = unit[:ANCHORS] @ unit.T
    nearest = np.argpartition(-cosines, near, axis=1)[:, : near + 1]
    return np.repeat(others[:ANCHORS], near + 1), others[nearest].ravel()
