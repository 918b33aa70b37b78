"""Keeping a model as it learns: a snapshot and an entry of its history at the end of every span."""

import logging
import os
import signal
from time import sleep

import numpy as np
import pytest

import omba
from omba.errors import InputError, SnapshotError
from omba.live.forked import ForkedWork
from omba.live.keeper import Keeper
from omba.store import ModelFolder


@pytest.fixture(scope="module")
def baskets():
    return omba.datasets.synthetic(baskets=1_000, products=150, users=40, days=65, pairs=4, seed=1).baskets


def learned(baskets, keeper):
    model = omba.OMBA(dim=8, epochs=1, pairs=20_000)
    for window in baskets.windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)
    return model


def test_an_entry_is_left_at_the_end_of_each_month_and_at_the_end(baskets, tmp_path):
    model = learned(baskets, Keeper(tmp_path, "month"))

    entries = ModelFolder(tmp_path).history.entries

    assert [entry.shown[:10] for entry in entries] == ["2017-02-01", "2017-03-01", "2017-03-06"]
    assert [entry.n_baskets for entry in entries] == [
        len(baskets.between(None, "2017-02-01")), len(baskets.between(None, "2017-03-01")), 1_000,
    ]  # fmt: skip
    assert np.allclose(np.linalg.norm(entries[-1].vectors, axis=1), 1, atol=1e-2)
    assert omba.OMBA.load(tmp_path).n_baskets == model.n_baskets


