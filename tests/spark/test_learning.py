"""Learning, evaluating and mining on Spark; executors that die or fail; the command line."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import omba
from omba import spark
from omba.baskets import Baskets
from omba.cli import app
from omba.errors import InputError, SparkError
from omba.rules.lsh import nearest_pairs
from omba.spark import payload
from omba.spark.cluster import map_arrow
from omba.spark.nearest import nearest
from omba.spark.window import LocalWindow, SparkWindow, collect, lines
from sparks import on_spark, same


def test_executors_learn_the_same_bytes_as_the_same_parts_here(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On the way targets begin to share their negatives.
    monkeypatch.setattr("omba.model.omba.YOUNG", 100)
    world = omba.datasets.synthetic(baskets=200, products=200, users=60, days=3).baskets
    here = spark.OMBA(partitions=3, dim=24).fit(world)
    there = spark.OMBA(partitions=3, dim=24).fit(on_spark(session, world))
    assert same(there, here)
    there.save(tmp_path)
    loaded = omba.OMBA.load(tmp_path)
    assert type(loaded) is omba.OMBA
    assert same(loaded, here)
    assert len(omba.mine_rules(loaded, top=20)) == 20


def test_a_payload_of_any_size_is_sent_a_piece_a_task(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payload, "PIECE", 1_000)
    large = {part: {"rows": np.arange(500) + part} for part in range(2)}
    session.conf.set("spark.sql.execution.arrow.localRelationThreshold", "1")
    try:
        sent = session.createDataFrame(lines(large))
        assert sent.rdd.getNumPartitions() == sent.count() == 10
    finally:
        session.conf.unset("spark.sql.execution.arrow.localRelationThreshold")
    found = collect(sent.toArrow())
    assert all(np.array_equal(found[part]["rows"], large[part]["rows"]) for part in large)


@pytest.mark.thorough
def test_tasks_without_a_row_and_parts_without_a_user_are_passed_over(session: Any) -> None:
    few = omba.datasets.synthetic(baskets=30, products=120, users=3, days=3, pairs=1).baskets
    here = spark.OMBA(partitions=6, dim=8).fit(few)
    with on_spark(session, few).cut() as windows:
        there = spark.OMBA(partitions=6, dim=8)
        for each in windows:
            frame = each.frame.repartition(4, "user")
            there.partial_fit(replace(each, source=lambda frame=frame: frame))
    assert same(there, here)


def test_a_loaded_model_goes_on(session: Any, world: Baskets, tmp_path: Path) -> None:
    windows = list(world.windows("1d"))
    first = spark.OMBA(partitions=2, dim=8)
    for each in windows[:2]:
        first.partial_fit(each)
    first.save(tmp_path)
    second = spark.OMBA.of(omba.OMBA.load(tmp_path), partitions=2)
    for each in windows[2:]:
        second.partial_fit(each)
    assert same(second, spark.OMBA(partitions=2, dim=8).fit(world))
    with pytest.raises(InputError, match="before"):
        second.partial_fit(windows[0])


@pytest.mark.thorough
def test_digits_on_spark_mean_the_products_that_a_model_of_text_knows(session: Any) -> None:
    known = omba.OMBA(dim=8).fit([["22423", "85123A"]] * 60, every=20)
    learner = spark.OMBA.of(known, partitions=2)
    for window in omba.read_baskets([[22423, 20725]] * 20).windows(10):
        learner.partial_fit(window)
    assert sorted(learner.products) == ["20725", "22423", "85123A"]


def test_evaluate_asks_before_it_learns(session: Any, world: Baskets) -> None:
    found = spark.evaluate(on_spark(session, world), windows=2, partitions=2, dim=24)
    assert 0.3 < found["omba on spark"].mrr < 1.0
    assert len(found.rows[0].trials[0].by_window) == 2


def test_the_join_on_codes_finds_the_same_nearest_pairs(session: Any) -> None:
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((3000, 32))
    vectors = (np.repeat(centres, 4, axis=0) + 0.5 * rng.standard_normal((12_000, 32))).astype(np.float32)
    known = np.ones(len(vectors), bool)
    known[:100] = False
    ours = nearest(session, vectors, known, 1000)
    theirs = nearest_pairs(vectors, 1000, counts=known.astype(np.int64), min_count=1)
    both = {*zip(ours.left.tolist(), ours.right.tolist(), strict=True)}
    shared = both & {*zip(theirs.left.tolist(), theirs.right.tolist(), strict=True)}
    assert len(ours) == 1000
    assert len(shared) >= 950
    assert min(ours.left.min(), ours.right.min()) >= 100
    assert np.array_equal(ours.cosine, np.sort(ours.cosine)[::-1])


def test_the_best_counted_pairs_are_ranked_by_executors_as_here(session: Any, world: Baskets) -> None:
    model = omba.OMBA(dim=16, epochs=1).fit(world, every="1d")

    def pairs(rules: Any) -> set[Any]:
        return {*zip(map(tuple, rules.antecedents), map(tuple, rules.consequents), strict=True)}

    theirs = pairs(omba.mine_rules(model, top=50, evidence=world, antecedents=1, within_families=True))
    given = {"evidence": on_spark(session, world), "antecedents": 1, "within_families": True}
    ours = pairs(spark.mine_rules(model, top=50, spark=session, **given))
    assert len(theirs) == 50
    assert len(ours & theirs) >= 48


@pytest.mark.thorough
def test_rules_are_those_of_one_machine(session: Any) -> None:
    baskets = omba.datasets.complete_journey(level="product_id").between(None, "2017-01-08")
    model = omba.OMBA(dim=32, epochs=2, categories=False).fit(baskets, every="1d")
    assert (model.product_counts > 1).sum() > 3000  # enough for the join: few products are looked at by the driver

    def pairs(rules: Any) -> set[Any]:
        return {*zip(map(tuple, rules.antecedents), map(tuple, rules.consequents), strict=True)}

    for evidence in (None, baskets):
        given = {} if evidence is None else {"evidence": on_spark(session, baskets)}
        theirs = pairs(omba.mine_rules(model, top=1000, evidence=evidence, antecedents=1, within_families=True))
        ours = pairs(spark.mine_rules(model, top=1000, spark=session, antecedents=1, within_families=True, **given))
        assert len(ours & theirs) >= 950, evidence is None


def killing(marker: Path) -> Any:
    """A task that, the first time, takes its whole executor with it."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not marker.exists():
            marker.touch()
            daemon = os.getppid()
            java = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
            os.kill(java, signal.SIGKILL)
        yield from batches

    return task


