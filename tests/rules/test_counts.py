"""Exact counts, against counting by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omba.baskets import Baskets
from omba.errors import InputError
from omba.rules import counts as module
from omba.rules.counts import Counts

baskets_of_letters = st.lists(
    st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True), min_size=1, max_size=30
)


def by_hand(lists: list[list[str]], size: int) -> Counter[frozenset[str]]:
    return Counter(frozenset(items) for basket in lists for items in combinations(sorted(set(basket)), size))


def random_lists(baskets: int, products: int, seed: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, products + 1)
    popularity /= popularity.sum()
    sizes = 1 + rng.poisson(4, baskets)
    return [rng.choice(products, min(size, products), replace=False, p=popularity).tolist() for size in sizes]


@given(baskets_of_letters)
def test_products_pairs_and_larger_sets_are_counted_as_by_hand(lists):
    baskets = Baskets.from_lists(lists)
    counts, labels = Counts.of(baskets), list(baskets.product_vocabulary)
    assert counts.n_baskets == len(lists)
    for size in (1, 2, 3, 4):
        expected = by_hand(lists, size)
        sets = list(combinations(range(len(labels)), size))
        found = counts.itemsets(np.array(sets, np.int64).reshape(-1, size))
        assert found.tolist() == [expected[frozenset(labels[row] for row in rows)] for rows in sets]
    single = by_hand(lists, 1)
    assert counts.counts.tolist() == [single[frozenset([label])] for label in labels]


@given(baskets_of_letters, st.integers(1, 4))
def test_all_pairs_that_occur_are_found_once_with_their_counts(lists, least):
    baskets = Baskets.from_lists(lists)
    labels = list(baskets.product_vocabulary)
    left, right, count = Counts.of(baskets).observed(least)
    assert (left < right).all()
    found = {frozenset((labels[a], labels[b])): n for a, b, n in zip(left, right, count.tolist(), strict=True)}
    assert found == {pair: n for pair, n in by_hand(lists, 2).items() if n >= least}
    assert len(found) == len(left)


def test_counting_block_by_block_changes_nothing(monkeypatch):
    counts = Counts.of(Baskets.from_lists(random_lists(400, 60)))
    whole = counts.observed()
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", 50)
    blocks = list(counts.pair_blocks())
    assert len(blocks) > 10
    assert all((a == b).all() for a, b in zip(whole, counts.observed(), strict=True))


def test_counting_from_a_file_when_memory_is_short_changes_nothing():
    baskets = Baskets.from_lists(random_lists(400, 60))
    small, large = Counts.of(baskets, memory=100), Counts.of(baskets)
    assert isinstance(small.postings.base, np.memmap) or isinstance(small.postings, np.memmap)
    assert all((a == b).all() for a, b in zip(small.observed(), large.observed(), strict=True))


def test_a_slice_of_baskets_is_counted_alone():
    lists = random_lists(300, 30)
    part = Baskets.from_lists(lists).slice(100, 200)
    again = Counts.of(Baskets.from_lists(lists[100:200]), list(part.product_vocabulary))
    assert Counts.of(part).counts.tolist() == again.counts.tolist()
    assert {*zip(*map(list, Counts.of(part).observed()), strict=True)} == {
        *zip(*map(list, again.observed()), strict=True)
    }


def test_counts_follow_the_labels_of_the_model_and_pass_over_other_products():
    counts = Counts.of(Baskets.from_lists([["a", "x", "b"], ["b", "a"], ["x"]]), ["b", "c", "a"])
    assert counts.counts.tolist() == [2, 0, 2]
    assert counts.pairs([0, 1], [2, 2]).tolist() == [2, 0]
    assert counts.n_baskets == 3


def test_evidence_that_shares_no_product_with_the_model_is_refused():
    with pytest.raises(InputError, match="none of the 2 products in the evidence is among the 1 products"):
        Counts.of(Baskets.from_lists([["a", "b"]]), ["c"])


def test_the_baskets_of_one_product_are_a_world_of_their_own():
    lists = random_lists(300, 25)
    baskets = Baskets.from_lists(lists)
    labels = list(baskets.product_vocabulary)
    within = Counts.of(baskets).within(3)
    own = [[p for p in basket if p != labels[3]] for basket in lists if labels[3] in basket]
    assert within.n_baskets == len(own)
    expected = by_hand([[str(p) for p in basket] for basket in own], 2)
    left, right, count = within.observed()
    found = {
        frozenset((str(labels[a]), str(labels[b]))): n for a, b, n in zip(left, right, count.tolist(), strict=True)
    }
    assert found == dict(expected)


def test_no_baskets_and_no_itemsets_are_counted_too():
    counts = Counts.of(Baskets.from_lists([]))
    assert (counts.n_baskets, len(counts.observed()[0]), len(counts.itemsets(np.empty((0, 2))))) == (0, 0, 0)
