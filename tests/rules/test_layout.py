"""The map: neighbours stay near each other, and an earlier map is kept to."""

import numpy as np
import pytest

from omba.rules import layout


def groups(n_groups: int, each: int, dim: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around centres far from each other, and the group of each."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((n_groups, dim))
    group = np.repeat(np.arange(n_groups), each)
    vectors = centres[group] + 0.45 * rng.standard_normal((len(group), dim))
    return (vectors * rng.uniform(0.5, 4.0, (len(group), 1))).astype(np.float32), group


def plain_nearest(points: np.ndarray, n: int) -> np.ndarray:
    """The n nearest of each point by distance: all of them, sorted."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return np.argsort(apart, axis=1)[:, :n]


def test_products_of_a_group_lie_together_on_the_map():
    vectors, group = groups(20, 25)
    placed = layout.places(vectors)
    same = group[plain_nearest(placed.astype(np.float64), 10)] == group[:, None]
    assert same.mean() > 0.95


def test_the_map_keeps_more_neighbours_than_the_two_main_directions_do():
    vectors, _ = groups(20, 25, seed=1)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = unit - unit.mean(axis=0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    true = plain_nearest(unit, 10)

    def kept(points: np.ndarray) -> float:
        found = plain_nearest(points.astype(np.float64), 10)
        return float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(true, found, strict=True)]))

    assert kept(layout.places(vectors)) > 1.5 * kept(flat)


def test_the_map_is_the_same_each_time():
    vectors, _ = groups(6, 20)
    assert np.array_equal(layout.places(vectors), layout.places(vectors))


def test_products_known_before_move_little_and_new_ones_come_to_their_neighbours():
    vectors, group = groups(12, 30, seed=2)
    shuffled = np.random.default_rng(0).permutation(len(vectors))
    vectors, group = vectors[shuffled], group[shuffled]
    before = layout.places(vectors[:-20])
    after = layout.places(vectors, start=before)
    spread = np.linalg.norm(before.std(axis=0))
    moved = np.linalg.norm(after[:-20] - before, axis=1)
    assert np.median(moved) < 0.1 * spread
    same = group[plain_nearest(after.astype(np.float64), 5)[-20:]] == group[-20:, None]
    assert same.mean() > 0.9


def test_products_hardly_met_have_no_place():
    vectors, _ = groups(4, 10)
    counts = np.full(40, 9)
    counts[[3, 17]] = 1
    placed = layout.places(vectors, counts)
    assert np.flatnonzero(np.isnan(placed).any(axis=1)).tolist() == [3, 17]


@pytest.mark.parametrize("products", [0, 1, 2])
def test_a_model_that_has_hardly_begun_has_no_map(products):
    assert np.isnan(layout.places(np.ones((products, 4), np.float32))).all()


@pytest.mark.parametrize("products", [3, 4, 16])
def test_a_few_products_have_a_map(products):
    vectors = np.random.default_rng(0).standard_normal((products, 8)).astype(np.float32)
    assert np.isfinite(layout.places(vectors)).all()


def test_equal_vectors_do_not_break_the_map():
    assert np.isfinite(layout.places(np.ones((30, 5), np.float32))).all()


@pytest.mark.slow
def test_many_products_have_nearly_the_neighbours_that_looking_at_all_pairs_finds(monkeypatch):
    vectors, _ = groups(60, 50, seed=3)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    exact, cosine = layout.nearest(unit, 10)
    assert np.array_equal(exact, np.argsort(-(unit @ unit.T - 3 * np.eye(len(unit))), axis=1, kind="stable")[:, :10])
    assert cosine == pytest.approx(np.take_along_axis(unit @ unit.T, exact, axis=1), abs=1e-5)
    monkeypatch.setattr(layout, "EXACT", 100)
    rough, _ = layout.nearest(unit, 10)
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, rough, strict=True)]) > 0.9
