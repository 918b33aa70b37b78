"""Variants: what OMBA is compared with in the paper's Table 2, each a few lines on the same kernels.

OMBA itself keeps O(d(U + P)) numbers. Decay and Info also keep past baskets: of each, a window later, a share e^−τ
is left, so the buffer settles at |B| / (1 − e^−τ) baskets.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.input import BasketsLike, as_baskets
from omba.model.kernels import agreement
from omba.model.omba import OMBA
from omba.model.space import Pace, Space, WindowRows
from omba.model.workers import Job

SAVED = ("offsets", "items", "weights", "owners", "days")
"""What snapshots call the fields of `WindowRows`, in their order; prices, the last one, are counted and not kept."""


class NoUser(OMBA):
    """OMBA-No-User: baskets learned without their users."""

    def partial_fit(self, window: BasketsLike, allow_late: bool = False) -> NoUser:
        super().partial_fit(replace(as_baskets(window), user_codes=None), allow_late)
        return self

    learn_many = partial_fit


class NoValue(OMBA):
    """OMBA without value-based weighting: all products weigh alike, whatever `value` says."""

    def _power_law(self) -> tuple[float, float]:
        return 0.0, 1.0


class _Plain(OMBA):
    """Plain SGD in place of AdaGrad and the adaptive rate."""

    def _pace(self) -> Pace:
        return replace(super()._pace(), adagrad=False, tau=0.0, together=1)


class Cons(_Plain):
    """OMBA-Cons: each vector is held near where the window found it, L + λ/2·|v − v₀|² (Zhang et al., 2017)."""

    pull = 0.1

    def _passes(self, level: int, space: Space, window: WindowRows, rng: np.random.Generator) -> list[Job]:
        tables = [table.vectors for table in (space.products, space.users)]
        found = [vectors.copy() for vectors in tables]
        for _ in range(self.epochs):
            space.train(window, replace(self._pace(), epochs=1), rng)
            for vectors, before in zip(tables, found, strict=True):
                vectors -= self.pull * (vectors - before)
        return []


class Decay(_Plain):
    """OMBA-Decay: past baskets are learned again, with a chance that falls as e^−τ·age (Zhang et al., 2017)."""

    forgetting = 0.1

    def _reset(self) -> None:
        super()._reset()
        self.buffers: dict[int, WindowRows] = {}

    def _passes(self, level: int, space: Space, window: WindowRows, rng: np.random.Generator) -> list[Job]:
        if level in self.buffers:
            old = self.buffers[level]
            chance = np.minimum(1.0, math.exp(-self.forgetting) * self._weigh(space, old))
            window = join(select(old, np.flatnonzero(rng.random(len(chance)) < chance)), window)
        self.buffers[level] = window
        return super()._passes(level, space, window, rng)

    def _weigh(self, space: Space, window: WindowRows) -> NDArray[np.float64]:
        """How much more likely than the average each past basket is to be kept."""
        return np.ones(len(window.users))

    def extra_state(self) -> dict[str, NDArray[Any]]:
        return {
            f"buffer{level}.{name}": array
            for level, window in self.buffers.items()
            for name, array in zip(SAVED, vars(window).values(), strict=False)
        }

    def load_extra(self, state: dict[str, NDArray[Any]]) -> None:
        levels = {int(name[6]) for name in state if name.startswith("buffer")}
        self.buffers = {level: WindowRows(*(state[f"buffer{level}.{n}"] for n in SAVED)) for level in sorted(levels)}


class Info(Decay):
    """OMBA-Info: as Decay, but a basket the model explains badly (low Ψ) is likelier to stay (Silva et al., 2019)."""

    def _weigh(self, space: Space, window: WindowRows) -> NDArray[np.float64]:
        surprise = np.array(
            [
                1.0 - agreement(window.items[first:after], space.products.vectors, user, space.users.vectors)
                for first, after, user in zip(window.offsets[:-1], window.offsets[1:], window.users, strict=True)
            ]
        )
        mean = surprise.mean() if len(surprise) else 1.0
        return surprise / max(mean, 1e-9)


def select(window: WindowRows, baskets: NDArray[np.int64]) -> WindowRows:
    """Some of a window's baskets."""
    sizes = np.diff(window.offsets)[baskets]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    places = np.repeat(window.offsets[baskets] - offsets[:-1], sizes) + np.arange(offsets[-1])
    return WindowRows(
        offsets, window.items[places], window.weights[places], window.users[baskets], window.days[baskets]
    )


def join(first: WindowRows, second: WindowRows) -> WindowRows:
    """The baskets of two windows as one."""
    return WindowRows(
        np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        np.concatenate([first.items, second.items]),
        np.concatenate([first.weights, second.weights]),
        np.concatenate([first.users, second.users]),
        np.concatenate([first.days, second.days]),
    )


def make(name: str, seed: int = 0, **settings: Any) -> OMBA:
    """A learner by the name it has in comparisons: `omba` with the defaults, all others with the paper's setting."""
    if name == "omba":
        return OMBA(seed=seed, **settings)
    return NAMES[name].paper(seed=seed, **settings)


NAMES: dict[str, type[OMBA]] = {
    "omba-paper": OMBA,
    "omba-no-user": NoUser,
    "omba-no-value": NoValue,
    "omba-cons": Cons,
    "omba-decay": Decay,
    "omba-info": Info,
}
KINDS: dict[str, type[OMBA]] = {kind.__name__: kind for kind in (OMBA, NoUser, NoValue, Cons, Decay, Info)}
"""Every learner by the name its snapshots carry."""
