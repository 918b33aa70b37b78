"""Outlook: how sales should stand in the coming weeks, by the same weeks a year ago.

Of each product the share of baskets that held it in a fortnight of the year, over its share in the whole year, is its
*rate* r_f; a few baskets at the usual rate are added, so that what is rare has none far from 1. With w_f the part of
all baskets that falls into fortnight f, the sales of a product in the coming weeks A, against usual, are

    s_a = Σ_A w_f r_af / Σ_A w_f,

over the same sum of all the weeks so far, times how its sales of late compare with those of the same time a year ago.
Products a and b are sold together as their sales fall together, so a pair's baskets are to be multiplied by

    g = Σ_A w_f r_af r_bf / Σ_A w_f, over the same of all the weeks so far,

and its lift by g / (s_a s_b). What was not there a year ago has a rate of 1: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from omba.model.seasons import Seasons

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

DAYS = 14
USUAL = 10.0
"""Baskets at the usual rate that every product is taken to have had over a year."""
LATELY, STEADY, HARDLY = 3, 5.0, 1.0
"""Fortnights that tell how sales of late compare with a year ago, the baskets' worth of no change in that, and the same
where it is asked whether a product is still sold."""
HALF = 2.0
"""Products' worth of not knowing whether what was sold comes again."""
TWICE = 2.0
"""Baskets in the same weeks of years before the last one that make a season one that comes round."""
TELLING = 0.25
"""The part of its usual sales that a product must have had at this time a year ago for them to be compared with."""
MOVES = 1.5
"""Sales so many times the usual, or as much below, are a matter of the time of year: of others nothing is changed."""
UNTRIED, FEW, CLASSES, QUARTERS = (0.4, 1.0, 2.5), 10, 6, 4
"""How sales compare with what is expected of them where fewer groups of products than this tell it, the classes in
which groups are compared, and how many quarters that are apart a time has."""
EVEN = 3.0
"""Baskets at the usual rate that every fortnight is taken to have had, where it is asked how uneven sales are."""
WORST = 0.1
"""The part of products that fare worst, by which it is told how far sales may fall."""
LARGEST = 4.0
"""The most that sales of late may raise or lower what is expected."""


