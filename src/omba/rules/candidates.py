"""Candidates: pairs that may make a rule: the nearest vectors by LSH, and the best of the pairs that were counted.

The embedding alone knows the unseen; the counts alone know how often. The pairs best by the column in which rules are
ranked are among the candidates, whichever of the two they come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from omba.rules import rule_status
from omba.rules.evidence import Observed, Rows
from omba.rules.filter import within
from omba.rules.hashing import Hashing
from omba.rules.holding import HOLDS, LINE, line_order, sets_hold
from omba.rules.measures import MEASURES, measure
from omba.rules.mining_input import Floats, MiningInput
from omba.rules.nearest import cosines, neighbours
from omba.rules.order import LOW_END, rank_numbers
from omba.rules.rule_columns import RISING
from omba.rules.scope import Scope
from omba.rules.search import threads
from omba.rules.worth import WORTH, worth

AT_ONCE, FEW, OFTEN = 1 << 20, 1 << 15, 8
"""Observed pairs scored at a time; how many are not worth a second thread; the count from which on all are scored."""

ASKED = 1000
"""Up to so many products asked for, their neighbours are looked up one by one rather than by LSH."""

EXPECTED = {"expected_lift": "expected", "expected_lift_low": "low", "expected_lift_high": "high"}
"""Where candidates have the columns of the forecast."""


@dataclass(frozen=True)
class Candidates:
    """Rules to be, in columns, all with the same number of antecedents.

    Parameters
    ----------
    antecedents
        The rows of the antecedents, a line a rule.
    consequent
        The row of the consequent.
    similarity
        The cosine of the two, or the least one of the consequent to an antecedent.
    count
        Baskets with all of them.
    n_a
        Baskets with the antecedents.
    expected
        The lift to expect, NaN where there is no forecast.
    low
        The low end of its 90% interval.
    high
        The high end.
    seen
        Whether they were ever bought together, also where their count is no longer kept.
    """

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
        cls, given: MiningInput, scope: Scope, left: Rows, right: Rows, similarity: Floats, count: Rows
    ) -> Candidates:
        """Those of the pairs that are in scope, each turned to the direction of the higher confidence."""
        seen = given.seen(left, right, count)
        inside = np.flatnonzero(scope.passes(left, right, count, seen))
        left, right = left[inside], right[inside]
        similarity, count, seen = similarity[inside], count[inside], seen[inside]
        # In one order first: where both are as frequent, a pair met from either side must come out as one.
        left, right = np.minimum(left, right), np.maximum(left, right)
        turned = scope.to_turn(given.counts, left, right)
        left, right = np.where(turned, right, left), np.where(turned, left, right)
        expected, low, high = given.expect(left, right, similarity, count)
        found = cls(left[:, None], right, similarity, count, given.counts[left], expected, low, high, seen)
        return found.within(given, scope)

    def within(self, given: MiningInput, scope: Scope) -> Candidates:
        """Those that lie within the bounds of the scope."""
        inside = np.ones(len(self), bool)
        for column, least, most in scope.bounds:
            inside &= within(self.values(given, column), least, most)
        return self if inside.all() else self.take(np.flatnonzero(inside))

    @classmethod
    def none(cls) -> Candidates:
        """No candidates at all."""
        rows, numbers = np.empty(0, np.int64), np.empty(0, np.float64)
        return cls(rows[:, None], rows, numbers, rows, rows, numbers, numbers, numbers, np.empty(0, bool))

    def __len__(self) -> int:
        return len(self.consequent)

    def take(self, rows: NDArray[np.integer]) -> Candidates:
        return Candidates(*(getattr(self, column.name)[rows] for column in fields(self)))

    def values(self, given: MiningInput, column: str) -> Floats:
        """A column of the table these will make, as far as it can be ranked by."""
        if column in MEASURES:
            return measure(column, self.count, self.n_a, given.counts[self.consequent], given.n_baskets)
        if column == "value":
            return self.value(given)
        if column in WORTH:
            return self.worth(given, column)
        if column == HOLDS:
            return self.hold_chance(given)
        if column == LINE:
            return line_order(self.hold_chance(given), self.low)
        names = {**EXPECTED, "count": "count"}
        return np.asarray(getattr(self, names.get(column, "similarity")), np.float64)

    def worth(self, given: MiningInput, column: str) -> Floats:
        """How many baskets to expect, and what the products bring in; NaN where that is not known."""
        unknown = np.full(len(given.labels), np.nan)
        amounts = unknown if given.catalogue.amounts is None else given.catalogue.amounts
        spent = np.asarray(amounts[self.antecedents].sum(axis=1) + amounts[self.consequent], np.float64)
        chance = self.n_a.astype(np.float64) * given.counts[self.consequent] / given.n_baskets
        if given.catalogue.outlook is not None:
            chance *= given.catalogue.outlook.chance(np.column_stack([self.antecedents, self.consequent]))
        return worth(column, self.count, chance, lambda name: np.asarray(getattr(self, EXPECTED[name])), spent)

    def hold_chance(self, given: MiningInput) -> Floats:
        """How likely each still has a strong lift in the next period; NaN where there is no forecast."""
        chance = self.n_a.astype(np.float64) * given.counts[self.consequent] / given.n_baskets
        sets = np.column_stack([self.antecedents, self.consequent]).astype(np.int64)
        return sets_hold(given.catalogue, sets, self.count, chance, self.expected, self.high)

    def value(self, given: MiningInput) -> Floats:
        """Expected extra revenue per thousand baskets: 1000 · P(A) · P(b) · (lift − 1) · price of b.

        Of a thousand baskets, 1000·P(A)·P(b) hold both by chance, and lift times as many do. In each of those beyond
        chance the antecedents are there already, and what the rule adds is the consequent. The lift is the expected
        one, or the one counted where there is no forecast. NaN where the price is not known.
        """
        if given.prices is None:
            return np.full(len(self), np.nan)
        n, n_b = given.n_baskets, given.counts[self.consequent]
        lift = measure("lift", self.count, self.n_a, n_b, n) if given.forecast is None else self.expected
        return np.asarray(1000.0 * self.n_a / n * n_b / n * (lift - 1.0) * given.prices[self.consequent])

    def cost(self, given: MiningInput, column: str) -> Floats:
        """A column, turned so that less is better."""
        return rank_numbers(column, self.values(given, column)) * (1 if column in RISING else -1)

    def best(self, given: MiningInput, column: str, most: int) -> Candidates:
        """The `most` best by a column, best first; NaN is the least."""
        return self.take(least(self.cost(given, column), most))


Ranked = tuple[Candidates, Floats]
"""Candidates, and what each costs by the column they are ranked by: to work that out again takes longest."""


def least(cost: Floats, most: int) -> NDArray[np.int64]:
    """The places of the `most` lowest costs, the lowest first."""
    rows = np.argpartition(cost, most)[:most] if len(cost) > most else np.arange(len(cost))
    return np.asarray(rows[np.argsort(cost[rows], kind="stable")], np.int64)


def join(parts: Sequence[Candidates], products: int) -> Candidates:
    """Pairs from all parts, each once."""
    both = join_parts(parts)
    return both.take(_first_of_each(both, products))


def join_parts(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of all parts, one after the other."""
    return Candidates(
        *(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(Candidates))
    )


