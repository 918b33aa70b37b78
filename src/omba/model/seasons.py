"""Seasons: when in the year products are sold, against sales as a whole, in a fixed number of numbers a product.

The year is cut into 26 fortnights, and the baskets with each product are counted by fortnight. When a fortnight comes
round again, what was counted in it a year ago weighs half. A product has a season where a few fortnights on end hold
most of its baskets, though they hold a small part of all baskets. A rule's baskets are taken to fall into the year as
its products' sales do together: in fortnight f, n_f of all baskets and n_af and n_bf of the two products let expect
n_af · n_bf / n_f, times a lift that does not matter here.

What came into the shop within the season it would have may as well be new, and has none yet. What the coming weeks
will bring, by the same weeks a year ago, is told by `outlook`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.model.outlook import DAYS, Outlook

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

FORTNIGHTS = 26
FADE = 0.5
"""What a basket weighs a year later."""
LONGEST = 6
"""Fortnights of a season at most."""
MOST, TIMES = 0.75, 2.5
"""A season holds such a share of the baskets, and so many times the share that it holds of all baskets."""
ENOUGH = 10.0
"""Baskets with a product from which on something is said of it."""
SEEN = 13
"""Fortnights of the year that must have been seen before anything is said."""
EVENLY, AT_ONCE = 1.0, 1 << 17
"""Baskets over the year that every product is taken to have been in evenly, where it is asked what was sold at once;
and the pairs that are looked at in one go."""
NEVER, UNMET = np.iinfo(np.int32).max, -100_000
"""The first fortnight of a product that was never sold, and the year of a fortnight that never was."""
PERIOD = 1 / 3
"""The next period, against the time so far, as in the forecast."""
STATE = ("sold", "first", "baskets", "year", "earlier", "earlier_baskets")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Seasons:
    """Baskets with each product by fortnight of the year, and the season that follows.

    >>> seasons, noel = Seasons(), np.datetime64("2021-12-01").astype(int)
    >>> for day in range(noel - 700, noel + 300):
    ...     sold = [0, 1] if day % 365 in range(325, 360) else [0]
    ...     seasons.learn(np.array([0, len(sold)]), np.array(sold, np.int32), np.array([day]), 2)
    >>> seasons.of([[0], [1]]), seasons.of([[0, 1]])
    (['', 'Nov–Dec'], ['Nov–Dec'])
    """

    def __init__(self) -> None:
        self.sold = np.zeros((0, FORTNIGHTS), np.float32)
        self.first = np.zeros(0, np.int32)
        """The fortnight each product was first sold in, counted on from year to year."""
        self.baskets = np.zeros(FORTNIGHTS)
        self.year = np.full(FORTNIGHTS, UNMET, np.int64)
        """The year each fortnight was last met in, from 1970 on."""
        self.earlier = np.zeros((0, FORTNIGHTS), np.float32)
        """Of `sold`, and below of `baskets`, what is of years before the one the fortnight was last met in."""
        self.earlier_baskets = np.zeros(FORTNIGHTS)
        self._room: NDArray[np.float32] | None = None
        """Where `sold` and `earlier` lie, with rows for products to come."""

    def learn(self, offsets: Longs, items: Rows, days: NDArray[np.integer[Any]], products: int) -> None:
        """Count a window: `days` are those of its baskets, from 1970 on, and `products` how many are known by now."""
        times = fortnights(days)
        of_items = np.repeat(times, np.diff(offsets))
        for time in np.unique(times).tolist():
            baskets = int(np.count_nonzero(times == time))
            self._count(time, np.bincount(items[of_items == time], minlength=products), baskets)

    def count(self, day: int, sold: Longs, baskets: int) -> None:
        """Add the sales of one day: the baskets with each product, by row, and all baskets."""
        self._count(int(fortnights(np.array([day]))[0]), sold, baskets)

    def _count(self, time: int, sold: Longs, baskets: int) -> None:
        self._grow(len(sold))
        year, place = divmod(time, FORTNIGHTS)
        self._come_round(year, place)
        rows = np.flatnonzero(sold)
        self.sold[rows, place] += sold[rows]
        self.baskets[place] += baskets
        self.first[rows] = np.minimum(self.first[rows], time)

    def _grow(self, products: int) -> None:
        more = products - len(self.first)
        if more > 0:
            if self._room is None or products > self._room.shape[1]:
                # New products come every day, and nobody has all of the others copied for them.
                self._room = np.zeros((2, products * 3 // 2, FORTNIGHTS), np.float32)
                self._room[0, : len(self.sold)], self._room[1, : len(self.sold)] = self.sold, self.earlier
            self.sold, self.earlier = self._room[0, :products], self._room[1, :products]
            self.first = np.append(self.first, np.full(more, NEVER, np.int32))

    def _come_round(self, year: int, place: int) -> None:
        """Let what was counted in a fortnight in earlier years weigh less."""
        if year > self.year[place]:
            if self.year[place] > UNMET:
                share = FADE ** (year - int(self.year[place]))
                self.sold[:, place] *= np.float32(share)
                self.baskets[place] *= share
                self.earlier[:, place], self.earlier_baskets[place] = self.sold[:, place], self.baskets[place]
            self.year[place] = year

    def of(self, sets: ArrayLike) -> list[str]:
        """The season of the products in each line of rows together, such as "Nov–Dec"; "" where there is none."""
        rows = np.asarray(sets, np.int64)
        seen = self.baskets > 0
        if not len(rows) or seen.sum() < SEEN:
            return [""] * len(rows)
        all_baskets = np.where(seen, self.baskets, 1.0)
        there = rows < len(self.first)
        known = np.where(there, rows, 0)
        sold = np.where(there[:, :, None], self.sold[known], 0.0)
        profiles = sold.prod(axis=1) / all_baskets ** (rows.shape[1] - 1)
        first = np.where(there, self.first[known], NEVER).max(axis=1)
        return self._names(profiles, first, sold.sum(axis=2).min(axis=1) >= ENOUGH)

    def coincidence(self) -> Callable[[NDArray[np.integer[Any]], NDArray[np.integer[Any]]], Floats]:
        """Tells of pairs of products how much more often they meet because of when they are sold.

        With w_f the part of all baskets that falls into fortnight f, and r_af how many times the usual a product is
        sold in it, that is Σ w_f r_af r_bf: 1 for what is sold evenly, next to 0 for what was never there at once.
        """
        met = np.flatnonzero(self.baskets)
        part = self.baskets[met] / max(self.baskets.sum(), 1e-12)
        sold = self.sold[:, met]
        rates = (sold + EVENLY * part) / ((sold.sum(axis=1, keepdims=True) + EVENLY) * part)
        rates = np.vstack([rates, np.ones(len(met))]).astype(np.float32)
        return partial(_coincide, rates, part)

    def of_groups(self, groups: Sequence[NDArray[np.integer[Any]]]) -> list[str]:
        """The season of the products of each group taken as one, "" where there is none."""
        if not len(groups) or (self.baskets > 0).sum() < SEEN:
            return [""] * len(groups)
        sold = self.sold_of(groups)
        first = np.array([self.first[rows[rows < len(self.first)]].min(initial=NEVER) for rows in groups])
        return self._names(sold, first, sold.sum(axis=1) >= ENOUGH)

    def sold_of(self, groups: Sequence[NDArray[np.integer[Any]]]) -> Floats:
        """The sales of the products of each group added up, by fortnight."""
        known = len(self.sold)
        sold = [self.sold[rows[rows < known]].sum(axis=0, dtype=np.float64) for rows in groups]
        return np.array(sold, np.float64).reshape(len(groups), FORTNIGHTS)

    def _names(self, profiles: Floats, first: Longs, enough: NDArray[np.bool_]) -> list[str]:
        """The season of each profile in words, "" where it has none, is new or too rare to tell."""
        start, length = find_seasons(profiles, self.baskets)
        now = self.now
        new = (now - first < length) & ((now % FORTNIGHTS - start) % FORTNIGHTS < length)
        told = (length > 0) & ~new & enough
        return [name(s, n) if tell else "" for s, n, tell in zip(start.tolist(), length.tolist(), told, strict=True)]

    @property
    def now(self) -> int:
        """The fortnight that was met last, counted on from year to year."""
        return int((self.year * FORTNIGHTS + np.arange(FORTNIGHTS)).max())

    def outlook(self, ahead: int | None = None) -> Outlook:
        """What the same weeks a year ago say of the next `ahead` fortnights; of a third of the time so far, if None."""
        met = self.first[self.first < NEVER]
        if ahead is None:
            ahead = round((self.now - int(met.min()) + 1) * PERIOD) if len(met) else 1
        return Outlook(self, int(np.clip(ahead, 1, FORTNIGHTS)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        return {name: getattr(self, name) for name in STATE}

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; nothing, where a model was saved before it had seasons."""
        self._room = None
        for name, array in state.items():
            setattr(self, name, array)
        if len(self.earlier) < len(self.sold):
            # Saved before earlier years were told apart: what was counted is taken to be of this one.
            self.earlier = np.zeros_like(self.sold)


