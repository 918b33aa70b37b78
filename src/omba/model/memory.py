"""User memory: a small, fading table of what each user buys, so that habit is known apart from taste.

The paper's closing section asks for users' purchasing behaviour beyond one vector. For each user at most `places`
products are kept, each with a strength m that gains one when it is bought and fades by `fading` at every visit.
With n the faded number of products bought and s the product's share of all sales, the habit of a product is

    log( (m/s + a) / (n + a) ),

above zero where the user buys it more than others do. No basket is stored, and the table never grows with the stream.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

FADING = 0.93
"""What is left of a strength one visit later; 0.9 to 0.97 measured alike on Complete Journey and Ta-Feng."""
PRIOR = 5.0
"""The a above: how many purchases' worth of everybody's taste a user starts with."""


class Memory:
    """The remembered products of every user: `rows` (−1 for an empty place), `strength`, and the faded `mass`.

    Parameters
    ----------
    places
        Products remembered of each user.
    """

    def __init__(self, places: int) -> None:
        self.places = places
        self.rows = np.empty((0, places), np.int32)
        self.strength = np.empty((0, places), np.float32)
        self.mass = np.empty(0, np.float32)

    def grow(self, users: int) -> None:
        """Make room for so many users."""
        old = len(self.mass)
        if users <= old:
            return
        room = max(users, old * 3 // 2)
        rows, strength = np.full((room, self.places), -1, np.int32), np.zeros((room, self.places), np.float32)
        mass = np.zeros(room, np.float32)
        rows[:old], strength[:old], mass[:old] = self.rows, self.strength, self.mass
        self.rows, self.strength, self.mass = rows, strength, mass

    def learn(self, offsets: NDArray[np.int64], items: NDArray[np.int32], users: NDArray[np.int32]) -> None:
        """Remember a window's baskets, in order."""
        remember(offsets, items, users, self.rows, self.strength, self.mass, FADING)


@njit(nogil=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def remember(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    users: NDArray[np.int32],
    rows: NDArray[np.int32],
    strength: NDArray[np.float32],
    mass: NDArray[np.float32],
    decay: float,
) -> None:
    """Add each basket to its user's memory: what was there fades by `decay`, what was bought gains one.

    A product not yet remembered takes the weakest place, so a memory never grows.
    """
    for b in range(offsets.shape[0] - 1):
        user = users[b]
        if user < 0:
            continue
        slots, grip = rows[user], strength[user]
        for s in range(slots.shape[0]):
            grip[s] *= np.float32(decay)
        mass[user] = mass[user] * np.float32(decay) + np.float32(offsets[b + 1] - offsets[b])
        for i in range(offsets[b], offsets[b + 1]):
            place = 0
            for s in range(slots.shape[0]):
                if slots[s] == items[i]:
                    place = s
                    break
                if grip[s] < grip[place]:
                    place = s
            if slots[place] != items[i]:
                slots[place] = items[i]
                grip[place] = np.float32(0.0)
            grip[place] += np.float32(1.0)
