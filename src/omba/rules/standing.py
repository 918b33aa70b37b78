"""Standing: rules kept current window by window, at the cost of what a window changed.

Mining looks at every pair that was ever counted. From one day to the next few of them change: those bought that day.
So between two looks over everything only two kinds of pairs are scored: those that stood among the best at the last
look, and those bought together since. What a look would have found besides is a pair nobody bought, whose products
rose by other products' sales; the next look finds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.errors import SettingError
from omba.rules.candidates import Tables, counted, near
from omba.rules.counts import Counts
from omba.rules.filter import Filter
from omba.rules.from_model import space_of
from omba.rules.grow import grow
from omba.rules.mine import EDGES, POOL, mine, table
from omba.rules.nearest import MIN_COUNT
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.space import Space

ORDER = "expected_lift_low"
STANDING = 5
"""Pairs kept for each rule asked for. Thirty days after the last look at Complete Journey, 997 of 1,000 rules between
product types were those of a look over everything, and twenty days after it 995 between products."""


class Standing:
    """The best rules of a model that goes on learning.

        standing = Standing(top=100)
        for day in baskets.windows("1d"):
            rules = standing.after(model.partial_fit(day), day)

    Every so many windows (`every`) all pairs are looked at. Rules are ordered by the low end of the expected lift, in
    which a pair never bought together comes after all that were; they have up to `antecedents` antecedents.
    """

    def __init__(self, top: int = 100, every: int = 30, antecedents: int = 2, min_count: int = MIN_COUNT) -> None:
        if min(top, every, antecedents) < 1:
            raise SettingError(
                f"top={top} rules of up to {antecedents} antecedents, with a look every {every} windows, are none: "
                "give 1 or more of each"
            )
        self.top, self.every, self.antecedents, self.min_count = top, every, antecedents, min_count
        self._keys = np.empty(0, np.int64)
        self._tables: Tables | None = None
        self._age = 0

    def after(self, model: Any, window: Baskets) -> Rules:
        """The best rules, the model having just learned `window`."""
        space = space_of(model)
        scope = Scope.of(space, Filter(), self.min_count)
        if self._tables is None or self._age == self.every:
            _, self._tables = near(space, scope, min(POOL, scope.pairs), Tables())
            self._age, sight = 0, space
        else:
            rows = model.product_rows.find(window.items, window.product_vocabulary)
            left, right, _ = Counts.of_rows(window.offsets, rows, len(space.labels)).observed()
            self._age, sight = self._age + 1, _narrowed(space, _both(self._keys, _packed(left, right)))
        most = max(POOL, self.top)
        found = counted(sight, scope, ORDER, min(STANDING * most, scope.pairs))
        if not found or len(found[0]) < self.top:
            # Too few were bought together so far: the nearest pairs have to fill up the table.
            return mine(space, self.top, antecedents=self.antecedents, min_count=self.min_count)
        best = found[0]
        self._keys = np.sort(_packed(best.antecedents[:, 0], best.consequent))
        larger = grow(space, best.best(space, ORDER, EDGES), self.antecedents)
        return table(space, [best.best(space, ORDER, most), *larger], self._tables, ORDER).head(self.top)


def _both(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """All keys, each once."""
    keys = np.sort(np.concatenate([some, others]))
    return np.asarray(keys[np.diff(keys, prepend=-1) != 0])


def _packed(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.asarray((np.minimum(left, right).astype(np.int64) << 32) | np.maximum(left, right))


def _narrowed(space: Space, keys: NDArray[np.int64]) -> Space:
    """The space with no other pairs in sight than these, at today's counts."""
    left, right = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    count = space.pair_counts(left, right)

    def observed(least: int) -> tuple[Any, Any, Any]:
        kept = np.flatnonzero(count >= least)
        return left[kept], right[kept], count[kept]

    return replace(space, observed=observed)
