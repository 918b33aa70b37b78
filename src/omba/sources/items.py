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
    known ones. A price that is not positive is not known, and a quantity that is not known is one piece.
    """
    prices = None if rows.prices is None else np.where(rows.prices > 0, rows.prices, np.nan)
    quantities = None if rows.quantities is None else np.where(np.isnan(rows.quantities), 1.0, rows.quantities)
    keys = rows.visits * (int(rows.codes.max(initial=0)) + 1) + rows.codes
    order = np.argsort(keys, kind="stable")
    begins = np.flatnonzero(np.diff(keys[order], prepend=-1))
    if len(begins) == len(keys):
        return Items(rows.visits, rows.codes, prices, quantities)
    firsts = order[begins]
    back = np.argsort(firsts)

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        sums: NDArray[np.float64] = np.add.reduceat(values[order], begins)
        return sums[back]

    if prices is not None:
        known = ~np.isnan(prices)
        with np.errstate(invalid="ignore"):
            prices = total(np.where(known, prices, 0.0)) / total(known.astype(np.float64))
    kept = firsts[back]
    return Items(rows.visits[kept], rows.codes[kept], prices, None if quantities is None else total(quantities))
