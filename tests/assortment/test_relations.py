"""Relations: with each other, instead of each other, the same people or others, in a world where that is planted.

Two kinds of customers. Everybody eats hot dogs with buns or tacos with sauce, never both at once. Parents buy coffee
and diapers, students ramen and candy, each of them when it runs out. Everybody buys a red or a blue towel now and then.
"""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.assortment.relations import TOLD
from omba.rules import Filter
from omba.rules.from_model import mining_input

START = np.datetime64("2021-01-01")
PARENTS, STUDENTS = ("coffee", "diapers"), ("ramen", "candy")
DINNERS = (("hot dogs", "buns"), ("tacos", "sauce"))
TOWELS = ("red bath towel", "blue bath towel")
TRUTH = {
    "complement": [DINNERS[0], DINNERS[1]],
    "substitute": [(a, b) for a in DINNERS[0] for b in DINNERS[1]],
    "same customers": [PARENTS, STUDENTS],
    "different customers": [(a, b) for a in PARENTS for b in STUDENTS],
    "variant": [TOWELS],
    "unclear": [("coffee", "hot dogs"), ("candy", "sauce")],
}


def learn(rows):
    columns = zip(*rows, strict=True)
    frame = dict(zip(("basket_id", "user_id", "product", "timestamp"), map(list, columns), strict=True))
    return omba.OMBA(dim=8, epochs=1, clues=False).fit(omba.read_baskets(pa.table(frame)), every="20d")


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(2)
    rows = []
    for trip in range(6_000):
        user = int(random.integers(100))
        basket = [*DINNERS[random.integers(2)]] if random.random() < 0.6 else []
        basket += [product for product in (PARENTS if user < 50 else STUDENTS) if random.random() < 0.35]
        basket += [product for product in TOWELS if random.random() < 0.03]
        basket += [f"w{number}" for number in random.choice(30, 2, replace=False)]
        rows += [(trip, f"u{user}", product, trip // 100) for product in basket]
    return learn(rows)


@pytest.fixture(scope="module")
def judge(model):
    def judge(a, b):
        return model.assortment.relations().judge(np.array([model.row(a)]), np.array([model.row(b)]))

    return judge


@pytest.mark.parametrize(("relation", "pair"), [(name, pair) for name, pairs in TRUTH.items() for pair in pairs])
def test_every_planted_relation_is_found(judge, relation, pair):
    found = judge(*pair)

    assert found.names == [relation]
    assert judge(*pair[::-1]).names == [relation]
    assert relation == "unclear" or found.probability[0] > 0.5


def test_lift_is_the_same_of_substitutes_and_of_different_customers(model):
    def count(a, b):
        return int(model.evidence.pairs([model.row(a)], [model.row(b)])[0])

    assert count("hot dogs", "tacos") == count("coffee", "ramen") == 0


def test_what_was_never_sold_at_once_is_not_bought_instead_of_each_other():
    """Everybody buys tea; half a year a green mug with it, then, since that is gone, a blue bowl: no switching."""
    random, rows = np.random.default_rng(5), []
    for trip in range(4_000):
        basket = ["tea"] if random.random() < 0.4 else []
        if random.random() < 0.4:
            basket.append("mug" if trip < 98 * 20 else "bowl")
        basket += [f"w{number}" for number in random.choice(30, 2, replace=False)]
        rows += [(trip, f"u{trip % 50}", product, str(START + trip // 20)) for product in basket]
    model = learn(rows)

    mug, bowl = (np.array([model.row(label)]) for label in ("mug", "bowl"))
    relations = model.assortment.relations()
    assert relations.judge(mug, bowl).names == ["unclear"]
    assert "bowl" not in [label for label, _ in model.substitutes("mug")]
    relations.coincidence = None
    assert relations.judge(mug, bowl).names == ["substitute"], "had they been sold at once, it would be"


def test_what_a_season_sells_together_goes_together():
    """Half a year nobody buys eggs; then those who do take the basket for them, nine times in ten."""
    random, rows = np.random.default_rng(6), []
    for trip in range(4_000):
        basket = [f"w{number}" for number in random.choice(30, 2, replace=False)]
        if trip > 3_400 and random.random() < 0.15:
            basket += ["easter egg", "wicker basket"] if random.random() < 0.9 else ["easter egg"]
        rows += [(trip, f"u{trip % 50}", product, str(START + trip // 20)) for product in basket]
    model = learn(rows)

    pair = (np.array([model.row(label)]) for label in ("easter egg", "wicker basket"))
    assert model.assortment.relations().judge(*pair).names == ["complement"]


def test_only_what_is_surely_one_is_told_as_a_substitute(model):
    found = model.assortment.relations().near_product(model.row("hot dogs"))[1][:, 1]
    told = model.substitutes("hot dogs", n=50)

    assert len(told) == (found > 0.7).sum()
    assert all(chance > 0.7 for _, chance in told)


def test_a_sentence_tells_what_a_relation_rests_on(judge):
    assert judge("hot dogs", "tacos").sentence(0).startswith("one instead of the other: 100 customers buy both; ")
    assert judge("coffee", "ramen").sentence(0).startswith("different customers: 0 buy both")


def test_what_habits_make_of_a_pair_is_the_sum_over_customers(model):
    habits, memory = model.assortment.relations().habits, model.spaces[0].memory
    a, b = (
        np.array([model.row(one) for one in side]) for side in zip(*combinations(model.products[:12], 2), strict=True)
    )
    plain = np.zeros(len(a))
    for rows, counts, (visits, *_) in zip(memory.rows, memory.counts, memory.totals, strict=True):
        bought = {row: count for row, count in zip(rows.tolist(), counts.tolist(), strict=True) if row >= 0}
        plain += [
            bought.get(x, 0) * bought.get(y, 0) * (visits - 1) / max(visits, 1) ** 2
            for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]

    expected, customers = habits.pairs(a, b)
    assert expected == pytest.approx(plain, rel=1e-5)
    every = habits.with_all(int(a[0]))
    assert every[0][b[a == a[0]]] == pytest.approx(expected[a == a[0]])
    assert (every[1][b[a == a[0]]] == customers[a == a[0]]).all()


def test_the_model_tells_substitutes_and_complements(model):
    assert {product for product, _ in model.substitutes("hot dogs")} == {"tacos", "sauce"}
    assert model.complements("hot dogs")[0][0] == "buns"
    assert all(0.5 < chance <= 1 for _, chance in model.substitutes("buns"))


def test_no_likely_partner_is_passed_over(model):
    relations, others = model.assortment.relations(), np.arange(len(model.products))
    for row in others.tolist():
        near, chances = relations.near_product(row)
        known = relations.near_product(row, model.evidence.partners(row))
        assert (known[0] == near).all()
        assert (known[1] == chances).all()
        every = relations.judge(np.full(len(others), row), others)
        for place, least in enumerate(TOLD[:2]):
            assert set(np.flatnonzero(every.chances[:, place] > least)) == set(near[chances[:, place] > least])


@pytest.fixture(scope="module")
def strangers():
    """Two thousand customers who came once each; one in twenty bought a lamp with a kennel, and one a thing alone."""
    rng = np.random.default_rng(0)
    baskets = [["lamp", "kennel"] if n % 20 == 0 else [f"t{k}" for k in rng.choice(30, 3)] for n in range(2_000)]
    rows = [(n, n, product) for n, basket in enumerate([*baskets, ["oddity"]]) for product in dict.fromkeys(basket)]
    columns = zip(("basket_id", "user_id", "product"), map(list, zip(*rows, strict=True)), strict=True)
    return omba.OMBA(dim=4, epochs=1, clues=False).fit(omba.read_baskets(pa.table(dict(columns))), every=500)


def test_customers_who_came_once_have_no_habit_that_would_explain_what_they_bought(strangers):
    relations = strangers.assortment.relations()
    pair = (np.array([strangers.row(name)]) for name in ("lamp", "kennel"))

    assert relations.judge(*pair).names == ["complement"]


def test_partners_that_nothing_speaks_for_are_not_looked_at(strangers):
    relations = strangers.assortment.relations()

    assert len(relations.near_product(strangers.row("oddity"))[0]) < len(strangers.products) / 2


def test_rules_have_a_relation_and_can_be_filtered_by_it(model):
    rules = omba.mine_rules(model, top=10)
    assert {"relation", "relation_probability"} <= set(rules.to_arrow().column_names)

    found = rules.filter(relation="complement")
    assert {frozenset((*rule.antecedents, *rule.consequents)) for rule in found} == {
        frozenset(pair) for pair in DINNERS
    }
    mined = omba.mine_rules(model, top=1, where=Filter(relation="complement"))
    assert set(mined["relation"]) == {"complement"}


def test_rules_that_know_no_customers_have_no_relation(model):
    rules = omba.mine_rules(model, top=3)
    plain = type(rules)(rules.antecedents, rules.consequents, rules.count, rules.n_a, rules.n_b, rules.n)

    assert plain["relation"].tolist() == [None] * 3
    assert "relation" not in plain.columns


def test_without_customers_what_goes_together_is_told_and_what_replaces_what_is_not():
    lists = [["a", "b"], ["c", "d"], ["a", "b"], ["c"], ["d"]] * 60
    learned = omba.OMBA(dim=4, epochs=1, clues=False).fit(omba.Baskets.from_lists(lists), every=100)
    relations = mining_input(learned).catalogue.relations

    assert relations.judge(np.array([0, 0]), np.array([1, 2])).names == ["complement", "unclear"]
