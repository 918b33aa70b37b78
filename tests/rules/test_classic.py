"""Classic miners: the same rows as mlxtend, and top-k rules against sorting all rules there are."""

import numpy as np
import pandas as pd
import pytest
from mlxtend.frequent_patterns import apriori, association_rules, fpgrowth
from mlxtend.preprocessing import TransactionEncoder

from omba.baskets import Baskets
from omba.errors import InputError, SettingError, UnknownError
from omba.rules import classic
from omba.rules.measures import MLXTEND
from omba.rules.rule_columns import COLUMNS


def lists(baskets: int = 250, seed: int = 0) -> list[list[str]]:
    """Baskets of up to a dozen products, some of which go together."""
    rng = np.random.default_rng(seed)
    popularity = rng.uniform(0.05, 0.6, 12)
    out = []
    for _ in range(baskets):
        held = rng.random(12) < popularity
        held[[1, 2]] |= held[0] & (rng.random(2) < 0.8)
        held[0] |= not held.any()
        out.append([f"p{i}" for i in np.flatnonzero(held)])
    return out


def theirs(mine, baskets: list[list[str]], support: float, **options) -> pd.DataFrame:
    encoder = TransactionEncoder()
    frame = pd.DataFrame(encoder.fit_transform(baskets), columns=encoder.columns_)
    return association_rules(mine(frame, min_support=support, use_colnames=True), **options)


def name(antecedents, consequents) -> str:
    return f"{sorted(antecedents)} ⇒ {sorted(consequents)}"


def keyed(frame: pd.DataFrame) -> pd.DataFrame:
    index = [name(a, c) for a, c in zip(frame.antecedents, frame.consequents, strict=True)]
    return frame.assign(key=index).set_index("key").sort_index()[list(MLXTEND)]


@pytest.mark.parametrize(("ours", "mlxtend"), [(classic.apriori, apriori), (classic.fpgrowth, fpgrowth)])
@pytest.mark.parametrize(
    "options", [{"metric": "confidence", "min_threshold": 0.6}, {"metric": "lift", "min_threshold": 1.1}]
)
def test_the_rows_are_those_of_mlxtend(ours, mlxtend, options):
    baskets = lists()
    found = ours(Baskets.from_lists(baskets), 0.05, **options)
    expected = theirs(mlxtend, baskets, 0.05, **options)
    assert len(found) == len(expected) > 50
    pd.testing.assert_frame_equal(keyed(found.to_pandas()), keyed(expected), atol=1e-12)


def test_options_of_mlxtend_go_through_and_the_table_is_the_common_one():
    found = classic.fpgrowth(Baskets.from_lists(lists()), 0.05, min_threshold=0.3, max_len=2)
    assert set(found.lengths.tolist()) == {2}
    assert tuple(found.to_pandas().columns) == COLUMNS
    assert found.to_pandas()["similarity"].isna().all()


def test_no_frequent_set_makes_an_empty_table():
    assert len(classic.apriori(Baskets.from_lists([["a"], ["b"], ["c"]]), 0.9)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.0, 0.51, 0.79])
@pytest.mark.parametrize("k", [1, 200])
def test_topk_gives_the_rules_of_highest_support_above_a_confidence(k, confidence):
    baskets = lists()
    expected = theirs(fpgrowth, baskets, 1 / 250, metric="confidence", min_threshold=confidence)
    expected = expected[[len(a | c) <= 4 for a, c in zip(expected.antecedents, expected.consequents, strict=True)]]
    found = classic.topk(Baskets.from_lists(baskets), k, confidence)
    assert len(found) == k
    assert found["support"].tolist() == pytest.approx(np.sort(expected.support)[::-1][:k].tolist())
    assert found["confidence"].min() >= confidence
    rows = keyed(expected)
    for rule in found:
        assert rows.loc[name(rule.antecedents, rule.consequents), "lift"] == pytest.approx(rule.lift)


def test_topk_with_given_consequents_gives_only_those():
    baskets = lists()
    found = classic.topk_class(Baskets.from_lists(baskets), 30, 0.4, ["p2", "p7"])
    expected = theirs(fpgrowth, baskets, 1 / 250, metric="confidence", min_threshold=0.4)
    wanted = [
        c in ({"p2"}, {"p7"}) and len(a | c) <= 4
        for a, c in zip(expected.antecedents, expected.consequents, strict=True)
    ]
    assert found["support"].tolist() == pytest.approx(np.sort(expected[wanted].support)[::-1][:30].tolist())
    assert {rule.consequents for rule in found} <= {("p2",), ("p7",)}
    rows = keyed(expected)
    for rule in found:
        confidence = rows.loc[name(rule.antecedents, rule.consequents), "confidence"]
        assert confidence == pytest.approx(rule.confidence)


def test_topk_gives_what_there_is_when_there_are_fewer_rules():
    found = classic.topk(Baskets.from_lists([["a", "b"], ["a", "b"], ["c"]]), 100, 0.5)
    assert [str(rule) for rule in found] == ["a ⇒ b", "b ⇒ a"]
    assert len(classic.topk(Baskets.from_lists([["a"], ["b"]]), 5, 0.5)) == 0


def test_what_cannot_work_is_refused_in_one_sentence(monkeypatch):
    baskets = Baskets.from_lists(lists(20))
    with pytest.raises(UnknownError, match="did you mean 'p2'"):
        classic.topk_class(baskets, 5, 0.5, ["p22"])
    with pytest.raises(InputError, match="no consequents"):
        classic.topk_class(baskets, 5, 0.5, [])
    with pytest.raises(InputError, match="no baskets"):
        classic.topk(Baskets.from_lists([]), 5)
    with pytest.raises(SettingError, match="k is 1 or more"):
        classic.topk(baskets, 0)
    with pytest.raises(SettingError, match="share of the baskets"):
        classic.fpgrowth(baskets, 50)
    monkeypatch.setattr(classic, "MOST_SETS", 5)
    with pytest.raises(InputError, match="too many to hold"):
        classic.topk(baskets, 50, 0.5)


def test_the_miners_need_no_other_package(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mlxtend.frequent_patterns", None)
    found = classic.fpgrowth(Baskets.from_lists([["a", "b"], ["a", "b"]]))
    assert [str(rule) for rule in found] == ["b ⇒ a", "a ⇒ b"]
