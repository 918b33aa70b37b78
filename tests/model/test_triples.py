"""Triples of the stream, counted in a table of bounded size."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest

from omba.model import counting, dense_triples
from omba.model import triples as module
from omba.model.dense_triples import DenseTriples
from omba.model.evidence import Evidence
from omba.model.triples import Triples


def window(rows):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return offsets, np.concatenate(rows).astype(np.int32)


def count(chunks, room=module.ROOM):
    """The table after some windows, its evidence, and the truth."""
    evidence, triples, truth = Evidence(100_000), Triples(room), Counter()
    for rows in chunks:
        evidence.update(*window(rows))
        triples.update(*window(rows), evidence)
        truth.update(triple for row in rows for triple in combinations(sorted(row.tolist()), 3))
    return triples, evidence, truth


def shop(baskets, products, seed=0):
    """Windows of baskets in which some products are far more frequent than others, and some triples go together."""
    rng = np.random.default_rng(seed)
    weight = 1 / np.arange(1, products + 1)
    rows = []
    for _ in range(baskets):
        row = rng.choice(products, rng.integers(1, 12), replace=False, p=weight / weight.sum())
        if rng.random() < 0.1:
            row = np.union1d(row, np.arange(3) + 3 * rng.integers(10, 13))
        rows.append(rng.permutation(row).astype(np.int32))
    return [rows[first : first + 300] for first in range(0, baskets, 300)]


def test_while_all_fit_every_count_is_the_truth():
    triples, evidence, truth = count(shop(1_200, 60))
    sets = np.array(list(combinations(range(60), 3)))
    assert triples.counts(sets).tolist() == [truth[tuple(row)] for row in sets.tolist()]
    assert triples.exact(sets, evidence.n_baskets).all()
    assert triples.n_triples == len(truth)
    found, counts = triples.observed(4)
    assert {tuple(row): n for row, n in zip(found.tolist(), counts.tolist(), strict=True)} == {
        triple: n for triple, n in truth.items() if n >= 4
    }


@pytest.fixture(scope="module")
def crowded():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LEAST", 12_000)
        yield count(shop(3_000, 300, seed=1), room=12_000)


def test_in_a_full_table_a_count_is_never_more_than_the_truth_and_says_whether_it_is(crowded):
    triples, evidence, truth = crowded
    assert 0 < triples.n_triples <= 12_000 < len(truth)
    assert triples.let_go
    sets = np.array(list(truth))
    true = np.array(list(truth.values()))
    counts, exact = triples.counts(sets), triples.exact(sets, evidence.n_baskets)
    assert (counts <= true).all()
    assert (counts[exact] == true[exact]).all()
    assert exact[true > 20 * triples.let_go].mean() > 0.5


def test_triples_that_are_bought_often_stay_in_a_full_table(crowded):
    triples, _, truth = crowded
    often = np.array([triple for triple, n in truth.items() if n >= 30])
    assert len(often) > 50
    assert (triples.counts(often) >= 0.8 * np.array([truth[tuple(row)] for row in often.tolist()])).mean() > 0.95


def test_a_saved_table_goes_on_as_it_was(crowded):
    triples, evidence, _ = crowded
    other = Triples(12_000)
    other.load(triples.state())
    assert (other.let_go, other.n_triples, other.n_baskets) == (triples.let_go, triples.n_triples, triples.n_baskets)
    for name, array in triples.state().items():
        assert np.array_equal(other.state()[name], array)
    assert other.exact(np.array([[0, 1, 2]]), evidence.n_baskets + 1).tolist() == [False], "baskets it has not met"


def test_of_a_very_large_basket_a_part_is_counted_and_no_count_claims_to_be_exact(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", (20,))
    triples, evidence, _ = count([[np.arange(50)], [np.arange(3)]])
    assert triples.oversized == 1
    assert triples.n_triples <= 20 * 19 * 18 // 6 + 1
    assert not triples.exact(np.array([[0, 1, 2]]), evidence.n_baskets).any()


def test_of_a_large_basket_those_count_that_have_met_two_others_of_it_most_often(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", (5,))
    # Met before: 7, 21 and 40 together, 3 and 11 as a pair and each with 21; 30 with one other alone, however often.
    before = [np.array([7, 21, 40])] * 4 + [np.array([3, 11])] * 3 + [np.array([3, 21]), np.array([11, 21])] * 3
    before += [np.array([30, 31])] * 9
    triples, _, _ = count([before, [np.arange(50)], [np.arange(0, 50, 7)]])
    counted, often = triples.observed(1)
    assert {tuple(row) for row, n in zip(counted.tolist(), often.tolist(), strict=True) if n == 5} == {(7, 21, 40)}
    assert triples.counts(np.array([[3, 11, 21]])).tolist() == [1]
    assert not (counted == 30).any()
    assert triples.oversized == 2


def test_of_a_huge_basket_a_part_is_looked_at_and_as_many_products_count(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", (5,))
    monkeypatch.setattr(module, "LOOKED_AT", 20)
    met = set()
    for before in range(30):
        evidence, triples = Evidence(100_000), Triples()
        for rows in ([np.arange(3)] * before + [np.array([10, 11, 12, 13, 14])] * 3, [np.arange(400) + 10]):
            evidence.update(*window(rows))
            triples.update(*window(rows), evidence)
        counted, often = triples.observed(1)
        assert len(counted) <= 20 + (before > 0)
        met |= {tuple(row) for row in counted[often == 1].tolist()}
    assert len(met) > 100, "a part that is the same each time"


def test_a_table_of_more_than_there_is_room_for_is_refused(monkeypatch):
    triples, _, _ = count(shop(300, 40))
    monkeypatch.setattr(module, "LEAST", 10)
    with pytest.raises(ValueError, match="more than the 10 there is room for"):
        Triples(10).load(triples.state())


@pytest.mark.parametrize("before", range(4_000, 17_000, 1_000))
def test_a_large_basket_finds_room_however_full_the_table_is(before):
    rng = np.random.default_rng(before)
    few = [[rng.choice(10_000, 4, replace=False) for _ in range(before // 4)]]
    triples, _, truth = count([*few, [np.arange(128)], [np.arange(128) + 64]], room=30_000)
    assert triples.n_triples <= 30_000
    assert triples.counts(np.array([[64, 65, 66]]))[0] <= truth[64, 65, 66]


def test_products_that_are_bought_once_make_no_room_for_themselves(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 5_000)
    rare = [np.arange(20) + 100 + 20 * number for number in range(60)]
    often = [np.array([0, 1, 2])] * 60
    triples, _, _ = count([[*rare[first : first + 6], *often[first : first + 6]] for first in range(0, 60, 6)], 5_000)
    assert triples.let_go == 1
    assert triples.counts(np.array([[0, 1, 2]])) == [60]


def test_a_full_table_of_triples_whose_pairs_were_let_go_lets_triples_go():
    rng = np.random.default_rng(0)
    evidence, triples = Evidence(10_000), Triples(module.LEAST)
    for _ in range(4):
        rows = [rng.choice(400, 40, replace=False).astype(np.int32) for _ in range(20)]
        evidence.update(*window(rows))
        triples.update(*window(rows), evidence)

    assert 0 < triples.n_triples <= module.LEAST
    assert triples.let_go > 0


def test_a_bound_below_zero_is_refused():
    state = Triples(module.LEAST).state() | {"let_go": np.array([-1.0])}

    with pytest.raises(ValueError, match="less than 0"):
        Triples(module.LEAST).load(state)


def test_what_stays_when_triples_are_let_go_is_found_where_it_was_put(crowded):
    triples, evidence, _ = crowded
    other = Triples(12_000)
    other.load(triples.state())
    before, counts = other.observed()

    other._make_room(evidence)

    kept, left = other.observed()
    assert len(kept) < len(before)
    assert 0 < other.n_triples < triples.n_triples
    worth = dict(zip(map(tuple, before.tolist()), counts.tolist(), strict=True))
    assert left.tolist() == [worth[tuple(row)] for row in kept.tolist()]
    assert other.counts(kept).tolist() == left.tolist(), "a search for each of them ends at it"
    gone = np.array(sorted(set(worth) - set(map(tuple, kept.tolist()))))
    assert not other.counts(gone).any()


def test_what_triples_are_worth_is_the_same_by_places_of_their_own_and_by_look_ups(crowded, monkeypatch):
    triples, evidence, _ = crowded
    slots, worths = 2 * np.flatnonzero(triples._table[::2] != counting.EMPTY), []
    for rows in (0, 40, 4_096):
        monkeypatch.setattr(module, "FIRST_ROWS", rows)
        worth, known = np.empty(len(slots)), (evidence.table, evidence.counts, evidence.n_baskets)
        counting.find_worth(triples._table, slots, 2.0, counting.EMPTY, *known, module.find_near(evidence), worth)
        worths.append(worth)

    assert np.ptp(worths[0]) > 10
    np.testing.assert_allclose(worths[1], worths[0], rtol=0.005)
    np.testing.assert_allclose(worths[2], worths[0], rtol=0.005)


def test_pairs_that_were_let_go_promise_nothing_in_either_way(monkeypatch):
    evidence, triples = Evidence(100_000), Triples()
    evidence.update(*window([np.arange(2), np.arange(1, 3)] * 50))
    key = np.array([(1 << 21) + 2], np.uint64)
    counting.insert_triples(key, np.array([7], np.uint64), triples._table, triples._marks)
    slots = 2 * np.flatnonzero(triples._table[::2] != counting.EMPTY)
    for rows in (0, 4_096):
        monkeypatch.setattr(module, "FIRST_ROWS", rows)
        worth, known = np.full(1, np.nan), (evidence.table, evidence.counts, evidence.n_baskets)
        counting.find_worth(triples._table, slots, 2.0, counting.EMPTY, *known, module.find_near(evidence), worth)
        assert worth.tolist() == [0.0]


def test_a_saved_table_is_filled_when_it_is_first_asked_and_goes_on_counting_as_the_one_it_was_saved_from(crowded):
    triples, _, _ = crowded
    other, asked = Triples(12_000), Triples(12_000)
    other.load(triples.state())
    asked.load(triples.state())
    assert other.n_triples == triples.n_triples
    assert other._loaded is not None, "nobody has asked"
    assert asked.nbytes > 0
    assert asked._loaded is None

    evidence = Evidence(100_000)
    for rows in shop(600, 300, seed=2):
        evidence.update(*window(rows))
        for table in (other, asked):
            table.update(*window(rows), evidence)
    for name, array in other.state().items():
        assert np.array_equal(asked.state()[name], array)


def test_rows_out_of_order_in_a_damaged_state_lead_nowhere_else():
    evidence, triples = Evidence(100_000), Triples()
    evidence.update(*window([np.arange(3)] * 50))
    odd = np.array([(2 << 32) | 2, (4_000_000_000 << 32) | 1], np.uint64)
    counting.insert(odd, np.array([9, 9], np.uint64), evidence.table)
    own, close = module.find_near(evidence)
    assert (close == counting.NEAREST).all(), "the three pairs there are, and nothing else"

    triples.load(
        triples.state() | {"triples": np.array([[2, 1, 0], [1, 1, 1]], np.int32), "values": np.array([7, 7], np.uint64)}
    )
    slots, worth = 2 * np.flatnonzero(triples._table[::2] != counting.EMPTY), np.full(2, np.nan)
    known = evidence.table, np.full(3, 2**62), evidence.n_baskets
    counting.find_worth(triples._table, slots, 2.0, counting.EMPTY, *known, (own, close), worth)
    assert np.isfinite(worth).all()


def whole_truth(truth):
    return np.array(list(truth)), np.array(list(truth.values()))


def test_triples_of_best_sellers_have_places_of_their_own_with_their_true_counts(crowded):
    triples, evidence, truth = crowded
    sets, true = whole_truth(truth)
    held = triples._dense.holds(sets)

    assert held.sum() > 3_000
    assert triples.exact(sets[held], evidence.n_baskets).all()
    assert (triples.counts(sets[held]) == true[held]).all()
    found, counts = triples.observed(2)
    assert triples.counts(found).tolist() == counts.tolist()
    assert len(np.unique(found, axis=0)) == len(found)


def test_a_model_saved_before_best_sellers_had_places_goes_on_and_claims_no_more_than_it_knows(crowded):
    triples, evidence, _ = crowded
    old = {k: v for k, v in triples.state().items() if not k.startswith(("sellers", "told"))}
    rows, counts = triples.observed(2)
    old |= {"triples": rows[:12_000], "values": counts[:12_000].astype(np.uint64)}
    other = Triples(12_000)
    other.load(old)
    before = other.counts(rows)

    other._part_best_sellers(evidence)

    assert len(other._dense.rows)
    assert other.n_triples <= other._table_room
    assert (other.counts(rows) <= before).all()
    held = other._dense.holds(rows)
    assert (other.counts(rows[held]) == before[held]).all()
    assert not other.exact(rows[held], evidence.n_baskets).any()


def test_where_others_sell_best_now_their_triples_have_the_places(monkeypatch):
    monkeypatch.setattr(module, "LEAST", 12_000)
    first, later = shop(1_500, 120, seed=1), shop(12_000, 120, seed=2)
    moved = [[row + 120 for row in rows] for rows in later]
    triples, evidence, truth = count([*first, *moved], room=12_000)
    sets, true = whole_truth(truth)

    assert (triples._dense.rows >= 120).mean() > 0.7
    assert (triples.counts(sets) <= true).all()
    exact = triples.exact(sets, evidence.n_baskets)
    assert (triples.counts(sets)[exact] == true[exact]).all()
    assert triples.n_triples <= triples._table_room
    again = Triples(12_000)
    again.load(triples.state())
    assert again.observed()[1].tolist() == triples.observed()[1].tolist()


def some_baskets(number, products=40):
    """Baskets of numbered best sellers, three or more each, as one list of numbers in order and their sizes."""
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.choice(products, rng.integers(3, 12), replace=False)).astype(np.uint16) for _ in range(number)]
    truth = Counter(triple for row in rows for triple in combinations(row.tolist(), 3))
    return np.concatenate(rows), np.array([len(row) for row in rows], np.int32), truth


def test_best_sellers_of_many_baskets_are_counted_one_highest_number_at_a_time_as_one_basket_at_a_time_would():
    numbers, sizes, truth = some_baskets(700)
    dense = DenseTriples(np.arange(40, dtype=np.int32))
    for part, some in zip(np.split(numbers, [sizes[:300].sum()]), np.split(sizes, [300]), strict=True):
        dense.add(part, some)

    sets = np.array(list(combinations(range(40), 3)))
    assert dense.look_up(sets).tolist() == [truth[tuple(row)] for row in sets.tolist()]


def test_baskets_of_best_sellers_wait_until_they_are_many_or_asked_for_and_are_counted_once(monkeypatch):
    numbers, sizes, truth = some_baskets(50)
    dense, total = DenseTriples(np.arange(40, dtype=np.int32)), sum(truth.values())
    dense.add(numbers, sizes)
    assert not dense._counts.any(), "nobody has asked"
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: int(dense.counts.sum()), range(8))) == [total] * 8

    monkeypatch.setattr(dense_triples, "AT_ONCE", len(numbers))
    dense.add(numbers, sizes)
    assert dense._counts.sum() == 2 * total, "they are many"


def test_a_part_taken_by_best_sellers_lets_all_that_are_too_many_go_at_once(crowded, monkeypatch):
    triples, evidence, _ = crowded
    other, drops = Triples(12_000), []
    other.load(triples.state())
    monkeypatch.setattr(Triples, "_table_room", property(lambda self: 1_500))
    monkeypatch.setattr(
        counting, "drop_triples", lambda *given, drop=counting.drop_triples: drops.append(1) or drop(*given)
    )

    other._part_best_sellers(evidence)

    assert 0 < other.n_triples <= 1_500
    assert len(drops) <= 2, "a sample tells the bound nearly"


def test_counts_of_best_sellers_that_are_not_theirs_are_refused(crowded):
    triples, _, _ = crowded
    state = triples.state()
    for wrong in ({"sellers_counts": state["sellers_counts"][1:]}, {"sellers": np.zeros_like(state["sellers"])}):
        with pytest.raises(ValueError, match="sellers_counts"):
            Triples(12_000).load(state | wrong)
