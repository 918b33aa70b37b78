"""Prices: dear products are rare, so each sighting of one counts for more (paper, Eq. 3–4; supplement, section 2).

Sales fall with price as a power law, h(x) ≈ c·x^−k. A product's weight is the inverse of that chance,

    g(x) = min(price, clip)^k,

where only k and the clip matter: a constant factor cancels in the weighted mean. Both are read, online, from a
histogram of the prices seen so far in steps of an eighth of an octave around the first price, so that a change of
currency changes nothing. k is the slope of log density on log price from the commonest price up; the clip is the
price below which 97.5% of sales lie, which on The Complete Journey is the paper's 10 dollars.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STEPS = 8
HALF = 256
CLIP_SHARE = 0.975
SPREAD = 100.0
"""Prices below clip/100 weigh like clip/100: in 32 bits a lighter product would vanish beside a dear one."""


class Prices:
    """What prices were seen: their histogram, and the mean price of every product."""

    def __init__(self) -> None:
        self.anchor = 0.0
        self.histogram = np.zeros(2 * HALF, np.int64)
        self.sums = np.zeros(0, np.float64)
        self.numbers = np.zeros(0, np.int64)
        self.more = np.zeros(0, np.float64)
        """What each product brought in beyond one piece a basket."""

    def learn(
        self,
        items: NDArray[np.int32],
        prices: NDArray[np.float32] | None,
        products: int,
        quantities: NDArray[np.float32] | None = None,
    ) -> None:
        """Add a window's prices; unknown ones (NaN, zero, negative) are left out. Without quantities each is of one."""
        if products > len(self.sums):
            self.sums = np.append(self.sums, np.zeros(products - len(self.sums)))
            self.numbers = np.append(self.numbers, np.zeros(products - len(self.numbers), np.int64))
            self.more = np.append(self.more, np.zeros(products - len(self.more)))
        if prices is None:
            return
        known = np.flatnonzero(np.isfinite(prices) & (prices > 0))
        if len(known) == 0:
            return
        values = prices[known].astype(np.float64)
        if self.anchor == 0.0:
            self.anchor = float(np.median(values))
        bins = np.clip(np.floor(np.log2(values / self.anchor) * STEPS + 1e-6).astype(np.int64) + HALF, 0, 2 * HALF - 1)
        self.histogram += np.bincount(bins, minlength=2 * HALF)
        self.sums[:products] += np.bincount(items[known], weights=values, minlength=products)
        self.numbers[:products] += np.bincount(items[known], minlength=products)
        if quantities is not None:
            pieces = quantities[known].astype(np.float64)
            beyond = values * np.where(np.isfinite(pieces) & (pieces > 0), pieces - 1.0, 0.0)
            self.more[:products] += np.bincount(items[known], weights=beyond, minlength=products)

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        names = ("histogram", "sums", "numbers", "more")
        return {name: getattr(self, name) for name in names} | {"anchor": np.array([self.anchor])}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`."""
        self.histogram, self.sums, self.numbers = state["histogram"], state["sums"], state["numbers"]
        self.anchor = float(state["anchor"][0])
        # A snapshot of before has no quantities.
        self.more = state.get("more", np.zeros(len(self.sums)))

    @property
    def known(self) -> bool:
        """Whether any price was seen."""
        return self.anchor > 0.0

    @property
    def means(self) -> NDArray[np.float64]:
        """The mean price of each product, NaN where none was seen."""
        return np.where(self.numbers > 0, self.sums / np.maximum(self.numbers, 1), np.nan)

    @property
    def amounts(self) -> NDArray[np.float64]:
        """What each product brings in a basket that holds it, price times quantity; NaN where no price was seen."""
        return np.where(self.numbers > 0, (self.sums + self.more) / np.maximum(self.numbers, 1), np.nan)

    def fit(self) -> tuple[float, float]:
        """(exponent, clip) of the power law over everything seen so far."""
        edges = self.anchor * 2.0 ** ((np.arange(2 * HALF + 1) - HALF) / STEPS)
        shares = np.cumsum(self.histogram) / self.histogram.sum()
        clip = float(edges[np.searchsorted(shares, CLIP_SHARE) + 1])
        first, last = int(np.argmax(self.histogram)), int(np.searchsorted(shares, 0.999))
        used = np.flatnonzero(self.histogram[first : last + 1]) + first
        if len(used) < 4:
            return 0.0, clip
        density = np.log(self.histogram[used] / np.diff(edges)[used])
        slope = np.polyfit(np.log(edges[used]), density, 1)[0]
        return float(np.clip(-slope, 0.0, 4.0)), clip

    def weigh(
        self, items: NDArray[np.int32], prices: NDArray[np.float32] | None, exponent: float, clip: float
    ) -> NDArray[np.float32]:
        """g(x) of every item; one with no price weighs like its product's mean, or else like the commonest price."""
        if prices is None or exponent == 0.0 or not self.known:
            return np.ones(len(items), np.float32)
        means = self.means
        value = np.where(np.isfinite(prices) & (prices > 0), prices, means[items])
        value = np.where(np.isfinite(value), value, self.anchor)
        return ((np.clip(value, clip / SPREAD, clip) / clip) ** exponent).astype(np.float32)
