"""Mining: candidates, direction, status, order, filters, larger sets, and what is refused."""

import logging
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest

from omba.baskets import Baskets
from omba.errors import InputError, SettingError, UnknownError
from omba.rules import Catalogue, Counts, Filter, MiningInput, Rules, mine
from omba.rules.rule_columns import COLUMNS
from omba.rules.rules_table import read_rules, rules_table

GROUPS = 12
SIZE = 5


class Evidence:
    """Exact counts, of which a test may change a part."""

    def __init__(self, exact: Counts, **changes) -> None:
        self.complete, self.n_baskets, self.counts = "seen" not in changes, exact.n_baskets, exact.counts
        self.pairs, self.seen = exact.pairs, exact.seen
        self.itemsets, self.observed, self.exact = exact.itemsets, exact.observed, exact.exact
        vars(self).update(changes)


class Forecast:
    """A plain forecast: the counts, drawn towards what the cosine promises."""

    def expect(self, cosine, n_ab, n_a, n_b, n, a, b):
        mean = (2 + n_ab) / (2 / np.exp(2 * cosine) + n_a * n_b / n)
        return mean, mean * 0.7, mean * 1.4

    def interval(self, lift, baskets, n_a, n_b, n, season):
        return lift, lift

    def season(self, rows, counts, n):
        return np.zeros(len(rows))


def no_pairs(least: int = 1):
    return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32)


def world(seed: int = 0, vectors=None, forecast=None, **changes) -> MiningInput:
    """Baskets from 12 themes of 5 products each; vectors stand close within a theme.

    The first two products of theme 0 are never bought together; those of theme 1 only twice; products of theme 2 come
    as a triple: whoever buys two of the first three buys the third.
    """
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(3_000):
        theme = int(rng.integers(GROUPS))
        held = set((theme * SIZE + np.flatnonzero(rng.random(SIZE) < rng.uniform(0.2, 0.6, SIZE))).tolist())
        held |= set(rng.choice(GROUPS * SIZE, 3).tolist())
        for pair in ({0, 1}, {5, 6}):
            if pair <= held:
                held.discard(min(pair))
        if len(held & {10, 11, 12}) == 2:
            held |= {10, 11, 12}
        lists.append(sorted(held))
    lists += [[5, 6]] * 2
    labels = [f"t{i // SIZE}-{i % SIZE}" for i in range(GROUPS * SIZE)]
    baskets = Baskets.from_lists([[labels[i] for i in basket] for basket in lists])
    centres = rng.standard_normal((GROUPS, 40))
    near = np.repeat(centres, SIZE, axis=0) + 0.5 * rng.standard_normal((GROUPS * SIZE, 40))
    near[1], near[6] = near[0] + 0.01, near[5] + 0.01
    attributes = pa.table({"product": labels, "category": [label.split("-")[0] for label in labels]})
    catalogue = Catalogue(labels, np.arange(1.0, GROUPS * SIZE + 1), attributes)
    evidence = Evidence(Counts.of(baskets, labels), **changes)
    return MiningInput(catalogue, near.astype(np.float32) if vectors is None else vectors, evidence, forecast)


def with_forecast() -> MiningInput:
    return world(forecast=Forecast())


def pairs_of(rules: Rules) -> set[frozenset]:
    return {frozenset(a + c) for a, c in rules.sides}


def test_every_column_is_filled_from_the_evidence():
    given = with_forecast()
    rules = mine(given, 50)
    frame = rules.to_pandas()
    assert len(frame) == 50
    assert frame.notna().all().all()
    for rule in rules.filter(length=2):
        a, b = given.labels.index(rule.antecedents[0]), given.labels.index(rule.consequents[0])
        assert rule.count == given.evidence.pairs([a], [b])[0]
        assert (rule.n_a, rule.n_b, rule.n) == (given.counts[a], given.counts[b], given.n_baskets)


def test_without_a_forecast_the_nearest_come_first():
    rules = mine(world(), 30)
    assert (np.diff(rules["similarity"]) <= 0).all()
    assert np.isnan(rules["expected_lift"]).all()
    assert pairs_of(rules[:2]) == {frozenset({"t0-0", "t0-1"}), frozenset({"t1-0", "t1-1"})}


def test_with_a_forecast_the_order_is_by_the_lower_end_over_all_pairs_there_are():
    given = with_forecast()
    a, b = np.triu_indices(len(given.labels), 1)
    unit = given.vectors / np.linalg.norm(given.vectors, axis=1, keepdims=True)
    low = given.expect(a, b, (unit[a] * unit[b]).sum(axis=1), given.evidence.pairs(a, b))[1]
    best = np.argsort(-low)[:40]
    rules = mine(given, 40, antecedents=1)
    assert rules["expected_lift_low"] == pytest.approx(low[best], rel=1e-4)


