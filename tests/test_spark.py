"""OMBA on Spark: one session for all tests, on a local cluster of two executors."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import omba
from omba import spark
from omba.baskets import Baskets
from omba.cli import app
from omba.errors import InputError, MissingExtraError, SparkError
from omba.evaluation.metrics import mrr, ranks
from omba.evaluation.retrieval import Task, queries
from omba.rules.lsh import nearest_pairs
from omba.spark import failures, window
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import check, java_version, map_arrow, quietly, to_arrow
from omba.spark.nearest import nearest
from omba.spark.streaming import Learner
from omba.spark.window import LocalWindow, SparkWindow


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    try:
        check()
    except (MissingExtraError, SparkError) as error:
        if os.environ.get("OMBA_CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))
    # Tests are many small jobs: to compile them well would take longer than to run them.
    os.environ["JDK_JAVA_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    small = {"spark__sql__shuffle__partitions": 2, "spark__sql__codegen__wholeStage": "false"}
    made = spark.session("local-cluster[2,1,2048]", spark__executor__memory="1g", **small)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def world() -> Baskets:
    return omba.datasets.synthetic(baskets=1500, products=300, users=150, days=5).baskets


@pytest.fixture(scope="session")
def journey() -> Baskets:
    return omba.datasets.complete_journey()


def framed(session: Any, table: pa.Table) -> Any:
    with quietly():
        return session.createDataFrame(table)


def on_spark(session: Any, baskets: Baskets) -> SparkBaskets:
    return spark.read_baskets(framed(session, baskets.to_arrow()))


def same(ours: omba.OMBA, theirs: omba.OMBA) -> bool:
    """Whether two models hold the same bytes."""
    pairs = [(ours.evidence.state(), theirs.evidence.state()), (ours.forecast.state(), theirs.forecast.state())]
    pairs += [(a.state(), b.state()) for a, b in zip(ours.spaces, theirs.spaces, strict=True)]
    pairs += [(ours.sets.state(), theirs.sets.state()), (ours.prices.state(), theirs.prices.state())]
    pairs += [({"blend": ours.blend.weights}, {"blend": theirs.blend.weights})]
    return ours.products == theirs.products and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for a, b in pairs for name in a
    )


# Without Spark.


def test_one_part_learns_what_one_process_learns(world: Baskets) -> None:
    whole = omba.OMBA(dim=24, clues=False).fit(world)
    assert same(spark.OMBA(partitions=1, dim=24, clues=False).fit(world), whole)


def test_parts_count_what_one_process_counts(world: Baskets) -> None:
    whole, parts = omba.OMBA(dim=8).fit(world), spark.OMBA(partitions=3, dim=8).fit(world)
    for name, counts in whole.evidence.state().items():
        assert np.array_equal(counts, parts.evidence.state()[name]), name
    assert np.array_equal(whole.product_counts, parts.product_counts)
    assert np.array_equal(whole.spaces[0].memory.mass, parts.spaces[0].memory.mass)
    assert np.allclose(whole.prices.sums, parts.prices.sums)
    assert np.array_equal(whole.prices.histogram, parts.prices.histogram)


def test_negatives_from_a_pool_come_as_often_as_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from omba.spark import packing

    counts = np.arange(1000)
    drawn = sum(packing.pool(counts, 0.75, np.random.default_rng(i)) for i in range(100))
    chance = counts**0.75 / (counts**0.75).sum()
    assert drawn.sum() == 100 * packing.POOL
    assert np.abs(drawn / drawn.sum() - chance).max() < 2e-4
    monkeypatch.setattr(packing, "POOL", 100)
    small = spark.OMBA(partitions=2, dim=8).fit(omba.datasets.synthetic(baskets=300, products=300, days=3).baskets)
    assert np.isfinite(small.product_vectors).all()


def test_what_several_parts_learned_of_a_row_adds_up_at_the_rate_of_all() -> None:
    from omba.spark.merge import Changed, merge

    vectors, squares = np.zeros((3, 2), np.float32), np.ones((3, 2), np.float32)
    rows = np.array([0, 1])
    parts = [
        Changed(rows, np.array([[1, 1], [5, 5]], np.float32), np.array([[2, 2], [4, 4]], np.float32)),
        Changed(rows[:1], np.array([[3, 3]], np.float32), np.array([[3, 3]], np.float32)),
    ]
    merge(vectors, squares, parts)
    assert np.allclose(squares, [[4, 4], [4, 4], [1, 1]])
    assert np.allclose(vectors[0], 1 * np.sqrt(2 / 4) + 3 * np.sqrt(3 / 4))
    assert vectors[1].tolist() == [5, 5]  # one part alone: taken as it is
    assert vectors[2].tolist() == [0, 0]


def test_a_task_gives_the_same_bytes_in_whatever_order_its_rows_arrive(world: Baskets) -> None:
    day = LocalWindow(next(world.windows("1d")))
    model = spark.OMBA(partitions=1, dim=8)
    census = day.census(1, 0.0)
    parcels = model._make_room(census, day).parcels(model, census, 10)
    rows = pa.concat_tables([day._table(1), window.lines(parcels)], promote_options="default")
    mixed = rows.take(pa.array(np.random.default_rng(0).permutation(len(rows))))
    found = window.gathered(pa.Table.from_batches(window.learn_task(mixed.to_batches(100))))[0]
    direct = day.learn(1, parcels)[0]
    assert found.keys() == direct.keys()
    assert all(np.array_equal(found[name], direct[name]) for name in direct)


def test_an_old_java_or_none_is_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_392\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_version() == 8
    with pytest.raises(SparkError, match="needs Java 17 or newer, and this one is 8"):
        check()
    java.unlink()
    with pytest.raises(SparkError, match="there is none"):
        check()


def test_pages_of_traces_become_a_sentence() -> None:
    python = (
        "Job aborted due to stage failure\nTraceback (most recent call last):\n  File 'x'\nKeyError: 'soap'\n\tat o.a"
    )
    assert failures.cause(python) == "'soap' (KeyError)"
    module = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'omba'\n"
    assert "install omba there" in failures.cause(module)
    java = "o.a.s.SparkException: Job aborted\n\tat x\nCaused by: java.io.IOException: No space left on device\n\tat y"
    assert failures.cause(java) == "No space left on device (IOException)"


# Reading.


def test_rows_are_read_as_everywhere(session: Any) -> None:
    table = pa.table(
        {
            "basket_id": [1, 1, 1, 2, 2, 3, None, 4],
            "product": ["a", "a", "b", "a", "", "c", "a", "d"],
            "user_id": ["u", "u", "u", "v", "v", None, "w", "w"],
            "day": [1, 1, 1, 2, 2, 2, 2, 9],
            "price": [1.0, 3.0, None, -1.0, 1.0, 2.0, 1.0, 1.0],
            "quantity": [1, 1, 1, 1, 1, 1, 1, -1],
        }
    )
    local, ours = omba.read_baskets(table), spark.read_baskets(framed(session, table))
    report = ours.report()
    assert (report.rows, report.kept, report.merged, report.dropped, report.changed) == (
        local.report.rows, local.report.kept, local.report.merged, local.report.dropped, local.report.changed,
    )  # fmt: skip
    found = sorted((row.basket, row.user, row.time, row.products, row.prices) for row in ours.frame.collect())
    assert [(b, u, t, p) for b, u, t, p, _ in found] == [(b.id, b.user, b.time, sorted(b.products)) for b in local]
    assert np.allclose([found[0][4], [found[1][4][0]] * 2], [[2.0, np.nan], [np.nan] * 2], equal_nan=True)


def test_columns_that_cannot_be_used_are_told(session: Any) -> None:
    table = pa.table({"basket_id": [1.5, 2.0], "product": ["a", "b"], "time": ["1 May", "2 May"], "price": ["x", "1"]})
    frame = framed(session, table)
    with pytest.raises(InputError, match=r"time column 'time' .* holds string: make it a timestamp"):
        spark.read_baskets(frame)
    with pytest.raises(InputError, match=r"price column 'price' .* not numbers"):
        spark.read_baskets(frame, time="")
    with pytest.raises(SparkError, match=r"column 'basket_id' holds fractions \(one is 1.5\)"):
        spark.read_baskets(frame, time="", price="").report()
    with pytest.raises(InputError, match="no column 'prodct'"):
        spark.read_baskets(frame, product="prodct")


def test_windows_are_cut_where_they_are_everywhere(session: Any) -> None:
    few = omba.datasets.synthetic(baskets=60, products=120, users=20, days=60, pairs=1).baskets
    ours = on_spark(session, few)
    for every in ("week", "month"):
        with ours.cut(every) as windows:
            found = [(len(w), w.start, w.stop) for w in windows]
        assert found == [(len(w), w.start, w.stop) for w in few.windows(every)]


def test_baskets_without_time_are_shared_out(session: Any) -> None:
    table = pa.table({"basket": list(range(300)) * 2, "product": ["a"] * 300 + ["b"] * 300})
    with spark.read_baskets(framed(session, table)).cut(100) as windows:
        assert [len(w) > 50 for w in windows] == [True] * 3
        assert sum(map(len, windows)) == 300


# Counting.


def test_pair_counts_are_those_of_duckdb(session: Any, journey: Baskets) -> None:
    few = journey.between(None, "2017-01-06")
    ours = on_spark(session, few)
    database = duckdb.connect()
    database.register("rows", few.to_arrow())
    truth = database.sql(
        "WITH items AS (SELECT DISTINCT basket_id, product FROM rows) "
        "SELECT x.product AS a, y.product AS b, count(*) AS count FROM items x JOIN items y "
        "ON x.basket_id = y.basket_id AND x.product < y.product GROUP BY ALL"
    ).to_arrow_table()
    order = [("a", "ascending"), ("b", "ascending")]
    found = to_arrow(spark.count_pairs(ours, largest=None)).sort_by(order)
    assert len(truth) > 50_000
    assert found.to_pydict() == truth.sort_by(order).to_pydict()
    least = to_arrow(spark.count_pairs(ours, minimum=10, largest=None))
    assert len(least) == pc.sum(pc.greater_equal(truth["count"], 10)).as_py()
    single = database.sql("SELECT product, count(DISTINCT basket_id) FROM rows GROUP BY ALL").fetchall()
    assert dict(zip(*to_arrow(spark.count_products(ours)).to_pydict().values(), strict=True)) == dict(single)


def test_a_giant_basket_is_paired_in_part_only(session: Any) -> None:
    table = pa.table({"basket": [1] * 500 + [2, 2], "product": [f"p{i:03}" for i in range(500)] + ["p000", "p001"]})
    ours = spark.read_baskets(framed(session, table))
    assert spark.count_pairs(ours, largest=50).count() in (50 * 49 // 2, 50 * 49 // 2 + 1)
    assert spark.count_pairs(ours, largest=None).count() == 500 * 499 // 2


# Learning.


def test_executors_learn_the_same_bytes_as_the_same_parts_here(session: Any, world: Baskets, tmp_path: Path) -> None:
    here = spark.OMBA(partitions=3, dim=24).fit(world)
    there = spark.OMBA(partitions=3, dim=24).fit(on_spark(session, world))
    assert same(there, here)
    there.save(tmp_path)
    loaded = omba.OMBA.load(tmp_path)
    assert type(loaded) is omba.OMBA
    assert same(loaded, here)
    assert len(omba.mine_rules(loaded, top=20)) == 20


def test_tasks_without_a_row_and_parts_without_a_user_are_passed_over(session: Any) -> None:
    few = omba.datasets.synthetic(baskets=40, products=120, users=3, days=3, pairs=1).baskets
    here = spark.OMBA(partitions=8, dim=8).fit(few)
    with on_spark(session, few).cut() as windows:
        there = spark.OMBA(partitions=8, dim=8)
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


def test_two_executors_learn_groceries_as_well_as_one_process(session: Any, journey: Baskets) -> None:
    baskets = journey.between(None, "2017-03-06")
    asked = {found.first: found for found in queries(baskets, Task(windows=4, every="week"), 0)}
    whole, parts = omba.OMBA(dim=100), spark.OMBA(partitions=2, dim=100)
    ranked: dict[str, list[Any]] = {"whole": [], "parts": []}
    first = 0
    with on_spark(session, baskets).cut("week") as windows:
        for theirs, ours in zip(baskets.windows("week"), windows, strict=True):
            if first in asked:
                ranked["whole"].append(ranks(whole.score_queries(asked[first])))
                ranked["parts"].append(ranks(parts.score_queries(asked[first])))
            whole.partial_fit(theirs)
            parts.partial_fit(ours)
            first += len(theirs)
    found = {name: mrr(np.concatenate(each)) for name, each in ranked.items()}
    assert found["whole"] > 0.5
    assert abs(found["parts"] - found["whole"]) < 0.01, found


def test_evaluate_asks_before_it_learns(session: Any, world: Baskets) -> None:
    found = spark.evaluate(on_spark(session, world), windows=2, partitions=2, dim=24)
    assert 0.3 < found["omba on spark"].mrr < 1.0
    assert len(found.rows[0].trials[0].by_window) == 2


# Rules.


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


def test_rules_are_those_of_one_machine(session: Any) -> None:
    baskets = omba.datasets.complete_journey(level="product_id").between(None, "2017-01-08")
    model = omba.OMBA(dim=32, epochs=2, categories=False).fit(baskets, every="1d")
    assert (model.product_counts > 1).sum() > 3000  # enough for the join: few products are looked at by the driver

    def pairs(rules: Any) -> set[Any]:
        return {*zip(map(tuple, rules.antecedents), map(tuple, rules.consequents), strict=True)}

    for evidence in (None, baskets):
        given = {} if evidence is None else {"evidence": on_spark(session, baskets)}
        theirs = pairs(omba.mine_rules(model, top=1000, evidence=evidence, antecedents=1))
        ours = pairs(spark.mine_rules(model, top=1000, spark=session, antecedents=1, **given))
        assert len(ours & theirs) >= 950, evidence is None


# Streaming.


def stream(
    session: Any, folder: Path, checkpoint: Path, learner: Learner | None = None, model: Path | None = None
) -> None:
    """Run a query over the files of a folder until all are learned."""
    schema = framed(session, pq.read_table(next(folder.glob("*.parquet"))).slice(0, 1)).schema
    frame = session.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    learner = learner or Learner(model or "", checkpoint, partitions=2, dim=8)
    query = frame.writeStream.foreachBatch(learner).option("checkpointLocation", str(checkpoint))
    query = query.trigger(availableNow=True).start()
    query.awaitTermination()


class Crash(Exception):
    pass


@pytest.mark.parametrize("moment", ["before the model is saved", "after it"])
def test_a_restarted_stream_learns_each_batch_once(session: Any, world: Baskets, tmp_path: Path, moment: str) -> None:
    files, days = tmp_path / "files", list(world.windows("1d"))[:3]
    files.mkdir()
    for number, day in enumerate(days):
        pq.write_table(day.to_arrow(), files / f"{number}.parquet")
        os.utime(files / f"{number}.parquet", (number, number))

    class Crashing(Learner):
        def __call__(self, frame: Any, batch: int) -> None:
            save = self.model.save

            def crash(folder: Any) -> None:
                if moment == "after it":
                    save(folder)
                raise Crash("the power failed")

            if batch == 1:
                self.model.save = crash  # type: ignore[method-assign]
            super().__call__(frame, batch)

    from pyspark.errors import StreamingQueryException

    crashing = Crashing(tmp_path / "model", tmp_path / "checkpoint", partitions=2, dim=8)
    with pytest.raises(StreamingQueryException, match="the power failed"):
        stream(session, files, tmp_path / "checkpoint", crashing)
    stream(session, files, tmp_path / "checkpoint", model=tmp_path / "model")
    learned = omba.OMBA.load(tmp_path / "model")
    straight = spark.OMBA(partitions=2, dim=8)
    for day in days:
        straight.partial_fit(day)
    assert learned.n_windows == 3
    assert learned.position["spark_batch"] == 2
    assert same(learned, straight)


def test_a_model_of_another_stream_is_refused(world: Baskets, tmp_path: Path) -> None:
    first = Learner(tmp_path / "model", tmp_path / "one", partitions=2, dim=8)
    first.model.partial_fit(next(world.windows("1d")))
    first.model.position |= {"spark_batch": 0, "spark_checkpoint": str(tmp_path / "one")}
    first.model.save(tmp_path / "model")
    with pytest.raises(SparkError, match="give that one, or another folder"):
        Learner(tmp_path / "model", tmp_path / "two")(None, 1)


# Failures.


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
        def learn(self, parts: int, parcels: Any) -> Any:
            frame = map_arrow(self.frame, killing(marker), self.frame.schema)
            return replace(SparkWindow(lambda: frame, len(self), self.clock, self.attributes)).learn(parts, parcels)

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
    packer = model._make_room(census, LocalWindow(day))
    parcels = packer.parcels(model, census, 10)
    parcels[0].pop("labels")
    with on_spark(session, day).cut() as windows, pytest.raises(SparkError) as told:
        windows[0].learn(2, parcels)
    assert str(told.value) == "learning a window failed on Spark: 'labels' (KeyError)"


# The command line.


def test_omba_learn_runs_on_spark(session: Any, world: Baskets, tmp_path: Path) -> None:
    world.write(tmp_path / "sales.parquet")
    arguments = ["learn", str(tmp_path / "sales.parquet"), "--model", str(tmp_path / "model"), "--engine", "spark"]
    done = CliRunner().invoke(app, [*arguments, "--dim", "8", "--history", "none"])
    assert done.exit_code == 0, done.output
    assert "1,500 baskets in 5 windows" in done.output
    assert same(omba.OMBA.load(tmp_path / "model"), spark.OMBA(partitions=2, dim=8).fit(world))
