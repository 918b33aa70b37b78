"""Order: the numbers by which rules are ranked, where those are not quite the column itself.

By the low end of the lift to expect, a rule that may well not occur in the next period has nothing to show: its low end
is 0, of which the forecast leaves a trace. Ranked by that alone, a frequent pair that is sure to come with a lift of a
half would stand above one that should come with a lift of 50 and may miss the period. A low end below 1 promises
nothing either, so the two kinds are ranked together, below all low ends from 1 on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LOW_END = "expected_lift_low"
TRACE = 1e-9
"""Low ends up to this are nothing but a trace: the share of it that they are tells strong, likely rules from others."""


def rank_numbers(column: str, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """The numbers to rank a column by: its own, but for low ends of nothing.

    >>> rank_numbers("expected_lift_low", np.array([0.6, 0.9e-9, 3.0, 0.2e-9])).round(3).tolist()
    [0.6, 0.9, 3.0, 0.2]
    """
    numbers = np.asarray(values, np.float64)
    return np.where(numbers <= TRACE, numbers / TRACE, numbers) if column == LOW_END else numbers
