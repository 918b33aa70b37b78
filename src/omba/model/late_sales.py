"""Late sales: what products sell of late and how large baskets are, against all the time so far.

Two products that were sold at the same time only have met more often than their sales over the whole time let expect,
and the lift that comes of it is gone when both are sold together throughout, or not at all. And where baskets are
large, everything comes together more often: with s the products of a basket, the mean lift of all pairs that are
bought is E s(s − 1) / (E s)².
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

FADE = 0.5 ** (1 / 28)
"""What a window counts for in the next one."""
STEEPEST, DEEPEST = math.exp(1.5), math.exp(-2.0)
"""More than this many times as many sales as usual are no more, and less than this are no less."""
LONGEST = 0.9
"""The part of all baskets that those of late are at most."""
MOVES = 3
"""Numbers that tell how a pair's sales moved."""
LASTING = 0.5
"""How much of a level of late, as a logarithm, is still there in the next period."""
STEADY = 500.0
"""Baskets' worth of the usual level."""


class LateSales:
    """Baskets with each product and sizes of baskets, those of a month of windows ago counting half.

    >>> late = LateSales()
    >>> late.learn(np.array([30, 10]), 40, 80.0)
    >>> late.share([0, 1, 7]).tolist(), late.level
    ([0.75, 0.25, 0.0], 1.0)
    """

    def __init__(self) -> None:
        self.sold: Floats = np.zeros(0)
        self.baskets = 0.0
        self.sizes: Floats = np.zeros((2, 3))
        """Baskets, their sizes and the squares of these, added up: of late, and of all the time so far."""

    def learn(self, sold: Longs, baskets: int, squares: float | None = None) -> None:
        """Count a window: baskets with each product, by row, all baskets, and the squares of their sizes."""
        faded = sold.astype(np.float64)
        faded[: len(self.sold)] += FADE * self.sold
        self.sold, self.baskets = faded, FADE * self.baskets + baskets
        if squares is not None:
            self.sizes = self.sizes * [[FADE], [1.0]] + [baskets, float(sold.sum()), squares]

    def share(self, rows: ArrayLike) -> Floats:
        """The share of baskets of late with each product."""
        rows = np.asarray(rows)
        known = rows < len(self.sold)
        share = np.zeros(rows.shape)
        share[known] = self.sold[rows[known]] / max(self.baskets, 1e-12)
        return share

    @property
    def level(self) -> float:
        """By how much more often than so far all pairs should come together in the next period, because of the sizes
        of baskets of late. Of that, half is taken to last: a season's level comes back."""
        late, ever = (max(squares - size, 0.0) * n / max(size, 1.0) ** 2 for n, size, squares in self.sizes)
        if min(late, ever) <= 0.0:
            return 1.0
        known = self.sizes[0, 0] / (self.sizes[0, 0] + STEADY)
        return float((late / ever) ** (LASTING * known))

    def moves(self, late_a: Floats, late_b: Floats, usual_a: Floats, usual_b: Floats, n: int) -> Floats:
        """How shares of baskets of late compare with the usual ones of all n, three numbers a pair.

        By how much more one of the two sells, by how much less one does, and how much more often both met over all the
        time because of when they were sold; all are logarithms from 0 on.
        """
        more_a, more_b = late_a / np.maximum(usual_a, 1e-12), late_b / np.maximum(usual_b, 1e-12)
        # Of late and before, as two stretches of the time so far.
        part = min(self.baskets / max(n, 1), LONGEST)
        earlier = np.maximum(1.0 - part * more_a, 0.0) * np.maximum(1.0 - part * more_b, 0.0) / (1.0 - part)
        rising = np.clip(np.maximum(more_a, more_b), 1.0, STEEPEST)
        falling = np.clip(np.minimum(more_a, more_b), DEEPEST, 1.0)
        timing = np.clip(part * more_a * more_b + earlier, 1.0, STEEPEST)
        return np.asarray(np.log(np.column_stack([rising, 1.0 / falling, timing])))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        return {
            "recent": self.sold.copy(),
            "recent_baskets": np.array([self.baskets]),
            "recent_sizes": self.sizes.copy(),
        }

    @classmethod
    def from_state(cls, state: dict[str, NDArray[Any]]) -> LateSales:
        """The reverse of `state`; sizes of baskets are counted from now on where they were not saved."""
        late = cls()
        late.sold, late.baskets = state["recent"], float(state["recent_baskets"][0])
        if "recent_sizes" in state:
            late.sizes = state["recent_sizes"].copy()
        return late
