"""Explanations: bridges, users and the nearest seen pairs, in words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from omba import Baskets, datasets
from omba.errors import InputError, UnknownError
from omba.model import OMBA
from omba.model.forecast import Forecast
from omba.rules import Catalogue, Counts, MiningInput
from omba.rules.explain import Explainer
from omba.rules.from_model import mining_input

LISTS = [["cream", "soap"]] * 6 + [["sink", "soap"]] * 4 + [["cream", "towel"]] + [["tea", "milk"]] * 30 + [["tea"]] * 9


def explainer(lists: list[list[str]] = LISTS, **more: object) -> Explainer:
    """Products as vectors of what they were bought with: close where they share partners."""
    baskets = Baskets.from_lists(lists)
    evidence = Counts.of(baskets)
    rows = np.arange(len(baskets.products))
    together = evidence.pairs(np.repeat(rows, len(rows)), np.tile(rows, len(rows))).reshape(len(rows), -1)
    given = {"vectors": together.astype(np.float32), "evidence": evidence, **more}
    return Explainer(MiningInput(Catalogue(baskets.products), **given))


def test_an_unseen_pair_is_explained_by_the_product_both_go_with() -> None:
    explanation = explainer().explain("cream", "sink")
    assert (explanation.status, explanation.count) == ("unseen", 0)
    (bridge,) = explanation.bridges
    assert bridge.product == "soap"
    assert (bridge.count_a, bridge.count_b) == (6, 4)
    assert bridge.lift_a == pytest.approx(6 * 50 / (7 * 10))
    assert bridge.lift_b == pytest.approx(4 * 50 / (4 * 10))


def test_the_words_tell_counts_bridges_and_near_pairs() -> None:
    text = str(explainer().explain("cream", "sink"))
    assert "cream and sink were never bought together in 50 baskets, where chance would make it 0.56 (unseen)." in text
    assert "soap: 6 baskets with cream (lift 4.3), 4 with sink (lift 5.0)" in text
    assert "soap and sink: 4 baskets, lift 5.0" in text
    assert "user" not in text


def test_a_seen_pair_is_told_with_its_count_and_lift() -> None:
    explanation = explainer().explain("tea", "milk")
    assert (explanation.status, explanation.count) == ("observed", 30)
    assert explanation.lift == pytest.approx(30 * 50 / (39 * 30))
    assert "30 times" in str(explanation)
    assert explainer().explain("cream", "towel").status == "rare"


def test_bridges_are_ranked_by_their_weaker_link() -> None:
    lists = [["a", "even"]] * 10 + [["b", "even"]] * 10 + [["a", "lean"]] * 18 + [["b", "lean"]] * 1 + [["other"]] * 200
    alike = explainer(lists, vectors=np.ones((5, 2)))
    assert [bridge.product for bridge in alike.explain("a", "b").bridges] == ["even", "lean"]


def test_users_who_buy_both_are_counted_against_chance() -> None:
    rows = {label: row for row, label in enumerate(explainer().given.labels)}
    both, cream, sink = [rows["cream"], rows["sink"]], [rows["cream"], -1], [-1, rows["sink"]]
    remembered = np.array([both, both, cream, sink, [-1, -1], [-1, -1]])
    explanation = explainer(users=list("uvwxyz"), remembered=remembered).explain("cream", "sink")
    assert explanation.shoppers is not None
    assert (explanation.shoppers.number, explanation.shoppers.some) == (2, ["u", "v"])
    assert explanation.shoppers.chance == pytest.approx(3 * 3 / 6)
    assert "2 users buy both, where chance would make it 1.5: u, v." in str(explanation)


def test_the_forecast_is_told_where_there_is_one() -> None:
    class Forecast:
        judged = True

        def expect(self, *given: object) -> tuple[np.ndarray, ...]:
            return np.array([7.0]), np.array([2.0]), np.array([30.0])

    told = str(explainer(forecast=Forecast()).explain("cream", "sink"))
    assert "a lift of 7.0 (nine times in ten between 2.0 and 30.0)" in told
    assert "Not enough was seen yet" not in told
    assert "next period" not in str(explainer().explain("cream", "sink"))


def test_a_forecast_that_was_never_judged_says_that_not_enough_was_seen_yet() -> None:
    assert "Not enough was seen yet" in str(explainer(forecast=Forecast()).explain("cream", "sink"))
    assert "Not enough was seen yet" not in str(explainer().explain("cream", "sink"))


def test_an_explanation_goes_through_json() -> None:
    told = json.loads(json.dumps(explainer().explain("cream", "sink").to_dict()))
    assert told["bridges"][0]["product"] == "soap"


def test_an_unknown_product_is_an_error_that_suggests_the_nearest_name() -> None:
    with pytest.raises(UnknownError, match="'saop' is not known here; did you mean 'soap'"):
        explainer().explain("saop", "cream")


def test_a_pair_whose_count_was_let_go_is_not_called_unseen() -> None:
    class Forgetful(Counts):
        complete = False

        def seen(self, left: object, right: object) -> np.ndarray:
            return np.ones(1, bool)

    counts = Counts.of(Baskets.from_lists(LISTS))
    explanation = explainer(evidence=Forgetful(*vars(counts).values())).explain("cream", "sink")

    assert explanation.status == "rare"
    assert "were bought together too seldom to be counted still" in str(explanation)


def test_a_product_beside_itself_is_refused() -> None:
    with pytest.raises(InputError, match="two different products"):
        explainer().explain("soap", "soap")


@pytest.mark.slow
def test_planted_bridges_are_found_in_a_model_learned_from_a_stream() -> None:
    world = datasets.synthetic(baskets=6_000, products=200, users=200, days=30, pairs=6, seed=3)
    model = OMBA(dim=32, epochs=3, seed=0, categories=False).fit(world.baskets)
    explainer = mining_input(model).explainer
    found = [
        bridge in [x.product for x in explainer.explain(a, b, most=3).bridges]
        for (a, b), bridge in zip(world.truth.bridged, world.truth.bridges, strict=True)
    ]
    assert np.mean(found) >= 0.8