class Outlook:
    """The coming fortnights, by the same a year ago.

    Parameters
    ----------
    seasons
        Baskets with each product by fortnight of the year.
    ahead
        How many fortnights are to come, from the one after the last that was met.
    """

    def __init__(self, seasons: Seasons, ahead: int) -> None:
        self.ahead, self.now = ahead, seasons.now
        self._seasons, self._fortnights = seasons, len(seasons.baskets)
        self.places = (self.now + 1 + np.arange(ahead)) % self._fortnights

    @property
    def met(self) -> bool:
        """Whether any day was learned at all."""
        return bool(self._seasons.baskets.any())

    @cached_property
    def exposure(self) -> Floats:
        """The baskets so far that fell into each fortnight, in years' worth: those met twice count twice."""
        elapsed = self.now - int(self._seasons.first.min(initial=self.now)) + 1
        ago = (self.now - np.arange(self._fortnights)) % self._fortnights
        met = np.empty(self._fortnights)
        met[ago] = (elapsed - np.arange(self._fortnights) + self._fortnights - 1) // self._fortnights
        return self.weights * np.maximum(met, 0.0)

    @property
    def part_of_time(self) -> float:
        """The coming weeks as a part of the time so far, each counted by the baskets that usually fall into it."""
        return float(self.weights[self.places].sum() / max(self.exposure.sum(), 1e-12))

    @cached_property
    def known(self) -> bool:
        """Whether all of the coming weeks were there a year ago."""
        seasons = self._seasons
        a_year_ago = self.now + 1 + np.arange(self.ahead) - self._fortnights
        there = seasons.year[self.places] * self._fortnights + self.places >= a_year_ago
        return bool((there & (seasons.baskets[self.places] > 0)).all())

    @cached_property
    def weights(self) -> Floats:
        """The part of all baskets that falls into each fortnight."""
        return np.asarray(self._seasons.baskets / max(self._seasons.baskets.sum(), 1e-12))

    @cached_property
    def rates(self) -> NDArray[np.float32]:
        """How many times the usual each product is sold in each fortnight, a line a product."""
        seasons = self._seasons
        sold = seasons.sold
        usual = (sold.sum(axis=1, keepdims=True) + USUAL) * self.weights.astype(np.float32)
        part = USUAL * self.weights.astype(np.float32)
        rates = np.divide(sold + part, usual, out=np.ones_like(sold), where=usual > 0)
        # The last time round of each fortnight; what came into the shop later was not there.
        times = seasons.year * self._fortnights + np.arange(self._fortnights)
        rates[times[None, :] < seasons.first[:, None]] = 1.0
        return np.asarray(rates, np.float32)

    @cached_property
    def sales(self) -> Floats:
        """Sales of each product in the coming weeks, against usual, by the time of year alone."""
        return self._against_usual(self.rates)

    @cached_property
    def level(self) -> Floats:
        """Sales of each product of late, against those of the same time a year ago."""
        seasons = self._seasons
        lately = (self.now - np.arange(LATELY)) % self._fortnights
        then, baskets = seasons.earlier[:, lately], seasons.earlier_baskets[lately]
        since = seasons.baskets[lately] - baskets
        share = np.divide(since, baskets, out=np.zeros(LATELY), where=baskets > 0)
        expected = then @ share
        known = (baskets > 0).astype(np.float32)
        level = ((seasons.sold[:, lately] - then) @ known + STEADY) / (expected + STEADY)
        # Out of its season a product's sales say nothing.
        usual = seasons.sold.sum(axis=1) * self.weights[lately].sum()
        there = (seasons.first <= self.now - self._fortnights) & (expected >= TELLING * usual)
        return np.where(there, np.clip(level, 1.0 / LARGEST**2, LARGEST), 1.0)

    @cached_property
    def returns(self) -> float:
        """The share of what was sold at this time a year ago that is sold again: how far a season seen once is to be
        trusted. One half, where nothing has come round yet."""
        seasons, places = self._seasons, (self.now - np.arange(LATELY)) % self._fortnights
        then, since = seasons.earlier[:, places], seasons.sold[:, places] - seasons.earlier[:, places]
        baskets = seasons.earlier_baskets[places]
        share = np.divide(seasons.baskets[places] - baskets, baskets, out=np.zeros(LATELY), where=baskets > 0)
        expected = then @ share
        due = expected >= STEADY
        again = due & (since[:, baskets > 0].sum(axis=1) >= TELLING * expected)
        return float((again.sum() + HALF) / (due.sum() + 2 * HALF))

    @cached_property
    def sure(self) -> NDArray[np.bool_]:
        """The products that will be there: sold of late, or in the same weeks of two years or more."""
        seasons, lately = self._seasons, (self.now - np.arange(LATELY)) % self._fortnights
        usual = seasons.sold.sum(axis=1) * self.weights[lately].sum()
        alive = (seasons.sold - seasons.earlier)[:, lately].sum(axis=1) >= np.maximum(TELLING * usual, 1.0)
        return np.asarray(alive | self.proven)

    @cached_property
    def proven(self) -> NDArray[np.bool_]:
        """The products that were sold in the same weeks of two years or more."""
        return np.asarray(self._seasons.earlier[:, self.places].sum(axis=1) >= TWICE)

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """The products whose sales in the coming weeks are not the usual, because of the time of year."""
        if not self.known:
            return np.zeros(len(self._seasons.first), bool)
        return np.asarray(np.abs(np.log(np.maximum(self.sales, 1e-9))) > np.log(MOVES))

    def factors(self, sets: ArrayLike) -> tuple[Floats, Floats]:
        """By how much chance and the lift of each line of rows change in the coming weeks, its last row the consequent.

        Both are 1 where no product's sales move with the time of year, or where that is not known.
        """
        rows = np.asarray(sets, np.int64)
        chance, lift = np.ones(len(rows)), np.ones(len(rows))
        if not self.known or not len(rows):
            return chance, lift
        there = rows < len(self.moves)
        some = np.flatnonzero((there & self.moves[np.where(there, rows, 0)]).any(axis=1) & there.all(axis=1))
        for block in np.array_split(some, len(some) // 100_000 + 1):
            inside = rows[block]
            before = self._together(inside[:, :-1])
            sides = before * self.sales[inside[:, -1]]
            chance[block] = sides * self.level[inside].prod(axis=1)
            chance[block] *= np.where(self.sure[inside].all(axis=1), 1.0, self.returns)
            lift[block] = self._together(inside) / np.maximum(sides, 1e-9)
        return chance, lift

    def doubtful(self, sets: ArrayLike) -> NDArray[np.bool_]:
        """Which lines hold a product that was sold in one season and not of late, and may not come again."""
        return self._any_without(self.sure, sets)

    def once(self, sets: ArrayLike) -> NDArray[np.bool_]:
        """Which lines hold a product whose coming weeks were seen in one year alone."""
        return self._any_without(self.proven, sets)

    def _any_without(self, mark: NDArray[np.bool_], sets: ArrayLike) -> NDArray[np.bool_]:
        rows = np.minimum(np.asarray(sets, np.int64), len(mark))
        return np.asarray(~np.append(mark, True)[rows].all(axis=1))

    def chance(self, sets: ArrayLike) -> Floats:
        """By how much baskets with each line of rows change by the sales of its products: those of the same weeks a
        year ago, or where these are not known, those of late, as far as they are below the usual."""
        if self.known:
            return self.factors(sets)[0]
        rows = np.minimum(np.asarray(sets, np.int64), len(self.lately))
        return np.asarray(np.append(self.lately, 1.0)[rows].prod(axis=1))

    @cached_property
    def lately(self) -> Floats:
        """Sales of each product of late, against usual, 1 at most."""
        return self._of_late(STEADY)

    def _of_late(self, steady: float) -> Floats:
        """The same with so many baskets' worth of no change."""
        seasons, places = self._seasons, (self.now - np.arange(LATELY)) % self._fortnights
        met = places[seasons.baskets[places] > 0]
        expected = seasons.sold.sum(axis=1) * self.weights[met].sum()
        return np.asarray(np.minimum((seasons.sold[:, met].sum(axis=1) + steady) / (expected + steady), 1.0))

    @cached_property
    def sales_change(self) -> Floats:
        """By how much sales of each product change in the coming weeks: by the time of year where they move with it,
        else, where no year is known, by those of late as far as they are below the usual."""
        if not self.known:
            return self.lately
        by_year = self.sales * self.level * np.where(self.sure, 1.0, self.returns)
        return np.where(self.moves, by_year, 1.0)

    def sales_spread(self, groups: Sequence[NDArray[np.integer[Any]]]) -> Floats:
        """How sales of groups of products in a period compare with what is expected of it: the shares that one of
        twenty groups as uneven over the year, half of them and nineteen of twenty are below, a line a group.

        It is what the time so far tells: at the end of every fortnight, as if no more had been known, the last quarter
        of the time until then is foretold from the rest of it in the same way. Assortments age, so half of the groups
        are below a share of less than 1; and a single quarter may have been a calm one. What fell by so much after a
        season rises by as much before it: what came counts as much as its mirror, and no end is narrower than that.
        """
        sold = self._seasons.sold_of(groups)
        found = self._swings(sold, self._unevenness)
        if found is None:
            return np.tile(UNTRIED, (len(groups), 1))
        shares, place = found
        return np.array([ends_of(share) for share in shares])[place]

    def _swings(
        self, sold: NDArray[np.floating], alike: Callable[[NDArray[np.floating], Rows], Floats] | None = None
    ) -> tuple[list[Floats], Rows] | None:
        """How lines of sales by fortnight came out in all quarters so far, over what was expected, by classes of lines
        that are alike, and the class of each; None where too little was seen to tell.

        `alike` gives the number by which lines are put into classes, from some fortnights of theirs, the last first;
        without it that is what was expected of them, and of the last quarter now.
        """
        order = (self.now - np.arange(self._fortnights)) % self._fortnights
        order = order[self._seasons.baskets[order] > 0]
        known = [order[ago:] for ago in range(len(order) - 3)]
        if not known:
            return None
        past = [self._foretold(sold, some) for some in known]
        expected, share = (np.concatenate(column) for column in zip(*past, strict=True))
        some = np.flatnonzero(expected >= STEADY)
        # Quarters that begin a fortnight apart tell much the same: all of them together tell as much as four.
        classes = min(CLASSES, int(len(some) * min(QUARTERS / len(past), 1.0)) // FEW)
        if not classes:
            return None
        number, now = expected, past[0][0]
        if alike is not None:
            number, now = np.concatenate([alike(sold, rest_of(some)) for some in known]), alike(sold, order)
        parts = np.array_split(some[np.argsort(number[some], kind="stable")], classes)
        firsts = np.array([number[part[0]] for part in parts[1:]])
        return [share[part] for part in parts], np.searchsorted(firsts, now, side="right")

    def _unevenness(self, sold: NDArray[np.floating], order: Rows) -> Floats:
        """How much sales vary from one fortnight to another, against those of all: the deviation of their logarithm."""
        baskets = self._seasons.baskets[order]
        usual = sold[:, order].sum(axis=1, keepdims=True) * baskets / max(baskets.sum(), 1e-12)
        return np.asarray(np.log((sold[:, order] + EVEN) / (usual + EVEN)).std(axis=1), np.float64)

    def _foretold(self, sold: NDArray[np.floating], order: Rows) -> tuple[Floats, Floats]:
        """What was to be expected of each line in the last quarter of some fortnights, the last one first, and what
        came, over that."""
        baskets, before = self._seasons.baskets, rest_of(order)
        last = order[: len(order) - len(before)]
        usual = sold[:, before].sum(axis=1) / baskets[before].sum()
        late = usual * baskets[before[:LATELY]].sum()
        change = np.minimum((sold[:, before[:LATELY]].sum(axis=1) + STEADY) / (late + STEADY), 1.0)
        expected = usual * change * baskets[last].sum()
        return np.asarray(expected), np.asarray((sold[:, last].sum(axis=1) + 1.0) / (expected + 1.0))

    def going_on(self, sets: ArrayLike) -> Floats:
        """By how much baskets with each line of rows change if what sold less of late goes on so, however few baskets
        say it: what is hardly sold any more may be gone. Sales that move with the time of year go by it."""
        rows = np.minimum(np.asarray(sets, np.int64), len(self._still))
        change = np.append(self._still, 1.0)[rows].prod(axis=1)
        if not self.known:
            return np.asarray(change)
        by_year = self.factors(sets)[0]
        return np.where(by_year != 1.0, by_year, change)

    @cached_property
    def _still(self) -> Floats:
        return self._of_late(HARDLY)

    def fallen(self, sets: ArrayLike) -> Floats:
        """What is left of the baskets with each line of rows if all of its products fare as the worst tenth of those
        that sold as much did in earlier quarters, against what was expected of them; 1 at most."""
        rows = np.minimum(np.asarray(sets, np.int64), len(self._worst))
        return np.asarray(np.append(self._worst, 1.0)[rows].prod(axis=1))

    @cached_property
    def _worst(self) -> Floats:
        found = self._swings(self._seasons.sold)
        if found is None:
            return np.full(len(self._seasons.sold), UNTRIED[0])
        shares, place = found
        return np.asarray(np.minimum(np.array([np.quantile(share, WORST) for share in shares])[place], 1.0))

    def _together(self, rows: Rows) -> Floats:
        """Baskets in the coming weeks with all products of each line, against usual."""
        return self.sales[rows[:, 0]] if rows.shape[1] == 1 else self._against_usual(self.rates[rows].prod(axis=1))

    def _against_usual(self, rates: NDArray[np.float32]) -> Floats:
        """The mean of rates by fortnight over the coming weeks, against that of all the weeks so far."""
        ahead, so_far = self.weights[self.places], self.exposure
        mean = rates[:, self.places] @ (ahead / max(ahead.sum(), 1e-12))
        return np.asarray(mean / np.maximum(rates @ (so_far / max(so_far.sum(), 1e-12)), 1e-12), np.float64)

    def day(self, place: int) -> np.datetime64:
        """The first day of a fortnight to come, counted from 0."""
        year, fortnight = divmod(self.now + 1 + place, self._fortnights)
        begin: np.datetime64 = np.datetime64(year, "Y").astype("datetime64[D]")
        return begin + np.timedelta64(DAYS * fortnight, "D")

    def begins(self, sets: ArrayLike) -> list[np.datetime64]:
        """The first day of the coming fortnights in which the products of each line are together more than usual."""
        profile = self.profile(sets)[:, self.places]
        more = profile > MOVES * self.weights[self.places]
        return [self.day(int(place)) for place in np.where(more.any(axis=1), more.argmax(axis=1), 0)]

    def rates_of(self, groups: Sequence[NDArray[np.integer[Any]]]) -> Floats:
        """How many times the usual the products of each group are sold in each fortnight; NaN in those never met."""
        sold = self._seasons.sold_of(groups)
        usual = (sold.sum(axis=1, keepdims=True) + USUAL) * self.weights
        rates = np.divide(sold + USUAL * self.weights, usual, out=np.full_like(sold, np.nan), where=usual > 0)
        return np.asarray(rates)

    def seasons_of(self, groups: Sequence[NDArray[np.integer[Any]]]) -> list[str]:
        """The season of the products of each group taken as one, "" where there is none."""
        return self._seasons.of_groups(groups)

    def profile(self, rows: ArrayLike) -> Floats:
        """The part of a year's baskets with all products of each line that falls into each fortnight."""
        together = self.weights * self.rates[np.asarray(rows, np.int64)].prod(axis=1)
        return np.asarray(together / np.maximum(together.sum(axis=1, keepdims=True), 1e-12))


def rest_of(order: Rows) -> Rows:
    """Some fortnights, the last one first, without their last quarter."""
    return order[len(order) // 4 :]


def ends_of(shares: Floats) -> Floats:
    """The shares that one of twenty are below, half, and nineteen; both ends as wide as what came and its mirror say.

    >>> ends_of(np.repeat([0.5, 1.0, 1.1], [20, 70, 10])).round(2).tolist()
    [0.5, 1.0, 2.0]
    """
    low, middle, high = np.quantile(shares, (0.05, 0.5, 0.95))
    least, most = np.quantile(np.append(shares, middle**2 / shares), (0.05, 0.95))
    return np.array([min(low, least), middle, max(high, most)])
