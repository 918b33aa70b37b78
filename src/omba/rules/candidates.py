"""Candidates: pairs that may make a rule: the nearest vectors by LSH, and the best of the pairs that were counted.

The embedding alone knows the unseen; the counts alone know how often. The pairs best by the column in which rules are
ranked are among the candidates, whichever of the two they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from omba.rules.lsh import nearest_pairs
from omba.rules.measures import MEASURES, measure
from omba.rules.nearest import cosines, neighbours
from omba.rules.rules import RISING
from omba.rules.scope import Scope
from omba.rules.search import threads
from omba.rules.space import Floats, Rows, Space
from omba.rules.theory import PAPER

AT_ONCE, FEW, OFTEN = 1 << 20, 1 << 13, 8
"""Observed pairs scored at a time; how many are not worth a second thread; the count from which on all are scored."""

ASKED = 1000
"""Up to so many products asked for, their neighbours are looked up one by one rather than by LSH."""


@dataclass(frozen=True)
class Tables:
    """How pairs are hashed: the preset, F and H (0: to be chosen), and whether equal collisions go by cosine."""

    preset: str = "default"
    F: int = 0
    H: int = 0
    ties: bool = True
    seed: int = 0


@dataclass(frozen=True)
class Candidates:
    """Rules to be: antecedent rows (rules, k), a consequent row, the evidence, and the lift expected."""

    antecedents: NDArray[np.integer]
    consequent: Rows
    similarity: Floats
    count: Rows
    n_a: Rows
    expected: Floats
    low: Floats
    high: Floats
    seen: NDArray[np.bool_]

    @classmethod
    def of_pairs(
        cls, space: Space, scope: Scope, left: Rows, right: Rows, similarity: Floats, count: Rows
    ) -> Candidates:
        """Those of the pairs that are in scope, each turned to the direction of the higher confidence."""
        seen = count > 0
        if space.seen is not None and not seen.all():
            seen[~seen] = space.seen(left[~seen], right[~seen])
        kept = np.flatnonzero(scope.passes(left, right, count, seen))
        left, right, similarity, count, seen = left[kept], right[kept], similarity[kept], count[kept], seen[kept]
        # In one order first: where both are as frequent, a pair met from either side must come out as one.
        left, right = np.minimum(left, right), np.maximum(left, right)
        turned = scope.turned(space.counts, left, right)
        left, right = np.where(turned, right, left), np.where(turned, left, right)
        unknown = np.full(len(left), np.nan)
        expected, low, high = unknown, unknown, unknown
        if space.expected is not None:
            expected, low, high = space.expected(left, right, similarity, count)
        return cls(left[:, None], right, similarity, count, space.counts[left], expected, low, high, seen)

    def __len__(self) -> int:
        return len(self.consequent)

    def take(self, rows: NDArray[np.integer]) -> Candidates:
        return Candidates(*(getattr(self, column.name)[rows] for column in fields(self)))

    def values(self, space: Space, column: str) -> Floats:
        """A column of the table these will make, as far as it can be ranked by."""
        if column in MEASURES:
            return measure(column, self.count, self.n_a, space.counts[self.consequent], space.n_baskets)
        if column == "value":
            return value(space, self)
        names = {
            "expected_lift": "expected",
            "expected_lift_low": "low",
            "expected_lift_high": "high",
            "count": "count",
        }
        return np.asarray(getattr(self, names.get(column, "similarity")), np.float64)

    def cost(self, space: Space, column: str) -> Floats:
        """A column, turned so that less is better."""
        return self.values(space, column) * (1 if column in RISING else -1)

    def best(self, space: Space, column: str, most: int) -> Candidates:
        """The `most` best by a column, best first; NaN is the least."""
        cost = self.cost(space, column)
        rows = np.argpartition(cost, most)[:most] if len(self) > most else np.arange(len(self))
        return self.take(rows[np.argsort(cost[rows], kind="stable")])


def joined(parts: Sequence[Candidates], products: int) -> Candidates:
    """Pairs from all parts, each once."""
    columns = (np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Candidates))
    both = Candidates(*columns)
    _, first = np.unique(both.antecedents[:, 0].astype(np.int64) * products + both.consequent, return_index=True)
    return both.take(np.sort(first))


def counted(space: Space, scope: Scope, column: str, most: int) -> list[Candidates]:
    """The `most` best of the observed pairs by a column.

    Pairs counted `OFTEN` times or more are all scored. Of those counted less often, which are by far the most, only
    as many as it takes: a count is left when a block of its pairs holds none that is among the best, and the search
    ends with a count whose very first block holds none. Pairs counted once are not even listed before it comes to that.
    """
    if space.observed is None or scope.status == "unseen":
        return []
    best: Candidates | None = None
    with ThreadPoolExecutor(threads()) as pool:
        for least, levels in ((2, range(OFTEN, 1, -1)), (1, (1,))):
            left, right, count = space.observed(least)
            fewest = np.minimum(count, OFTEN).astype(np.uint16)
            # Sorted so that the last come first: rows are numbered as products were met, and the rare were met last.
            order = np.argsort(fewest, kind="stable")[::-1]
            edges = np.concatenate([[0], np.cumsum(np.bincount(fewest, minlength=OFTEN + 1)[::-1])])
            for level in levels:
                rows = order[edges[OFTEN - level] : edges[OFTEN - level + 1]]
                best, idle = scored(space, scope, column, most, (left, right, count), rows, best, level == OFTEN, pool)
                if idle and best is not None:
                    return [best]
    return [] if best is None else [best]


def scored(
    space: Space, scope: Scope, column: str, most: int, observed: tuple[Rows, Rows, Rows], rows: NDArray[np.int64],
    best: Candidates | None, all_of_them: bool, pool: ThreadPoolExecutor,
) -> tuple[Candidates | None, bool]:  # fmt: skip
    """The best of these observed pairs and of those before, and whether the first block had none of them."""
    vectors = np.ascontiguousarray(space.vectors, np.float32)

    def score(block: NDArray[np.int64]) -> Candidates:
        a, b, n = (pairs[block] for pairs in observed)
        return Candidates.of_pairs(space, scope, a, b, cosines(vectors, a, b), n).best(space, column, most)

    for start in range(0, len(rows), AT_ONCE):
        block = rows[start : start + AT_ONCE]
        parts = list(pool.map(score, np.array_split(block, threads()))) if len(block) > FEW else [score(block)]
        full = best is not None and len(best) == most
        last = best.cost(space, column)[-1:] if best is not None and full else np.array([np.inf])
        idle = full and not any((part.cost(space, column) < last).any() for part in parts)
        best = joined([*([best] if best is not None else []), *parts], len(space.labels)).best(space, column, most)
        if idle and not all_of_them:
            return best, start == 0
    return best, False


def near(space: Space, scope: Scope, most: int, tables: Tables) -> tuple[Candidates, Tables]:
    """Those of the `most` nearest pairs that are in scope, and the tables they came from, F and H as chosen."""
    trained = scope.open.astype(np.int64)
    asked = min(scope.one_of, key=np.sum, default=None)
    if asked is not None and asked.sum() <= ASKED and tables.preset == "default":
        rows = np.flatnonzero(asked & scope.open)
        others, cosine = neighbours(space.vectors, rows, 2 * most // max(1, len(rows)) + 1, trained, 1)
        left, right, cosine = np.repeat(rows, others.shape[1]), others.ravel(), cosine.ravel()
        tables = replace(tables, F=tables.F or PAPER.F, H=tables.H or PAPER.H)
    else:
        if space.nearest is not None and tables.preset == "default":
            pairs = space.nearest(scope.open, most)
        else:
            pairs = nearest_pairs(
                space.vectors, most, counts=trained, min_count=1,
                preset=tables.preset, F=tables.F or None, H=tables.H or None, ties=tables.ties, seed=tables.seed,
            )  # fmt: skip
        left, right, cosine, tables = pairs.left, pairs.right, pairs.cosine, replace(tables, F=pairs.F, H=pairs.H)
    return Candidates.of_pairs(space, scope, left, right, cosine, space.pair_counts(left, right)), tables


def candidates(
    space: Space, scope: Scope, column: str, nearest: int, most: int, tables: Tables
) -> tuple[Candidates, Tables]:
    """The `most` best of the `nearest` pairs and of the observed ones, each once, and the tables as chosen."""
    nearby, tables = near(space, scope, nearest, tables)
    if len(nearby) > most:
        nearby = nearby.best(space, column, most)
    parts = counted(space, scope, column, most) if tables.preset == "default" and column != "similarity" else []
    return joined([nearby, *parts], len(space.labels)), tables


def value(space: Space, rules: Candidates) -> Floats:
    """Expected extra revenue per thousand baskets: 1000 · P(A) · P(b) · (lift − 1) · price of b.

    Of a thousand baskets, 1000·P(A)·P(b) hold both by chance, and lift times as many do. In each of those beyond
    chance the antecedents are there already, and what the rule adds is the consequent. The lift is the expected one,
    or the one counted where there is no forecast. NaN where the price is not known.
    """
    if space.prices is None:
        return np.full(len(rules), np.nan)
    n, n_b = space.n_baskets, space.counts[rules.consequent]
    lift = measure("lift", rules.count, rules.n_a, n_b, n) if space.expected is None else rules.expected
    return np.asarray(1000.0 * rules.n_a / n * n_b / n * (lift - 1.0) * space.prices[rules.consequent])