def test_a_killed_executor_costs_time_and_nothing_else(session: Any, world: Baskets, tmp_path: Path) -> None:
    marker, day = tmp_path / "killed", next(world.windows("1d"))

    class Killed(SparkWindow):
        def learn(self, parts: int, payloads: Any) -> Any:
            frame = map_arrow(self.frame, killing(marker), self.frame.schema)
            return replace(SparkWindow(lambda: frame, len(self), self.clock, self.attributes)).learn(parts, payloads)

    with on_spark(session, day).cut() as windows:
        (whole,) = windows
        killed = Killed(whole.source, len(whole), whole.clock, whole.attributes)
        model = spark.OMBA(partitions=2, dim=8).partial_fit(killed)
    assert marker.exists()
    assert same(model, spark.OMBA(partitions=2, dim=8).partial_fit(day))


def test_a_failure_in_an_executor_is_one_sentence(session: Any, world: Baskets) -> None:
    day = next(world.windows("1d"))
    model = spark.OMBA(partitions=2, dim=8)
    census = LocalWindow(day).census(2, 0.0)
    builder = model._make_room(census, LocalWindow(day))
    payloads = builder.payloads(model, census, (10, 10))
    payloads[0].pop("labels")
    with on_spark(session, day).cut() as windows, pytest.raises(SparkError) as error:
        windows[0].learn(2, payloads)
    assert str(error.value) == "learning a window failed on Spark: 'labels' (KeyError)"


def test_omba_learn_runs_on_spark(session: Any, world: Baskets, tmp_path: Path) -> None:
    world.write(tmp_path / "sales.parquet")
    arguments = ["learn", str(tmp_path / "sales.parquet"), "--model", str(tmp_path / "model"), "--engine", "spark"]
    done = CliRunner().invoke(app, [*arguments, "--dim", "8", "--history", "none"])
    assert done.exit_code == 0, done.output
    assert "1,500 baskets in 5 windows" in done.output
    assert same(omba.OMBA.load(tmp_path / "model"), spark.OMBA(partitions=2, dim=8).fit(world))
