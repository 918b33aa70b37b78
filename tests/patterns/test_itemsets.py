"""Itemsets: against their definition, against mlxtend row by row, from every source, in bounded memory."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.frequent_patterns import apriori, fpgrowth
from mlxtend.preprocessing import TransactionEncoder
from scipy.sparse import csr_matrix

import omba
from itemset_oracle import closed, frequent, maximal
from omba.errors import InputError, SettingError, UnknownError
from omba.patterns import find_itemsets, kernels

BASKETS = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=8), min_size=1, max_size=40)


def world(baskets=300, products=24, seed=0, often=0.5):
    """Baskets with a few sets that go together, and noise."""
    rng = random.Random(seed)
    names = [f"p{number:02}" for number in range(products)]
    out = []
    for _ in range(baskets):
        basket = {name for number, name in enumerate(names) if rng.random() < often / (1 + number / 4)}
        if rng.random() < 0.3:
            basket |= {"p03", "p07", "p11"}
        out.append(sorted(basket) or ["p00"])
    return out


def one_hot(baskets):
    encoder = TransactionEncoder()
    return pd.DataFrame(encoder.fit(baskets).transform(baskets), columns=encoder.columns_)


def as_sets(found):
    return {frozenset(products): count for products, count in found}


@settings(max_examples=60, deadline=None)
@given(BASKETS, st.integers(1, 6), st.sampled_from([None, 1, 2, 3]))
def test_all_kinds_are_what_their_definitions_say(baskets, least, longest):
    every = frequent(baskets, least)
    for kind, expected in (("frequent", every), ("closed", closed(every)), ("maximal", maximal(every))):
        found = find_itemsets(baskets, min_count=least, kind=kind, max_len=longest)
        assert as_sets(found) == {items: n for items, n in expected.items() if len(items) <= (longest or 99)}


@settings(max_examples=30, deadline=None)
@given(BASKETS, st.integers(1, 4))
def test_what_must_and_must_not_be_in_leaves_the_sets_that_have_it_so(baskets, least):
    every = frequent(baskets, least)
    must, must_not = baskets[0][0], baskets[-1][-1]
    for kind, of in (("frequent", every), ("closed", closed(every)), ("maximal", maximal(every))):
        found = find_itemsets(baskets, min_count=least, kind=kind, include=[must])
        assert as_sets(found) == {items: n for items, n in of.items() if must in items}
    found = find_itemsets(baskets, min_count=least, exclude=[must_not])
    assert as_sets(found) == {items: n for items, n in every.items() if must_not not in items}


@pytest.mark.parametrize("cost", [0.0, 1e9])
def test_dense_and_sparse_searches_find_the_same(cost, monkeypatch):
    baskets = world(400, 30, seed=3)
    before = as_sets(find_itemsets(baskets, min_count=8, threads=1))
    monkeypatch.setattr(kernels, "WORD_COST", cost)
    assert as_sets(find_itemsets(baskets, min_count=8, threads=1)) == before


@pytest.mark.parametrize("options", [{}, {"use_colnames": True}, {"use_colnames": True, "max_len": 2}])
def test_the_frame_is_that_of_mlxtends_apriori_row_by_row(options):
    table = one_hot(world())
    ours = omba.itemsets(table, min_support=0.05, **options)
    theirs = apriori(table, min_support=0.05, **options)
    pd.testing.assert_frame_equal(ours, theirs.reset_index(drop=True), check_exact=True)


def test_a_support_is_compared_as_mlxtend_compares_it():
    table = one_hot(world(250))
    for support in (0.1, 0.3, 1 / 3, 29 / 250, 0.116):
        ours = omba.itemsets(table, min_support=support)
        assert set(ours.itemsets) == set(fpgrowth(table, min_support=support).itemsets)


def test_every_source_gives_the_same_sets(tmp_path):
    baskets = world()
    table = one_hot(baskets)
    expected = as_sets(find_itemsets(baskets, min_count=20))
    path = tmp_path / "sales.csv"
    omba.Baskets.from_lists(baskets).write(path)
    sources = [
        omba.Baskets.from_lists(baskets), omba.stream_baskets(baskets, every=100), path, table, table.astype(int),
        table.astype(pd.SparseDtype(bool, False)), pl.DataFrame(table), pl.LazyFrame(table), iter(baskets),
    ]  # fmt: skip
    for source in sources:
        assert as_sets(find_itemsets(source, min_count=20)) == expected
    names = {frozenset(table.columns.get_loc(name) for name in items): n for items, n in expected.items()}
    for source in (csr_matrix(table.to_numpy()), table.to_numpy(), np.asfortranarray(table.to_numpy(int))):
        assert as_sets(find_itemsets(source, min_count=20)) == names


def test_top_finds_its_threshold_by_itself():
    baskets = world()
    counts = sorted(as_sets(find_itemsets(baskets, min_count=2)).values(), reverse=True)
    for top in (1, 10, 200, 2000):
        found = find_itemsets(baskets, top=top)
        assert [count for _, count in found] == counts[:top]
    assert len(omba.itemsets(baskets, top=7, kind="closed")) == 7
    assert omba.itemsets(baskets, top=7, min_len=3).itemsets.map(len).min() == 3
    assert len(find_itemsets(baskets, top=10**6)) < 10**6


def test_a_threshold_that_does_not_fit_is_told_with_one_that_does():
    baskets = world(400, 40, often=0.9)
    with pytest.raises(InputError, match=r"do not fit in 0.001 GB: min_count=(\d+)") as refused:
        omba.itemsets(baskets, min_count=5, memory=10**6)
    fitting = int(str(refused.value).split("min_count=")[1].split()[0])
    found = omba.itemsets(baskets, min_count=fitting, memory=10**6)
    assert len(found) > 100
    with pytest.raises(InputError, match="do not fit"):
        omba.itemsets(baskets, min_count=fitting - max(2, fitting // 5), memory=10**6)


def test_a_search_that_is_ended_gives_what_is_proven_and_says_so():
    baskets = world(400, 40)
    whole = as_sets(find_itemsets(baskets, min_count=5))
    told = []

    def progress(share, sets):
        told.append((share, sets))
        return len(told) < 5

    found = omba.itemsets(baskets, min_count=5, progress=progress, threads=1)
    assert not found.attrs["complete"]
    assert 0 < len(found) < len(whole)
    assert all(whole[items] / 400 == support for items, support in zip(found.itemsets, found.support, strict=True))


def test_an_interrupt_gives_what_is_proven():
    calls = []

    def progress(share, sets):
        calls.append(share)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return True

    found = find_itemsets(world(400, 40), min_count=5, progress=progress, threads=2)
    assert not found.complete
    assert "incomplete" in repr(found)


def test_progress_ends_at_the_whole():
    shares = []
    assert find_itemsets(world(), min_count=5, progress=lambda share, sets: shares.append(share)).complete
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)


def test_a_branch_that_needs_more_room_than_there_is_gets_it(monkeypatch):
    baskets = world(200, 30, often=0.9)
    whole = as_sets(find_itemsets(baskets, min_count=10))
    monkeypatch.setattr("omba.patterns.miner.ROOM", 3)
    assert as_sets(find_itemsets(baskets, min_count=10)) == whole


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"min_support": 0.1, "top": 5}, SettingError, "min_support and top say different things"),
        ({"min_support": 2}, SettingError, "min_support=2 is a share"),
        ({"min_count": 0}, SettingError, "min_count=0 is none"),
        ({"kind": "open"}, SettingError, "kind='open' is not known"),
        ({"max_len": 0}, SettingError, "sets of 1 to 0 products are none"),
        ({"kind": "maximal", "top": 3}, SettingError, "depend on a threshold"),
        ({"include": ["p0x"]}, UnknownError, "'p0x' is in no basket; did you mean"),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_sentence(options, error, sentence):
    with pytest.raises(error, match=sentence):
        omba.itemsets(world(), **options)


def test_other_frames_hold_the_sets_as_lists():
    found = find_itemsets(world(), min_count=50)
    assert found.to_polars()["itemsets"].to_list() == found.lists()
    assert found.to_arrow()["count"].to_pylist() == found.count.tolist()
