"""Triples counted in constant memory."""

from itertools import combinations

import numpy as np
import pytest

import omba
from omba.baskets import Baskets
from omba.model import sets as module
from omba.model.evidence import Evidence
from omba.model.sets import Sets, triangles


def part(lists):
    offsets = np.concatenate([[0], np.cumsum([len(x) for x in lists])])
    return offsets, np.concatenate(lists).astype(np.int32)


def watching(members, n=0):
    watch = Sets()
    watch._join(np.array(members, np.int32), n)
    return watch


def test_a_watched_triple_is_counted_exactly():
    rng = np.random.default_rng(0)
    lists = [np.sort(rng.choice(12, rng.integers(1, 7), replace=False)) for _ in range(500)]
    triples = list(combinations(range(12), 3))
    watch, evidence = watching(triples), Evidence(10_000)
    for chunk in (lists[:200], lists[200:]):
        evidence.update(*part(chunk))
        watch.update(*part(chunk), evidence)
    expected = [sum({*t} <= {*x.tolist()} for x in lists) for t in triples]
    assert watch.counts(np.array(triples), evidence).tolist() == expected
    assert watch.counts(np.array(triples)[:, ::-1], evidence).tolist() == expected


def test_a_count_is_never_more_than_the_truth():
    lists = [[0, 1, 2]] * 50 + [[3, 4]] * 50
    evidence = Evidence(10_000)
    evidence.update(*part(lists))
    watch = watching([[0, 1, 2]], n=100)
    evidence.update(*part(lists))
    watch.update(*part(lists), evidence)
    asked = np.array([[2, 0, 1], [0, 1, 3]])
    assert watch.counts(asked, evidence).tolist() == [50, 0]
    assert watch.exact(asked, evidence).tolist() == [False, True], "0, 1 and 3 cannot have met: 0 and 3 never did"
    assert watch.exact(asked[:, :2], evidence).all()


def test_triangles_join_pairs_that_are_all_linked_the_rarest_first():
    counts = np.array([9, 5, 7, 1])
    found = triangles(np.array([0, 1, 0, 2]), np.array([1, 2, 2, 3]), counts)
    assert found.tolist() == [[1, 2, 0]]


def test_the_list_is_bounded_and_those_met_least_give_way(monkeypatch):
    monkeypatch.setattr(module, "ROOM", 3)
    watch = watching([[0, 1, 2], [0, 1, 3], [0, 2, 3]])
    evidence, window = Evidence(10_000), part([[0, 1, 2]] * 4 + [[0, 2, 3]] * 2)
    evidence.update(*window)
    watch.update(*window, evidence)
    watch._join(np.array([[5, 6, 7]], np.int32), 6)
    assert watch.members.tolist() == [[0, 1, 2], [0, 2, 3], [5, 6, 7]]


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(1)
    lists = []
    for _ in range(4_000):
        basket = set(rng.choice(60, 3).tolist())
        if rng.random() < 0.08:
            basket |= {"tea", "milk", "cake"}
        basket |= {label for label in ("tea", "milk", "cake") if rng.random() < 0.15}
        lists.append([str(x) for x in basket])
    return Baskets.from_lists(lists)


def test_rules_with_two_antecedents_come_from_the_stream_alone_and_never_claim_more_than_the_truth(stream, tmp_path):
    model = omba.OMBA(dim=24).fit(stream, 250)
    model.save(tmp_path / "m")
    for learned in (model, omba.OMBA.load(tmp_path / "m")):
        rules = omba.mine_rules(learned, top=50)
        three = next(r for r in rules if {*r.antecedents, *r.consequents} == {"tea", "milk", "cake"})
        exact = sum({"tea", "milk", "cake"} <= {*b.products} for b in stream)
        assert len(three.antecedents) == 2
        assert three.count == exact
        assert not three.count_at_least