def test_the_best_counted_pairs_are_found_however_far_apart_their_vectors_are():
    rng = np.random.default_rng(1)
    given = world(vectors=rng.standard_normal((GROUPS * SIZE, 40)).astype(np.float32))
    count = given.observed(1)[2]
    rules = mine(given, 10, sort="count", antecedents=1)
    assert rules["count"].tolist() == np.sort(count)[::-1][:10].tolist()
    assert mine(given, 10, sort="lift", antecedents=1)["lift"].min() > 1


@pytest.mark.parametrize("column", ["count", "lift", "value"])
def test_scoring_the_counted_pairs_block_by_block_changes_nothing(monkeypatch, column):
    whole = mine(with_forecast(), 30, sort=column, antecedents=1)
    monkeypatch.setattr(import_module("omba.rules.candidates"), "AT_ONCE", 40)
    assert mine(with_forecast(), 30, sort=column, antecedents=1)[column].tolist() == whole[column].tolist()


def test_the_direction_is_the_one_of_higher_confidence():
    rules = mine(world(), 200, antecedents=1)
    assert (rules["confidence"] >= rules["count"] / rules["n_b"]).all()
    assert (rules["n_a"] <= rules["n_b"]).all()
    assert len(pairs_of(rules)) == len(rules)


def test_a_side_that_is_asked_for_decides_the_direction():
    popular = max(range(GROUPS * SIZE), key=world().counts.__getitem__)
    label = world().labels[popular]
    rules = mine(world(), 20, where=Filter(antecedent=label), antecedents=1)
    assert len(rules) == 20
    assert {rule.antecedents for rule in rules} == {(label,)}
    assert {rule.consequents for rule in mine(world(), 5, where=Filter(consequent=label))} == {(label,)}


def test_status_tells_the_observed_from_the_rare_and_the_unseen():
    rules = mine(world(), 100, antecedents=1)
    status = {frozenset(a + c): s for (a, c), s in zip(rules.sides, rules["status"], strict=True)}
    assert status[frozenset({"t0-0", "t0-1"})] == "unseen"
    assert status[frozenset({"t1-0", "t1-1"})] == "rare"
    assert (rules.filter(status="observed")["count"] >= 5).all()


def test_a_pair_whose_count_was_let_go_is_rare_not_unseen():
    rules = mine(world(seen=lambda a, b: np.ones(len(a), bool)), 100)
    assert "unseen" not in rules["status"]


def test_an_unseen_pair_the_forecast_speaks_for_is_found_beyond_the_nearest(monkeypatch):
    given, module = world(), import_module("omba.rules.mine")
    promised = {30, 41}

    class Promise(Forecast):
        def expect(self, cosine, n_ab, n_a, n_b, n, a, b):
            mean = np.array([9.0 if {x, y} == promised else 1.0 for x, y in zip(a.tolist(), b.tolist(), strict=True)])
            return mean, mean, mean

    nobody = {"pairs": lambda a, b: np.zeros(len(a), np.int64), "observed": no_pairs, "forecast": Promise()}
    monkeypatch.setattr(module, "POOL", 20)
    monkeypatch.setattr(module, "FAR", 2_000)

    (best,) = mine(world(**nobody), top=1, where=Filter(status="unseen")).sides

    assert {*best[0], *best[1]} == {given.labels[row] for row in promised}


def test_larger_sets_get_the_interval_of_the_forecast_around_their_own_lift():
    class Interval(Forecast):
        def interval(self, lift, baskets, n_a, n_b, n, season):
            assert season.shape == lift.shape
            return lift / baskets, lift * n_a + n_b

        def season(self, rows, counts, n):
            assert rows.shape == (len(rows), 3)
            return np.zeros(len(rows))

    given = world(forecast=Interval())

    rules = mine(given, top=2_000).where(Filter(length=3)).to_pandas()

    assert len(rules)
    baskets = 5 + rules["count"]
    n_a, n_b = rules["antecedent support"] * given.n_baskets, rules["consequent support"] * given.n_baskets
    assert np.allclose(rules["expected_lift_low"], rules["expected_lift"] / baskets)
    assert np.allclose(rules["expected_lift_high"], rules["expected_lift"] * n_a + n_b)


