"""The quantised index against exact cosines, and the choice of the best against sorting."""

import numpy as np
import pytest

from omba.service.views.quantised_index import QuantisedIndex, best


@pytest.mark.parametrize("dim", [3, 64, 100])
def test_rough_cosines_are_near_the_exact_ones(dim):
    rng = np.random.default_rng(dim)
    vectors, kept = rng.standard_normal((500, dim)).astype(np.float32), rng.random(500) < 0.8
    index = QuantisedIndex.of(vectors, kept)
    query = 7 * rng.standard_normal(dim)
    exact = vectors @ query / np.linalg.norm(vectors, axis=1) / np.linalg.norm(query)

    assert (index.rows == np.flatnonzero(kept)).all()
    assert index.cosines(query) == pytest.approx(exact[kept], abs=0.01)
    assert not index.cosines(np.zeros(dim)).any()


def test_no_cosine_is_too_large_for_whole_numbers():
    # Every product of two coordinates is as large as it may be.
    vectors = np.ones((4, 1_000), np.float32)
    vectors[1] = -1.0
    index = QuantisedIndex.of(vectors, np.ones(4, bool))
    assert index.cosines(vectors[0]) == pytest.approx([1, -1, 1, 1], abs=1e-3)


@pytest.mark.parametrize("kind", ["normal", "equal", "rising", "few", "none"])
@pytest.mark.parametrize("n", [0, 1, 50, 9_999, 30_000])
def test_the_best_are_those_that_sorting_puts_first(kind, n):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(20_000).astype(np.float32)
    if kind == "equal":
        scores[:] = 1.0
    if kind == "rising":
        scores.sort()
    if kind in ("few", "none"):
        scores[np.arange(20_000) >= (30 if kind == "few" else 0)] = -np.inf
    chosen = best(scores, n)

    possible = int((scores > -np.inf).sum())
    assert len(set(chosen.tolist())) == len(chosen) == min(n, possible)
    assert (np.sort(scores[chosen]) == np.sort(scores)[20_000 - len(chosen) :]).all()
