"""Status of a rule: how well it is known that products are bought together: observed, rare or unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

STATUSES = ("observed", "rare", "unseen")

FEW = 5
"""Pairs counted fewer times are `rare`: below it a Poisson count is off by half its size or more, either way."""


def status(count: NDArray[np.integer], seen: NDArray[np.bool_] | None = None) -> NDArray[Any]:
    """`observed`, `rare` or `unseen`, by how often the products were bought together.

    `seen` tells of pairs whose count is no longer kept: they are rare, not unseen.
    """
    never = count == 0 if seen is None else (count == 0) & ~seen
    return np.where(never, "unseen", np.where(count < FEW, "rare", "observed")).astype(object)
