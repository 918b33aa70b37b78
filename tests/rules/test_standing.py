"""Rules kept current a window at a time are those that mining everything finds."""

from itertools import islice

import numpy as np
import pytest

from omba import OMBA, Baskets, datasets, mine_rules
from omba.errors import SettingError
from omba.rules import Standing, standing
from omba.rules.filter import Filter
from omba.rules.from_model import mining_input
from omba.rules.scope import Scope
from omba.rules.table import build_table

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


def strong_pairs():
    """Windows of a shop in which every second product is often bought with the one before it."""
    rng = np.random.default_rng(0)
    bought = rng.random((4_000, 60)) < 0.05
    both = rng.random((4_000, 30)) < 0.03
    bought[:, ::2] |= both
    bought[:, 1::2] |= both
    rows = [[f"p{k:02}" for k in np.flatnonzero(row)] or ["p00"] for row in bought]
    return [Baskets.from_lists(rows[first : first + 500]) for first in range(0, 4_000, 500)]


def test_pairs_whose_counts_promise_too_little_are_not_scored_and_would_not_be_among_the_rules(monkeypatch):
    scored, score = [], standing._score
    monkeypatch.setattr(
        standing, "_score", lambda given, some, *rest: scored.append(len(some[0])) or score(given, some, *rest)
    )
    monkeypatch.setattr(standing, "POOL", 20)
    model, some, all_of_them = OMBA(dim=8, epochs=1), Standing(20, antecedents=1), Standing(20, antecedents=1)
    for window in strong_pairs():
        model.partial_fit(window)
        all_of_them._bar = 0.0
        found = [one.after(model, window) for one in (some, all_of_them)]

    assert some._bar > 1
    assert scored[-2] < 0.2 * scored[-1]
    assert found[0].to_pandas().equals(found[1].to_pandas())


def test_many_pairs_are_scored_as_mining_does_and_a_few_at_once_with_the_same_rules(days, monkeypatch):
    model, some, others = OMBA(dim=32, epochs=1), Standing(top=200, antecedents=1), Standing(top=200, antecedents=1)
    for day in days[:9]:
        model.partial_fit(day)
        found = some.after(model, day)
        with monkeypatch.context() as patched:
            patched.setattr(standing, "FEW", 0)
            wanted = others.after(model, day)

    assert found.to_pandas().equals(wanted.to_pandas())


def test_pairs_looked_at_in_one_part_or_in_three_make_the_same_rules(days, monkeypatch):
    model, one, three = OMBA(dim=32, epochs=1), Standing(top=200, antecedents=1), Standing(top=200, antecedents=1)
    for day in days[:9]:
        model.partial_fit(day)
        found = []
        for standing_rules, parts in ((one, 1), (three, 3)):
            with monkeypatch.context() as patched:
                patched.setattr(standing, "threads", lambda parts=parts: parts)
                found.append(standing_rules.after(model, day))

    assert found[0].to_pandas().equals(found[1].to_pandas())


def test_rules_of_pairs_do_not_wait_for_sets_of_three(days, monkeypatch):
    model, one = OMBA(dim=32, epochs=1), Standing(top=200, antecedents=1)
    for day in days[:8]:
        one.after(model.partial_fit(day), day)
    model.partial_fit(days[8])
    monkeypatch.setattr(OMBA, "sets", property(lambda model: pytest.fail("sets were waited for")))

    assert len(one.after(model, days[8])) == 200


def test_collisions_are_those_of_the_vectors_that_the_table_was_made_of(days):
    tables = []
    for later in (False, True):
        model, one = OMBA(dim=32, epochs=1), Standing(top=200, antecedents=1)
        for day in days[:8]:
            table = one.after(model.partial_fit(day), day)
        if later:
            model.partial_fit(days[8])
        tables.append(table.head(50)["collisions"].tolist())

    assert tables[0] == tables[1]
    assert max(tables[0]) > 0


def test_where_too_much_was_asked_of_a_pair_all_are_scored(days):
    model, some, plain = OMBA(dim=32, epochs=1), Standing(top=200, antecedents=1), Standing(top=200, antecedents=1)
    for day in days[:9]:
        model.partial_fit(day)
        found = [one.after(model, day) for one in (some, plain)]
        some._bar = 1e6

    assert found[0].to_pandas().equals(found[1].to_pandas())


def test_sets_of_three_that_stood_at_the_last_look_are_tested_again():
    rng = np.random.default_rng(1)
    bought = rng.random((3_000, 30)) < np.linspace(0.3, 0.1, 30)
    bought[:, 2] |= bought[:, 0] & bought[:, 1] & (rng.random(3_000) < 0.5)
    rows = [[f"p{k:02}" for k in np.flatnonzero(row)] or ["p00"] for row in bought]
    standing, model = Standing(top=100), OMBA(dim=8, epochs=1)
    windows = [Baskets.from_lists(rows[first : first + 750]) for first in range(0, 3_000, 750)]
    for window in windows:
        rules = standing.after(model.partial_fit(window), window)

    larger, wanted = (found.filter(length=3) for found in (rules, mine_rules(model, 100)))
    assert standing._age > 0, "this was no look over everything"
    assert len(larger) >= 1
    assert larger[0].count == wanted[0].count == sum({"p00", "p01", "p02"} <= {*row} for row in rows)


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


def test_the_first_of_a_table_are_those_of_the_whole_table(week):
    given = mining_input(week[1])
    scope, hashing = Scope.of(given, Filter(), 2), given.choose()
    pairs = standing.best_observed(given, scope, "expected_lift_low", 300)[0]
    parts = [pairs.take(np.arange(0, 300, 2)), pairs.take(np.arange(1, 300, 2))]

    whole, first = build_table(given, parts, hashing), build_table(given, parts, hashing, most=40)

    assert first.to_pandas().equals(whole.head(40).to_pandas())
