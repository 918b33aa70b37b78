"""Explain: in words, why two products belong together, even if no basket ever held both.

The paper's example (section 5): facial creams and sink accessories never met, but both go with facial soaps, and so
their vectors came to lie close. Such bridges C are products seen with both, ranked by the weaker of the two links,
(n + 1) / (chance + 1), times the lower cosine. Beside them stand the users who buy both, and the nearest pairs that
were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.baskets.names import show
from omba.errors import InputError
from omba.rules.evidence import Counted, Rows
from omba.rules.explain_set import SetExplanation, explain_set
from omba.rules.mining_input import UNJUDGED, MiningInput
from omba.rules.nearest import neighbours
from omba.rules.rule_status import status

NEIGHBOURS = 8
"""Products near A and near B whose pairs are looked at."""


@dataclass(frozen=True)
class Bridge:
    """A product seen with both A and B.

    Parameters
    ----------
    product
        Its label.
    count_a
        Baskets with it and A.
    lift_a
        How many times more than by chance that is.
    cosine_a
        How close its vector is to A's.
    count_b
        Baskets with it and B.
    lift_b
        How many times more than by chance that is.
    cosine_b
        How close its vector is to B's.
    at_least_a
        Whether `count_a` is a lower bound.
    at_least_b
        Whether `count_b` is.
    """

    product: Label
    count_a: int
    lift_a: float
    cosine_a: float
    count_b: int
    lift_b: float
    cosine_b: float
    at_least_a: bool = False
    at_least_b: bool = False


@dataclass(frozen=True)
class Shoppers:
    """Users who lately bought both.

    Parameters
    ----------
    number
        How many they are.
    chance
        How many chance would make it.
    some
        The labels of a few.
    """

    number: int
    chance: float
    some: list[Label]


@dataclass(frozen=True)
class NearbyPair:
    """A pair that was seen, of products near the two in question.

    Parameters
    ----------
    a
        A product near A, or A itself.
    b
        A product near B, or B itself.
    count
        Baskets with both.
    lift
        How many times more than by chance that is.
    closeness
        The product of both cosines.
    at_least
        Whether `count` is a lower bound.
    """

    a: Label
    b: Label
    count: int
    lift: float
    closeness: float
    at_least: bool = False


@dataclass(frozen=True)
class Explanation:
    """What a pair rests on. `str()` tells it in words.

    Parameters
    ----------
    a
        A product.
    b
        Another.
    status
        `observed`, `rare` or `unseen`.
    count
        Baskets with both.
    baskets
        Baskets in all.
    chance
        Baskets with both that chance would bring.
    lift
        One divided by the other.
    cosine
        How close their vectors are.
    expected_lift
        The lift to expect next; None where there is no forecast, as with the two that follow.
    expected_lift_low
        The low end of its 90% interval.
    expected_lift_high
        The high end.
    bridges
        Products that were seen with both.
    shoppers
        Users who buy both; None where users are not known.
    seen
        The nearest pairs that were seen.
    names
        What the products of all these go by beside their labels, as far as they have names.
    notes
        What to mind in reading the figures, in sentences.
    count_at_least
        Whether `count` is a lower bound.
    """

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
    seen: list[NearbyPair]
    names: dict[Label, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    count_at_least: bool = False

    def show(self, product: Label) -> str:
        """A product of the explanation as a person reads it."""
        return show(product, self.names.get(product))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([*self._facts(), *self._bridges(), *self._users(), *self._examples()])

    def sentences(self) -> list[str]:
        """What there is to say in sentences; bridges and pairs that were seen are lists of their own."""
        return [*self._facts(), *self._users()]

    def _facts(self) -> list[str]:
        lift = f": lift {self.lift:.1f}" if self.count else ""
        return [
            f"{self.show(self.a)} and {self.show(self.b)} {how_often(self.count, self.status, self.count_at_least)} "
            f"in {self.baskets:,} baskets, where chance would make it {amount(self.chance)}{lift} ({self.status}).",
            f"Their vectors have a cosine of {self.cosine:.2f}.",
            *outlook(self.expected_lift, self.expected_lift_low, self.expected_lift_high),
            *self.notes,
        ]

    def _bridges(self) -> list[str]:
        if not self.bridges:
            return ["No product was seen with both."]
        return [
            "Both go with:",
            *(
                f"  {self.show(x.product)}: {baskets(x.count_a, x.at_least_a)} with {self.show(self.a)} "
                f"(lift {x.lift_a:.1f}), "
                f"{'at least ' if x.at_least_b else ''}{x.count_b:,} with {self.show(self.b)} (lift {x.lift_b:.1f})"
                for x in self.bridges
            ),
        ]

    def _users(self) -> list[str]:
        if self.shoppers is None:
            return []
        some = f": {', '.join(map(str, self.shoppers.some))}" if self.shoppers.some else ""
        more = ", …" if 0 < len(self.shoppers.some) < self.shoppers.number else ""
        number = {0: "No user buys", 1: "1 user buys"}.get(self.shoppers.number, f"{self.shoppers.number:,} users buy")
        return [f"{number} both, where chance would make it {amount(self.shoppers.chance)}{some}{more}."]

    def _examples(self) -> list[str]:
        if not self.seen:
            return []
        return [
            "The nearest pairs that were seen:",
            *(
                f"  {self.show(x.a)} and {self.show(x.b)}: {baskets(x.count, x.at_least)}, lift {x.lift:.1f}"
                for x in self.seen
            ),
        ]


@dataclass(frozen=True, eq=False)
class Explainer:
    """Tells what speaks for two products.

    Parameters
    ----------
    given
        The vectors, the evidence and the forecast, as mining has them, and what users lately bought.
    partners
        Gives the rows seen with a row, and in how many baskets, where that is quicker than a look at all pairs.
    """

    given: MiningInput
    partners: Callable[[int], tuple[Rows, Counted]] | None = None

    def explain_set(self, antecedents: Sequence[Label], consequent: Label) -> SetExplanation:
        """What a rule with several antecedents says beyond every shorter one."""
        return explain_set(self.given, antecedents, consequent)

    def explain(self, a: Label, b: Label, most: int = 5) -> Explanation:
        """What the pair rests on, with up to `most` bridges, users and seen pairs each."""
        given = self.given
        left, right = given.catalogue.row(a), given.catalogue.row(b)
        if left == right:
            raise InputError(f"{a!r} is asked about twice: give two different products")
        one, other = np.array([left]), np.array([right])
        count, cosine = given.evidence.pairs(one, other), self._cosines(left, other)
        chance = float(self._chance(one, other)[0])
        lift, low, high = (float(value[0]) for value in given.expect(one, other, cosine, count))
        foreseen = given.forecast is not None
        bridges, seen = self._bridges(left, right, most), self._examples(left, right, most)
        mentioned = (
            given.labels[left],
            given.labels[right],
            *(x.product for x in bridges),
            *(y for x in seen for y in (x.a, x.b)),
        )
        return Explanation(
            a=given.labels[left],
            b=given.labels[right],
            status=str(status(count, given.seen(one, other, count))[0]),
            count=int(count[0]),
            baskets=given.n_baskets,
            chance=chance,
            lift=int(count[0]) / chance if chance else 0.0,
            cosine=float(cosine[0]),
            expected_lift=lift if foreseen else None,
            expected_lift_low=low if foreseen else None,
            expected_lift_high=high if foreseen else None,
            bridges=bridges,
            shoppers=self._shoppers(left, right, most),
            seen=seen,
            names={label: name for label in mentioned if (name := given.catalogue.name(label)) is not None},
            notes=[*self._season(one, other)] + ([] if given.judged else [UNJUDGED]),
            count_at_least=bool(count[0] and self._at_least(one, other)[0]),
        )

    def _season(self, one: Rows, other: Rows) -> list[str]:
        """What the time of year does to a pair."""
        catalogue = self.given.catalogue
        season = catalogue.season([(self.given.labels[int(one[0])], self.given.labels[int(other[0])])])[0]
        outlook = catalogue.outlook
        if outlook is None or not outlook.known:
            return season_note(season)
        chance, factor = outlook.factors(np.column_stack([one, other]))
        return season_note(season, float(chance[0] * factor[0]))

    def _partners(self, row: int) -> tuple[Rows, Counted]:
        if self.partners is not None:
            return self.partners(row)
        a, b, count = self.given.observed(1)
        there = np.flatnonzero((a == row) | (b == row))
        return a[there] + b[there] - row, count[there]

    def _chance(self, a: Rows, b: Rows) -> NDArray[np.float64]:
        return self.given.counts[a] * self.given.counts[b] / max(self.given.n_baskets, 1)

    def _cosines(self, row: int, others: Rows) -> NDArray[np.float64]:
        vectors, one = self.given.vectors[others].astype(np.float64), self.given.vectors[row].astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(one)
        return np.asarray(vectors @ one / np.maximum(lengths, 1e-12))

    def _bridges(self, a: int, b: int, most: int) -> list[Bridge]:
        (rows_a, n_a), (rows_b, n_b) = self._partners(a), self._partners(b)
        both, place_a, place_b = np.intersect1d(rows_a, rows_b, assume_unique=True, return_indices=True)
        n_a, n_b = n_a[place_a], n_b[place_b]
        chance_a, chance_b = self._chance(np.array([a]), both), self._chance(np.array([b]), both)
        near_a, near_b = self._cosines(a, both), self._cosines(b, both)
        worth = np.minimum((n_a + 1) / (chance_a + 1), (n_b + 1) / (chance_b + 1))
        worth = worth * np.maximum(np.minimum(near_a, near_b), 1e-3)
        best = np.argsort(-worth, kind="stable")[:most]
        bound_a, bound_b = np.zeros(len(both), bool), np.zeros(len(both), bool)
        for row, bound in ((a, bound_a), (b, bound_b)):
            bound[best] = self._at_least(np.full(len(best), row), both[best])
        return [
            Bridge(
                self.given.labels[both[i]], int(n_a[i]), float(n_a[i] / chance_a[i]), float(near_a[i]),
                int(n_b[i]), float(n_b[i] / chance_b[i]), float(near_b[i]), bool(bound_a[i]), bool(bound_b[i]),
            )
            for i in best.tolist()
        ]  # fmt: skip

    def _shoppers(self, a: int, b: int, most: int) -> Shoppers | None:
        users, remembered = self.given.users, self.given.remembered
        if remembered is None or users is None or not len(users):
            return None
        remembered = remembered[: len(users)]
        buys_a, buys_b = (remembered == a).any(axis=1), (remembered == b).any(axis=1)
        both = np.flatnonzero(buys_a & buys_b)
        chance = float(buys_a.sum() * buys_b.sum() / len(remembered))
        return Shoppers(len(both), chance, [users[user] for user in both[:most].tolist()])

    def _examples(self, a: int, b: int, most: int) -> list[NearbyPair]:
        """Pairs of a product near A (or A itself) and one near B, by how near both are."""
        near = min(NEIGHBOURS, int((self.given.counts > 1).sum()) - 2)
        if near < 1:
            return []
        (to_a, to_b), (close_a, close_b) = neighbours(self.given.vectors, [a, b], near, self.given.counts)
        to_a, close_a = np.append(a, to_a), np.append(1.0, close_a)
        to_b, close_b = np.append(b, to_b), np.append(1.0, close_b)
        left, right = (grid.ravel() for grid in np.meshgrid(to_a, to_b, indexing="ij"))
        close = np.multiply.outer(close_a, close_b).ravel()
        # A pair of the two themselves is no news, nor is one product beside itself or a pair met the other way round.
        fresh = (left != right) & ~np.isin(left, [b]) & ~np.isin(right, [a]) & ((left != a) | (right != b))
        left, right, close = left[fresh], right[fresh], close[fresh]
        count, chance = self.given.evidence.pairs(left, right), self._chance(left, right)
        known = [i for i in np.argsort(-close, kind="stable").tolist() if count[i] > chance[i]]
        return [
            NearbyPair(
                self.given.labels[left[i]],
                self.given.labels[right[i]],
                int(count[i]),
                float(count[i] / chance[i]),
                float(close[i]),
                bool(self._at_least(left[[i]], right[[i]])[0]),
            )
            for i in known[:most]
        ]

    def _at_least(self, left: Rows, right: Rows) -> NDArray[np.bool_]:
        """Whether the count of each pair is a lower bound."""
        return ~self.given.evidence.exact(np.column_stack([left, right]))


def how_often(count: int, status: str, at_least: bool = False) -> str:
    """How often two products were bought together, in words.

    >>> how_often(0, "unseen"), how_often(1, "rare"), how_often(1200, "observed")
    ('were never bought together', 'were bought together once', 'were bought together 1,200 times')
    >>> how_often(7, "observed", at_least=True)
    'were bought together at least 7 times'
    """
    if count == 0:
        return (
            "were never bought together"
            if status == "unseen"
            else ("were bought together too seldom to be counted still")
        )
    bound = "at least " if at_least else ""
    return f"were bought together {bound}{'once' if count == 1 else f'{count:,} times'}"


def outlook(expected: float | None, low: float | None, high: float | None) -> list[str]:
    """The lift to expect in a sentence; none where there is no forecast."""
    if expected is None:
        return []
    return [
        f"In the next period they should show a lift of {expected:.1f} "
        f"(nine times in ten between {low:.1f} and {high:.1f})."
    ]


def season_note(season: str, times: float | None = None) -> list[str]:
    """A warning that a rule is of a season; none where it is not.

    `times` is how many times the usual it should be in the next period, by the same weeks a year ago; None where less
    than a year is known.

    >>> season_note("Nov–Dec")[1]
    'Less than a year is known, so whether that comes again cannot be told.'
    >>> season_note("Nov–Dec", 0.1)[1]
    'By the same weeks a year ago, the next period brings 0.1 times as many of these baskets as usual.'
    """
    if not season:
        return []
    note = f"They are mostly sold in {season}: at other times of the year do not count on it."
    if times is None:
        return [note, "Less than a year is known, so whether that comes again cannot be told."]
    return [
        note,
        f"By the same weeks a year ago, the next period brings {times:.1f} times as many of these baskets as usual.",
    ]


def baskets(count: int, at_least: bool = False) -> str:
    return f"{'at least ' if at_least else ''}{'1 basket' if count == 1 else f'{count:,} baskets'}"


def amount(mean: float) -> str:
    """A mean number in as many digits as matter.

    >>> amount(0.0314), amount(1234.5)
    ('0.031', '1,234')
    """
    return f"{mean:.2g}" if mean < 10 else f"{mean:,.0f}"
