"""Families: variants of one thing and sets sold as one, by names and by what is bought together."""

import numpy as np
import pytest

from omba.assortment.families import find_families
from omba.assortment.name_groups import NameGroups

NONE = (np.zeros(0, np.int64),) * 3


def families(names, categories=None, counts=None, pairs=(), baskets=1000, vectors=None):
    """Families as sets of names."""
    counts = np.full(len(names), 20) if counts is None else np.array(counts)
    observed = tuple(np.array(column, np.int64) for column in zip(*sorted(pairs), strict=True)) if pairs else NONE
    vectors = np.zeros((len(names), 2)) if vectors is None else np.array(vectors, float)
    groups = NameGroups(names, categories or [None] * len(names))
    found = find_families(groups, names, names, counts, observed, baskets, vectors)
    return [{names[row] for row in rows} for rows in found.members], found


@pytest.mark.parametrize(
    "names",
    [
        ["DOOR SIGN No 0", "DOOR SIGN No 1", "DOOR SIGN No 2"],
        ["RED LEATHER PURSE", "PURSE LEATHER BLUE"],
        ["SPOTTY BOWL SMALL", "SPOTTY BOWL LARGE", "SPOTTY BOWLS 20CM"],
    ],
)
def test_names_alike_but_for_colours_sizes_and_numbers_are_a_family_though_nobody_bought_both(names):
    found, _ = families([*names, "TEA TOWEL", "RED TELEPHONE"])

    assert found == [set(names)]


def test_a_numbering_of_the_whole_shop_is_no_family():
    assert families([f"product {number}" for number in range(200)])[0] == []
    assert families([f"p{number}" for number in range(20)])[0] == []


def test_names_alike_but_for_one_word_are_a_family_only_if_they_are_bought_together_or_alike():
    names = ["HOME BUILDING BLOCK", "LOVE BUILDING BLOCK", "TEA TOWEL"]

    assert families(names)[0] == []
    assert families(names, pairs=[(0, 1, 6)])[0] == [set(names[:2])]
    assert families(names, vectors=[[1, 0], [1, 0.2], [0, 1]])[0] == [set(names[:2])]


def test_a_different_kind_of_thing_in_one_design_is_no_variant_unless_it_is_sold_as_a_set():
    names = ["WOODLAND PARTY CUP", "WOODLAND PARTY PLATE"]

    assert families(names, pairs=[(0, 1, 1)])[0] == []
    assert families(names, pairs=[(0, 1, 15)])[0] == [set(names)]


def test_products_bought_together_that_share_no_word_are_no_family():
    assert families(["PASTA", "TOMATO SAUCE"], pairs=[(0, 1, 19)])[0] == []


def test_products_of_two_categories_are_no_family():
    names = ["LEMON LARGE", "LEMON SMALL"]

    assert families(names, ["fruit", "paint"])[0] == []
    assert families(names, ["fruit", "fruit"])[0] == [set(names)]


def test_a_chain_of_neighbours_is_not_taken_for_a_family():
    names = ["OAK GARDEN BENCH", "GARDEN BENCH COVER", "COVER WINTER GREEN HOUSE", "WINTER HOUSE PLANT"]
    found, _ = families(names, pairs=[(0, 1, 12), (1, 2, 12), (2, 3, 12)])

    assert max(map(len, found)) == 2


def test_a_family_is_called_by_what_its_members_share():
    _, found = families(["DOOR SIGN No 0", "DOOR SIGN No 1", "DOOR SIGN No 2", "TEA TOWEL"])

    assert found.names == ["DOOR SIGN No 0–2"]
    assert found.of_row(3) is None
    assert found.table().to_pylist()[0]["size"] == 3


def test_those_that_sell_most_come_first():
    _, found = families(["RED PURSE", "BLUE PURSE", "BIG KETTLE", "SMALL KETTLE"], counts=[3, 4, 50, 60])

    assert found.names == ["KETTLE SMALL, BIG", "PURSE BLUE, RED"]
    assert found.family.tolist() == [1, 1, 0, 0]


def test_products_without_names_are_a_set_only_within_a_category():
    names, pairs = ["p1", "p2"], [(0, 1, 18)]

    assert families(names, pairs=pairs)[0] == []
    assert families(names, ["fruit", "fruit"], pairs=pairs)[0] == [{"p1", "p2"}]


def test_where_customers_are_known_enough_of_them_must_buy_both():
    groups = NameGroups(["p1", "p2"], ["fruit", "fruit"])
    observed = tuple(np.array([one]) for one in (0, 1, 6))

    def found(customers):
        buyers = lambda a, b: np.full(len(a), customers)  # noqa: E731
        return len(find_families(groups, "ab", "ab", np.array([20, 20]), observed, 1000, np.zeros((2, 2)), buyers))

    assert (found(4), found(5)) == (0, 1)
