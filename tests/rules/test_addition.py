"""Addition: a staple added to a strong pair makes no line of its own; two products that lead to a third do."""

import numpy as np
import pytest

import omba
from omba.rules import Filter
from omba.rules.addition import MORE, adds
from omba.rules.from_model import mining_input
from omba.rules.grow import triples_once
from omba.service.views.view import View

STAPLE = {"FROSTING", "CAKE MIX", "BREAD"}
SMORES = {"GRAHAM", "CANDY", "MARSHMALLOW"}


@pytest.fixture(scope="module")
def model():
    """Large baskets mostly hold bread, and with bread frosting as well; marshmallows take two other things."""
    random = np.random.default_rng(11)
    baskets = []
    for _ in range(6_000):
        large = random.random() < 0.3
        basket = {
            f"{chr(97 + k % 26)}{chr(97 + k // 26)}xyz" for k in random.choice(40, 6 if large else 2, replace=False)
        }
        if random.random() < (0.6 if large else 0.3):
            basket.add("BREAD")
        if random.random() < 0.06:
            basket.add("CAKE MIX")
            if random.random() < (0.9 if "BREAD" in basket else 0.65):
                basket.add("FROSTING")
        graham, candy = random.random(2) < 0.15
        basket |= {name for name, there in (("GRAHAM", graham), ("CANDY", candy)) if there}
        if random.random() < (0.8 if graham and candy else 0.02):
            basket.add("MARSHMALLOW")
        basket |= {"DOOR SIGN 1", "DOOR SIGN 2"} if random.random() < 0.03 else set()
        baskets.append(sorted(basket))
    return omba.OMBA(dim=16, epochs=2, clues=False).fit(omba.Baskets.from_lists(baskets), every=1_000)


@pytest.fixture(scope="module")
def view(model):
    return View.now(model, omba.mine_rules(model, top=200, within_families=True))


def sets_of(rules):
    return [{*rule.antecedents, *rule.consequents} for rule in rules]


def test_a_rule_adds_something_where_its_lift_is_half_as_much_again_as_that_of_its_pairs(model):
    given = mining_input(model)
    rules = triples_once(given)[0][0]
    enough = adds(given, rules.antecedents, rules.consequent, rules.expected)
    pairs = {
        frozenset(one): rule.expected_lift
        for rule in omba.mine_rules(model, top=10**6, antecedents=1, within_families=True)
        if len(one := {*rule.antecedents, *rule.consequents}) == 2
    }
    strongest = [
        max(pairs[frozenset({given.labels[a], given.labels[c]})] for a in line)
        for line, c in zip(rules.antecedents.tolist(), rules.consequent.tolist(), strict=True)
    ]
    assert 0 < enough.sum() < len(rules)
    assert enough.tolist() == (rules.expected >= MORE * np.array(strongest)).tolist()


@pytest.mark.parametrize(
    "where", [None, Filter(families="between", minimum={"count": 1}), Filter(status="observed", families="between")]
)
def test_a_staple_with_a_strong_pair_has_no_line_of_its_own(model, where):
    told = sets_of(omba.mine_rules(model, top=40, where=where))

    assert STAPLE not in told
    assert SMORES in told
    assert {"FROSTING", "CAKE MIX"} in told


@pytest.mark.parametrize("where", [{"length": 3}, {"minimum": {"length": 3}}, {"product": "FROSTING"}])
def test_whoever_asks_for_larger_sets_or_for_a_product_gets_it(model, view, where):
    asked = Filter(families="between", **where)
    kept = view.rule_search.page(asked, None, None, 0, 200)[1]

    assert STAPLE in sets_of(omba.mine_rules(model, top=40, where=asked))
    assert STAPLE in [{*record["antecedents"], *record["consequents"]} for record in kept]


def test_without_families_every_rule_of_several_products_is_told(model):
    told = sets_of(omba.mine_rules(model, top=200, within_families=True))

    assert STAPLE in told
    assert SMORES in told


def test_a_page_of_the_service_has_the_same_lines(view):
    records = view.rule_search.page(Filter(families="between"), None, None, 0, 40)[1]
    told = [{*record["antecedents"], *record["consequents"]} for record in records]

    assert STAPLE not in told
    assert SMORES in told
