"""What Spark spreads, without Spark: parts of a window, how they merge, and how failures are reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba import spark
from omba.baskets import Baskets
from omba.errors import SparkError
from omba.evaluation.metrics import mrr, ranks
from omba.evaluation.retrieval import Task, queries
from omba.spark import failures, window
from omba.spark.cluster import check, java_version
from omba.spark.window import LocalWindow
from sparks import same


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


def test_two_parts_learn_groceries_as_well_as_one_process(journey: Baskets) -> None:
    # Executors learn the same bytes as these parts: see test_learning.
    baskets = journey.between(None, "2017-02-13")
    asked = {found.first: found for found in queries(baskets, Task(windows=4, every="week"), 0)}
    whole, parts = omba.OMBA(dim=100), spark.OMBA(partitions=2, dim=100)
    ranked: dict[str, list[Any]] = {"whole": [], "parts": []}
    first = 0
    for week in baskets.windows("week"):
        if first in asked:
            ranked["whole"].append(ranks(whole.score_queries(asked[first])))
            ranked["parts"].append(ranks(parts.score_queries(asked[first])))
        whole.partial_fit(week)
        parts.partial_fit(week)
        first += len(week)
    found = {name: mrr(np.concatenate(each)) for name, each in ranked.items()}
    assert found["whole"] > 0.5
    assert abs(found["parts"] - found["whole"]) < 0.01, found


def test_negatives_from_a_pool_come_as_often_as_from_all(monkeypatch: pytest.MonkeyPatch) -> None:
    from omba.spark import payload_builder

    counts = np.arange(1000)
    drawn = sum(payload_builder.pool(counts, 0.75, np.random.default_rng(i)) for i in range(100))
    chance = counts**0.75 / (counts**0.75).sum()
    assert drawn.sum() == 100 * payload_builder.POOL
    assert np.abs(drawn / drawn.sum() - chance).max() < 2e-4
    monkeypatch.setattr(payload_builder, "POOL", 100)
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
    payloads = model._make_room(census, day).payloads(model, census, (10, 10))
    rows = pa.concat_tables([day._table(1), window.lines(payloads)], promote_options="default")
    mixed = rows.take(pa.array(np.random.default_rng(0).permutation(len(rows))))
    found = window.collect(pa.Table.from_batches(window.learn_task(mixed.to_batches(100))))[0]
    direct = day.learn(1, payloads)[0]
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
