"""Pairs by hashing: against all pairs, against the theory, and against a plain loop over the paper's five steps."""

import logging

import numpy as np
import pytest

from omba.errors import InputError, SettingError
from omba.rules import hashing, search
from omba.rules.lsh import codes, nearest_pairs, recall
from omba.rules.nearest import Trained, cosines, exact_pairs, neighbours
from omba.rules.theory import p_omba


def world(products: int, dim: int = 60, seed: int = 0) -> np.ndarray:
    """Products in small groups at many distances, vectors of many lengths, and a direction common to all."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, products // 8), dim)) + 0.4 * rng.standard_normal(dim)
    share = rng.uniform(0.2, 0.95, (products, 1))
    vectors = np.sqrt(share) * centres[rng.integers(0, len(centres), products)]
    vectors = vectors + np.sqrt(1 - share) * rng.standard_normal((products, dim))
    return (vectors * rng.uniform(0.5, 5.0, (products, 1))).astype(np.float32)


def plain_cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_the_exact_search_agrees_with_sorting_all_pairs():
    vectors = world(150)
    cosine = plain_cosines(vectors)
    left, right = np.triu_indices(150, 1)
    order = np.argsort(-cosine[left, right])[:40]
    found = exact_pairs(Trained.of(vectors, None), 40)
    assert set(zip(*found[:2], strict=True)) == set(zip(left[order], right[order], strict=True))
    assert found[2] == pytest.approx(cosine[left, right][order], abs=1e-5)


@pytest.mark.parametrize(("F", "H"), [(1, 7), (4, 11), (11, 40)])
def test_collisions_of_rules_are_the_tables_in_which_all_their_codes_agree(F, H, monkeypatch):
    monkeypatch.setattr(hashing, "AT_ONCE", 500)
    vectors, rng = world(60), np.random.default_rng(1)
    items = np.array([rng.choice(60, 3, replace=False) for _ in range(300)])
    table = codes(vectors, F, H, seed=3)[items]
    plain = [(table[:, :two] == table[:, -1:]).all(axis=1).sum(axis=1) for two in (1, 2)]

    tables = hashing.Hashing("default", F, H, seed=3)
    assert (tables.collisions(vectors, items[:, :1], items[:, 2]) == plain[0]).all()
    assert (tables.collisions(vectors, items[:, :2], items[:, 2]) == plain[1]).all()
    assert plain[0].any()


@pytest.mark.slow
@pytest.mark.parametrize("products", [300, 2_000, 12_000])
@pytest.mark.parametrize("top", [10, 1_000])
def test_by_default_at_least_99_of_100_nearest_pairs_are_found(products, top):
    assert recall(world(products), top) >= 0.99


@pytest.mark.slow
def test_the_recall_a_search_expects_is_the_recall_it_has():
    vectors = world(4_000)
    rough = [nearest_pairs(vectors, 1_000, F=9, recall=0.8, seed=seed) for seed in range(8)]
    measured = [recall(vectors, pairs=pairs) for pairs in rough]
    assert np.mean(measured) == pytest.approx(np.mean([pairs.recall for pairs in rough]), abs=0.03)
    assert np.mean(measured) < 0.97  # a lower aim saves work


def test_recall_can_be_estimated_from_a_sample_of_products():
    vectors = world(6_000)
    pairs = nearest_pairs(vectors, 3_000, recall=0.8)
    assert recall(vectors, pairs=pairs, sample=3_000) == pytest.approx(recall(vectors, pairs=pairs), abs=0.05)


def test_where_no_pair_is_closer_than_others_all_pairs_are_looked_at(monkeypatch):
    monkeypatch.setattr(search, "FEW", 100)
    vectors = np.random.default_rng(0).standard_normal((1_500, 300)).astype(np.float32)
    pairs = nearest_pairs(vectors, 100)
    assert (pairs.recall, recall(vectors, pairs=pairs)) == (1.0, 1.0)
    assert nearest_pairs(world(1_500), 100).recall < 1.0


def test_where_all_products_lie_about_one_direction_a_longer_sketch_finds_as_many_with_less(monkeypatch):
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal((3_000, 100)) + 0.7 * rng.standard_normal(100)).astype(np.float32)
    widths, differ = [], search.kernels.scan_buckets
    monkeypatch.setattr(
        search.kernels, "scan_buckets", lambda *given: widths.append(given[2].shape[1]) or differ(*given)
    )

    pairs = nearest_pairs(vectors, 300)

    assert recall(vectors, pairs=pairs) >= 0.98
    assert set(widths) == {search.SKETCH_WORDS, search.kernels.LONG_WORDS}
    widths.clear()
    nearest_pairs(world(3_000), 30)
    assert set(widths) == {search.SKETCH_WORDS}, "where a short one tells enough"


def test_pairs_come_nearest_first_each_once_with_their_exact_cosine():
    vectors = world(1_000)
    pairs = nearest_pairs(vectors, 300)
    assert (pairs.left < pairs.right).all()
    assert len(set(zip(pairs.left, pairs.right, strict=True))) == 300
    assert (np.diff(pairs.cosine) <= 0).all()
    assert pairs.cosine == pytest.approx(plain_cosines(vectors)[pairs.left, pairs.right], abs=1e-5)
    assert pairs.probability == pytest.approx(p_omba(pairs.cosine, pairs.F, pairs.H))


def test_the_same_seed_gives_the_same_pairs_and_tables():
    vectors = world(2_000)
    first, again, other = (nearest_pairs(vectors, 200, seed=seed) for seed in (1, 1, 2))
    assert (first.left == again.left).all()
    assert (first.collisions == again.collisions).all()
    assert (first.collisions != other.collisions).any()


def test_pairs_collide_as_often_as_their_cosine_says():
    vectors = world(1_500)
    pairs = nearest_pairs(vectors, 800, F=6, H=200)
    expected = 200 * (1 - np.arccos(pairs.cosine.astype(float)) / np.pi) ** 6
    assert pairs.collisions.mean() == pytest.approx(expected.mean(), rel=0.05)


def paper_by_hand(vectors: np.ndarray, F: int, H: int) -> np.ndarray:
    """Steps 1 to 5 of section 4.3, word for word: the number of tables in which each two products share a bucket."""
    table = codes(vectors, F, H)
    n = len(vectors)
    collisions = np.zeros((n, n), int)
    for h in range(H):
        buckets: dict[int, list[int]] = {}
        for product in range(n):
            buckets.setdefault(int(table[product, h]), []).append(product)
        for members in buckets.values():
            for a in members:
                for b in members:
                    collisions[a, b] += 1
    return collisions


@pytest.mark.parametrize(("F", "H"), [(4, 11), (1, 64), (16, 4), (5, 3)])
def test_the_preset_of_the_paper_counts_shared_buckets(F, H):
    vectors = world(120)
    by_hand = paper_by_hand(vectors, F, H)
    pairs = nearest_pairs(vectors, 500, preset="paper", F=F, H=H)
    assert (pairs.collisions == by_hand[pairs.left, pairs.right]).all()
    best = np.sort(by_hand[np.triu_indices(120, 1)])[::-1][:500]
    assert (pairs.collisions == best).all()


def test_the_preset_of_the_paper_is_four_functions_in_eleven_tables():
    pairs = nearest_pairs(world(200), 50, preset="paper")
    assert (pairs.F, pairs.H) == (4, 11)
    assert pairs.collisions.max() <= 11


def test_equal_collisions_go_by_cosine_unless_told_otherwise():
    vectors = world(400)
    by_cosine = nearest_pairs(vectors, 400, preset="paper")
    for number in np.unique(by_cosine.collisions):
        assert (np.diff(by_cosine.cosine[by_cosine.collisions == number]) <= 1e-6).all()
    by_row = nearest_pairs(vectors, 400, preset="paper", ties=False)
    last = by_row.collisions == by_row.collisions[-1]
    keys = by_row.left[last] * 400 + by_row.right[last]
    assert (np.diff(keys) > 0).all()
    assert by_cosine.cosine.mean() > by_row.cosine.mean()


def test_products_met_once_are_left_out_unless_asked_for():
    vectors, counts = world(300), np.full(300, 5)
    vectors[7] = vectors[3]  # the very nearest pair, but product 7 was met once
    counts[7] = 1
    assert 7 not in nearest_pairs(vectors, 200, counts=counts).right
    first = nearest_pairs(vectors, 200, counts=counts, min_count=1)
    assert (first.left[0], first.right[0]) == (3, 7)
    assert 7 not in neighbours(vectors, [3], 299, counts)[0]


def test_a_vector_without_length_is_in_no_pair():
    vectors = world(50)
    vectors[4] = 0
    assert not np.isin(4, [nearest_pairs(vectors, 2_000).left, nearest_pairs(vectors, 2_000).right]).any()


def test_many_products_with_one_and_the_same_vector_do_not_stop_the_search():
    vectors = np.repeat(world(4), 500, axis=0)
    pairs = nearest_pairs(vectors, 1_000)
    assert len(pairs) == 1_000
    assert pairs.cosine == pytest.approx(1.0)


def test_asking_for_more_pairs_than_there_are_gives_all_with_a_note(caplog):
    with caplog.at_level(logging.WARNING, "omba"):
        pairs = nearest_pairs(world(10), 1_000)
    assert len(pairs) == 45
    assert "more than the 45 pairs of 10 products" in caplog.text


def test_the_neighbours_of_a_product_are_exact():
    vectors = world(500)
    near, cosine = neighbours(vectors, [3, 400], 20)
    expected = plain_cosines(vectors)[[3, 400]]
    expected[0, 3] = expected[1, 400] = -9
    assert cosine == pytest.approx(-np.sort(-expected, axis=1)[:, :20], abs=1e-5)
    assert np.take_along_axis(expected, near, axis=1) == pytest.approx(cosine, abs=1e-5)


def test_the_cosines_of_given_pairs_are_exact_in_any_order():
    vectors = world(9_000, dim=16)
    left, right = np.random.default_rng(1).integers(0, 9_000, (2, 5_000))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert cosines(vectors, left, right) == pytest.approx((unit[left] * unit[right]).sum(axis=1), abs=1e-5)


def test_a_vector_of_no_length_has_a_cosine_of_0_with_every_other():
    vectors = np.concatenate([world(10, dim=16), np.zeros((1, 16), np.float32)])
    found = cosines(vectors, np.array([10, 3, 3]), np.array([4, 10, 4]))
    assert found[:2].tolist() == [0.0, 0.0]
    assert found[2] == pytest.approx(plain_cosines(vectors[:10])[3, 4], abs=1e-5)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"F": 8, "H": 9, "preset": "paper"}, "F·H = 72 bits do not fit"),
        ({"F": 30}, "2\\^F buckets must fit"),
        ({"H": 100_000}, "outside 1 to 2048"),
        ({"recall": 1.0}, "no number of tables"),
        ({"preset": "papre"}, "'default' or 'paper'"),
        ({"top": 0}, "asks for no pairs"),
    ],
)
def test_settings_that_cannot_work_are_refused_in_one_sentence(wrong, says):
    with pytest.raises(SettingError, match=says):
        nearest_pairs(world(20), **wrong)


def test_too_few_trained_products_and_broken_vectors_are_refused():
    with pytest.raises(InputError, match="1 of 5 products were met in 2 baskets or more"):
        nearest_pairs(world(5), counts=np.array([1, 1, 9, 0, 0]))
    broken = world(5)
    broken[2, 3] = np.nan
    with pytest.raises(InputError, match=r"1 of 5 vectors are not finite \(first: row 2\)"):
        nearest_pairs(broken)