def _first_of_each(pairs: Candidates, products: int) -> NDArray[np.int64]:
    _, first = np.unique(pairs.antecedents[:, 0].astype(np.int64) * products + pairs.consequent, return_index=True)
    return np.sort(first)


def _best_of(parts: Sequence[Ranked], products: int, most: int) -> Ranked:
    """The `most` best of the pairs of all parts, each once."""
    both, cost = join_parts([part for part, _ in parts]), np.concatenate([cost for _, cost in parts])
    rows = _first_of_each(both, products)
    rows = rows[least(cost[rows], most)]
    return both.take(rows), cost[rows]


def best_observed(given: MiningInput, scope: Scope, column: str, most: int) -> list[Candidates]:
    """The `most` best of the observed pairs by a column.

    Pairs counted `OFTEN` times or more are all scored. Of those counted less often, which are by far the most, only
    as many as it takes: a count is left when a block of its pairs holds none that is among the best, and the search
    ends with a count whose very first block holds none. Pairs counted once are not even listed before it comes to that.
    """
    if scope.status == "unseen":
        return []
    best: Ranked | None = None
    with ThreadPoolExecutor(threads()) as pool:
        for least, levels in ((2, range(OFTEN, 1, -1)), (1, (1,))):
            left, right, count = given.observed(least)
            fewest = np.minimum(count, OFTEN).astype(np.uint16)
            # Sorted so that the last come first: rows are numbered as products were met, and the rare were met last.
            order = np.argsort(fewest, kind="stable")[::-1]
            edges = np.concatenate([[0], np.cumsum(np.bincount(fewest, minlength=OFTEN + 1)[::-1])])
            for level in levels:
                if not may_have(scope.status, level):
                    continue
                rows = order[edges[OFTEN - level] : edges[OFTEN - level + 1]]
                best, idle = score_blocks(
                    given, scope, column, most, (left, right, count), rows, best, level == OFTEN, pool
                )
                if idle and best is not None:
                    return [best[0]]
    return [] if best is None else [best[0]]


