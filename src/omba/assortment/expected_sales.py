"""Expected sales: in how many baskets the products of a group should be in the next period, and what they bring in.

The next period has a third as many baskets as were learned, as in the forecast. The baskets with each product are added
up. Where the interval lies and how wide it is, the same forecast of earlier months tells (the outlook's spread), and
the chance in a count beside it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

PERIOD = 1 / 3
"""Baskets of the next period over those learned."""
NINE_IN_TEN = 1.645
"""Deviations on either side in which nine of ten lie."""

Expectation = tuple[float | None, float | None, float | None, float | None, float | None, float | None]
"""Baskets and revenue of the next period, each with both ends of its interval."""
EXPECTED = tuple(f"expected_{what}{end}" for what in ("baskets", "revenue") for end in ("", "_low", "_high"))
"""The names of these."""
UNKNOWN: Expectation = (None, None, None, None, None, None)


def expected_sales(
    groups: Sequence[Rows],
    counts: NDArray[np.integer],
    change: Floats,
    spread: Floats,
    amounts: NDArray[np.floating] | None,
) -> list[Expectation]:
    """What is to be expected of each group of products.

    Parameters
    ----------
    groups
        The rows of the products of each.
    counts
        Baskets with each product so far.
    change
        By how much sales of each product change; 1 for those beyond its end.
    spread
        A line a group: the shares of what is expected that one of twenty groups, half of them, and nineteen are below.
    amounts
        What a product brings in a basket, NaN where it is not known; None where no price is.

    >>> expected_sales([np.array([0, 1])], np.array([40, 20]), np.ones(2), np.array([[0.5, 1.0, 2.0]]), None)[0][0]
    20.0
    """
    change = np.append(change, np.ones(max(len(counts) - len(change), 0)))
    sales = PERIOD * counts * change[: len(counts)]
    found: list[Expectation] = []
    for rows, (least, middle, most) in zip(groups, spread.tolist(), strict=True):
        baskets, down, up = float(sales[rows].sum()) * middle, np.log(middle / least), np.log(most / middle)
        noise = NINE_IN_TEN**2 / (baskets + 1.0)
        ends = np.exp([0.0, -np.sqrt(down**2 + noise), np.sqrt(up**2 + noise)])
        counted = (baskets * ends).tolist()
        if amounts is None or not np.isfinite(amounts[rows]).any():
            found.append((*counted, None, None, None))
            continue
        found.append((*counted, *(middle * float(np.nansum(sales[rows] * amounts[rows])) * ends).tolist()))
    return found


def revenue(rows: Rows, counts: NDArray[np.integer], amounts: NDArray[np.floating] | None) -> float | None:
    """What some products brought in so far; None where no price of them is known."""
    if amounts is None or not np.isfinite(amounts[rows]).any():
        return None
    return float(np.nansum(counts[rows] * amounts[rows]))
