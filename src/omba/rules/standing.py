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
from omba.rules.candidates import counted
from omba.rules.counts import Counts
from omba.rules.filter import Filter
from omba.rules.from_model import space_of
from omba.rules.lsh import Pairs, nearest_pairs
from omba.rules.mine import POOL, mine
from omba.rules.nearest import MIN_COUNT, cosines
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.space import Space

STANDING = 5
"""Pairs kept for each rule asked for. Thirty days after the last look at Complete Journey, 997 of 1,000 rules between
product types were those of a look over everything, and twenty days after it 995 between products."""


class Standing:
    """The best rules of a model that goes on learning.

    >>> standing = Standing(top=100)                               # doctest: +SKIP
    >>> for day in baskets.windows("1d"):                          # doctest: +SKIP
    ...     rules = standing.after(model.partial_fit(day), day)

    Every so many windows (`every`) all pairs are looked at. Rules are ordered by the low end of the expected lift;
    `options` are those of `mine_rules`, except for `sort`, `where` and `preset`, which would need other pairs.
    """

    def __init__(self, top: int = 100, every: int = 30, **options: Any) -> None:
        if top < 1 or every < 1:
            raise SettingError(f"top={top} rules with a look every {every} windows are none: give 1 or more of each")
        if refused := {"sort", "where", "preset"} & set(options):
            raise SettingError(f"standing rules take no {' and no '.join(sorted(refused))}: use mine_rules")
        self.top, self.every, self.options = top, every, options
        self._keys = np.empty(0, np.int64)
        self._near: Pairs | None = None
        self._age = 0

    def after(self, model: Any, window: Baskets) -> Rules:
        """The best rules, the model having just learned `window`."""
        space = space_of(model)
        scope = Scope.of(space, Filter(), self.options.get("min_count", MIN_COUNT))
        if self._near is None or self._age == self.every:
            self._near = nearest_pairs(
                space.vectors, max(POOL, self.top), counts=scope.open.astype(np.int64), min_count=1
            )
            self._age, sight = 0, space
        else:
            rows = model.product_rows.find(window.items, window.product_vocabulary)
            left, right, _ = Counts.of_rows(window.offsets, rows, len(space.labels)).observed()
            self._age, sight = self._age + 1, _narrowed(space, _both(self._keys, _packed(left, right)), self._near)
        best = counted(sight, scope, "expected_lift_low", min(STANDING * max(POOL, self.top), scope.pairs))
        keys = [_packed(one.antecedents[:, 0], one.consequent) for one in best]
        self._keys = np.sort(np.concatenate([self._keys[:0], *keys]))
        return mine(_narrowed(space, self._keys, self._near), self.top, **self.options)


def _both(some: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.int64]:
    """All keys, each once."""
    keys = np.sort(np.concatenate([some, others]))
    return np.asarray(keys[np.diff(keys, prepend=-1) != 0])


def _packed(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.int64]:
    return np.asarray((np.minimum(left, right).astype(np.int64) << 32) | np.maximum(left, right))


def _narrowed(space: Space, keys: NDArray[np.int64], near: Pairs) -> Space:
    """The space with no other pairs in sight than these, at today's counts and cosines."""
    left, right = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    count = space.pair_counts(left, right)

    def observed(least: int) -> tuple[Any, Any, Any]:
        kept = np.flatnonzero(count >= least)
        return left[kept], right[kept], count[kept]

    def nearest(known: NDArray[np.bool_], most: int) -> Pairs:
        cosine = cosines(np.ascontiguousarray(space.vectors, np.float32), near.left, near.right)
        rows = np.flatnonzero(known[near.left] & known[near.right])
        rows = rows[np.argsort(-cosine[rows], kind="stable")][:most]
        columns = {name: getattr(near, name)[rows] for name in ("left", "right", "collisions", "probability")}
        return replace(near, cosine=cosine[rows], **columns)

    return replace(space, observed=observed, nearest=nearest)
