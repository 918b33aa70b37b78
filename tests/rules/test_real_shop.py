"""The first page an analyst sees of a wholesaler's file: names, nothing that is no product, and true counts.

The same is asked of a small file that was made up, always, and of a real one where it is at hand.
"""

import os
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from omba import OMBA, mine_rules, read_baskets
from omba.rules import Filter
from wholesaler import wholesale

REAL = Path(os.environ.get("OMBA_WHOLESALER", "wholesaler.parquet"))
"""The first year of UCI's Online Retail II, which does not come by pip: say where it is by OMBA_WHOLESALER=FILE."""
ABSENT = pytest.mark.skipif(not REAL.exists(), reason="OMBA_WHOLESALER does not say where the wholesaler's file is")
NO_PRODUCTS = {"POST", "DOT", "M", "m", "C2", "D", "S", "ADJUST", "BANK CHARGES"}


@pytest.fixture(
    scope="module", params=["made", pytest.param("real", marks=[pytest.mark.slow, pytest.mark.thorough, ABSENT])]
)
def baskets(request):
    return read_baskets(wholesale()) if request.param == "made" else read_baskets(REAL).between(None, "2010-01-16")


@pytest.fixture(scope="module")
def model(baskets) -> OMBA:
    return OMBA(dim=24, epochs=2).fit(baskets, every="week")


def test_every_count_of_the_first_rules_is_what_a_recount_gives(model, baskets):
    truth = Counter()
    for basket in baskets:
        truth.update(map(frozenset, combinations(basket.products, 2)))
    rules = mine_rules(model, top=300, antecedents=1)
    assert not rules.at_least.any()
    assert [rule.count for rule in rules] == [truth[frozenset((*a, *c))] for a, c in rules.sides]
    together = mine_rules(model, top=20, antecedents=1, sort="count", within_families=True)
    assert [rule.count for rule in together] == [count for _, count in truth.most_common(20)]


def test_the_largest_baskets_count_too(model, baskets):
    assert baskets.sizes.max() > 300
    assert model.evidence.error == 0


def test_the_first_rules_have_names_and_nothing_that_is_no_product(model):
    rules = mine_rules(model, top=100)
    products = {label for a, c in rules.sides for label in (*a, *c)}
    assert not products & NO_PRODUCTS
    named = [name for names in (*rules["antecedent_names"], *rules["consequent_names"]) for name in names]
    assert all(named)
    assert not NO_PRODUCTS & {*model.products}, "beyond doubt they are no products, and were left out unasked"


def test_the_first_rules_are_between_families_and_where_they_are_real_of_what_belongs_together(model, request):
    rules = mine_rules(model, top=20)
    groups = model.assortment.families().groups
    rows = [[rules.catalogue.rows[label] for label in (*a, *c)] for a, c in rules.sides]
    assert all(len({int(groups[row]) for row in each}) == len(each) for each in rows)
    relations = Counter(rules["relation"])
    assert not relations["variant"]
    if "made" not in request.node.name:
        assert relations["complement"] >= 15, relations


def test_no_pair_never_seen_comes_from_a_second_spelling_of_a_code(model):
    unseen = mine_rules(model, top=200, where=Filter(status="unseen"), antecedents=1, sort="expected_lift")
    counts = dict(zip(model.products, model.product_counts.tolist(), strict=True))
    spellings: dict[str, list[str]] = {}
    for label in counts:
        spellings.setdefault(str(label).upper(), []).append(label)
    second = {label for group in spellings.values() for label in group if counts[label] < max(map(counts.get, group))}
    assert len(second) > 20, "there are such codes in the file"
    assert not any(second & {*a, *c} for a, c in unseen.sides)


def test_christmas_finds_the_rules_of_christmas_and_a_part_of_a_name_a_product(model):
    found = mine_rules(model, top=50, where=Filter(text="christmas"))
    assert len(found) > 20
    called = zip(found["antecedent_names"], found["consequent_names"], strict=True)
    assert all(any("CHRISTMAS" in name for name in (*a, *c)) for a, c in called)
    part, code = (
        ("white hanging heart t-light", "85123A") if "85123A" in model.products else ("red regency clo", "20120")
    )
    assert model.similar(part, n=3) == model.similar(code, n=3)
