"""Items: the products of visits, each once a visit. Rows of the same product are merged into the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Items:
    """Rows sorted by visit: product codes, and the price of one piece and the quantity where they are known."""

    visits: NDArray[np.int64]
    codes: NDArray[np.int32]
    prices: NDArray[np.float64] | None
    quantities: NDArray[np.float64] | None


def merge(rows: Items) -> Items:
    """Each product once a visit, at the place of its first row: quantities add up, the price is the mean of the
    known ones (NaN if there is none), and a price that is not positive is not known.
    """
    keys = rows.visits * (int(rows.codes.max(initial=0)) + 1) + rows.codes
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    firsts = order[begins]
    back = np.argsort(firsts)

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(values[order], begins) if len(begins) else values
        return sums[back]

    prices = quantities = None
    if rows.prices is not None:
        known = np.asarray(rows.prices > 0)
        with np.errstate(invalid="ignore"):
            mean = total(np.where(known, rows.prices, 0.0)) / total(known.astype(np.float64))
        prices = mean
    if rows.quantities is not None:
        quantities = total(np.where(np.isnan(rows.quantities), 1.0, rows.quantities))
    kept = firsts[back]
    return Items(rows.visits[kept], rows.codes[kept], prices, quantities)
