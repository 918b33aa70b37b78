"""Likelihood: gradients, quantiles and scores, each held to what it is by definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy.stats import nbinom, norm

from omba.model import likelihood
from omba.model.parameters import JOINING, KNOTS, START


def test_the_gradient_is_that_of_the_likelihood() -> None:
    rng = np.random.default_rng(0)
    size = 300
    cosine, n_ab = rng.uniform(-0.3, 0.95, size), rng.poisson(2, size) * (rng.random(size) < 0.6)
    n_a, n_b, chance = rng.integers(2, 300, size), rng.integers(5, 3000, size), rng.uniform(0.01, 3, size)
    later = np.where(np.arange(size) < 9, 80, rng.poisson(4, size))
    gradient, square = np.empty(len(START)), np.empty((len(START), len(START)))

    def value(theta: np.ndarray) -> float:
        return likelihood.likelihood(theta, KNOTS, cosine, n_ab, n_a, n_b, 10_000, later, chance, gradient, square)

    theta = START + rng.normal(0, 0.2, len(START))
    value(theta)
    found = gradient.copy()
    steps = 1e-5 * np.eye(len(START))
    measured = [(value(theta + step) - value(theta - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, measured, rtol=1e-5, atol=1e-5)


def test_the_gradient_of_joining_is_that_of_its_likelihood() -> None:
    rng, size = np.random.default_rng(1), 300
    by_vectors, by_counts = np.exp(rng.normal(1, 1, (2, size)))
    n_ab, cosine, moves = rng.poisson(3, size), rng.uniform(-0.3, 0.95, size), rng.uniform(0, 1, (size, 3))
    later, chance = rng.poisson(4, size), rng.uniform(0.01, 3, size)
    columns = by_vectors, by_counts, n_ab, cosine, moves, later, chance
    gradient, square = np.empty(likelihood.JOINED), np.empty((likelihood.JOINED, likelihood.JOINED))

    def value(joining: np.ndarray) -> float:
        return likelihood.joined_likelihood(joining, *columns, gradient, square)

    joining = JOINING + rng.normal(0, 0.2, likelihood.JOINED)
    value(joining)
    found = gradient.copy()
    steps = 1e-5 * np.eye(likelihood.JOINED)
    measured = [(value(joining + step) - value(joining - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(found, measured, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("variance", [0.5, 0.1, 0.02])
@pytest.mark.parametrize("mean", [0.2, 3.0, 12.0, 29.0, 80.0])
@pytest.mark.parametrize("score", [-2.5, -likelihood.NORMAL, 0.0, likelihood.NORMAL, 2.5])
def test_quantiles_lie_within_one_of_the_negative_binomial(mean: float, variance: float, score: float) -> None:
    found = np.empty(1)
    likelihood.quantiles(np.array([mean]), np.array([variance]), score, found)
    exact = nbinom(1 / variance, 1 / (1 + mean * variance)).ppf(norm.cdf(score))
    assert abs(found[0] - exact) <= max(1.0, 0.02 * exact)


def test_scores_of_what_was_foretold_rightly_are_normal() -> None:
    rng, size = np.random.default_rng(0), 20_000
    mean, variance, ahead = rng.uniform(2, 20, size), np.full(size, 0.1), rng.uniform(1, 4, size)
    later = rng.poisson(ahead * mean * rng.gamma(10.0, 0.1, size))
    scored = np.zeros((2, likelihood.KINDS, likelihood.BINS))
    likelihood.score_all(mean, variance, np.full(size, 30), ahead, later, ahead, scored)
    share = np.cumsum(scored[0].sum(axis=0)) / size
    edges = np.linspace(-likelihood.FARTHEST, likelihood.FARTHEST, likelihood.BINS + 1)[1:]
    assert np.abs(share - norm.cdf(edges)).max() < 0.02


@pytest.mark.parametrize("shape", [0.2, 1.0, 7.5, 60.0, 9_000.0])
def test_rising_factorials_are_those_of_the_gamma_function(shape: float) -> None:
    counts = np.array([0, 1, 5, 15, 16, 17, 50, 511, 512, 4_000])
    table = likelihood.rising_table(shape)
    found = np.array([likelihood.log_rising_factorial(shape, int(y)) for y in counts])
    wanted = np.column_stack(
        [special.gammaln(shape + counts) - special.gammaln(shape), special.psi(shape + counts) - special.psi(shape)]
    )

    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(table[counts[:8]], wanted[:8], rtol=1e-8, atol=1e-8)
