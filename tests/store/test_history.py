"""History: entries that survive, are thinned, answer as of then, and can be compared."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from omba.baskets import Clock
from omba.errors import InputError, SettingError, SnapshotError, UnknownError
from omba.rules import Rules
from omba.rules.diff import diff
from omba.rules.rules_table import read_rules, rules_table
from omba.store import History, Keep
from omba.store import history as module

LABELS = ["tea", "milk", "soap", 7]


def rules(*rows: tuple[str, str, int, int, int], n: int = 1_000) -> Rules:
    """Rules a ⇒ b from (a, b, count, n_a, n_b)."""
    a, b, count, n_a, n_b = zip(*rows, strict=True)
    return Rules(
        [(x,) for x in a], [(x,) for x in b], count=np.array(count), n_a=np.array(n_a), n_b=np.array(n_b), n=n
    )  # fmt: skip


def tick(text: str) -> int:
    return Clock.DATETIME.read(text)


def record(
    history: History, at: int, clock: Clock = Clock.DATETIME, labels: list[object] = LABELS, count: int = 9
) -> None:
    rng = np.random.default_rng(len(labels))
    vectors = rng.normal(size=(len(labels), 8)).astype(np.float32)
    counts = np.full(len(labels), 5)
    history.record(rules(("tea", "milk", count, 20, 30)), labels, vectors, counts, 1_000, at, clock)  # type: ignore[arg-type]


def test_an_entry_gives_back_what_was_recorded(tmp_path: Path) -> None:
    history = History(tmp_path)
    vectors = np.array([[3, 4], [4, 3], [-3, 4], [1, 0]], np.float32)
    table = rules(("tea", "milk", 9, 20, 30))
    history.record(table, LABELS, vectors, np.array([20, 30, 5, 2]), 1_000, tick("2017-10-01"), Clock.DATETIME)
    (entry,) = History(tmp_path).entries
    assert (entry.shown, entry.n_baskets, entry.n_labels) == ("2017-10-01 00:00:00", 1_000, 4)
    np.testing.assert_allclose(entry.vectors[0], [0.6, 0.8], atol=1e-3)
    assert entry.counts.tolist() == [20, 30, 5, 2]
    assert entry.rules.equals(rules_table(table))
    assert entry.rules["lift"].to_pylist() == pytest.approx([9 * 1_000 / 600])
    assert history.labels == LABELS


def test_a_moment_leads_to_the_last_entry_at_or_before_it(tmp_path: Path) -> None:
    history = History(tmp_path)
    for text in ("2017-10-01", "2017-10-02", "2017-10-05"):
        record(history, tick(text))
    assert history.at("2017-10-04").shown == "2017-10-02 00:00:00"
    assert history.at("2017-10-05").shown == "2017-10-05 00:00:00"
    assert history.at(datetime(2018, 1, 1)).shown == "2017-10-05 00:00:00"
    with pytest.raises(InputError, match="begins at 2017-10-01"):
        history.at("2017-09-30")


def test_similar_products_are_those_of_then(tmp_path: Path) -> None:
    history, counts = History(tmp_path), np.array([9, 9, 9, 1])
    then = np.array([[1, 0], [0.9, 0.1], [0, 1], [1, 0]])
    now = np.array([[1, 0], [0, 1], [0.9, 0.1], [1, 0]])
    for vectors, text in ((then, "2017-10-01"), (now, "2017-11-01")):
        history.record(rules(("tea", "milk", 9, 20, 30)), LABELS, vectors, counts, 1_000, tick(text), Clock.DATETIME)
    assert history.similar_at("tea", "2017-10-15", n=1)[0][0] == "milk"
    assert history.similar_at("tea", "2017-11-15", n=1)[0][0] == "soap"
    assert [label for label, _ in history.similar_at("tea", "2017-11-15")] == ["soap", "milk"], "7 was met only once"


def test_a_product_not_known_then_is_an_error_that_says_when(tmp_path: Path) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"), labels=LABELS[:2])
    record(history, tick("2017-10-02"))
    assert history.similar_at("soap", "2017-10-02")
    with pytest.raises(UnknownError, match="'soap' was not known at 2017-10-01"):
        history.similar_at("soap", "2017-10-01")


def test_labels_are_stored_once_and_read_back_with_their_types(tmp_path: Path) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"), labels=["a", 5])
    record(history, tick("2017-10-02"), labels=["a", 5])
    record(history, tick("2017-10-03"), labels=["a", 5, "5"])
    assert history.labels == ["a", 5, "5"]
    assert len(list(tmp_path.glob("labels-*"))) == 2


def test_the_history_of_another_model_is_not_mixed_with_this_one(tmp_path: Path) -> None:
    record(History(tmp_path), tick("2017-10-01"))
    with pytest.raises(SnapshotError, match="belongs to another model"):
        record(History(tmp_path), tick("2017-10-02"), labels=["coffee", "milk"])


def test_the_same_window_again_replaces_its_entry(tmp_path: Path) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"), count=9)
    record(history, tick("2017-10-01"), count=10)
    (entry,) = history.entries
    assert entry.rules["count"].to_pylist() == [10]


def test_a_crash_while_writing_leaves_the_entries_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"))

    def crash(path: Path) -> None:
        if path.name == "rules.parquet":
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("omba.disk.sync", crash)
        with pytest.raises(SnapshotError, match="No space left"):
            record(history, tick("2017-10-02"))
    assert [entry.shown for entry in history.entries] == ["2017-10-01 00:00:00"]
    record(history, tick("2017-10-03"))
    assert len(history.entries) == 2
    assert not list(tmp_path.glob("*.aside"))


def test_a_damaged_entry_is_named(tmp_path: Path) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"))
    (entry,) = history.entries
    (entry.folder / "rules.parquet").write_bytes(b"cut off")
    with pytest.raises(SnapshotError, match="history of 2017-10-01"):
        _ = entry.rules


@pytest.mark.parametrize(
    ("clock", "ticks"),
    [
        (Clock.DATETIME, lambda i: tick("2014-01-01") + i * 6 * 3_600_000_000),
        (Clock.DAY, lambda i: i // 4),
        (Clock.NONE, lambda i: i),
    ],
)
def test_old_entries_are_thinned_to_days_then_months(clock: Clock, ticks: Callable[[int], int]) -> None:
    keep, all_ticks, kept = Keep(last=5, daily=10, monthly=12), [], set[int]()
    for i in range(4 * 365):
        all_ticks.append(ticks(i))
        kept = keep.of(sorted(kept | {ticks(i)}), clock)
        assert len(kept) <= 27
    newest = sorted(set(all_ticks))[-5:]
    assert kept >= set(newest)
    assert len({module.month(t, clock) for t in kept}) >= 12


def test_thinning_keeps_the_last_entry_of_a_day(tmp_path: Path) -> None:
    history = History(tmp_path, Keep(last=2, daily=3, monthly=0))
    start = datetime(2017, 10, 1)
    for hours in range(6, 120, 6):
        record(history, tick((start + timedelta(hours=hours)).isoformat()))
    shown = [entry.shown for entry in history.entries]
    assert shown[-2:] == ["2017-10-05 12:00:00", "2017-10-05 18:00:00"]
    assert shown[:-2] == ["2017-10-03 18:00:00", "2017-10-04 18:00:00", "2017-10-05 06:00:00"]


def test_an_entry_that_is_being_removed_is_not_taken_for_a_damaged_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    history, removed, real = History(tmp_path, Keep(last=2, daily=0, monthly=0)), [], shutil.rmtree

    def look_half_way(place: Path, **options: bool) -> None:
        if (place / "entry.json").exists():
            removed.append(place)
            (place / "entry.json").unlink()
            assert len(history.entries) == 2
        real(place, **options)

    monkeypatch.setattr(shutil, "rmtree", look_half_way)
    for day in range(1, 5):
        record(history, tick(f"2017-10-0{day}"))
    assert len(removed) == 2
    assert not caplog.records
    assert len(list(tmp_path.glob("at-*"))) == 2


def test_a_stream_without_time_is_asked_by_the_number_of_the_window(tmp_path: Path) -> None:
    history = History(tmp_path)
    for window in (10, 20):
        record(history, window, Clock.NONE)
    assert history.at(15).tick == history.at("15").tick == 10
    with pytest.raises(InputError, match="count windows"):
        history.at("2017-10-01")


def test_an_empty_history_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no history"):
        History(tmp_path).at("2017-10-01")


def test_a_history_that_keeps_nothing_is_refused() -> None:
    with pytest.raises(SettingError, match="keep at least the last"):
        Keep(last=0)


# Comparing two tables.

FILLER = [(f"x{i}", f"y{i}", 50, 100, 100) for i in range(4)]


def grown(*rows: tuple[str, str, int, int, int]) -> list[tuple[str, str, int, int, int]]:
    """Rows to which as many baskets came again at the same lift."""
    return [(a, b, 2 * count, 2 * n_a, 2 * n_b) for a, b, count, n_a, n_b in rows]


def test_a_rule_that_is_in_one_table_alone_has_neither_emerged_nor_vanished() -> None:
    before = rules(("old", "gone", 40, 60, 60), *FILLER)
    after = rules(("new", "here", 40, 60, 60), *grown(*FILLER), n=2_000)
    assert not any(changes for _, changes in diff(before, after))


def test_a_lift_is_judged_by_the_baskets_in_between() -> None:
    before = rules(("up", "b", 20, 100, 100), ("down", "b2", 60, 100, 100), *FILLER)
    after = rules(("up", "b", 80, 200, 200), ("down", "b2", 65, 200, 200), *grown(*FILLER), n=2_000)
    found = diff(before, after)
    (up,), (down,) = found.strengthened, found.faded
    assert (up.antecedents, up.before, up.since, up.count_since) == (("up",), 2.0, 6.0, 60)
    assert (down.antecedents, down.before, down.since, down.count_since) == (("down",), 6.0, 0.5, 5)


def test_a_change_that_may_be_chance_is_not_told() -> None:
    before = rules(("a", "b", 4, 100, 100), *FILLER)
    after = rules(("a", "b", 11, 200, 200), *grown(*FILLER), n=2_000)
    found = diff(before, after)
    assert not found.strengthened
    assert not found.faded


def test_a_rule_that_stopped_altogether_has_vanished() -> None:
    before = rules(("a", "b", 60, 100, 100), *FILLER)
    after = rules(("a", "b", 60, 200, 200), *grown(*FILLER), n=2_000)
    (gone,) = diff(before, after).vanished
    assert (gone.before, gone.count_before, gone.since, gone.count_since) == (6.0, 60, 0.0, 0)


def test_a_rule_that_turned_round_is_the_same_rule() -> None:
    before = rules(("a", "b", 50, 100, 200), *FILLER)
    after = rules(("b", "a", 100, 400, 200), *grown(*FILLER), n=2_000)
    found = diff(before, after)
    assert not any(changes for _, changes in found)
    stronger = rules(("b", "a", 160, 400, 200), *grown(*FILLER), n=2_000)
    (change,) = diff(before, stronger).strengthened
    assert (change.before, change.since) == (2.5, 110 * 1_000 / (100 * 200))


def test_a_larger_set_is_not_said_to_have_changed_since_its_count_is_a_lower_bound() -> None:
    def table(count: int, times: int) -> Rules:
        sides = [("a", "b"), ("c",)]
        return Rules(
            [sides[0]], [sides[1]], np.array([count]), np.array([60 * times]), np.array([60 * times]), 1_000 * times
        )

    assert not any(changes for _, changes in diff(table(50, 1), table(20, 2)))


def test_the_history_compares_two_dates(tmp_path: Path) -> None:
    history, vectors = History(tmp_path), np.ones((4, 2))
    for text, table in (
        ("2017-10-01", rules(("tea", "milk", 20, 100, 100), *FILLER)),
        ("2017-11-01", rules(("tea", "milk", 80, 200, 200), *grown(*FILLER), n=2_000)),
    ):
        history.record(table, LABELS, vectors, np.full(4, 5), table.n, tick(text), Clock.DATETIME)
    assert [str(c) for c in history.diff("2017-10-15", "2017-11-15").strengthened] == [
        "tea ⇒ milk: 20 baskets (lift 2.0) before, 60 baskets (lift 6.0) since, where their own sales explain 20"
    ]
    assert "kept without counts of pairs" in history.diff("2017-10-15", "2017-11-15").note
    with pytest.raises(InputError, match="same entry"):
        history.diff("2017-10-02", "2017-10-03")


def test_prices_and_places_come_back_with_the_entry_and_may_be_missing(tmp_path: Path) -> None:
    history, table = History(tmp_path), rules(("tea", "milk", 9, 20, 30))
    vectors, counts = np.array([[3, 4], [4, 3], [-3, 4], [1, 0]], np.float32), np.array([20, 30, 5, 2])
    prices, places = np.array([2.5, np.nan, 1.0, 3.0]), np.arange(8.0).reshape(4, 2)
    history.record(table, LABELS, vectors, counts, 1_000, tick("2017-10-01"), Clock.DATETIME, prices, places)
    history.record(table, LABELS, vectors, counts, 1_000, tick("2017-11-01"), Clock.DATETIME)
    with_both, without = History(tmp_path).entries
    assert with_both.prices is not None
    assert with_both.places is not None
    np.testing.assert_array_equal(with_both.prices, prices.astype(np.float32))
    np.testing.assert_array_equal(with_both.places, places)
    assert (without.prices, without.places) == (None, None)


def test_vectors_read_row_by_row_are_those_read_at_once(tmp_path: Path) -> None:
    history = History(tmp_path)
    record(history, tick("2017-10-01"))
    (entry,) = history.entries
    np.testing.assert_array_equal(entry.map_vectors()[[3, 0]], entry.vectors[[3, 0]])


def test_rules_read_back_from_a_table_are_the_rules(tmp_path: Path) -> None:
    table = rules(("tea", "milk", 9, 20, 30), ("soap", "milk", 0, 5, 30))
    table = replace(table, given={"similarity": np.array([0.5, np.nan]), "collisions": np.array([3, -1])})
    back = read_rules(rules_table(table))
    assert [str(rule) for rule in back] == [str(rule) for rule in table]
    for name in ("lift", "similarity", "collisions", "status", "expected_lift", "leverage"):
        assert back[name].tolist() == pytest.approx(table[name].tolist(), nan_ok=True), name
    older = read_rules(rules_table(table).drop_columns(["probability", "similarity"]))
    assert np.isnan(older["similarity"]).all()
