"""Explain: in words, why two products belong together, even if no basket ever held both.

The paper's example (section 5): facial creams and sink accessories never met, but both go with facial soaps, and so
their vectors came to lie close. Such bridges C are products seen with both, ranked by the weaker of the two links,
(n + 1) / (chance + 1), times the lower cosine. Beside them stand the users who buy both, and the nearest pairs that
were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError, UnknownError, nearest
from omba.rules.nearest import neighbours

Rows = NDArray[np.integer]
Floats = NDArray[np.floating]

FEW = 5
"""Pairs in fewer baskets are `rare`."""
NEIGHBOURS = 8
"""Products near A and near B whose pairs are looked at."""


@dataclass(frozen=True)
class Bridge:
    """A product seen with both: in how many baskets, at what lift, how close."""

    product: Label
    count_a: int
    lift_a: float
    cosine_a: float
    count_b: int
    lift_b: float
    cosine_b: float


@dataclass(frozen=True)
class Shoppers:
    """Users who lately bought both, what chance would make of it, and some of them."""

    number: int
    chance: float
    some: list[Label]


@dataclass(frozen=True)
class Seen:
    """A pair that was seen, of products near the two in question."""

    a: Label
    b: Label
    count: int
    lift: float
    closeness: float


@dataclass(frozen=True)
class Explanation:
    """What a pair rests on. `str()` tells it in words."""

    a: Label
    b: Label
    status: str
    count: int
    baskets: int
    chance: float
    lift: float
    cosine: float
    expected_lift: float | None
    expected_lift_low: float | None
    expected_lift_high: float | None
    bridges: list[Bridge]
    shoppers: Shoppers | None
    seen: list[Seen]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([*self._facts(), *self._bridges(), *self._shoppers(), *self._seen()])

    def _facts(self) -> list[str]:
        never = "were never bought together"
        if self.status != "unseen":
            never = "were bought together too seldom to be counted still"
        together = {0: never, 1: "were bought together once"}
        times = together.get(self.count, f"were bought together {self.count:,} times")
        lift = f": lift {self.lift:.1f}" if self.count else ""
        lines = [
            f"{self.a} and {self.b} {times} in {self.baskets:,} baskets, "
            f"where chance would make it {amount(self.chance)}{lift} ({self.status}).",
            f"Their vectors have a cosine of {self.cosine:.2f}.",
        ]
        if self.expected_lift is not None:
            lines.append(
                f"In the next period they should show a lift of {self.expected_lift:.1f} "
                f"(nine times in ten between {self.expected_lift_low:.1f} and {self.expected_lift_high:.1f})."
            )
        return lines

    def _bridges(self) -> list[str]:
        if not self.bridges:
            return ["No product was seen with both."]
        return [
            "Both go with:",
            *(
                f"  {x.product}: {baskets(x.count_a)} with {self.a} (lift {x.lift_a:.1f}), "
                f"{x.count_b:,} with {self.b} (lift {x.lift_b:.1f})"
                for x in self.bridges
            ),
        ]

    def _shoppers(self) -> list[str]:
        if self.shoppers is None:
            return []
        some = f": {', '.join(map(str, self.shoppers.some))}" if self.shoppers.some else ""
        more = ", …" if 0 < len(self.shoppers.some) < self.shoppers.number else ""
        number = {0: "No user buys", 1: "1 user buys"}.get(self.shoppers.number, f"{self.shoppers.number:,} users buy")
        return [f"{number} both, where chance would make it {amount(self.shoppers.chance)}{some}{more}."]

    def _seen(self) -> list[str]:
        if not self.seen:
            return []
        return [
            "The nearest pairs that were seen:",
            *(f"  {x.a} and {x.b}: {baskets(x.count)}, lift {x.lift:.1f}" for x in self.seen),
        ]


@dataclass(frozen=True, eq=False)
class Explainer:
    """All it takes to explain, as arrays and functions of arrays. Row i is product `labels[i]`.

    `partners` gives the rows seen with a row, and in how many baskets; `remembered` are the rows each user lately
    bought, a line a user, −1 where there is none, and `users` their labels. `ever` tells whether two rows were seen
    together at all, also where their count is no longer kept.
    """

    labels: Sequence[Label]
    vectors: Floats
    counts: NDArray[np.integer]
    n_baskets: int
    pair_counts: Callable[[Rows, Rows], NDArray[np.integer]]
    partners: Callable[[int], tuple[Rows, NDArray[np.integer]]]
    expected: Callable[[Rows, Rows, Floats, NDArray[np.integer]], tuple[Floats, Floats, Floats]] | None = None
    ever: Callable[[Rows, Rows], NDArray[np.bool_]] | None = None
    users: Sequence[Label] | None = None
    remembered: NDArray[np.integer] | None = None

    @cached_property
    def rows(self) -> dict[Label, int]:
        return {label: row for row, label in enumerate(self.labels)}

    def row(self, product: Label) -> int:
        """The row of a product; an unknown one is an error that suggests the nearest names."""
        if product not in self.rows:
            raise UnknownError(f"product {product!r} is not known here{nearest(product, self.labels)}")
        return self.rows[product]

    def explain(self, a: Label, b: Label, most: int = 5) -> Explanation:
        """What the pair rests on, with up to `most` bridges, users and seen pairs each."""
        left, right = self.row(a), self.row(b)
        if left == right:
            raise InputError(f"{a!r} is asked about twice: give two different products")
        one, other = np.array([left]), np.array([right])
        count, cosine = self.pair_counts(one, other), self._cosines(left, other)
        chance = float(self._chance(one, other)[0])
        expected = (None,) * 3
        if self.expected is not None:
            expected = tuple(float(x[0]) for x in self.expected(one, other, cosine, count))  # type: ignore[assignment]
        n = int(count[0])
        known = n > 0 if self.ever is None else bool(self.ever(one, other)[0])
        return Explanation(
            a, b, "unseen" if not known else "rare" if n < FEW else "observed",
            n, self.n_baskets, chance, n / chance if chance else 0.0, float(cosine[0]), *expected,
            self._bridges(left, right, most), self._shoppers(left, right, most), self._seen(left, right, most),
        )  # fmt: skip

    def _chance(self, a: Rows, b: Rows) -> NDArray[np.float64]:
        return self.counts[a] * self.counts[b] / max(self.n_baskets, 1)

    def _cosines(self, row: int, others: Rows) -> NDArray[np.float64]:
        vectors, one = self.vectors[others].astype(np.float64), self.vectors[row].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(one)
        return np.asarray(vectors @ one / np.maximum(lengths, 1e-12))

    def _bridges(self, a: int, b: int, most: int) -> list[Bridge]:
        (rows_a, n_a), (rows_b, n_b) = self.partners(a), self.partners(b)
        both, place_a, place_b = np.intersect1d(rows_a, rows_b, assume_unique=True, return_indices=True)
        n_a, n_b = n_a[place_a], n_b[place_b]
        chance_a, chance_b = self._chance(np.array([a]), both), self._chance(np.array([b]), both)
        near_a, near_b = self._cosines(a, both), self._cosines(b, both)
        worth = np.minimum((n_a + 1) / (chance_a + 1), (n_b + 1) / (chance_b + 1))
        worth = worth * np.maximum(np.minimum(near_a, near_b), 1e-3)
        return [
            Bridge(
                self.labels[both[i]], int(n_a[i]), float(n_a[i] / chance_a[i]), float(near_a[i]),
                int(n_b[i]), float(n_b[i] / chance_b[i]), float(near_b[i]),
            )
            for i in np.argsort(-worth, kind="stable")[:most].tolist()
        ]  # fmt: skip

    def _shoppers(self, a: int, b: int, most: int) -> Shoppers | None:
        if self.remembered is None or self.users is None or not len(self.users):
            return None
        remembered = self.remembered[: len(self.users)]
        buys_a, buys_b = (remembered == a).any(axis=1), (remembered == b).any(axis=1)
        both = np.flatnonzero(buys_a & buys_b)
        chance = float(buys_a.sum() * buys_b.sum() / len(remembered))
        return Shoppers(len(both), chance, [self.users[user] for user in both[:most].tolist()])

    def _seen(self, a: int, b: int, most: int) -> list[Seen]:
        """Pairs of a product near A (or A itself) and one near B, by how near both are."""
        near = min(NEIGHBOURS, int((self.counts > 1).sum()) - 2)
        if near < 1:
            return []
        (to_a, to_b), (close_a, close_b) = neighbours(self.vectors, [a, b], near, self.counts)
        to_a, close_a = np.append(a, to_a), np.append(1.0, close_a)
        to_b, close_b = np.append(b, to_b), np.append(1.0, close_b)
        left, right = (grid.ravel() for grid in np.meshgrid(to_a, to_b, indexing="ij"))
        close = np.multiply.outer(close_a, close_b).ravel()
        # A pair of the two themselves is no news, nor is one product beside itself or a pair met the other way round.
        fresh = (left != right) & ~np.isin(left, [b]) & ~np.isin(right, [a]) & ((left != a) | (right != b))
        left, right, close = left[fresh], right[fresh], close[fresh]
        count, chance = self.pair_counts(left, right), self._chance(left, right)
        known = [i for i in np.argsort(-close, kind="stable").tolist() if count[i] > chance[i]]
        return [
            Seen(
                self.labels[left[i]],
                self.labels[right[i]],
                int(count[i]),
                float(count[i] / chance[i]),
                float(close[i]),
            )
            for i in known[:most]
        ]


def baskets(count: int) -> str:
    return "1 basket" if count == 1 else f"{count:,} baskets"


def amount(mean: float) -> str:
    """A mean number in as many digits as matter.

    >>> amount(0.0314), amount(1234.5)
    ('0.031', '1,234')
    """
    return f"{mean:.2g}" if mean < 10 else f"{mean:,.0f}"
