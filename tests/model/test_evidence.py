"""Evidence: exact counts of products, bounded counts of pairs, in memory that does not grow."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omba.errors import SettingError
from omba.model import counting
from omba.model import evidence as module
from omba.model.evidence import Evidence

Lists = list[list[int]]


def columns(lists: Lists) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return offsets, np.array([product for basket in lists for product in basket], np.int32)


def counted(lists: Lists, pairs: int = 10_000, every: int = 50) -> Evidence:
    evidence = Evidence(pairs)
    for start in range(0, len(lists), every):
        evidence.update(*columns(lists[start : start + every]))
    return evidence


def plain(lists: Lists) -> Counter[tuple[int, int]]:
    """The obvious way to count pairs."""
    return Counter(pair for basket in lists for pair in combinations(sorted(basket), 2))


def world(baskets: int, products: int, seed: int = 0) -> Lists:
    """Baskets of about 8 products, some products far more popular than others."""
    rng = np.random.default_rng(seed)
    return [np.unique((products * rng.random(rng.integers(2, 15)) ** 3).astype(int)).tolist() for _ in range(baskets)]


def asked(evidence: Evidence, pairs: list[tuple[int, int]]) -> list[int]:
    a, b = np.array(pairs, np.int32).T
    return evidence.pairs(a, b).tolist()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sets(st.integers(0, 40), max_size=9).map(sorted), max_size=60))
def test_counts_are_those_of_counting_by_hand(lists: Lists) -> None:
    evidence, expected = counted(lists, every=7), plain(lists)
    assert evidence.n_baskets == len(lists)
    products = Counter(product for basket in lists for product in basket)
    assert evidence.counts.tolist() == [products[row] for row in range(len(evidence.counts))]
    a, b, n = evidence.observed()
    assert dict(zip(zip(a.tolist(), b.tolist(), strict=True), n.tolist(), strict=True)) == dict(expected)
    assert evidence.error == 0


def test_a_pair_is_found_in_either_order_and_unknown_pairs_count_nothing() -> None:
    evidence = counted([[3, 7], [3, 7], [1, 3]])
    assert evidence.pairs([3, 7, 1], [7, 3, 7]).tolist() == [2, 2, 0]
    assert evidence.seen([3, 1], [7, 7]).tolist() == [True, False]


def test_partners_come_with_the_most_frequent_first() -> None:
    rows, counts = counted([[0, 1], [0, 2], [0, 2], [1, 2]]).partners(0)
    assert rows.tolist() == [2, 1]
    assert counts.tolist() == [2, 1]


def test_only_pairs_counted_often_enough_are_observed() -> None:
    a, b, n = counted([[0, 1], [0, 2], [0, 2]]).observed(minimum=2)
    assert (a.tolist(), b.tolist(), n.tolist()) == ([0], [2], [2])


def test_a_full_table_keeps_its_promise_about_every_pair() -> None:
    lists = world(12_000, 1_500)
    evidence, expected = counted(lists), plain(lists)
    assert len(expected) > 5 * evidence.capacity
    pairs = list(expected)
    missing = np.array([expected[pair] for pair in pairs]) - asked(evidence, pairs)
    assert missing.min() >= 0
    assert 0 < missing.max() <= evidence.error
    assert evidence.n_pairs <= evidence.capacity
    often = [pair for pair in pairs if expected[pair] > 3 * evidence.error]
    assert len(often) > 50
    assert np.mean(np.array([expected[pair] for pair in often]) == asked(evidence, often)) > 0.75


def test_a_pair_let_go_is_still_known_as_seen() -> None:
    lists = world(3_000, 1_500)
    evidence, expected = counted(lists, pairs=20_000), plain(lists)
    a, b = np.array(list(expected), np.int32).T
    assert evidence.pairs(a, b).min() == 0
    assert evidence.seen(a, b).all()
    never = [(i, j) for i, j in combinations(range(1_000, 1_200), 2) if (i, j) not in expected]
    a, b = np.array(never, np.int32).T
    assert evidence.seen(a, b).mean() < 0.05


def test_a_pair_that_is_truly_new_is_counted_exactly_after_others_were_let_go() -> None:
    evidence = counted(world(6_000, 1_500), pairs=20_000)
    assert evidence.let_go > 0
    for _ in range(3):
        evidence.update(*columns([[5_000, 5_001]]))
    assert evidence.pairs(5_000, 5_001) == 3


def test_memory_stays_the_same_however_long_the_stream() -> None:
    evidence = counted(world(4_000, 1_500))
    before = evidence.nbytes
    for seed in range(1, 6):
        evidence.update(*columns(world(4_000, 1_500, seed)))
    assert evidence.nbytes <= before


@pytest.mark.slow
def test_baskets_of_hundreds_of_products_are_counted_whole() -> None:
    rng = np.random.default_rng(0)
    baskets = [rng.choice(1_500, size, replace=False).tolist() for size in (301, 600, 1_114, 40, 2)]
    evidence = counted(baskets, pairs=2_000_000)
    a, b, n = evidence.observed()
    truth = Counter(pair for basket in baskets for pair in combinations(sorted(basket), 2))
    assert dict(zip(zip(a.tolist(), b.tolist(), strict=True), n.tolist(), strict=True)) == truth
    assert evidence.error == 0
    assert evidence.exact(a, b).all()


def test_a_count_is_known_as_exact_or_as_a_lower_bound() -> None:
    baskets = world(6_000, 1_500)
    evidence = counted(baskets, pairs=20_000)
    truth = Counter(pair for basket in baskets for pair in combinations(sorted(basket), 2))
    a, b = np.array(list(truth)).T
    n = np.array(list(truth.values()))
    least, most, exact = evidence.pairs(a, b), evidence.at_most(a, b), evidence.exact(a, b)
    assert ((least <= n) & (n <= most) & (most <= least + evidence.error)).all()
    assert (least[exact] == n[exact]).all()
    assert 0 < exact.sum() < len(exact)
    assert evidence.exact(5_000, 5_001), "products that never came were never seen together"
    evidence.update(*columns([list(range(module.LARGEST + 1))]))
    assert not evidence.exact(a, b).any(), "a basket of which only a part was paired may hide any pair"


def test_a_giant_basket_is_paired_in_part_and_the_error_says_so() -> None:
    evidence = Evidence()
    evidence.update(*columns([list(range(5_000)), [0, 1]]))
    assert evidence.counts[:5_000].sum() == 5_002
    assert evidence.n_pairs <= module.LARGEST * (module.LARGEST - 1) // 2 + 1
    a, _, n = evidence.observed()
    assert len(np.unique(a)) > module.LARGEST - 5
    assert evidence.oversized == evidence.error == 1
    assert n.max() <= 2


@pytest.mark.parametrize("pairs", [10_000, 4_000_000])
def test_evidence_saved_and_restored_goes_on_to_the_very_same_state(pairs: int) -> None:
    lists = world(6_000, 1_500)
    whole = counted(lists, pairs)
    half = Evidence.from_state(counted(lists[:3_000], pairs).state())
    for start in range(3_000, 6_000, 50):
        half.update(*columns(lists[start : start + 50]))
    first, second = whole.state(), half.state()
    assert first.keys() == second.keys()
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert half.n_pairs == whole.n_pairs


def test_a_table_too_small_is_refused_with_its_bound() -> None:
    with pytest.raises(SettingError, match="10,000"):
        Evidence(10)


def test_ever_new_pairs_do_not_raise_the_error() -> None:
    evidence = Evidence(10_000)
    for first in range(0, 12_000, 8):
        evidence.update(*columns([list(range(first, first + 8))]))
    assert evidence.let_go == 1


def test_pairs_drawn_are_the_same_wherever_they_stand_in_the_table() -> None:
    evidence = counted(world(3_000, 800), pairs=200_000)
    drawn = evidence.draw(2_000, 5, 3, 100)
    again = Evidence.from_state(evidence.state()).draw(2_000, 5, 3, 100)
    assert all(np.array_equal(some, others) for some, others in zip(drawn[:2], again[:2], strict=True))
    assert np.array_equal(np.sort(drawn[2]), np.sort(again[2]))
    assert not np.array_equal(drawn[0][:100], evidence.draw(2_000, 6, 3, 100)[0][:100])


def test_pairs_are_drawn_alike_those_met_often_and_the_strongest_of_them() -> None:
    evidence = counted(world(3_000, 800), pairs=200_000)
    some, often, best = evidence.draw(2_000, 5, 3, 100)
    a, b, count = evidence.observed(3)
    keys = counting.pack_pairs(a, b)
    sure = (count - 2 * np.sqrt(count)) / (evidence.counts[a] * evidence.counts[b])
    assert len(some) == pytest.approx(2_000, rel=0.2)
    assert len(often) == min(2_000, len(keys)) == len(np.unique(often))
    assert np.isin(often, keys).all()
    assert len(np.unique(best)) == 100
    assert sure[np.isin(keys, best)].min() >= np.sort(sure)[-100]
    # Their first are drawn alike too: neither by row, nor by how often they were met.
    places = np.searchsorted(np.sort(keys), often[:500]) / len(keys)
    assert places.mean() == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("held", [0, 1, 40, 3_000])
def test_held_pairs_are_counted_as_the_obvious_way_does(held: int) -> None:
    rng, lists = np.random.default_rng(held), world(400, 300)
    a, b = np.sort(rng.integers(0, 300, (2, held)).astype(np.int32), axis=0)
    keys = np.unique(counting.pack_pairs(a[a != b], b[a != b]))
    table = module.empty_table(2 * len(keys) + 1)
    counting.insert(keys, np.arange(len(keys), dtype=np.uint64), table)
    later, sold = np.zeros(len(keys), np.int64), np.zeros(250, np.int64)

    assert counting.count_held(*columns(lists), 2_000, table, later, sold) == 400

    known = plain([[product for product in basket if product < 250] for basket in lists])
    left, right = counting.left_of(keys).tolist(), counting.right_of(keys).tolist()
    inside = [k for k in range(len(keys)) if right[k] < 250]
    assert later[inside].tolist() == [known[left[k], right[k]] for k in inside]
    assert sold.tolist() == [sum(row in basket for basket in lists) for row in range(250)]


def test_what_is_let_go_does_not_depend_on_how_many_counts_are_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = world(6_000, 1_500)
    usual = counted(lists)
    monkeypatch.setattr(module, "SMALL_COUNTS", 2)
    other = counted(lists)
    assert usual.let_go > 0
    for name, array in usual.state().items():
        assert np.array_equal(array, other.state()[name]), name


def test_pairs_come_in_order_however_many_products_there_are() -> None:
    evidence = counted(world(2_000, 300))
    left, right, count = evidence.observed(2)
    keys = left.astype(np.int64) * 300 + right
    assert (np.diff(keys) > 0).all()
    assert count.min() >= 2
    usual = evidence.observed(2)
    evidence._rows = 1 << 31  # rows and slots no longer fit into one number
    for mine, theirs in zip(usual, evidence.observed(2), strict=True):
        assert np.array_equal(mine, theirs)


def test_what_may_have_been_missed_comes_with_the_pairs() -> None:
    evidence = counted(world(6_000, 1_500))
    left, right, count, missed = evidence.pair_bounds()
    assert missed.max() > 0
    assert np.array_equal(evidence.at_most(left, right), count + missed)
