"""User memory: a small, bounded table of what each user buys, so that habit is known apart from taste.

The paper's closing section asks for users' purchasing behaviour beyond one vector. For each user at most `places`
products are kept, each with a strength m that gains one when it is bought and fades by `fading` at every visit, how
often it was bought, and when first and last. With n the faded number of products bought and s the product's share of
all sales, the habit of a product is

    log( (m/s + a) / (n + a) ),

above zero where the user buys it more than others do. No basket is stored, and the table never grows with the stream.
A product not yet remembered takes the weakest place, so the places that are taken are always the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from omba.model.clue_kernels import Habits

FADING = 0.93
"""What is left of a strength one visit later; 0.9 to 0.97 measured alike on Complete Journey and Ta-Feng."""
PRIOR = 5.0
"""The a above: how many purchases' worth of everybody's taste a user starts with."""
VISITS, BOUGHT, REPEATED = range(3)
"""The columns of `totals`."""
PLACES = ("rows", "strength", "counts", "last_visit", "first_day", "last_day")
"""What is known of a remembered product, one array each, (users, places)."""
USERS = ("mass", "totals")
"""What is known of a user beside that."""


class Memory:
    """What every user remembers.

    `rows` holds the remembered products (−1 for an empty place), `strength` their fading strengths, `counts` how often
    each was bought since it is remembered, `last_visit` the number of the visit when it last was, `first_day` and
    `last_day` the days. `mass` is a user's faded number of products bought, `totals` their visits, the products they
    bought, and how many of those they remembered.

    Parameters
    ----------
    places
        Products remembered of each user.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.rows = np.empty((0, places), np.int32)
        self.strength = np.empty((0, places), np.float32)
        self.counts, self.last_visit, self.first_day, self.last_day = (
            np.empty((0, places), np.int32) for _ in range(4)
        )
        self.mass = np.empty(0, np.float32)
        self.totals = np.empty((0, 3), np.int32)

    def grow(self, users: int) -> None:
        """Make room for so many users."""
        old = len(self.mass)
        if users <= old:
            return
        room = max(users, old * 3 // 2)
        for name in (*PLACES, *USERS):
            array = getattr(self, name)
            larger = np.full((room, *array.shape[1:]), -1 if name == "rows" else 0, array.dtype)
            larger[:old] = array
            setattr(self, name, larger)

    def learn(
        self,
        offsets: NDArray[np.int64],
        items: NDArray[np.int32],
        users: NDArray[np.int32],
        days: NDArray[np.int32],
    ) -> None:
        """Remember a window's baskets, in order; `days` tells the day of each."""
        remember(
            offsets, items, users, days, self.rows, self.strength, self.counts, self.last_visit, self.first_day,
            self.last_day, self.mass, self.totals, FADING,
        )  # fmt: skip

    def habits(self) -> Habits:
        """What the kernel of the clues needs, without a copy."""
        return Habits(*(getattr(self, name) for name in Habits._fields))

    def select(self, users: NDArray[np.int64] | slice) -> dict[str, NDArray[Any]]:
        """All that is known of some users, an array each; empty places, which most are, are left out."""
        taken = self.rows[users] >= 0
        known = {name: getattr(self, name)[users][taken] for name in PLACES}
        return known | {name: getattr(self, name)[users] for name in USERS} | {"lengths": taken.sum(axis=1)}

    def put(self, users: NDArray[np.int64], known: dict[str, NDArray[Any]]) -> None:
        """The reverse of `select`."""
        for name, array in self._with_empty_places(known):
            getattr(self, name)[users] = array

    def state(self, users: int) -> dict[str, NDArray[Any]]:
        """All that is known of the first so many users."""
        return self.select(slice(users))

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`."""
        for name, array in self._with_empty_places(state):
            setattr(self, name, array)

    def _with_empty_places(self, known: dict[str, NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
        taken = np.arange(self.places) < known["lengths"][:, None]
        for name in PLACES:
            array = np.full(taken.shape, -1 if name == "rows" else 0, getattr(self, name).dtype)
            array[taken] = known[name]
            yield name, array
        for name in USERS:
            yield name, known[name]


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def remember(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    users: NDArray[np.int32],
    days: NDArray[np.int32],
    rows: NDArray[np.int32],
    strength: NDArray[np.float32],
    counts: NDArray[np.int32],
    last_visit: NDArray[np.int32],
    first_day: NDArray[np.int32],
    last_day: NDArray[np.int32],
    mass: NDArray[np.float32],
    totals: NDArray[np.int32],
    decay: float,
) -> None:
    """Add each basket to its user's memory: what was there fades by `decay`, what was bought gains one."""
    for b in range(offsets.shape[0] - 1):
        user = users[b]
        if user < 0:
            continue
        slots, grip, known = rows[user], strength[user], 0
        while known < slots.shape[0] and slots[known] >= 0:
            known += 1
        for s in range(known):
            grip[s] *= np.float32(decay)
        size = offsets[b + 1] - offsets[b]
        mass[user] = mass[user] * np.float32(decay) + np.float32(size)
        totals[user, VISITS] += 1
        totals[user, BOUGHT] += size
        for i in range(offsets[b], offsets[b + 1]):
            # Plain loops over all that is known take several places at a time, where one that may stop could not.
            place, item = np.int32(-1), items[i]
            for s in range(known):
                place = max(place, np.int32(s) if slots[s] == item else np.int32(-1))
            if place >= 0:
                totals[user, REPEATED] += 1
            else:
                if known < slots.shape[0]:
                    place = np.int32(known)
                    known += 1
                else:
                    weakest = grip[0]
                    for s in range(known):
                        weakest = min(weakest, grip[s])
                    place = np.int32(0)
                    while grip[place] != weakest:
                        place += np.int32(1)
                slots[place] = items[i]
                grip[place] = np.float32(0.0)
                counts[user, place] = 0
                first_day[user, place] = days[b]
                last_day[user, place] = days[b]
            grip[place] += np.float32(1.0)
            counts[user, place] += 1
            last_visit[user, place] = totals[user, VISITS]
            last_day[user, place] = max(last_day[user, place], days[b])