def fortnights(days: NDArray[np.integer[Any]]) -> Longs:
    """The fortnight that each day is in, counted on from year to year; the last of a year is a day or two longer."""
    dates = np.asarray(days).astype("datetime64[D]")
    years = dates.astype("datetime64[Y]")
    place = np.minimum((dates - years).astype(np.int64) // DAYS, FORTNIGHTS - 1)
    return np.asarray(years.astype(np.int64) * FORTNIGHTS + place)


def find_seasons(profiles: Floats, usual: Floats) -> tuple[Longs, Longs]:
    """Where in the year the season of each profile begins, and how many fortnights it lasts; 0 where it has none.

    It is the shortest stretch that holds enough, and of these the fullest.
    """
    shares = profiles / np.maximum(profiles.sum(axis=1, keepdims=True), 1e-30)
    usual = usual / usual.sum()
    start, length = np.zeros(len(shares), np.int64), np.zeros(len(shares), np.int64)
    held, held_usual = np.zeros_like(shares), np.zeros(FORTNIGHTS)
    for span in range(1, LONGEST + 1):
        held, held_usual = held + np.roll(shares, 1 - span, axis=1), held_usual + np.roll(usual, 1 - span)
        best = held.argmax(axis=1)
        most = held[np.arange(len(shares)), best]
        found = (length == 0) & (most >= MOST) & (most >= TIMES * held_usual[best])
        start[found], length[found] = best[found], span
    return start, length


def name(start: int, length: int) -> str:
    """The months of a stretch of fortnights.

    >>> name(22, 4), name(25, 1), name(24, 4)
    ('Nov–Dec', 'Dec', 'Dec–Jan')
    """
    first, last = (
        MONTHS[min((place % FORTNIGHTS * DAYS + DAYS // 2) * 12 // 365, 11)] for place in (start, start + length - 1)
    )
    return first if first == last else f"{first}–{last}"


def _coincide(
    rates: NDArray[np.float32], part: Floats, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]
) -> Floats:
    """Σ w_f r_af r_bf of each pair; the last row of the rates is for products that were not met."""
    found, unmet = np.ones(len(a)), len(rates) - 1
    for first in range(0, len(a) if len(part) else 0, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        left, right = rates[np.minimum(a[some], unmet)], rates[np.minimum(b[some], unmet)]
        found[some] = np.einsum("ij,ij,j->i", left, right, part)
    return found
