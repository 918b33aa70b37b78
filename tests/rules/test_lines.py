"""Lines: rules between families, one for each, from a model that has learned a shop with variants."""

import numpy as np
import pytest

import omba
from omba.rules import Filter
from omba.rules.family_lines import family_lines
from omba.rules.from_model import mining_input

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
