"""Parameters of the forecast: where they begin, how far they may go, and how they move towards what happened."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from omba.model.likelihood import JOINED, LEVELS, SEEN, STRONG

Floats = NDArray[np.float64]
Posterior = Callable[[Floats], tuple[float, Floats, Floats]]
"""Value, gradient, and the sum of the squares of the pairs' gradients."""

KNOTS = np.array([-0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8])
# A new forecast knows nothing: pairs meet as chance has it, and closer ones a little more often.
LINK = 3.0 * np.maximum(KNOTS, 0.0)
START = np.concatenate(
    [LINK, LINK, np.log([3.0, 3.0]), [2.0, 2.0], [0.0], [-4.0, 2.0], np.full(len(LEVELS), np.log(0.05))]
)
STEEP = START.copy()
STEEP[: 2 * len(KNOTS)] = np.tile(0.7 + 6.0 * np.maximum(KNOTS, 0.0), 2)
"""A second place to set out from while little is known, with links that say a lot: there is more than one way up."""
EARLY = 3
"""Periods for which both are tried."""
JOINING = np.concatenate([np.full(len(SEEN), 0.5), np.zeros(JOINED - len(SEEN))])
"""The start of joining both forecasts: half of the weight each, and no doubt of strong pairs."""
COUNTING = np.concatenate([np.log([3.0, 1.0]), [-4.0, 2.0], JOINING])
"""The start of counting alone, a prior of shape 3 around a lift of 1 with a wide part, and of joining."""
FIRM = 2.0
"""Weight of that start, and of the start of the drift, in pairs' worth of knowledge."""


def bounds(links: tuple[float, float], *others: tuple[float, float]) -> tuple[Floats, Floats]:
    rows = np.array([*(links,) * (2 * len(KNOTS)), *others])
    return rows[:, 0], rows[:, 1]


# Where the data say little or the world is odd, no parameter runs away: a lift is never known better than by 50 baskets
# of chance, the wide part stays rare and above, drift at most doubles a lift. (Below chance lifts are all or nothing:
# products that replace each other, or were not sold at the same time. There the drift may be anything.)
STRENGTH, TRUST, DRIFT, WEAK = (-2.0, 4.0), (-3.0, 4.0), (-9.0, 0.0), (-9.0, 5.0)
PULL, ODDS, DISTANCE = (-1.0, 1.0), (-7.0, -2.0), (1.0, 3.0)
LEAST, MOST = bounds((-5.0, 9.0), STRENGTH, STRENGTH, TRUST, TRUST, PULL, ODDS, DISTANCE, WEAK, WEAK, *(DRIFT,) * 4)
# Joined, a closer pair never has the lower lift, nor one that was seen more often: vectors have no weight below 0, and
# what remains of strong lifts falls from knot to knot by less than these lie apart.
LEAST_JOINING, MOST_JOINING = np.array(
    [*((0.0, 2.0),) * len(SEEN), *((-1.0, 0.2),) * len(STRONG), (-4.0, 0.0), (-2.0, 0.0), (-2.0, 0.0), (-4.0, 0.0)]
).T.copy()
LEAST_PRIOR, MOST_PRIOR = np.array([STRENGTH, (-5.0, 5.0), ODDS, DISTANCE]).T.copy()
STEADY, LOOSE, SMOOTH = 0.2, 0.05, 2.0
"""Weight of the start, of that of a link, and of a straight link, in pairs' worth of knowledge."""

STEPS, ENOUGH = 25, 1.0
"""Newton steps at most, and the gain in likelihood below which there is no need for more."""


def prior() -> Floats:
    """How firmly parameters stay at the start: each a little, links firmly near a shifted version of it.

    The drift at one level of lift rests on few pairs, so it stays near the start and moves with its neighbours.
    """
    matrix = STEADY * np.eye(len(START))
    bend = np.diff(np.eye(len(KNOTS)), 2, axis=0)
    for link in (slice(0, len(KNOTS)), slice(len(KNOTS), 2 * len(KNOTS))):
        matrix[link, link] = LOOSE * np.eye(len(KNOTS)) + SMOOTH * bend.T @ bend
    step, drift = np.diff(np.eye(len(LEVELS)), axis=0), slice(len(START) - len(LEVELS), None)
    matrix[drift, drift] += FIRM * (np.eye(len(LEVELS)) + 2 * step.T @ step)
    return matrix


STAY = prior()


def hold_back(posterior: Posterior, *anchors: tuple[Floats, Floats]) -> Posterior:
    """A likelihood with what is known already: each anchor is a place and how firmly parameters stay there."""

    def with_anchors(theta: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, square = posterior(theta)
        for place, weight in anchors:
            pull = weight @ (theta - place)
            value -= float((theta - place) @ pull) / 2
            gradient = gradient - pull
        return value, gradient, square

    return with_anchors


def climb(
    posterior: Posterior, start: Floats, known: Floats, least: Floats, most: Floats
) -> tuple[Floats, Floats, float]:
    """Where Newton steps from the start lead, within bounds, the squares of the gradients there, and how high it is.

    The curvature is those squares and what is known already; a step that does not help is damped. From where the
    likelihood is no number there is no way up: then the start is the answer.
    """
    theta, damping = start, 0.01
    value, gradient, square = posterior(theta)
    if not (np.isfinite(value) and np.isfinite(gradient).all() and np.isfinite(square).all()):
        return start, np.zeros_like(known), -np.inf
    for _ in range(STEPS):
        curvature = square + known
        curvature = curvature + np.diag(damping * np.diag(curvature) + 1e-9)
        free = ((theta > least) | (gradient > 0)) & ((theta < most) | (gradient < 0))
        step = np.zeros(len(theta))
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        trial = np.clip(theta + step, least, most)
        better = posterior(trial)
        if better[0] > value and np.isfinite(better[2]).all():
            gain, theta, damping = better[0] - value, trial, damping / 4
            value, gradient, square = better
            if gain < ENOUGH:
                break
        else:
            damping *= 8
    return theta, square, value


def make_rise(theta: Floats, weight: Floats) -> Floats:
    """The parameters with both links made to rise, so that a closer pair never has the lower expected lift.

    Neighbouring knots that fall are pooled, each as much as is known of it.
    """
    from scipy.optimize import isotonic_regression

    theta = theta.copy()
    for link in (slice(0, len(KNOTS)), slice(len(KNOTS), 2 * len(KNOTS))):
        theta[link] = isotonic_regression(theta[link], weights=weight[link]).x
    return theta
