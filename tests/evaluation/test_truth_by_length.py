"""Rules judged by their length: those of several products hold as pairs do."""

from __future__ import annotations

import numpy as np
import pytest

from omba import OMBA, Baskets
from omba.evaluation.truth_by_length import TruthByLength, judge_by_length


@pytest.fixture(scope="module")
def baskets() -> Baskets:
    """Pairs that lead to a third product, the same all the time."""
    rng = np.random.default_rng(5)
    bought = rng.random((6_000, 24)) < np.linspace(0.3, 0.1, 24)
    for a in range(0, 12, 3):
        bought[:, a + 2] |= bought[:, a] & bought[:, a + 1] & (rng.random(len(bought)) < 0.6)
    return Baskets.from_lists([[f"p{k:02}" for k in np.flatnonzero(row)] or ["p00"] for row in bought])


@pytest.fixture(scope="module")
def found(baskets: Baskets) -> TruthByLength:
    model = OMBA(dim=8, epochs=1).fit(baskets.slice(0, 4_500), 500)
    return judge_by_length(baskets, None, model, top=4, lift=1.2)


def test_the_planted_rules_of_two_antecedents_hold_in_any_order_of_them(found: TruthByLength) -> None:
    held = {(one.antecedents, one.ranking): one for one in found.held}
    assert {antecedents for antecedents, _ in held} == {1, 2}
    assert held[2, "expected_lift_low"].holds == 1.0
    assert held[2, "expected_lift_low"].top == 4
    assert {ranking for _, ranking in held} >= {"confidence", "lift", "gamma-Poisson shrunk lift"}
    assert all(0 <= one.covered <= 1 for one in found.held)


def test_a_lift_that_nothing_has_is_held_by_none(baskets: Baskets, found: TruthByLength) -> None:
    model = OMBA(dim=8, epochs=1).fit(baskets.slice(0, 4_500), 500)
    high = judge_by_length(baskets, None, model, top=4, lift=50.0, exact=True)
    assert {one.holds for one in high.held} == {0.0}
    assert "50" in str(high)
    assert len(str(found).splitlines()) == len(found.to_dict()["held"]) + 2
