"""Lines: rules between families, one for each, from a model that has learned a shop with variants."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.rules import Filter, between
from omba.rules.family_lines import family_lines
from omba.rules.from_model import mining_input
from omba.rules.mine import mine

START = np.datetime64("2021-03-01")
SIGNS = [f"DOOR SIGN {number}" for number in range(5)]
APRONS = ["RED APRON", "BLUE APRON"]


@pytest.fixture(scope="module")
def model():
    """Signs are bought together, aprons too, and an apron with a sign; forty other products at random."""
    random = np.random.default_rng(3)
    baskets = []
    for number in range(900):
        basket = [f"{chr(97 + k % 26)}{chr(97 + k // 26)}xyz" for k in random.choice(40, 3, replace=False)]
        if number % 9 == 0:
            basket += [*random.choice(SIGNS, 3, replace=False), random.choice(APRONS)]
        if number % 10 == 1:
            basket += APRONS
        if number % 12 == 2:
            basket += ["PASTA", "SAUCE"]
        baskets.append(basket)
    return omba.OMBA(dim=16, epochs=2, clues=False).fit(omba.Baskets.from_lists(baskets), every=300)


def products(rule):
    return {*rule.antecedents, *rule.consequents}


def test_by_default_rules_are_between_families_and_a_family_has_one_line(model):
    rules = list(omba.mine_rules(model, top=5))

    assert not any(products(rule) <= {*SIGNS} or products(rule) <= {*APRONS} for rule in rules)
    for family in (SIGNS, APRONS):
        assert sum(not products(rule).isdisjoint(family) for rule in rules) == 1
    assert any(products(rule) == {"PASTA", "SAUCE"} for rule in rules)


def test_a_product_without_variants_has_two_lines_at_most_in_a_list_of_everything(model):
    lines = Counter(label for rule in omba.mine_rules(model, top=40) for label in products(rule))
    asked = omba.mine_rules(model, top=10, where=Filter(product="PASTA"))

    assert max(lines.values()) == 2
    assert len(asked) > 2, "who asks for a product gets all of its lines"


def test_a_line_goes_to_what_is_likely_to_hold_and_lines_stand_by_the_low_end():
    baskets: list[list[str]] = []
    times: list[int] = []
    for day in range(240):
        held = [[f"{chr(97 + k % 20)}xy"] for k in range(day, day + 8)]
        if day % 4 == 0:
            held.append(["LAMP RED", "BULB"])
        # The shade was the better partner, and has not been sold for two months.
        if day < 170 and day % 2 == 0:
            held.append(["LAMP BLUE", "SHADE"])
        baskets += held
        times += [day] * len(held)
    rows = [(number, label, str(START + times[number])) for number, basket in enumerate(baskets) for label in basket]
    shop = omba.read_baskets(pa.table(dict(zip(("basket", "product", "time"), zip(*rows, strict=True), strict=True))))
    model = omba.OMBA(dim=16, epochs=2, clues=False).fit(shop, every="7d")
    assert {"LAMP RED", "LAMP BLUE"} in [set(row) for row in model.families()["products"].to_pylist()]

    rules = omba.mine_rules(model, top=10)
    lamp = next(rule for rule in rules if not products(rule).isdisjoint({"LAMP RED", "LAMP BLUE"}))
    assert products(lamp) == {"LAMP RED", "BULB"}
    assert (np.diff(rules["expected_lift_low"]) <= 0).all()
    everything = omba.mine_rules(model, top=10, within_families=True)
    chance = {frozenset(products(rule)): p for rule, p in zip(everything, everything["hold_chance"], strict=True)}
    assert chance[frozenset({"LAMP RED", "BULB"})] > 0.9 > 0.5 > chance[frozenset({"LAMP BLUE", "SHADE"})]


def test_a_rule_by_itself_knows_its_relation_and_its_season(model):
    rules = omba.mine_rules(model, top=5)

    assert [rule.relation for rule in rules] == list(rules["relation"])
    assert [rule.relation_probability for rule in rules] == list(rules["relation_probability"])
    assert [rule.season for rule in rules] == list(rules["season"])


def test_all_rules_can_be_had_and_those_within_a_family_alone(model):
    everything = list(omba.mine_rules(model, top=30, within_families=True))
    within = list(omba.mine_rules(model, top=5, where=Filter(families="within")))

    assert sum(products(rule) <= {*SIGNS} for rule in everything) > 3
    assert all(products(rule) <= {*SIGNS} or products(rule) <= {*APRONS} for rule in within)


def test_whoever_asks_for_a_product_gets_a_line_for_each_family_it_goes_with(model):
    rules = omba.mine_rules(model, top=4, where=Filter(product="RED APRON"))

    assert sum(not products(rule).isdisjoint(SIGNS) for rule in rules) == 1
    assert len(rules) == 4


def test_a_family_line_tells_the_lifts_within_and_what_goes_with_it(model):
    signs = next(line for line in family_lines(mining_input(model)) if set(line.products) == {*SIGNS})

    assert signs.name == "DOOR SIGN 0–4"
    assert signs.size == 5
    assert signs.lift_high > signs.lift_low > 3
    assert signs.partner == "APRON RED, BLUE" or signs.partner == "APRON BLUE, RED"


def test_model_families_is_a_table(model):
    table = model.families()

    assert {"family", "name", "products"} <= set(table.column_names)
    assert set(SIGNS) in [set(row) for row in table["products"].to_pylist()]


def test_a_family_line_tells_what_to_expect_of_the_next_period_in_an_interval():
    shop = omba.datasets.planted_shop(baskets=3_000, days=300)
    model = omba.OMBA(dim=8, epochs=1, clues=False).fit(shop.baskets, every="7d")
    lines = family_lines(mining_input(model))

    for line in lines:
        assert line.expected_baskets_low < line.expected_baskets < line.expected_baskets_high
        assert line.expected_revenue_low < line.expected_revenue < line.expected_revenue_high
        assert line.expected_baskets < 2 * line.sold / 3, "the next period is a third as long as the past"

    table = model.families().to_pylist()
    for line, row in zip(lines, table, strict=True):
        assert {"revenue", "expected_baskets_low", "expected_revenue_high", "season"} <= row.keys()
        assert {name: line.to_dict()[name] for name in row} == row


@pytest.mark.parametrize("top", [1, 12, 500])
@pytest.mark.parametrize("sort", [None, "lift", "expected_lift_low"])
def test_lines_are_the_same_whether_they_are_picked_before_a_table_is_made_or_after(model, top, sort):
    given, between = mining_input(model), Filter(families="between")
    picked = mine(given, top, where=between, sort=sort)
    # A bound that every rule keeps has the whole table made first.
    whole = mine(given, top, where=Filter(families="between", minimum={"length": 2}), sort=sort)
    assert 0 < len(picked) <= top
    np.testing.assert_equal(picked.to_arrow().to_pydict(), whole.to_arrow().to_pydict())


@pytest.mark.parametrize(("sort", "top"), [(None, 5), ("expected_lift", 20)])
def test_lines_told_in_rounds_are_those_of_one_look_at_all_candidates(model, sort, top, monkeypatch):
    given, plain = mining_input(model), Filter(families="between")
    whole = mine(given, top, where=Filter(families="between", minimum={"length": 2}), sort=sort)
    # Rounds so small that most lines come of later ones.
    rounds, real = [], between.candidates
    monkeypatch.setattr(between, "candidates", lambda *asked: rounds.append(asked[1].open.sum()) or real(*asked))
    monkeypatch.setattr(between, "POOL", 6)
    monkeypatch.setattr(between, "FEW", 1)
    found = mine(given, top, where=plain, sort=sort)

    assert [products(rule) for rule in found] == [products(rule) for rule in whole]
    assert len(rounds) > 1
    assert all(fewer < more for more, fewer in pairwise(rounds)), "whoever has a line is not looked at again"