def may_have(wanted: str | None, count: int) -> bool:
    """Whether pairs counted so many times, or so many at least from `OFTEN` on, may have the status that is asked for.

    >>> [may_have("rare", 4), may_have("rare", 5), may_have("observed", 4), may_have(None, 1)]
    [True, False, False, True]
    """
    return wanted is None or (count < rule_status.FEW) == (wanted == "rare")


def score_blocks(
    given: MiningInput, scope: Scope, column: str, most: int, observed: Observed, rows: NDArray[np.int64],
    best: Ranked | None, all_of_them: bool, pool: ThreadPoolExecutor,
) -> tuple[Ranked | None, bool]:  # fmt: skip
    """The best of these observed pairs and of those before, and whether the first block had none of them."""
    vectors = np.ascontiguousarray(given.vectors, np.float32)

    def score(block: NDArray[np.int64]) -> Ranked:
        a, b, n = (pairs[block] for pairs in observed)
        found = Candidates.of_pairs(given, scope, a, b, cosines(vectors, a, b), n)
        cost = found.cost(given, column)
        order = least(cost, most)
        return found.take(order), cost[order]

    for start in range(0, len(rows), AT_ONCE):
        block = rows[start : start + AT_ONCE]
        parts = list(pool.map(score, np.array_split(block, threads()))) if len(block) > FEW else [score(block)]
        full = best is not None and len(best[0]) == most
        last = best[1][-1:] if best is not None and full else np.array([np.inf])
        idle = full and not any((cost < last).any() for _, cost in parts)
        best = _best_of([*([best] if best is not None else []), *parts], len(given.labels), most)
        if idle and not all_of_them:
            return best, start == 0
    return best, False


def near(given: MiningInput, scope: Scope, most: int, hashing: Hashing) -> Candidates:
    """Those of the `most` nearest pairs that are in scope."""
    asked = min(scope.one_of, key=np.sum, default=None)
    if asked is not None and asked.sum() <= ASKED and hashing.preset == "default":
        rows = np.flatnonzero(asked & scope.open)
        trained = scope.open.astype(np.int64)
        others, cosine = neighbours(given.vectors, rows, 2 * most // max(1, len(rows)) + 1, trained, 1)
        left, right, cosine = np.repeat(rows, others.shape[1]), others.ravel(), cosine.ravel()
    else:
        pairs = given.nearest(scope.open, most, hashing)
        left, right, cosine = pairs.left, pairs.right, pairs.cosine
    return Candidates.of_pairs(given, scope, left, right, cosine, given.evidence.pairs(left, right))


def candidates(given: MiningInput, scope: Scope, column: str, nearest: int, most: int, hashing: Hashing) -> Candidates:
    """The `most` best of the `nearest` pairs and of the observed ones, each once.

    By the low end of the lift whatever was never bought together comes last: where enough pairs were, the nearest are
    not looked for.
    """
    parts = best_observed(given, scope, column, most) if hashing.preset == "default" and column != "similarity" else []
    if column == LOW_END and parts and len(parts[0]) >= most:
        return parts[0]
    nearby = near(given, scope, nearest, hashing)
    if len(nearby) > most:
        nearby = nearby.best(given, column, most)
    return join([nearby, *parts], len(given.labels))
