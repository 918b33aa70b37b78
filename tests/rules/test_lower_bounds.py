"""A count that memory could not hold whole says "at least" wherever it is shown; others never do."""

import json

import numpy as np
import pytest

from omba import OMBA, Baskets, mine_rules
from omba.report.figures import strong_rows
from omba.rules import Filter
from omba.rules.export import records
from omba.rules.from_model import mining_input
from omba.rules.rule_columns import AT_LEAST
from omba.rules.rules_table import read_rules, rules_table


@pytest.fixture(scope="module")
def crowded() -> OMBA:
    """A model with room for 10,000 pairs, which met three times as many: tea and milk are together throughout, early
    and late were let go in between and came back."""
    rng = np.random.default_rng(0)
    baskets = [["early", "late"]]
    for _ in range(1_200):
        baskets.append(["tea", "milk", *(f"p{k}" for k in rng.choice(400, 9, replace=False))])
    baskets += [["early", "late"]] * 6
    return OMBA(dim=8, pairs=10_000, epochs=1).fit(Baskets.from_lists(baskets), every=300)


def test_only_counts_that_may_be_short_are_lower_bounds_and_none_is_above_the_truth(crowded):
    rules = mine_rules(crowded, top=2_000, antecedents=1, sort="count")
    bound = {(*a, *c): least for (a, c), least in zip(rules.sides, rules[AT_LEAST], strict=True)}
    assert not any(least for pair, least in bound.items() if {*pair} == {"tea", "milk"})
    early = next(pair for pair in bound if {*pair} == {"early", "late"})
    assert bound[early], "it was let go after its first basket"
    assert next(rule for rule in rules if {*rule.antecedents, *rule.consequents} == {"early", "late"}).count == 6


def test_a_lower_bound_says_so_in_every_table_and_file(crowded, tmp_path):
    rules = mine_rules(crowded, top=20, antecedents=1, where=Filter(product="early"))
    assert AT_LEAST in rules.columns
    assert AT_LEAST in rules.to_arrow().column_names
    assert AT_LEAST in rules.to_pandas()
    here = int(np.flatnonzero(rules.at_least)[0])
    part = rules[here : here + 1]
    assert "≥ 6" in str(part)
    assert "at least" in str(part)
    assert "at least" in part._repr_html_()
    assert strong_rows(part)[0][1] == "≥ 6"
    assert next(records(part))[AT_LEAST] is True
    for suffix in (".csv", ".jsonl", ".graphml", ".pmml", ".xlsx"):
        assert part.write(tmp_path / f"rules{suffix}").stat().st_size
    assert AT_LEAST in (tmp_path / "rules.csv").read_text("utf-8-sig").splitlines()[0]
    assert json.loads((tmp_path / "rules.jsonl").read_text())[AT_LEAST] is True
    assert read_rules(rules_table(rules)).at_least.tolist() == rules.at_least.tolist()


def test_a_table_without_lower_bounds_does_not_speak_of_them(crowded):
    rules = mine_rules(crowded, top=20, antecedents=1)
    exact = rules.take(np.flatnonzero(~rules.at_least))
    assert AT_LEAST not in exact.columns
    assert "least" not in str(exact)


def test_an_explanation_says_at_least(crowded):
    text = str(mining_input(crowded).explainer.explain("early", "late"))
    assert "were bought together at least 6 times" in text
    assert "at least" not in str(mining_input(crowded).explainer.explain("tea", "milk")).splitlines()[0]


def test_counts_over_given_baskets_are_exact(crowded):
    evidence = Baskets.from_lists([["early", "late"], ["tea", "milk"], ["tea", "milk"]] * 9)
    assert not mine_rules(crowded, top=2, evidence=evidence, antecedents=1).at_least.any()
