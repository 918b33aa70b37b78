"""Association rules: the rows of mlxtend, from a frame of sets or from baskets, and bounds on both sides."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import mlxtend.frequent_patterns as mlxtend
import pandas as pd
import pytest
from mlxtend.preprocessing import TransactionEncoder

import omba
from omba.errors import InputError, SettingError, UnknownError
from omba.rules.measures import MLXTEND


def one_hot():
    """Three products that go together among others that do not."""
    rng = random.Random(1)
    baskets = []
    for _ in range(300):
        basket = {f"p{n:02}" for n in range(16) if rng.random() < 0.5 / (1 + n / 4)}
        baskets.append(sorted(basket | ({"p03", "p07", "p11"} if rng.random() < 0.3 else set())) or ["p00"])
    encoder = TransactionEncoder()
    return pd.DataFrame(encoder.fit(baskets).transform(baskets), columns=encoder.columns_)


TABLE = one_hot()


def by_sides(frame):
    """Rules in one order, since frozensets have none of their own."""
    keys = [(sorted(a), sorted(c)) for a, c in zip(frame.antecedents, frame.consequents, strict=True)]
    return frame.iloc[sorted(range(len(frame)), key=keys.__getitem__)].reset_index(drop=True)


@pytest.mark.parametrize(
    ("metric", "least"),
    [("confidence", 0.5), ("lift", 1.5), ("leverage", 0.02), ("zhangs_metric", 0.4)],
)
def test_one_changed_line_gives_the_rules_of_mlxtend(metric, least):
    frames = {}
    for library, mine in ((mlxtend, mlxtend.fpgrowth), (omba, omba.itemsets)):
        sets = mine(TABLE, min_support=0.03, use_colnames=True)
        frames[library] = library.association_rules(sets, metric=metric, min_threshold=least)
    ours, theirs = frames[omba], frames[mlxtend]
    assert list(ours.columns) == list(theirs.columns)
    assert len(ours) > 20
    pd.testing.assert_frame_equal(by_sides(ours), by_sides(theirs), rtol=1e-12)


def test_a_frame_of_mlxtend_is_as_good_as_ours_and_antecedents_fall_within_a_set():
    sets = mlxtend.apriori(TABLE, min_support=0.03, use_colnames=True)
    ours = omba.association_rules(sets, min_threshold=0.6)
    theirs = mlxtend.association_rules(sets, min_threshold=0.6)
    wholes = [a | c for a, c in zip(ours.antecedents, ours.consequents, strict=True)]
    assert wholes == [a | c for a, c in zip(theirs.antecedents, theirs.consequents, strict=True)]
    assert ours.antecedents.map(len).tolist() == theirs.antecedents.map(len).tolist()


def test_rules_straight_from_baskets_are_those_of_their_sets():
    sets = omba.itemsets(TABLE, min_support=0.03, use_colnames=True)
    for metric, least in (("confidence", 0.5), ("leverage", 0.05)):
        apart = omba.association_rules(sets, metric=metric, min_threshold=least)
        straight = omba.association_rules(
            TABLE, min_support=0.03, metric=metric, min_threshold=least, use_colnames=True
        )
        pd.testing.assert_frame_equal(straight, apart)


def test_rules_stand_in_one_order_whatever_the_hashes_of_this_run_of_python_are():
    asked = """
import omba
rows = [["tea", "milk", "bread"], ["tea", "milk", "bread", "jam"], ["tea", "jam"], ["milk", "bread", "jam", "tea"]]
rules = omba.association_rules(omba.itemsets(rows, min_count=2), min_threshold=0.1)
print([(sorted(a), sorted(c)) for a, c in zip(rules.antecedents, rules.consequents)])
"""
    told = [
        subprocess.run(
            [sys.executable, "-c", asked], env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert told[0] == told[1]
    assert told[0].count(b"tea") > 20


def test_lengths_and_products_of_either_side_are_bounds():
    everything = by_sides(omba.association_rules(TABLE, min_support=0.03, min_threshold=0.3, use_colnames=True))
    sides = list(zip(everything.antecedents, everything.consequents, strict=True))
    options = {"min_support": 0.03, "min_threshold": 0.3, "use_colnames": True}
    short = omba.association_rules(TABLE, max_consequents=1, max_antecedents=2, min_antecedents=2, **options)
    kept = everything[(everything.consequents.map(len) == 1) & (everything.antecedents.map(len) == 2)]
    pd.testing.assert_frame_equal(by_sides(short), kept.reset_index(drop=True))
    to = omba.association_rules(TABLE, antecedent=["p03"], consequent=["p07"], **options)
    kept = everything[["p03" in a and "p07" in c for a, c in sides]]
    assert len(kept)
    pd.testing.assert_frame_equal(by_sides(to), kept.reset_index(drop=True))
    without = omba.association_rules(TABLE, exclude=["p00"], **options)
    kept = everything[["p00" not in a | c for a, c in sides]]
    pd.testing.assert_frame_equal(by_sides(without), kept.reset_index(drop=True))


def test_support_only_asks_for_no_parts():
    sets = omba.itemsets(TABLE, min_support=0.05, use_colnames=True)
    longest = sets[sets.itemsets.map(len) >= 2]
    ours = omba.association_rules(longest, support_only=True, min_threshold=0.05)
    theirs = mlxtend.association_rules(longest, support_only=True, min_threshold=0.05)
    pd.testing.assert_frame_equal(by_sides(ours), by_sides(theirs))
    with pytest.raises(InputError, match="the table lacks a part of set"):
        omba.association_rules(longest, min_threshold=0.05)


def test_any_measure_can_be_the_metric_and_nothing_found_is_an_empty_frame():
    asked = {"metric": "odds_ratio", "min_threshold": 2, "return_metrics": ["lift"]}
    found = omba.association_rules(TABLE, min_support=0.05, **asked)
    assert list(found.columns) == ["antecedents", "consequents", "lift"]
    none = omba.association_rules(TABLE, min_support=0.9, min_threshold=0.99)
    assert list(none.columns) == ["antecedents", "consequents", *MLXTEND]
    assert not len(none)


def test_what_cannot_be_asked_of_rules_is_said_in_a_sentence():
    with pytest.raises(UnknownError, match="measure 'lft' is not known; did you mean 'lift'"):
        omba.association_rules(TABLE, min_support=0.1, metric="lft")
    with pytest.raises(SettingError, match="null_values"):
        omba.association_rules(TABLE, min_support=0.1, null_values=True)
    with pytest.raises(SettingError, match="3 to 2 products on a side"):
        omba.association_rules(TABLE, min_support=0.1, min_antecedents=3, max_antecedents=2)
