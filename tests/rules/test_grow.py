"""Rules of several products: with exact evidence every set that says more than its parts is found."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import omba
from itemset_oracle import frequent
from omba.baskets import Baskets
from omba.errors import InputError
from omba.model.forecast import Forecast
from omba.rules import frequent_sets
from omba.rules import productive as productive_module
from omba.rules.catalogue import Catalogue
from omba.rules.counts import Counts
from omba.rules.frequent_sets import FrequentSets
from omba.rules.grow import OFTEN
from omba.rules.measures import measure
from omba.rules.mine import mine
from omba.rules.mining_input import MiningInput
from omba.rules.productive import SIGNIFICANT, p_values, part_counts, tried_sets, tried_triples


def lists(baskets: int = 600, products: int = 14) -> list[list[str]]:
    """Some pairs lead to a third product far oftener than either alone, whatever their vectors say."""
    rng = np.random.default_rng(2)
    out = []
    for _ in range(baskets):
        basket = {f"p{k:02}" for k in range(products) if rng.random() < 0.35}
        for a, b, c in (("p00", "p01", "p02"), ("p03", "p04", "p05"), ("p06", "p07", "p00")):
            if {a, b} <= basket and rng.random() < 0.8:
                basket.add(c)
        out.append(sorted(basket) or ["p00"])
    return out


def productive(baskets: list[list[str]], longest: int) -> set[frozenset[str]]:
    """The sets with a direction that beats every part of it by more than chance, by definition."""
    counts = frequent(baskets, OFTEN, longest)
    found = set()
    for items, count in counts.items():
        for consequent in items if len(items) > 2 else ():
            rest = items - {consequent}
            parts = [frozenset(part) for r in range(1, len(rest)) for part in combinations(rest, r)]
            if all(
                count / counts[rest] > counts[part | {consequent}] / counts[part]
                and measure("fishers_p", count, counts[rest], counts[part | {consequent}], counts[part]) <= SIGNIFICANT
                for part in parts
            ):
                found.add(items)
    return found


@pytest.fixture(scope="module")
def given() -> MiningInput:
    """Vectors that know nothing."""
    baskets = Baskets.from_lists(lists())
    vectors = np.random.default_rng(0).standard_normal((len(baskets.product_vocabulary), 8)).astype(np.float32)
    return MiningInput(Catalogue(list(baskets.product_vocabulary)), vectors, Counts.of(baskets))


def test_with_exact_evidence_every_set_that_says_more_than_its_parts_is_found(given):
    rules = mine(given, 10**6, antecedents=3, false_discovery=1)
    found = {frozenset((*a, *c)) for a, c in rules.sides if len(a) > 1}
    assert found == productive(lists(), 4)
    assert {frozenset({"p00", "p01", "p02"}), frozenset({"p03", "p04", "p05"})} <= found
    assert [len(rules.filter(length=n)) for n in (3, 4)] == [sum(len(s) == n for s in found) for n in (3, 4)]


def test_where_sets_are_too_many_the_threshold_rises_and_parts_keep_their_counts(monkeypatch):
    counts = Counts.of(Baskets.from_lists(lists()))
    monkeypatch.setattr(frequent_sets, "MOST", 300)
    some = FrequentSets(counts, OFTEN, 4)
    assert some.least > OFTEN
    for sets, count in some.of_size(3):
        assert (counts.itemsets(sets) == count).all()
        assert (some.counts(sets[:, :2]) == counts.itemsets(sets[:, :2])).all()


def test_a_model_with_evidence_tells_rules_of_several_products_and_each_has_a_forecast():
    baskets = Baskets.from_lists(lists())
    model = omba.OMBA(dim=8, epochs=1).fit(baskets)
    rules = omba.mine_rules(model, top=10**6, antecedents=2, evidence=baskets, false_discovery=1)
    larger = rules[rules.length == 3]
    assert {frozenset((*a, *c)) for a, c in larger.sides} == productive(lists(), 3)
    assert all(rule.expected_lift_low <= rule.expected_lift <= rule.expected_lift_high for rule in larger)
    assert {rule.status for rule in larger} <= {"observed", "rare"}


def test_a_rule_of_several_products_is_explained_by_what_it_adds_to_shorter_ones():
    baskets = Baskets.from_lists(lists())
    rules = omba.mine_rules(omba.OMBA(dim=8, epochs=1).fit(baskets), top=50, evidence=baskets)
    told = rules.explain(["p00", "p01"], "p02")
    counts = frequent(lists(), 1, 3)
    whole = counts[frozenset({"p00", "p01", "p02"})] / counts[frozenset({"p00", "p01"})]
    assert told.confidence == pytest.approx(whole)
    assert not told.redundant
    for part, name in zip(told.parts, ("p00", "p01"), strict=True):
        assert part.antecedents == (name,)
        assert part.confidence == pytest.approx(counts[frozenset({name, "p02"})] / counts[frozenset({name})])
        assert part.improvement == pytest.approx(whole - part.confidence)
        assert 0 < part.improvement_low < part.improvement < part.improvement_high
        assert part.fishers_p < SIGNIFICANT
    assert "It says more than every shorter rule" in str(told)
    assert rules.explain(["p08", "p09"], "p10").to_dict()["redundant"]
    with pytest.raises(InputError, match="make no rule of several products"):
        rules.explain(["p00"], "p02")


def market(seed: int, planted: int, baskets: int = 1_500, products: int = 30) -> list[list[str]]:
    """Products bought as chance has it, but for some triples in which two lead to a third; rows of labels."""
    rng = np.random.default_rng(seed)
    bought = rng.random((baskets, products)) < np.linspace(0.3, 0.08, products)
    for a in range(0, 3 * planted, 3):
        both = bought[:, a] & bought[:, a + 1]
        bought[:, a + 2] |= both & (rng.random(baskets) < 0.5)
    return [[f"p{k:02}" for k in np.flatnonzero(row)] or ["p00"] for row in bought]


def rules_of(rows: list[list[str]], **options: float) -> set[frozenset[str]]:
    baskets = Baskets.from_lists(rows)
    vectors = np.random.default_rng(0).standard_normal((len(baskets.product_vocabulary), 4)).astype(np.float32)
    given = MiningInput(Catalogue(list(baskets.product_vocabulary)), vectors, Counts.of(baskets))
    rules = mine(given, 10**6, antecedents=2, **options)  # type: ignore[arg-type]
    return {frozenset((*a, *c)) for a, c in rules.sides if len(a) > 1}


def test_where_all_is_chance_there_are_no_rules_of_several_products():
    worlds = [market(seed, planted=0) for seed in range(20)]
    assert sum(bool(rules_of(rows)) for rows in worlds) <= 3, "one in 20, as a mean"
    assert sum(len(rules_of(rows, false_discovery=1)) for rows in worlds[:5]) > 5, "so many pass each for itself"


def test_rules_of_several_products_are_the_planted_ones_but_for_one_in_twenty():
    planted = {frozenset(f"p{k:02}" for k in range(a, a + 3)) for a in range(0, 18, 3)}
    found = [rules_of(market(seed, planted=6)) for seed in range(20, 30)]
    assert np.mean([len(sets - planted) / max(1, len(sets)) for sets in found]) <= 0.08
    assert np.mean([len(sets & planted) / 6 for sets in found]) > 0.9


def test_the_sets_that_were_tried_are_all_whose_parts_are_frequent(monkeypatch):
    counts = frequent(lists(), 60, 4)
    rows = {name: k for k, name in enumerate(sorted({item for items in counts for item in items}))}

    def of(size):
        return np.array(sorted(sorted(rows[i] for i in items) for items in counts if len(items) == size))

    def tried(size):
        smaller = {frozenset(row) for row in of(size - 1).tolist()}
        return sum(
            all(frozenset(part) in smaller for part in combinations(items, size - 1))
            for items in combinations(range(len(rows)), size)
        )

    assert tried_triples(*of(2).T, len(rows)) == tried(3) > 0
    # As if products were too many to hold who met whom in bits.
    monkeypatch.setattr(productive_module, "DENSE", 0)
    assert tried_triples(*of(2).T, len(rows)) == tried(3)
    assert len(of(4)) <= tried(4) <= tried_sets(of(3))


def test_without_evidence_the_rules_of_the_stream_are_those_of_exact_counts():
    baskets = Baskets.from_lists(market(3, planted=6))
    model = omba.OMBA(dim=8, epochs=1).fit(baskets)
    ours = omba.mine_rules(model, top=10**6).filter(length=3)
    exact = omba.mine_rules(model, top=10**6, evidence=baskets).filter(length=3)
    assert len(exact) >= 5
    assert sorted(map(str, ours)) == sorted(map(str, exact))
    assert sorted(ours["count"]) == sorted(exact["count"])
    assert not ours.at_least.any()


def test_the_three_tails_of_a_triple_are_the_six_tests_of_its_directions():
    rng = np.random.default_rng(0)
    # Who buys much buys everything with everything.
    bought = rng.random((400, 12)) < 0.6 * rng.random((400, 1)) ** 2
    sets = np.array(list(combinations(range(12), 3)))

    def count_of(rows):
        return np.array([bought[:, row].all(axis=1).sum() for row in rows])

    count, parts = count_of(sets), part_counts(bought.sum(axis=0), sets, count_of)
    p, whole = p_values(count, parts, 3), np.ones((3, len(sets)))
    for c in range(3):
        a, b = (k for k in range(3) if k != c)
        tails = [
            measure("fishers_p", count, parts[a, b], parts[tuple(sorted((part, c)))], parts[part,]) for part in (a, b)
        ]
        whole[c] = np.max(tails, axis=0)
    small = whole <= SIGNIFICANT
    assert 0 < small.sum() < small.size / 2
    assert np.allclose(p[small], whole[small], rtol=1e-9)
    assert (p[~small] > SIGNIFICANT).all()


def test_more_triples_than_one_thread_tests_at_a_time_are_all_tested(monkeypatch):
    rows = market(3, planted=6)
    found = rules_of(rows)
    monkeypatch.setattr(productive_module, "AT_ONCE", 100)
    assert rules_of(rows) == found
    assert len(found) >= 5


def test_where_counts_are_exact_the_interval_of_a_rule_that_is_nearly_always_right_is_narrower(given):
    forecast = Forecast()
    forecast.judge(np.asarray(given.counts), given.n_baskets)
    ahead = replace(given, forecast=forecast)
    n_b = np.array([given.n_baskets // 4, given.n_baskets // 100])
    lift, baskets, n_a = np.array([3.2, 3.2]), np.array([80.0, 80.0]), np.array([100, 2_500])
    told = ahead.expect_sets(np.array([[0, 1, 2]] * 2), lift, baskets, n_a, n_b)
    exact = ahead.expect_sets(np.array([[0, 1, 2]] * 2), lift, baskets, n_a, n_b, exact=True)
    widths = [np.log(high / low) for _, low, high in (told, exact)]
    assert (told[0] == exact[0]).all()
    assert widths[1][0] < 0.95 * widths[0][0], "right in four of five baskets"
    assert widths[1][1] == pytest.approx(widths[0][1], rel=0.05), "right in one of thirty"
