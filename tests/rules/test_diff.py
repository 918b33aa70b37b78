"""What is said to have happened to a pair did happen: a planted world in which every kind of change is known."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from omba.baskets import Baskets
from omba.datasets import complete_journey
from omba.model.evidence import Evidence
from omba.rules import Counts
from omba.rules.diff import NEW, STOPPED, Diff, compare
from omba.rules.pair_counts import PairCounts, pack

OTHERS = [f"product {k}" for k in range(60)]


@cache
def world(seed: int, planted: bool = True) -> tuple[Baskets, Baskets, Baskets]:
    """Baskets before (6,000), since (3,000) and in all; most products sell at random, and a few pairs do not."""
    rng = np.random.default_rng(seed)
    chance = rng.uniform(0.002, 0.06, len(OTHERS))
    periods = []
    for since, n in ((False, 6_000), (True, 3_000)):
        baskets = [[OTHERS[k] for k in np.flatnonzero(rng.random(len(OTHERS)) < chance)] for _ in range(n)]
        for name, (each, alone) in (plan(since) if planted else {}).items():
            for basket in rng.choice(n, each, replace=False):
                baskets[basket] += [f"{name} a", f"{name} b"]
            for side in "ab":
                for basket in rng.choice(n, alone, replace=False):
                    if f"{name} {'ba'['ab'.index(side)]}" not in baskets[basket]:
                        baskets[basket].append(f"{name} {side}")
        periods.append([sorted(set(basket)) or ["bag"] for basket in baskets])
    before, since, whole = map(Baskets.from_lists, (*periods, periods[0] + periods[1]))
    return before, since, whole


def plan(since: bool) -> dict[str, tuple[int, int]]:
    """(baskets with both, baskets with each alone) of every planted pair."""
    if not since:
        return {
            "steady": (80, 120), "more": (40, 260), "less": (160, 140), "new": (0, 200), "stops": (80, 200),
            "season": (20, 5), "ends": (60, 60),
        }  # fmt: skip
    # Of half as many baskets. The pair of the season sells tenfold, always together: its lift falls, and nothing else.
    return {
        "steady": (40, 60), "more": (80, 70), "less": (20, 130), "new": (50, 60), "stops": (0, 140),
        "season": (100, 25), "comes": (30, 40),
    }  # fmt: skip


def counted(baskets: Baskets, labels: list[str], unkept: int = 0) -> PairCounts:
    counts = Counts.of(baskets, labels)
    left, right, count = counts.observed(unkept + 1)
    return PairCounts.of_pairs(len(baskets), counts.counts, (left, right, count), None, unkept)


def changes(seed: int, planted: bool = True, unkept: int = 0) -> Diff:
    before, _, whole = world(seed, planted)
    labels = list(whole.products)
    return compare(counted(before, labels, unkept), counted(whole, labels, unkept), labels)


def pairs(found: Diff) -> dict[str, list[str]]:
    """The planted pairs that are told, by the kind of change."""
    return {name: [one.antecedents[0].rpartition(" ")[0] for one in listed] for name, listed in found}


@pytest.mark.parametrize("seed", range(5))
def test_every_planted_change_is_told_as_what_it_is_and_no_other(seed):
    found = pairs(changes(seed))
    assert sorted(found["emerged"]) == ["comes", "new"]
    assert found["strengthened"] == ["more"]
    assert found["faded"] == ["less"]
    assert sorted(found["vanished"]) == ["ends", "stops"]


@pytest.mark.slow
def test_where_nothing_changed_nothing_is_told():
    told = [sum(len(listed) for _, listed in changes(seed, planted=False)) for seed in range(10)]
    assert sum(count > 0 for count in told) <= 1


def test_counts_and_lifts_are_those_of_each_period():
    before, since, whole = world(0)
    labels = list(whole.products)
    first, later = Counts.of(before, labels), Counts.of(since, labels)
    for _, listed in changes(0):
        for one in listed:
            a, b = labels.index(one.antecedents[0]), labels.index(one.consequents[0])
            for counts, count, lift in ((first, one.count_before, one.before), (later, one.count_since, one.since)):
                assert count == counts.pairs([a], [b])[0]
                chance = counts.counts[a] * counts.counts[b] / counts.n_baskets
                assert lift == (pytest.approx(count / chance) if chance else None)


def test_a_pair_that_sells_more_hand_in_hand_has_not_faded():
    before, since, whole = world(0)
    found = changes(0)
    labels = list(whole.products)
    a, b = labels.index("season a"), labels.index("season b")
    first, later = Counts.of(before, labels), Counts.of(since, labels)
    lifts = [c.pairs([a], [b])[0] * c.n_baskets / c.counts[a] / c.counts[b] for c in (first, later)]
    assert lifts[1] < lifts[0] / 4, "its lift fell, since both sold more"
    assert not any("season" in told for told in pairs(found).values())


def test_every_sentence_has_the_counts_of_both_periods():
    said = {name: listed[0].sentence() for name, listed in changes(0)}
    assert said["strengthened"].startswith("40 baskets")
    assert "since, where their own sales explain" in said["strengthened"]
    notes = {one.antecedents[0]: one.note for _, listed in changes(0) for one in listed}
    assert {name.rpartition(" ")[0]: note for name, note in notes.items() if note} == {"comes": NEW, "ends": STOPPED}
    new = next(one for one in changes(0).emerged if not one.note)
    assert new.sentence().startswith("never together before, 5")


def test_a_pair_whose_earlier_count_was_not_kept_says_at_most_and_at_least():
    exact, rough = changes(0), changes(0, unkept=45)
    (one,) = [change for change in rough.strengthened if change.antecedents[0].startswith("more")]
    assert (one.count_before, one.count_before_most) == (0, 45)
    assert "at most 45 baskets" in one.sentence()
    assert "at least" in one.sentence()
    assert one.count_since <= exact.strengthened[0].count_since <= one.count_since_most


def test_kept_counts_come_back_and_bound_those_that_were_not_kept(tmp_path):
    _, _, whole = world(1)
    evidence = Evidence()
    evidence.update(whole.offsets, whole.items)
    kept = PairCounts.of(evidence, len(whole.products), kept=300)
    kept.write(tmp_path / "pairs.parquet")
    again = PairCounts.read(tmp_path / "pairs.parquet", kept.baskets, kept.products)
    left, right, count = evidence.observed()
    least, most = again.ends(pack(left, right))
    assert 100 < len(again.keys) <= 300
    assert ((least <= count) & (count <= most)).all()
    assert (least[least > 0] == most[least > 0]).all()
    assert again.unkept == count[least == 0].max()


def test_pairs_that_a_table_says_nothing_of_are_not_compared():
    before, _, whole = world(0)
    labels = list(whole.products)
    first = replace(counted(before, labels), unkept=None)
    found = pairs(compare(first, counted(whole, labels), labels))
    assert found["emerged"] == []
    assert found["strengthened"] == ["more"]


def test_recounting_a_real_month_contradicts_no_number():
    year = complete_journey()
    before, since = year.between(None, "2017-11-01"), year.between("2017-11-01", "2017-12-01")
    labels, evidence, moments = list(year.product_vocabulary), Evidence(), []
    for part in (before, since):
        evidence.update(part.offsets, part.items)
        moments.append(PairCounts.of(evidence, len(labels)))
    found = compare(*moments, labels)
    assert any(listed for _, listed in found)
    first, later = Counts.of(before, labels), Counts.of(since, labels)
    rows = {label: row for row, label in enumerate(labels)}
    for name, listed in found:
        a, b = [rows[one.antecedents[0]] for one in listed], [rows[one.consequents[0]] for one in listed]
        if not listed:
            continue
        n_before, n_since = first.pairs(a, b), later.pairs(a, b)
        for ends, true in (
            (("count_before", "count_before_most"), n_before),
            (("count_since", "count_since_most"), n_since),
        ):
            least, most = (np.array([getattr(one, end) for one in listed]) for end in ends)
            assert ((least <= true) & (true <= most)).all()
        if name == "emerged":
            assert (n_before == 0).all()
        if name == "vanished":
            assert (n_since == 0).all()
