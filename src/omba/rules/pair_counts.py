"""Pair counts: how often products and pairs of them were bought until a moment, as far as that is kept.

Counts add up over a stream, so what happened between two moments is the difference of their counts. Of the pairs only
the most frequent are kept, `KEPT` at most, so that an entry of the history stays small; of any other it is known in how
many baskets it can have been at most. So every count has two ends, which mostly are the same number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike, NDArray

from omba.baskets import Label

if TYPE_CHECKING:
    from omba.model.evidence import Evidence
    from omba.rules.rules import Rules

Longs = NDArray[np.int64]
Ends = tuple[Longs, Longs]

KEPT = 500_000
"""Pairs kept, at most: some 2 MB on the disk, where the vectors of 5,000 products take 3."""
UNKEPT = b"omba.unkept"


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Baskets with each product and with each of the most frequent pairs, until a moment.

    Parameters
    ----------
    baskets
        Baskets in all.
    products
        Baskets with each product, by row.
    keys
        The pairs, each packed into one number, in rising order.
    counts
        Baskets with each pair, at least.
    missed
        Baskets that may have been missed of each, at most.
    unkept
        Baskets that any other pair can have been in, at most; None where that is not known.

    >>> counts = PairCounts(9, np.array([4, 3, 2]), pack([0, 1], [1, 2]), np.array([3, 1]), np.array([0, 0]), 0)
    >>> counts.ends(pack([0, 0], [1, 2]))
    (array([3, 0]), array([3, 0]))
    """

    baskets: int
    products: Longs
    keys: Longs
    counts: Longs
    missed: Longs
    unkept: int | None

    @classmethod
    def of(cls, evidence: Evidence, products: int, kept: int = KEPT) -> PairCounts:
        """What a model has counted so far, the most frequent pairs of it."""
        unkept, least = evidence.error, 1
        if evidence.n_pairs > kept:
            # The rare ones are by far the most: they are not put in order only to be left out.
            least, most = evidence.bound_rarest(kept)
            unkept = max(unkept, most)
        left, right, count, missed = evidence.pair_bounds(least)
        return cls.of_pairs(evidence.n_baskets, evidence.counts[:products], (left, right, count), missed, unkept)

    @classmethod
    def of_pairs(
        cls,
        baskets: int,
        products: NDArray[np.integer],
        pairs: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]],
        missed: NDArray[np.integer] | None = None,
        unkept: int | None = 0,
    ) -> PairCounts:
        """From pairs in columns: rows, rows, and baskets with both."""
        left, right, count = pairs
        keys = pack(left, right)
        order = np.argsort(keys, kind="stable")
        none = np.zeros(len(keys), np.int64) if missed is None else missed.astype(np.int64)
        return cls(
            baskets, np.array(products, np.int64), keys[order], count.astype(np.int64)[order], none[order], unkept
        )

    @classmethod
    def of_rules(cls, rules: Rules, rows: dict[Label, int]) -> PairCounts:
        """What a table of rules tells of its pairs; of all others nothing is known. New labels get the next rows."""
        pairs = [
            (rows.setdefault(a[0], len(rows)), rows.setdefault(c[0], len(rows)), place)
            for place, (a, c) in enumerate(rules.sides)
            if len(a) == len(c) == 1
        ]
        left, right, place = np.array(pairs, np.int64).reshape(-1, 3).T
        _, first = np.unique(pack(left, right), return_index=True)
        left, right, place = left[first], right[first], place[first]
        products = np.zeros(len(rows), np.int64)
        products[left], products[right] = rules.n_a[place], rules.n_b[place]
        return cls.of_pairs(rules.n, products, (left, right, rules.count[place]), None, None)

    def ends(self, keys: Longs) -> Ends:
        """Baskets with each pair, at least and at most."""
        place = np.minimum(np.searchsorted(self.keys, keys), max(len(self.keys) - 1, 0))
        known = self.keys[place] == keys if len(self.keys) else np.zeros(len(keys), bool)
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.full(len(keys), self.unkept or 0)
        least = np.where(known, self.counts[place], 0)
        return least, np.where(known, least + self.missed[place], self.unkept or 0)

    def sales(self, rows: Longs) -> Longs:
        """Baskets with each of these products; products that came later had none."""
        inside = rows < len(self.products)
        return np.where(inside, self.products[np.where(inside, rows, 0)] if len(self.products) else 0, 0)

    def write(self, path: Path) -> None:
        """Leave the pairs in a file; products and baskets are kept elsewhere."""
        columns = {"key": self.keys, "count": self.counts, "missed": self.missed}
        table = pa.table(columns).replace_schema_metadata({UNKEPT: str(self.unkept)})
        # Keys rise in small steps and counts are small, so that a pair takes a few bytes.
        packed = dict.fromkeys(columns, "DELTA_BINARY_PACKED")
        pq.write_table(table, path, compression="zstd", use_dictionary=False, column_encoding=packed)

    @classmethod
    def read(cls, path: Path, baskets: int, products: Longs) -> PairCounts:
        """The reverse of `write`."""
        table = pq.read_table(path)
        keys, counts, missed = (table[name].to_numpy() for name in ("key", "count", "missed"))
        return cls(baskets, products, keys, counts, missed, int(table.schema.metadata[UNKEPT]))


@dataclass(frozen=True, eq=False)
class KeptEvidence:
    """Evidence for mining and searching out of what an entry of the history kept.

    Parameters
    ----------
    kept
        The counts of products and of the most frequent pairs.
    products
        How many products were known then.
    """

    kept: PairCounts
    products: int

    @property
    def n_baskets(self) -> int:
        return self.kept.baskets

    @property
    def counts(self) -> Longs:
        return self.kept.products[: self.products]

    @property
    def complete(self) -> bool:
        return self.kept.unkept == 0

    def pairs(self, a: ArrayLike, b: ArrayLike) -> Longs:
        return self.kept.ends(pack(a, b))[0]

    def seen(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]:
        return self.pairs(a, b) > 0

    def itemsets(self, sets: NDArray[np.integer]) -> Longs:
        """Pairs alone were kept."""
        return self.pairs(sets[:, 0], sets[:, 1]) if sets.shape[1] == 2 else np.zeros(len(sets), np.int64)

    def exact(self, sets: NDArray[np.integer]) -> NDArray[np.bool_]:
        if sets.shape[1] != 2:
            return np.zeros(len(sets), bool)
        least, most = self.kept.ends(pack(sets[:, 0], sets[:, 1]))
        return np.asarray(least == most)

    def observed(self, least: int = 1) -> tuple[Longs, Longs, Longs]:
        often = np.flatnonzero(self.kept.counts >= least)
        left, right = unpack(self.kept.keys[often])
        return left, right, self.kept.counts[often]


def pack(left: ArrayLike, right: ArrayLike) -> Longs:
    """Each pair of rows as one number, whichever way round it is given."""
    one, other = np.asarray(left, np.int64), np.asarray(right, np.int64)
    return np.asarray((np.minimum(one, other) << 32) | np.maximum(one, other))


def unpack(keys: Longs) -> Ends:
    """The two rows of each pair."""
    return keys >> 32, keys & 0xFFFFFFFF
