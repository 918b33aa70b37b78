"""Relations: whether two products are bought with each other, instead of each other, or just by the same people.

Lift cannot tell. Two products that replace each other and two that different people buy are both never in one basket.
What tells them apart is the customer. Of those who buy both at all, habits alone would put them into so many baskets
together, as far as both were sold at the same time (see `habits`): the *lift within customers* λ is how many there
are, over that. And how many customers buy both, over what chance would bring, is the *lift between customers* β. Both
are relative to what is typical of pairs as often expected, since large baskets hold more of everything. Counts are
Poisson with a gamma prior, so each relation has a probability:

    complement           λ > 1.5
    substitute           λ < 1/1.5, and the same customers buy both
    different customers  β < 1/1.5, and they are not bought together
    same customers       β > 1.5, and λ is in between
    variant              of one family

What none of these makes likelier than not, or a substitute 0.7 likely, is `unclear`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from omba.assortment.families import Families
from omba.assortment.habits import BuyingHabits
from omba.assortment.kernels import may_be_told

Rows = NDArray[np.int64]
Floats = NDArray[np.float64]
Met = tuple[NDArray[np.integer], NDArray[np.integer]]
"""Rows of products, and in how many baskets each was with one."""

RELATIONS = ("complement", "substitute", "variant", "same customers", "different customers", "unclear")
FACTOR = 1.5
"""How far from what habits alone make of it a pair must be."""
PRIOR = 2.0
"""Shape of the gamma prior of both lifts, whose mean is 1: a pair of which nothing is known is most likely ordinary."""
LIKELY = 0.5
"""A relation is told where it is likelier than all others together."""
SURELY = 0.7
"""That one product is bought instead of another is told from such a probability on. Judged by prices, which it does not
see, 0.65 of those above a half were right, and 0.84 of those above this (Complete Journey, learned from its first
quarter and judged by its second); it was chosen there."""
TOLD = np.array([LIKELY, SURELY, LIKELY, LIKELY, LIKELY])
"""The probability above which each relation is told, in the order of `RELATIONS`."""
SAMPLE, SPAN, SELDOM = 20_000, 500, 5
"""Pairs that tell what is typical, how many of them at a time, and the least baskets that their products are in."""
LARGE = 1_000
"""Baskets with both from which on a pair is always looked at closely."""
FEW, TINY = 3.0, 1e-9
STRANGERS = 0.5
"""Products of two categories replace each other half as likely, so never likelier than not: cheese is none for fuel."""


@dataclass(frozen=True, eq=False)
class Curve:
    """What is typically observed over what was expected: the ratio at the logarithm of what was expected."""

    places: Floats
    ratios: Floats

    @property
    def most(self) -> float:
        """The largest ratio."""
        return float(self.ratios.max())

    def __call__(self, expected: Floats) -> Floats:
        return np.asarray(np.interp(np.log(expected + TINY), self.places, self.ratios))


@dataclass(frozen=True, eq=False)
class PairRelations:
    """What some pairs of products are to each other, in columns.

    Parameters
    ----------
    kind
        The relation of each pair by its place in `RELATIONS`.
    chances
        How likely each relation but `unclear` is, a line a pair.
    together
        Baskets with both.
    expected
        Baskets with both that habits alone would make.
    customers
        Customers who buy both.
    customers_expected
        How many chance would bring.
    """

    kind: NDArray[np.int64]
    chances: Floats
    together: Rows
    expected: Floats
    customers: Rows
    customers_expected: Floats

    @property
    def names(self) -> list[str]:
        """The relation of each pair."""
        return [RELATIONS[kind] for kind in self.kind.tolist()]

    @property
    def probability(self) -> Floats:
        """How likely the relation told is; of what is unclear, that none of the others holds."""
        unclear = self.kind == len(RELATIONS) - 1
        told = np.take_along_axis(self.chances, np.minimum(self.kind, self.chances.shape[1] - 1)[:, None], axis=1)[:, 0]
        return np.where(unclear, 1.0 - self.chances.max(axis=1, initial=0.0), told)

    def sentence(self, place: int) -> str:
        """Why a pair has its relation."""
        relation = RELATIONS[self.kind[place]]
        customers, expected = int(self.customers[place]), self.customers_expected[place]
        # Not all of the baskets are of these customers: some are of nobody known.
        who = f"{customers:,} customers buy both; " if customers >= SELDOM else ""
        times, habit = int(self.together[place]), _few(self.expected[place])
        counted = f"{who}{times:,} baskets hold both, where habits make it {habit}"
        if relation == "variant":
            return "variants of one thing"
        if relation == "complement":
            return f"one with the other: {counted}"
        if relation == "substitute":
            return f"one instead of the other: {counted}"
        if relation == "different customers":
            return f"different customers: {customers:,} buy both, where chance would bring {_few(expected)}"
        if relation == "same customers":
            return f"the same customers buy both: {customers:,}, where chance would bring {_few(expected)}"
        return f"too little to tell: {counted}"


def _few(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


class Relations:
    """What the products of a shop are to each other.

    Parameters
    ----------
    habits
        What customers are remembered to buy.
    counts
        Baskets with each product.
    baskets
        Baskets in all.
    pairs
        Tells how many baskets hold both products of pairs.
    families
        Which products are variants of one thing.
    categories
        A number for the category of each product, −1 where it has none.
    coincidence
        Tells how much more or less often the products of pairs meet because of when they are sold; less counts: what
        was never there at once is not bought instead of each other. None where no days are known.
    """

    def __init__(
        self,
        habits: BuyingHabits,
        counts: NDArray[np.integer],
        baskets: int,
        pairs: Callable[[Rows, Rows], NDArray[np.integer]],
        families: Families,
        categories: NDArray[np.integer],
        coincidence: Callable[[Rows, Rows], Floats] | None = None,
    ) -> None:
        self.habits, self.counts, self.baskets = habits, counts.astype(np.float64), max(baskets, 1)
        self.pairs, self.families, self.categories = pairs, families, categories
        self.coincidence = coincidence
        # What is bought by nobody in particular, or no longer remembered, goes by everybody's habits.
        self.remembered = np.minimum(habits.purchases(), self.counts)

    @cached_property
    def _typical(self) -> tuple[Curve, Curve]:
        """What baskets and customers with both typically are, over what habits and chance make of them."""
        a, b = self._sample()
        habit, customers = self.habits.pairs(a, b)
        baskets = calibrate(self._expectation(a, b, habit), np.asarray(self.pairs(a, b), np.float64))
        return baskets, calibrate(self._chance(a, b), customers.astype(np.float64))

    def _sample(self) -> tuple[Rows, Rows]:
        """Pairs of products that are sold at all: every one in a small shop, else some, rather of those sold often."""
        sold = np.flatnonzero(self.counts >= SELDOM)
        if len(sold) * (len(sold) - 1) // 2 <= SAMPLE:
            left, right = np.triu_indices(len(sold), 1)
            return sold[left], sold[right]
        weight = np.sqrt(self.counts[sold])
        drawn = np.random.default_rng(0).choice(sold, (2, SAMPLE), p=weight / weight.sum())
        return tuple(drawn[:, drawn[0] != drawn[1]])

    def _expectation(self, a: Rows, b: Rows, habit: Floats) -> Floats:
        """Baskets with both that habits alone would make."""
        evenly = self._evenly(a, b, habit)
        if self.coincidence is None:
            return evenly
        # Products of one season are not expected together for it: that they share it is part of what they are.
        return evenly * np.minimum(self.coincidence(a, b), 1.0)

    def _habit_baskets(self, a: Rows, b: Rows, habit: Floats) -> Floats:
        """The same as it is typical of pairs as often expected."""
        expected = self._expectation(a, b, habit)
        return np.asarray(expected * self._typical[0](expected))

    def _evenly(self, a: Rows, b: Rows, habit: Floats) -> Floats:
        """The same if both had been sold all the time, which is never less."""
        others = self.counts[a] * self.counts[b] - self.remembered[a] * self.remembered[b]
        return np.asarray(habit + others / self.baskets)

    @property
    def knows_customers(self) -> bool:
        """Whether any customer is known."""
        return len(self.habits.visits) > 0

    def buyers(self, a: Rows, b: Rows, together: NDArray[np.integer]) -> Floats:
        """How many customers bought both products of each pair, which are in so many baskets together.

        Baskets of nobody known are taken to be of another customer each, and to be as large a part of these as of all.
        """
        habits = self.habits
        nobody = max(1.0 - habits.share * float(habits.visits.sum()) / self.baskets, 0.0)
        return np.asarray(habits.share * habits.pairs(a, b)[1] + nobody * together)

    def _chance(self, a: Rows, b: Rows) -> Floats:
        """Customers of both that chance alone would bring."""
        buyers = self.habits.customers
        return np.asarray(buyers[a] * buyers[b] / max(len(self.habits.visits), 1), np.float64)

    def ready(self) -> Relations:
        """Work out now what the first question would wait for."""
        _ = self._typical
        return self

    def judge(self, a: NDArray[np.integer], b: NDArray[np.integer]) -> PairRelations:
        """What the products of each pair are to each other."""
        left, right = np.asarray(a, np.int64), np.asarray(b, np.int64)
        habit, customers = self.habits.pairs(left, right)
        together = np.asarray(self.pairs(left, right), np.int64)
        return self._judge(left, right, together, self._habit_baskets(left, right, habit), customers)

    def near_product(self, row: int, met: Met | None = None) -> tuple[Rows, Floats]:
        """The products that a product may be told to be bought with or instead of, and how likely each of the two is,
        a line each; 0 where it is not told.

        A complement needs fewer baskets expected than some number, a substitute more than another (see
        `_thresholds`), so that most products are passed over before anything is worked out of them. `met` are the
        products that were in a basket with it, and in how many, where that is at hand; else every pair is looked up.
        """
        habit, customers = self.habits.with_all(row)
        together = np.zeros(len(self.counts), np.int64)
        if met is None:
            together += self.pairs(np.full(len(together), row), np.arange(len(together)))
        else:
            together[met[0]] = met[1]
        (fewer, more), kept = _thresholds(), np.empty(len(together), np.int64)
        sold, most = (self.counts, self.remembered, self.baskets), self._typical[0].most
        kept = kept[: may_be_told(row, habit, *sold, most, together, fewer, more, kept)]
        expected, place = (
            self._habit_baskets(np.full(len(kept), row), kept, habit[kept]),
            np.minimum(together[kept], LARGE),
        )
        seldom, often = expected < fewer[place], expected > more[place]
        told = np.flatnonzero(seldom | often)
        kept, expected, seldom, often = kept[told], expected[told], seldom[told], often[told]
        chances = np.zeros((len(kept), 2))
        chances[seldom, 0] = _above(together[kept[seldom]], expected[seldom])
        instead = kept[often]
        chances[often, 1] = self._substitute(
            np.full(len(instead), row), instead, _below(together[instead], expected[often]), customers[instead]
        )
        chances[self._variant(row, kept)] = 0.0
        return kept, chances

    def _substitute(self, a: Rows, b: Rows, less: Floats, customers: Rows) -> Floats:
        """How likely products of which so many customers buy both, and that are seldom bought together, are bought
        instead of each other."""
        different = _below(customers, self._customers_expected(a, b))
        category = self.categories[a], self.categories[b]
        strangers = (category[0] >= 0) & (category[1] >= 0) & (category[0] != category[1])
        return np.asarray(less * (1.0 - different) * np.where(strangers, STRANGERS, 1.0))

    def _customers_expected(self, a: Rows, b: Rows) -> Floats:
        """Customers of both, as it is typical of pairs of which chance would bring as many."""
        chance = self._chance(a, b)
        return np.asarray(chance * self._typical[1](chance))

    def _variant(self, a: Rows | int, b: Rows) -> NDArray[np.bool_]:
        """Whether the products of each pair are of one group."""
        return np.asarray(self.families.groups[a] == self.families.groups[b])

    def _judge(self, a: Rows, b: Rows, together: Rows, expected: Floats, customers: Rows) -> PairRelations:
        chance = self._customers_expected(a, b)
        more, less = _above(together, expected), _below(together, expected)
        same, different = _above(customers, chance), _below(customers, chance)
        substitute = self._substitute(a, b, less, customers)
        apart = different * (1.0 - more)
        rest = np.maximum(1.0 - more - substitute - apart, 0.0)
        variant = self._variant(a, b)
        chances = np.column_stack([more, substitute, np.zeros(len(a)), rest * same, apart])
        chances[variant] = [0.0, 0.0, 1.0, 0.0, 0.0]
        likeliest = chances.argmax(axis=1)
        told = chances.max(axis=1, initial=0.0) > TOLD[likeliest]
        kind = np.where(told, likeliest, len(RELATIONS) - 1)
        return PairRelations(kind, chances, together, expected, customers, chance)


def calibrate(expected: Floats, observed: Floats) -> Curve:
    """What is typically observed over what was expected, by how much was expected.

    Pairs are compared with those as large. The few that belong together would make all others look like strangers, so
    no pair counts for more than a few times what was expected of it.
    """
    order = np.argsort(expected, kind="stable")
    parts = np.array_split(order, max(len(order) // SPAN, 1))
    bounded = np.minimum(observed, FEW * (expected + 1.0))
    places = [np.log(expected[part].mean() + TINY) if len(part) else 0.0 for part in parts]
    ratios = [(bounded[part].sum() + 1.0) / (expected[part].sum() + 1.0) for part in parts]
    return Curve(np.array(places), np.array(ratios))


def _above(count: Rows, expected: Floats) -> Floats:
    """How likely a lift is above `FACTOR`, given a count and what was expected."""
    from scipy.special import gammaincc

    return np.asarray(gammaincc(PRIOR + count, FACTOR * (PRIOR + expected)))


def _below(count: Rows, expected: Floats) -> Floats:
    """How likely it is below the inverse of `FACTOR`."""
    from scipy.special import gammainc

    return np.asarray(gammainc(PRIOR + count, (PRIOR + expected) / FACTOR))


@cache
def _thresholds() -> tuple[Floats, Floats]:
    """Of pairs in so many baskets: what was expected must be below the first number for a complement to be told, and
    above the second for a substitute. That is `_above` and `_below` turned round, for each count below `LARGE`; for
    those from it on, what no pair is passed over by."""
    from scipy.special import gammaincinv

    shape = PRIOR + np.arange(LARGE)
    fewer = gammaincinv(shape, 1.0 - LIKELY) / FACTOR - PRIOR
    more = gammaincinv(shape, SURELY) * FACTOR - PRIOR
    return np.append(fewer, np.inf), np.append(more, -np.inf)
