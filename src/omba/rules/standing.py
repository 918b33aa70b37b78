"""Standing: rules kept current window by window, at the cost of what a window changed.

Mining looks at every pair that was ever counted. From one day to the next few of them change: those bought that day.
So between two looks over everything only two kinds of pairs are scored: those that stood among the best at the last
look, and those bought together since. The low end of what is expected of a pair rises at once from nearly nothing to
a basket's worth where its products sell a little better, whoever buys them; so pairs that would be among the best if
their products sold well are kept as well. Of the sets of three, those that made the best rules at the last look are
tested again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.baskets import Baskets
from omba.errors import SettingError
from omba.rules import kernels
from omba.rules.candidates import FEW, Candidates, best_observed, join_parts
from omba.rules.evidence import Observed, PartialEvidence, Rows
from omba.rules.filter import Filter
from omba.rules.from_model import mining_input
from omba.rules.grow import standing_sets, triples_once
from omba.rules.hashing import Hashing
from omba.rules.mine import mine
from omba.rules.mining_input import POOL, Expected, LiftForecast, MiningInput
from omba.rules.nearest import MIN_COUNT, cosines
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.search import threads
from omba.rules.table import DEFAULT_ORDER, build_table

if TYPE_CHECKING:
    from omba.model import OMBA

Keys = NDArray[np.int64]
"""Pairs of rows packed into one number each."""

STANDING = 5
"""Pairs kept for each rule asked for."""
HOPEFUL = 20
"""Pairs kept for each rule asked for that would be among the best if their products sold well."""
SLACK = 0.9
"""What the last of the best must be expected to have against yesterday's, for pairs to be scored."""
WELL = 2.0
"""To sell well: twice as often as in all the time so far."""


class Standing:
    """The best rules of a model that goes on learning.

        standing = Standing(top=100)
        for day in baskets.windows("1d"):
            rules = standing.after(model.partial_fit(day), day)

    Rules are ordered by the low end of the expected lift, in which a pair never bought together comes after all that
    were.

    Parameters
    ----------
    top
        How many rules; 1 or more.
    every
        After so many windows all pairs are looked at again; 1 or more.
    antecedents
        Antecedents of a rule at most; 1 or more.
    min_count
        Products met in fewer baskets are left out; 1 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(800, days=60).baskets
    >>> model, standing = omba.OMBA(dim=8), omba.rules.Standing(top=3, antecedents=1)
    >>> for week in shop.windows("7d"):
    ...     rules = standing.after(model.partial_fit(week), week)
    >>> len(rules)
    3
    """

    def __init__(self, top: int = 100, every: int = 30, antecedents: int = 2, min_count: int = MIN_COUNT) -> None:
        if min(top, every, antecedents) < 1:
            raise SettingError(
                f"top={top} rules of up to {antecedents} antecedents, with a look every {every} windows, are none: "
                "give 1 or more of each"
            )
        self.top, self.every, self.antecedents, self.min_count = top, every, antecedents, min_count
        self._keys = self._hopeful = np.empty(0, np.int64)
        self._sets, self._highest = np.empty((0, 3), np.int64), 0.0
        self._hashing: Hashing | None = None
        self._age, self._bar = 0, 0.0

    def after(self, model: OMBA, window: Baskets) -> Rules:
        """The best rules, the model having just learned `window`."""
        self.note(model, window)
        return self.rules(model)

    def note(self, model: OMBA, window: Baskets) -> None:
        """Take note of the pairs in a window that the model has just learned; several may be noted between two looks.

        There is nothing to note where all pairs will be looked at anyway.
        """
        self._age += 1
        if not self._due:
            rows = model.product_rows.find(window.items, window.product_vocabulary)
            self._keys = _union(self._keys, (window.offsets, rows))

    def forget(self) -> None:
        """Look at all pairs next time, since windows were learned that were not noted."""
        self._hashing = None

    @property
    def _due(self) -> bool:
        """Whether all pairs have to be looked at."""
        return self._hashing is None or self._age > self.every

    def rules(self, model: OMBA, given: MiningInput | None = None) -> Rules:
        """The best rules of a model whose windows were noted; F and H are those of the last look.

        What mining is `given` of it may be at hand, and keeps to them too.
        """
        given = given or mining_input(model)
        scope = Scope.of(given, Filter(), self.min_count)
        if self._hashing is None or self._due:
            return self._look(given, scope)
        most = max(POOL, self.top)
        found = self._best(given, scope)
        if not self._keep(found):
            return self._look(given, scope)
        best = found[0]
        larger = standing_sets(given, self._sets, self._highest) if self.antecedents > 1 else []
        given.keep(self._hashing)
        return build_table(given, [best.best(given, DEFAULT_ORDER, most), *larger], self._hashing, most=self.top)

    def _best(self, given: MiningInput, scope: Scope) -> list[Candidates]:
        """The best of the pairs that stand or were noted.

        Those whose counts promise less than a pair needed yesterday to be among the best are not scored: that is the
        most of them. Where so few are left that it was asked too much, all are.
        """
        most = min(STANDING * max(POOL, self.top), scope.pairs)
        with ThreadPoolExecutor(threads()) as pool:
            for bar in (self._bar, 0.0) if self._bar > 0 else (0.0,):
                found = _score(given, _sift(given, self._keys, bar, pool), scope, most, pool)
                if not bar or self._last(found) >= bar:
                    break
        return found

    def _last(self, found: list[Candidates]) -> float:
        """The low end of the last of those that make a table; 0 where they are too few, or not sure to occur."""
        most = max(POOL, self.top)
        low = float(found[0].low[most - 1]) if found and len(found[0]) >= most else 0.0
        return low if low > 1.0 else 0.0

    def _look(self, given: MiningInput, scope: Scope) -> Rules:
        """What mining finds among all pairs. Those that stand are kept, for the windows that follow."""
        self._hashing, self._age = given.choose(), 0
        most, hopeful = (min(times * max(POOL, self.top), scope.pairs) for times in (STANDING, HOPEFUL))
        well = best_observed(_selling_well(given), scope, DEFAULT_ORDER, hopeful)
        self._hopeful = np.concatenate(
            [self._keys[:0], *(_pack(one.antecedents[:, 0], one.consequent) for one in well)]
        )
        if not self._keep(best_observed(given, scope, DEFAULT_ORDER, most)):
            # Too few were bought together so far: the nearest pairs have to fill up the table, and again next time.
            self.forget()
        elif self.antecedents > 1:
            self._keep_sets(given)
        return mine(given, self.top, antecedents=self.antecedents, min_count=self.min_count)

    def _keep_sets(self, given: MiningInput) -> None:
        """Keep the sets of three products that make the best rules, and how low their p must be."""
        larger, self._highest = triples_once(given, pool=max(POOL, self.top))
        best = [rules.best(given, DEFAULT_ORDER, STANDING * max(POOL, self.top)) for rules in larger]
        sets = [np.column_stack([rules.antecedents, rules.consequent]) for rules in best]
        self._sets = np.concatenate([np.empty((0, 3), np.int64), *sets])

    def _keep(self, found: list[Candidates]) -> bool:
        """Keep the pairs that stand; whether there are enough of them for a table."""
        enough = bool(found) and len(found[0]) >= self.top
        if enough:
            self._bar = SLACK * self._last(found)
            self._keys = _union(np.append(self._hopeful, _pack(found[0].antecedents[:, 0], found[0].consequent)))
        return enough


