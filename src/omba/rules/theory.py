"""Theory: when a collision of hashes means a lift (paper, section 4.3; supplement, section 3).

Two products whose vectors stand at cosine c fall on the same side of a random plane with probability
1 − arccos(c)/π. With F planes a table and H tables, the chance that they share at least one bucket is

    p_omba(c) = 1 − (1 − (1 − arccos(c)/π)^F)^H

and the chance that negative sampling gives a pair with a strong lift is p_lift(c) = σ(A·c), where A stands for
the lengths of the vectors. The solver finds the integers F and H and the real A that bring both curves together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.errors import InputError, SettingError

MOST_FUNCTIONS = 16
"""Beyond F = 16 a fit needs more than 40,000 tables, which nobody builds."""

GRID = np.linspace(-1.0, 1.0, 2001)


@dataclass(frozen=True)
class Fit:
    """A member of the family of solutions.

    Parameters
    ----------
    F
        Hash functions in each table.
    H
        Tables.
    A
        The scale of the vectors that matches them.
    gap
        The root mean square gap between both curves.
    """

    F: int
    H: int
    A: float
    gap: float = float("nan")


PAPER = Fit(F=4, H=11, A=4.3)


def p_same_sign(cosine: ArrayLike) -> NDArray[np.float64]:
    """The chance that two vectors fall on the same side of a random plane.

    >>> p_same_sign([1.0, 0.0, -1.0]).tolist()
    [1.0, 0.5, 0.0]
    """
    return 1.0 - np.arccos(np.clip(np.asarray(cosine, np.float64), -1.0, 1.0)) / np.pi


def p_omba(cosine: ArrayLike, F: int, H: float) -> NDArray[np.float64]:
    """The chance that two vectors share a bucket in at least one of H tables of F planes (Eq. 10)."""
    # log1p and expm1 keep the digits where a collision is rare and H large; a sure collision is −inf, and right.
    with np.errstate(divide="ignore"):
        return np.asarray(-np.expm1(H * np.log1p(-(p_same_sign(cosine) ** F))))


def p_lift(cosine: ArrayLike, A: float) -> NDArray[np.float64]:
    """The chance of a strong lift: the sigmoid of the raw dot product A·cosine (Eq. 11)."""
    return 1.0 / (1.0 + np.exp(-A * np.asarray(cosine, np.float64)))


@cache
def fit(F: int) -> Fit:
    """The H and A that bring both curves closest for a given F, by least squares over [−1, 1].

    >>> fit(4).H, round(fit(4).A, 1)
    (11, 4.2)
    """
    if not 1 <= F <= MOST_FUNCTIONS:
        raise SettingError(f"F={F} is outside 1 to {MOST_FUNCTIONS}, where the curves can be fitted")
    # Both curves pass through ½ at cosine 0 when H = ln 2 · 2^F: a good place to start from.
    start = (np.log(np.log(2.0) * 2.0**F), 0.9 * F + 0.6)
    from scipy.optimize import least_squares

    real = least_squares(lambda x: p_lift(GRID, x[1]) - p_omba(GRID, F, np.exp(x[0])), start)
    below = max(1, int(np.exp(real.x[0])))
    return min((_fit_scale(F, H) for H in (below, below + 1)), key=lambda found: found.gap)


def _fit_scale(F: int, H: int) -> Fit:
    """The A for given F and H, and the root mean square gap that is left."""
    target = p_omba(GRID, F, H)
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda A: np.mean((p_lift(GRID, A) - target) ** 2), bounds=(0.1, 40.0), method="bounded")
    return Fit(F, H, float(found.x), float(np.sqrt(found.fun)))


def solve(F: int | None = None, A: float | None = None) -> Fit:
    """The member of the family of solutions for this F, or the one whose scale is nearest to A.

    With neither, the paper's own choice of F is solved for.

    >>> solve(F=5).H, solve(A=7.5).F
    (21, 8)
    """
    if F is not None and A is not None:
        raise InputError(f"F={F} and A={A} together leave nothing to solve for: give one of them")
    if A is None:
        return fit(PAPER.F if F is None else F)
    if not A > 0:
        raise SettingError(f"A={A} is no scale: it stands for the product of two vector lengths and is above 0")
    chosen = fit(1)
    while chosen.F < MOST_FUNCTIONS and chosen.A < A:
        following = fit(chosen.F + 1)
        if A - chosen.A <= following.A - A:
            break
        chosen = following
    return chosen


def measured_scale(vectors: NDArray[np.floating]) -> float:
    """A as the trained vectors tell it: the mean product of the lengths of two different products."""
    lengths = np.linalg.norm(vectors, axis=1).astype(np.float64)
    lengths = lengths[lengths > 0]
    n = len(lengths)
    if n < 2:
        raise InputError(f"{n} trained vectors have no mean product of lengths: learn at least two products first")
    return float((lengths.sum() ** 2 - (lengths**2).sum()) / (n * (n - 1)))


def choose(A: float, products: int, bits: int = 4096) -> Fit:
    """The F and H that the measured scale asks for, as far as they are affordable.

    H doubles with each F, so a scale of 10 already asks for 1,000 tables. Kept are the largest F up to that of
    `solve(A=A)` whose F·H signs a product fit in `bits`, and with no more than one bucket a product.
    """
    wanted = solve(A=A).F
    affordable = [
        F for F in range(1, wanted + 1) if np.log2(max(2, products)) >= F and F * np.log(2.0) * 2.0**F <= bits
    ]
    return fit(max(affordable, default=1))