def test_asking_for_unseen_rules_finds_as_many_as_there_are():
    given = with_forecast()
    rules = mine(given, 40, where=Filter(status="unseen"))
    a, b = np.triu_indices(len(given.labels), 1)
    assert (rules["count"] == 0).all()
    assert len(rules) == min(40, int((given.evidence.pairs(a, b) == 0).sum()))


def test_larger_sets_grow_where_every_two_are_close_and_the_whole_says_more_than_its_parts():
    given = with_forecast()
    larger = mine(given, 300).filter(length=3)
    assert frozenset({"t2-0", "t2-1", "t2-2"}) in pairs_of(larger)
    assert len(pairs_of(larger)) == len(larger)  # one direction each
    rows = {label: row for row, label in enumerate(given.labels)}
    for rule in larger:
        items = [rows[label] for label in (*rule.antecedents, *rule.consequents)]
        assert rule.count == given.evidence.itemsets([items])[0] >= 10
        assert rule.n_a == given.evidence.itemsets([items[:2]])[0]
        for part in items[:2]:
            assert rule.confidence > given.evidence.pairs([part], [items[2]])[0] / given.counts[part]


def test_larger_sets_can_be_larger_still_or_left_out():
    assert (mine(world(), 100, antecedents=1).lengths == 2).all()
    assert (mine(world(itemsets=lambda sets: np.zeros(len(sets), np.int64)), 100).lengths == 2).all()
    lists = [["a", "b", "c", "d"]] * 40 + [["a"], ["b"], ["c"], ["d"], ["e", "f"], ["g"]] * 60
    lists += [["a", "b"], ["a", "c"], ["b", "c"], ["a", "d"], ["b", "d"], ["c", "d"]] * 30
    baskets = Baskets.from_lists(lists)
    counts = Counts.of(baskets)
    rng = np.random.default_rng(0)
    vectors = np.concatenate([np.ones((4, 30)) + 0.1 * rng.standard_normal((4, 30)), rng.standard_normal((3, 30))])
    given = MiningInput(Catalogue(baskets.products), vectors, Evidence(counts, observed=no_pairs))
    whole = mine(given, 50, antecedents=3).filter(length=4)
    assert pairs_of(whole) <= {frozenset("abcd")}
    assert all(rule.count == 40 for rule in whole)


def test_a_larger_set_that_says_no_more_than_a_part_of_it_makes_no_rule():
    rng = np.random.default_rng(0)
    lists = []
    for _ in range(4_000):
        a, b, more = rng.random(3) < (0.3, 0.3, 0.5)
        c = rng.random() < (0.8 if a else 0.1)  # whatever b does
        lists.append([p for p, held in zip("abcdef", (a, b, c, more, not more, True), strict=True) if held])
    baskets = Baskets.from_lists(lists)
    counts = Counts.of(baskets, list("abcdef"))
    vectors = np.concatenate([np.ones((3, 30)) + 0.1 * rng.standard_normal((3, 30)), rng.standard_normal((3, 30))])
    given = MiningInput(Catalogue(list("abcdef")), vectors, Evidence(counts, observed=no_pairs))
    assert given.evidence.itemsets([[0, 1, 2]])[0] > 100
    assert len(mine(given, 50).filter(length=3)) == 0


def test_the_preset_of_the_paper_ranks_by_collisions_then_by_cosine():
    rules = mine(with_forecast(), 60, "paper")
    order = list(zip(-rules["collisions"], -rules["similarity"], strict=True))
    assert order == sorted(order)
    assert rules["collisions"].max() <= 11
    assert (rules.lengths == 2).all()


def test_value_is_what_the_consequent_brings_beyond_chance():
    given = with_forecast()
    rules = mine(given, 20, sort="value", antecedents=1)
    assert (np.diff(rules["value"]) <= 1e-12).all()
    rule, row = rules[0], given.labels.index(rules[0].consequents[0])
    by_chance = 1000 * rule.n_a / rule.n * rule.n_b / rule.n
    expected = by_chance * (rules["expected_lift"][0] - 1) * given.prices[row]
    assert rules["value"][0] == pytest.approx(expected)
    counted = mine(world(), 20, sort="value", antecedents=1)
    extra = counted["count"] - counted["n_a"] * counted["n_b"] / counted.n
    price = np.array([given.prices[given.labels.index(c[0])] for c in counted.consequents])
    assert counted["value"] == pytest.approx(1000 / counted.n * extra * price)


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(product="t3-2"),
        Filter(category="t4"),
        Filter(min_price=20, max_price=30),
        Filter(minimum={"lift": 2.0}),
        Filter(category="t5", status="observed"),
        Filter(length=2, maximum={"p_adjusted": 0.01}),
    ],
)
def test_filters_apply_before_the_cut_not_after(wanted):
    given = with_forecast()
    rules = mine(given, 15, where=wanted, antecedents=1)
    assert len(rules) == 15
    assert wanted.keep(rules).all()
    everything = mine(given, 100_000, antecedents=1).where(wanted)
    assert rules["expected_lift_low"] == pytest.approx(everything["expected_lift_low"][:15])


