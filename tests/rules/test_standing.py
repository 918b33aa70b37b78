"""Rules kept current a window at a time are those that mining everything finds."""

from itertools import islice

import pytest

from omba import OMBA, Baskets, datasets, mine_rules
from omba.errors import SettingError
from omba.rules import Standing

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def days():
    return list(islice(datasets.load("ta-feng").windows("1d"), 14))


def pairs(rules):
    return {frozenset(one + other) for one, other in zip(rules.antecedents, rules.consequents, strict=True)}


def learned(days, standing):
    """The rules after the last day, kept current from the eighth on, and the model."""
    model = OMBA(dim=32, epochs=1)
    for number, day in enumerate(days):
        model.partial_fit(day)
        rules = standing.after(model, day) if number >= 7 else None
    return rules, model


@pytest.fixture(scope="module")
def week(days):
    """The rules of a first look, and the model."""
    return learned(days[:8], Standing(top=200, antecedents=1))


@pytest.fixture(scope="module")
def fortnight(days):
    """The rules six days after the look, and those that mining everything finds then."""
    rules, model = learned(days, Standing(top=200, antecedents=1))
    return rules, mine_rules(model, 200, antecedents=1, within_families=True)


def test_a_first_look_finds_what_mining_finds(week):
    rules, model = week

    assert rules.to_pandas().equals(mine_rules(model, 200, antecedents=1, within_families=True).to_pandas())


def test_days_after_a_look_nearly_all_rules_are_those_of_mining_everything(fortnight):
    rules, wanted = fortnight

    assert len(pairs(rules) & pairs(wanted)) >= 190
    both = rules.to_pandas().merge(wanted.to_pandas(), on=["antecedents", "consequents"], suffixes=("", "_wanted"))
    assert (both["count"] == both["count_wanted"]).all()
    assert (both["expected_lift_low"] == both["expected_lift_low_wanted"]).all()


def test_pairs_bought_since_the_look_are_among_the_rules(week, fortnight):
    (before, _), (after, wanted) = week, fortnight

    new = pairs(after) - pairs(before)
    assert new & pairs(wanted)


def test_a_look_is_due_every_so_many_windows(days):
    standing = Standing(top=200, every=1, antecedents=1)
    _, model = learned(days[:8], standing)
    for day in days[8:]:
        model.partial_fit(day)
    wanted = mine_rules(model, 200, antecedents=1, within_families=True).to_pandas()

    narrow, wide = (standing.after(model, days[-1]).to_pandas() for _ in range(2))

    assert not narrow.equals(wanted), "pairs of days it was not told of cannot be known yet"
    assert wide.equals(wanted)


def test_larger_rules_grow_from_standing_pairs_too(days):
    rules, _ = learned(days, Standing(top=400, antecedents=2))

    assert any(len(one) == 2 for one in rules.antecedents)


def test_where_few_pairs_were_bought_together_the_nearest_fill_up_the_table():
    model, day = OMBA(dim=8), Baskets.from_lists([["a", "b"], ["b", "c"], ["c", "d"], ["a", "d"]] * 3)
    model.partial_fit(day)

    rules = Standing(top=6, antecedents=1).after(model, day)

    assert rules.to_pandas().equals(mine_rules(model, 6, antecedents=1).to_pandas())
    assert "unseen" in rules["status"]


@pytest.mark.parametrize("wrong", [{"top": 0}, {"every": 0}, {"antecedents": 0}])
def test_what_cannot_stand_is_refused(wrong):
    with pytest.raises(SettingError):
        Standing(**wrong)
