"""Space: all that mining is given, as arrays and functions of arrays; never a model object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError
from omba.rules.catalogue import Catalogue
from omba.rules.rules import Explainer

if TYPE_CHECKING:
    from omba.rules.lsh import Pairs

Rows = NDArray[np.integer]
Counts = NDArray[np.integer]
Floats = NDArray[np.floating]

PairCounts = Callable[[Rows, Rows], Counts]
"""(rows a, rows b) → baskets that hold both."""
Seen = Callable[[Rows, Rows], NDArray[np.bool_]]
"""(rows a, rows b) → whether they were ever bought together, also where their count is no longer kept."""
Observed = Callable[[int], tuple[Rows, Rows, Counts]]
"""The pairs in so many baskets or more, as (rows, rows, baskets with both)."""
ItemsetCounts = Callable[[Rows], Counts]
"""Itemsets of one length, one a line, as rows → baskets that hold all of each."""
Expected = Callable[[Rows, Rows, Floats, Counts], tuple[Floats, Floats, Floats]]
"""(rows a, rows b, cosine, baskets with both) → expected lift, and the ends of its 90% interval."""
Interval = Callable[[Rows, Floats, Floats, Counts, Counts], tuple[Floats, Floats]]
"""(sets of rows, the lift expected of each, baskets it rests on, baskets with the antecedents, with the consequent) →
both ends of the 90% interval."""

Nearest = Callable[[NDArray[np.bool_], int], "Pairs"]
"""(products that may be in a pair, how many pairs) → the nearest pairs."""


@dataclass(frozen=True, eq=False)
class Space:
    """Products as vectors, and the evidence on them. Row i of every array is product `labels[i]`.

    `counts` are baskets with each product, of `n_baskets` in all. `observed` gives the pairs known to occur:
    where given, the best of them are candidates beside the nearest vectors. Without `seen`, a pair with no count was
    never bought together.
    """

    labels: Sequence[Label]
    vectors: NDArray[np.floating]
    counts: NDArray[np.integer]
    n_baskets: int
    pair_counts: PairCounts
    seen: Seen | None = None
    itemset_counts: ItemsetCounts | None = None
    observed: Observed | None = None
    prices: NDArray[np.floating] | None = None
    attributes: pa.Table | None = None
    expected: Expected | None = None
    interval: Interval | None = None
    explainer: Explainer | None = None
    nearest: Nearest | None = None

    def __post_init__(self) -> None:
        sizes = {"labels": len(self.labels), "vectors": len(self.vectors), "counts": len(self.counts)}
        if len(set(sizes.values())) > 1:
            raise InputError(f"a space needs one label, vector and count a product, but has {sizes}")
        if not len(self.labels):
            raise InputError("the model is empty: learn some baskets before asking for rules")
        if self.n_baskets < 1 or not np.any(self.counts):
            raise InputError(
                f"none of the {len(self.labels)} products of the model is in the {self.n_baskets} baskets of evidence: "
                "give baskets with the same product labels"
            )

    @property
    def catalogue(self) -> Catalogue:
        return Catalogue(self.labels, self.prices, self.attributes)
