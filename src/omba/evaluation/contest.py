"""Contest: any methods on anybody's baskets, by the paper's retrieval task."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from omba import baselines
from omba.baselines import Queries
from omba.baskets import Baskets
from omba.errors import InputError, OmbaError
from omba.evaluation.evaluation import Evaluation, Row
from omba.evaluation.retrieval import Hiding, Task, adapt, queries
from omba.evaluation.trial import Factory, run

logger = logging.getLogger("omba")

Progress = Callable[[str, float], None]
"""Called with a method's name and the share of its work that is done, up to 1."""


def evaluate(
    methods: str | Iterable[str] | Mapping[str, str | Factory],
    baskets: Baskets,
    windows: int = 20,
    negatives: int = 10,
    seed: int = 0,
    seeds: int = 1,
    *,
    every: str | int = "1d",
    progress: Progress | None = None,
    **hiding: Unpack[Hiding],
) -> Evaluation:
    """Hide products of baskets, have each method find them among others, and tabulate how well and at what cost.

    In each seed all methods get the same windows, hidden products and negatives. A method that cannot be used here is
    left out, and the result says why.

    Parameters
    ----------
    methods
        Names (see `omba.baselines.methods()`), or a mapping of titles to names or to functions that build a method from
        a seed.
    baskets
        What is learned and asked about, in time order.
    windows
        Windows drawn from the second half of the period.
    negatives
        Products that the hidden one is ranked among.
    seed, seeds
        The first seed, and how many; each settles windows, hidden products, negatives and the methods' own chance.
    every
        How long a window is: `"1d"`, `"week"`, `"month"`, or a number of baskets.
    progress
        A function that gets a method's name and the share of its work done.
    hiding
        `hide`, `draw` and `above`: which products are hidden, and among which others; see `Task`.
    """
    if seeds < 1:
        raise InputError(f"seeds is {seeds}: give 1 or more")
    factories = _factories(methods)
    task, notes = adapt(baskets, Task(windows, negatives, every, **hiding))
    chosen = range(seed, seed + seeds)
    asked = {each: queries(baskets, task, each) for each in chosen}
    fewest = min(map(len, asked.values()))
    if fewest < windows:
        notes.append(f"only {fewest} windows of the second half hold baskets to ask about: all of them are used")
    rows: list[Row] = []
    skipped: dict[str, str] = {}
    for name, factory in factories.items():
        try:
            rows.append(_row(name, factory, baskets, asked, task.every, progress))
        except OmbaError as error:
            skipped[name] = str(error)
            logger.warning("%s is left out: %s", name, error)
            if len(skipped) == len(factories):
                raise
    for note in notes:
        logger.warning(note)
    rows.sort(key=lambda row: -row.mrr)
    prices = [_target_prices(found) for found in asked.values()] if baskets.prices is not None else None
    return Evaluation(rows, task, list(chosen), prices, skipped, notes)


def _factories(methods: str | Iterable[str] | Mapping[str, str | Factory]) -> dict[str, Factory]:
    """A function of the seed for each title; names that are not known are refused before any work."""
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    titled = dict(methods) if isinstance(methods, Mapping) else {name: name for name in methods}
    if not titled:
        raise InputError(f"no method is named: give some of {', '.join(baselines.methods())}")
    baselines.check(method for method in titled.values() if isinstance(method, str))
    return {
        title: partial(baselines.make, method) if isinstance(method, str) else method
        for title, method in titled.items()
    }


def _row(
    name: str,
    factory: Factory,
    baskets: Baskets,
    asked: Mapping[int, list[Queries]],
    every: str | int,
    progress: Progress | None,
) -> Row:
    """One method through the queries of every seed."""
    trials = []
    for turn, (seed, found) in enumerate(asked.items()):
        tick = partial(_tick, progress, name, turn, len(asked))
        trials.append(run(factory, baskets, found, every, seed, tick))
    return Row(name, trials)


def _tick(progress: Progress | None, name: str, turn: int, turns: int, done: float) -> None:
    if progress is not None:
        progress(name, (turn + done) / turns)


def _target_prices(asked: list[Queries]) -> NDArray[np.float32]:
    return np.concatenate([queries.target_prices for queries in asked if queries.target_prices is not None])