def _union(keys: Keys, bought: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None) -> Keys:
    """All keys, and the pairs of baskets (offsets and rows), each once."""
    offsets, rows = bought or (np.zeros(1, np.int64), np.empty(0, np.int32))
    sizes = np.diff(offsets)
    most = len(keys) + int((sizes * (sizes - 1) // 2).sum())
    slots, out = np.full(1 << int(2 * most).bit_length(), -1, np.int64), np.empty(most, np.int64)
    return out[: kernels.list_pairs(keys, offsets, rows, slots, out)]


def _pack(left: NDArray[np.integer], right: NDArray[np.integer]) -> Keys:
    return np.asarray((np.minimum(left, right).astype(np.int64) << 32) | np.maximum(left, right))


class _SellingWell:
    """A forecast for products that sell well, whatever their sales of late.

    Parameters
    ----------
    forecast
        The forecast as it is.
    """

    def __init__(self, forecast: LiftForecast) -> None:
        self._forecast = forecast
        self.judged, self.interval, self.season = forecast.judged, forecast.interval, forecast.season
        self.highest, self.occurs = forecast.highest, forecast.occurs

    def expect(
        self, cosine: ArrayLike, n_ab: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, a: ArrayLike, b: ArrayLike
    ) -> Expected:
        mean, _, _ = self._forecast.expect(cosine, n_ab, n_a, n_b, n, a, b)
        more = np.asarray(n_ab, np.float64) + 1.0
        return mean, *self._forecast.interval(mean, more, n_a, n_b, n, WELL)


def _selling_well(given: MiningInput) -> MiningInput:
    """The input with what could be expected if all products sold well."""
    return given if given.forecast is None else replace(given, forecast=_SellingWell(given.forecast))


def _sift(given: MiningInput, keys: Keys, bar: float, pool: ThreadPoolExecutor) -> Observed:
    """Pairs with today's counts, but for those that by these are below the bar."""

    def sift(part: Keys) -> Observed:
        left, right = (part >> 32).astype(np.int32), (part & 0xFFFFFFFF).astype(np.int32)
        count = given.evidence.pairs(left, right)
        if not bar:
            return left, right, count
        enough = np.flatnonzero(given.highest(left, right, count, bar) >= bar)
        return left[enough], right[enough], count[enough]

    return _end_to_end(list(pool.map(sift, np.array_split(keys, threads()))))


def _score(given: MiningInput, pairs: Observed, scope: Scope, most: int, pool: ThreadPoolExecutor) -> list[Candidates]:
    """The best of some pairs. A few are scored at once; of many those counted often come first, as in mining."""
    if len(pairs[0]) > FEW or given.forecast is None:
        narrow = replace(given, evidence=PartialEvidence(given.evidence, pairs))
        return best_observed(narrow, scope, DEFAULT_ORDER, most)
    vectors = np.ascontiguousarray(given.vectors, np.float32)

    def score(left: Rows, right: Rows, count: Rows) -> Candidates:
        return Candidates.of_pairs(given, scope, left, right, cosines(vectors, left, right), count)

    parts = zip(*(np.array_split(column, threads()) for column in pairs), strict=True)
    found = join_parts(list(pool.map(lambda part: score(*part), parts)))
    return [found.best(given, DEFAULT_ORDER, most)]


def _end_to_end(parts: list[Observed]) -> Observed:
    left, right, count = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left, right, count