def test_where_a_filter_lets_few_through_more_candidates_are_drawn(monkeypatch):
    monkeypatch.setattr(import_module("omba.rules.mine"), "POOL", 4)
    rules = mine(world(), 4, where=Filter(maximum={"similarity": 0.3}))
    assert len(rules) == 4
    assert (rules["similarity"] <= 0.3).all()


def test_larger_sets_are_found_for_a_product_that_is_asked_for():
    larger = mine(with_forecast(), 100, where=Filter(product="t2-1")).filter(length=3)
    assert frozenset({"t2-0", "t2-1", "t2-2"}) in pairs_of(larger)
    assert all("t2-1" in items for items in pairs_of(larger))


def test_asking_for_more_rules_than_there_are_gives_all_with_a_note(caplog):
    with caplog.at_level(logging.WARNING, "omba"):
        rules = mine(world(), 5_000, antecedents=1)
    assert len(rules) == GROUPS * SIZE * (GROUPS * SIZE - 1) // 2
    assert "5000 rules were asked for, and there are 1770" in caplog.text


def test_products_met_once_make_no_rules_unless_asked_for():
    given = world()
    few = given.counts.copy()
    few[0] = 1
    seldom = world(counts=few)
    assert all("t0-0" not in items for items in pairs_of(mine(seldom, 400)))
    assert any("t0-0" in items for items in pairs_of(mine(seldom, 400, min_count=1)))
    with pytest.raises(InputError, match=r"'t0-0' was met in 1 baskets, and a vector is worth reading from 2 on"):
        mine(seldom, where=Filter(product="t0-0"))


def test_the_same_seed_gives_the_same_table():
    first, again = (mine(with_forecast(), 80).to_pandas() for _ in range(2))
    assert first.equals(again)


def test_what_cannot_be_mined_is_refused_in_one_sentence():
    given = world()
    with pytest.raises(InputError, match="the model is empty"):
        MiningInput(Catalogue(), np.empty((0, 3)), Counts.of_rows(np.zeros(1, np.int64), np.zeros(0, np.int32), 0))
    with pytest.raises(InputError, match="none of the 60 products of the model is in the 3002 baskets"):
        world(counts=np.zeros(60, int))
    with pytest.raises(InputError, match="one label, vector and count a product"):
        world(counts=np.ones(3, int))
    with pytest.raises(UnknownError, match="did you mean"):
        mine(given, where=Filter(product="t33"))
    with pytest.raises(UnknownError, match="cannot be sorted by 'lfit'; did you mean 'lift'"):
        mine(given, sort="lfit")
    with pytest.raises(SettingError, match="F·H = 128 bits do not fit"):
        mine(given, preset="paper", F=8, H=16)
    with pytest.raises(SettingError, match="give 1 or more"):
        mine(given, 0)
    with pytest.raises(InputError, match="0 of 60 products were met in 100000 baskets or more"):
        mine(given, min_count=100_000)


def test_rules_can_be_sorted_by_every_column():
    given = with_forecast()
    for column in COLUMNS:
        assert len(mine(given, 5, sort=column)) == 5


def test_a_rule_has_the_same_collisions_and_probability_whatever_was_asked(monkeypatch):
    monkeypatch.setattr(import_module("omba.rules.lsh"), "MANY", 1)
    given = with_forecast()
    columns = ("similarity", "collisions", "probability")
    tables = [
        mine(given, 100, antecedents=1, where=where) for where in (None, Filter(product="t3-2"), Filter(category="t3"))
    ]
    known = [dict(zip(map(str, table), zip(*map(table.column, columns), strict=True), strict=True)) for table in tables]
    for asked in known[1:]:
        shared = known[0].keys() & asked.keys()
        assert shared
        assert all(asked[rule] == pytest.approx(known[0][rule], rel=1e-4) for rule in shared)
    assert len({table.hashing for table in tables}) == 1
    assert tables[0].hashing.shape != (4, 11)


def test_a_stored_table_remembers_its_hash_tables():
    rules = mine(with_forecast(), 5)
    assert read_rules(rules_table(rules)).hashing == rules.hashing