def test_an_entry_holds_rare_and_unseen_rules_after_the_best(baskets, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.live.current_rules.RULES", 20)
    monkeypatch.setattr("omba.live.current_rules.KNOWN", 100)
    learned(baskets, Keeper(tmp_path, "month"))
    table = ModelFolder(tmp_path).history.entries[-1].rules
    assert set(table["status"].to_pylist()[16:]) == {"rare", "unseen"}
    rules = list(zip(map(tuple, table["antecedents"].to_pylist()), table["consequents"].to_pylist(), strict=True))
    assert all(rules.count(rule) == 1 for rule in rules)


def test_an_entry_on_the_way_has_the_best_rules_alone(baskets, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.live.current_rules.RULES", 20)
    learned(baskets, Keeper(tmp_path, "month"))
    on_the_way, last = ModelFolder(tmp_path).history.entries[-2:]
    assert (len(on_the_way.rules), len(last.rules)) == (16, 20)


def test_the_last_entry_has_a_map_near_the_one_before(baskets, tmp_path):
    keeper = Keeper(tmp_path, "month")
    model = learned(baskets.between(None, "2017-02-15"), keeper)
    for window in baskets.between("2017-02-15", None).windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)

    _, first, on_the_way, last = ModelFolder(tmp_path).history.entries

    before, after = first.places, last.places
    assert np.isfinite(after).all(axis=1).sum() > 100
    assert on_the_way.places is None
    assert np.array_equal(on_the_way.nearest_places(), after, equal_nan=True), "the nearest in time"
    moved = np.linalg.norm(after[: len(before)] - before, axis=1)
    assert np.nanmedian(moved) < 0.4 * np.nanstd(before)


def test_saving_takes_a_small_part_of_the_time_and_the_last_state_is_saved_in_any_case(baskets, tmp_path, monkeypatch):
    saved, now = [], iter(range(0, 10_000, 100))
    monkeypatch.setattr("omba.live.keeper.monotonic", lambda: next(now))
    monkeypatch.setattr(ModelFolder, "save", lambda self, model: saved.append(model.n_baskets))
    learned(baskets, Keeper(tmp_path, "7d"))
    assert saved == [len(baskets.between(None, "2017-01-05")), 1_000]


def test_what_was_learned_until_the_last_span_outlives_a_crash(baskets, tmp_path):
    keeper, model = Keeper(tmp_path, "month"), omba.OMBA(dim=8, epochs=1, pairs=20_000)
    for window in baskets.between(None, "2017-02-10").windows("1d"):
        keeper.learn(model, window)

    assert omba.OMBA.load(tmp_path).n_baskets == len(baskets.between(None, "2017-02-01"))


def test_a_fresh_model_takes_the_place_of_the_old_one_and_its_history(baskets, tmp_path):
    learned(baskets, Keeper(tmp_path, "month"))

    learned(baskets.between("2017-02-01", None), Keeper(tmp_path, "month", fresh=True))

    assert [entry.shown[:10] for entry in ModelFolder(tmp_path).history.entries] == ["2017-03-01", "2017-03-06"]


def test_no_history_is_kept_where_none_is_wanted(baskets, tmp_path):
    learned(baskets, Keeper(tmp_path, None))

    assert ModelFolder(tmp_path).history.entries == []
    assert omba.OMBA.load(tmp_path).n_baskets == 1_000


def test_without_time_there_is_one_entry_by_the_number_of_windows(tmp_path):
    lists = omba.Baskets.from_lists([["tea", "milk"], ["soap", "brush"]] * 50)
    keeper, model = Keeper(tmp_path), omba.OMBA(dim=8, epochs=1)
    for window in lists.windows(20):
        keeper.learn(model, window)
    keeper.finish(model)

    assert [entry.tick for entry in ModelFolder(tmp_path).history.entries] == [5]


def test_a_model_that_has_hardly_begun_is_kept_without_an_entry_and_without_a_word(tmp_path, caplog):
    model = omba.OMBA(dim=8).partial_fit(omba.Baskets.from_lists([["tea", "milk"]]))

    Keeper(tmp_path).finish(model)

    assert ModelFolder(tmp_path).history.entries == []
    assert omba.OMBA.load(tmp_path).n_baskets == 1
    assert not caplog.records


def test_a_history_by_baskets_is_refused(tmp_path):
    with pytest.raises(InputError, match="a history of every '500' is not known"):
        Keeper(tmp_path, "500")


@pytest.mark.parametrize("spare", [True, False])
def test_with_a_second_processor_a_history_is_the_same(baskets, tmp_path, monkeypatch, spare):
    for module in ("forked", "keeper"):
        monkeypatch.setattr(f"omba.live.{module}.has_spare_processor", lambda: spare)
    learned(baskets, Keeper(tmp_path / "beside", "month", beside=True))
    learned(baskets, Keeper(tmp_path / "before", "month"))

    beside, before = (ModelFolder(tmp_path / name).history.entries for name in ("beside", "before"))

    assert [entry.tick for entry in beside] == [entry.tick for entry in before]
    for one, other in zip(beside, before, strict=True):
        assert np.array_equal(one.vectors, other.vectors)
        assert np.array_equal(one.pairs.counts, other.pairs.counts)
        assert one.rules.equals(other.rules)


def test_a_model_is_never_saved_by_two_processes_at_a_time(baskets, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.live.forked.has_spare_processor", lambda: True)
    monkeypatch.setattr("omba.live.keeper.SHARE", 0)
    keeper, save, saving = Keeper(tmp_path / "model", "month", beside=True), ModelFolder.save, tmp_path / "saving"

    def save_slowly(folder, model):
        # A second one that begins meanwhile finds the mark there, and fails.
        saving.touch(exist_ok=False)
        sleep(0.2)
        save(folder, model)
        saving.unlink()

    monkeypatch.setattr(ModelFolder, "save", save_slowly)
    model = learned(baskets, keeper)
    assert omba.OMBA.load(tmp_path / "model").n_baskets == model.n_baskets


def test_what_goes_wrong_with_a_fork_is_told(monkeypatch):
    monkeypatch.setattr("omba.live.forked.has_spare_processor", lambda: True)
    work, told = ForkedWork("the model is saved again"), []

    def fail():
        raise SnapshotError("the disk is full")

    work.begin(fail)
    with pytest.raises(SnapshotError, match="the disk is full"):
        work.wait()

    monkeypatch.setattr("omba.live.forked.log.warning", lambda sentence, *parts: told.append(sentence % parts))
    work.begin(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert not work.wait()
    assert told == ["the model is saved again: the process that wrote it ended (signal 9)"]


def test_what_is_logged_beside_learning_is_logged_once_it_is_waited_for(monkeypatch, caplog):
    monkeypatch.setattr("omba.live.forked.has_spare_processor", lambda: True)
    work = ForkedWork("the model is saved again")
    work.begin(lambda: logging.getLogger("omba").warning("an old entry cannot be read"))
    assert not caplog.messages
    work.wait()
    assert caplog.messages == ["an old entry cannot be read"]


def test_a_model_whose_saving_process_dies_is_saved_all_the_same(baskets, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr("omba.live.forked.has_spare_processor", lambda: True)
    keeper, save, here = Keeper(tmp_path, "month", beside=True), ModelFolder.save, os.getpid()

    def die_elsewhere(folder, model):
        if os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        save(folder, model)

    monkeypatch.setattr(ModelFolder, "save", die_elsewhere)
    model = learned(baskets, keeper)
    assert omba.OMBA.load(tmp_path).n_baskets == model.n_baskets == ModelFolder(tmp_path).history.entries[-1].n_baskets
    assert "the model is saved again: the process that wrote it ended (signal 9)" in caplog.messages


def test_a_second_processor_learns_too_the_same_bits_and_the_setting_stays(baskets, tmp_path, monkeypatch):
    monkeypatch.setattr("omba.live.keeper.has_spare_processor", lambda: True)
    threads, partial_fit = [], omba.OMBA.partial_fit

    def watch(model, *arguments):
        threads.append(model.threads)
        return partial_fit(model, *arguments)

    monkeypatch.setattr(omba.OMBA, "partial_fit", watch)
    alone = learned(baskets, Keeper(tmp_path / "alone", None))
    both = learned(baskets, Keeper(tmp_path / "both", None, beside=True))
    assert set(threads[: len(threads) // 2]) == {1}
    assert set(threads[len(threads) // 2 :]) == {2}
    assert both.threads == omba.OMBA.load(tmp_path / "both").threads == 1
    assert np.array_equal(alone.product_vectors, both.product_vectors)
