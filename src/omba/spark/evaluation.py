"""Evaluation on Spark: the paper's retrieval test, each window asked about before it is learned there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from omba.baselines import Queries
from omba.baskets import Baskets, Clock
from omba.errors import InputError
from omba.evaluation.evaluation import Evaluation, Row
from omba.evaluation.metrics import ranks
from omba.evaluation.retrieval import Task, ask
from omba.evaluation.trial import Trial, score
from omba.sources import read_baskets
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import to_arrow
from omba.spark.failures import plainly
from omba.spark.omba import OMBA
from omba.spark.window import SparkWindow

MOST = 10_000
"""Baskets of a window that are asked about, at most: they come to the driver."""


def evaluate(
    baskets: SparkBaskets,
    windows: int = 20,
    negatives: int = 10,
    seed: int = 0,
    *,
    every: str | int = "1d",
    partitions: int | None = None,
    scratch: str | None = None,
    progress: Callable[[str, float], None] | None = None,
    **settings: Any,
) -> Evaluation:
    """Hide products of baskets and have OMBA, learned on Spark, find them: `omba.evaluate` for one method.

    Of each window asked about, up to 10,000 baskets, chosen by a hash, come to the driver to be asked.

    Parameters
    ----------
    baskets
        What `omba.spark.read_baskets` gives.
    windows, negatives, seed
        As in `omba.evaluate`: 1 or more, and a seed of 0 or more.
    every
        How long a window is; 1 or more baskets where it is a number.
    partitions, scratch
        As in `omba.spark.OMBA` and its `fit`; 1 or more partitions.
    progress
        A function that gets a name and the share of the work done.
    settings
        Those of `omba.OMBA`.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> omba.spark.evaluate(baskets)  # doctest: +SKIP
    """
    task = Task(windows, negatives, every)
    method, trial, rng = (
        OMBA(partitions=partitions, seed=seed, **settings),
        Trial(online=True),
        np.random.default_rng(seed),
    )
    with baskets.cut(every, scratch) as all_windows:
        chosen = draw_windows(all_windows, task, rng)
        for number, window in enumerate(all_windows[: max(chosen) + 1]):
            if number in chosen:
                began = perf_counter()
                trial.by_window.append(ranks(score(method, questions(window, task, rng))))
                trial.score_seconds += perf_counter() - began
            if number < max(chosen):
                began = perf_counter()
                method.partial_fit(window)
                trial.learn_seconds += perf_counter() - began
            if progress:
                progress("omba", number / max(chosen))
    return Evaluation([Row("omba on spark", [trial])], task, [seed], None)


def draw_windows(windows: Sequence[SparkWindow], task: Task, rng: np.random.Generator) -> set[int]:
    """The windows to ask about, from the second half of the period; never the very first."""
    if len(windows) < 2:
        raise InputError(f"the baskets fall into one window of {task.every!r}, which leaves nothing to learn before it")
    second = list(range(max(len(windows) // 2, 1), len(windows)))
    if windows[0].clock is not Clock.NONE:
        middle = ((windows[0].start or 0) + (windows[-1].stop or 0)) / 2
        second = [i for i in range(1, len(windows)) if (windows[i].start or 0) >= middle] or second
    return set(rng.permutation(second)[: task.windows].tolist())


def questions(window: SparkWindow, task: Task, rng: np.random.Generator) -> Queries:
    """The queries of a window, from its baskets or a sample of them."""
    sample = collect(window)
    return ask(sample, 0, len(sample), task, rng)


def collect(window: SparkWindow) -> Baskets:
    """Up to `MOST` baskets of a window, brought to the driver."""
    from pyspark.sql import functions as F

    frame = window.frame
    if len(window) > MOST:
        frame = frame.orderBy(F.xxhash64("basket")).limit(MOST)
    rows = frame.select("basket", "user", F.explode("products").alias("product")).orderBy("basket", "product")
    with plainly("collecting the baskets to ask about"):
        return read_baskets(to_arrow(rows), basket="basket", product="product", user="user", time="", price="")
