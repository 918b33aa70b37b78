"""Contest: any methods on anybody's baskets, by one of the tasks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from omba import baselines
from omba.baselines import Queries
from omba.baskets import Baskets
from omba.errors import InputError, OmbaError
from omba.evaluation.evaluation import Evaluation, Row
from omba.evaluation.kept_results import KeptResults, key_of
from omba.evaluation.retrieval import Asking
from omba.evaluation.tasks import AnyTask, adapt, make_task
from omba.evaluation.trial import Factory, run

logger = logging.getLogger("omba")

Progress = Callable[[str, float], None]
"""Called with a method's name and the share of its work that is done, up to 1."""


def evaluate(
    methods: str | Iterable[str] | Mapping[str, str | Factory],
    baskets: Baskets,
    windows: int | None = None,
    negatives: int | None = None,
    seed: int = 0,
    seeds: int = 1,
    *,
    task: str = "hidden",
    progress: Progress | None = None,
    keep: str | Path | None = None,
    **asking: Unpack[Asking],
) -> Evaluation:
    """Have each method find what is hidden from it, and tabulate how well it did and at what cost.

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
        Windows asked about: 20 drawn from the second half of the period (hidden), the last 6 (complete); 1 or more.
    negatives
        Products that the hidden one is ranked among: 10 (hidden); 1 or more.
    seed, seeds
        The first seed, 0 or more, and how many, 1 or more; each settles windows, hidden products, negatives and the
        methods' own chance.
    task
        `hidden`, the paper's test; `complete`, a hidden product among all; `next`, a customer's next basket.
    progress
        A function that gets a method's name and the share of its work done.
    keep
        A JSON file that gets each method's figures as soon as it is done. Methods that it has figures of already, for
        the same task, seeds and baskets, are not run again.
    asking
        Options of the tasks: `every`, how long a window is (`"1d"`, `"week"`, `"month"`, or a number of baskets);
        `hide`, `draw`, `above` (hidden); `sample`, `k` (complete); `least`, `part`, `users`, `k` (next); see `Task`,
        `Completion` and `NextBasket`.

    >>> import omba
    >>> shop = omba.datasets.synthetic(baskets=600, products=100, users=20, days=10).baskets
    >>> found = evaluate(["pop", "lift"], shop, windows=2)
    >>> sorted(row["method"] for row in found.to_dicts())
    ['lift', 'pop']
    """
    if seed < 0:
        raise InputError(f"seed is {seed}: give 0 or more")
    if seeds < 1:
        raise InputError(f"seeds is {seeds}: give 1 or more")
    factories = _factories(methods)
    asked_for, notes = adapt(baskets, make_task(task, {"windows": windows, "negatives": negatives, **asking}))
    chosen = range(seed, seed + seeds)
    asked = {each: asked_for.ask(baskets, each) for each in chosen}
    fewest = min(len(found) for _, found in asked.values())
    if fewest < getattr(asked_for, "windows", 0):
        notes.append(f"only {fewest} windows of the second half hold baskets to ask about: all of them are used")
    prices = _target_prices([found for _, found in asked.values()])
    result = Evaluation([], asked_for, list(chosen), prices, {}, notes, key_of(asked_for, chosen, baskets))
    kept = KeptResults(keep, result.key)
    for name, factory in factories.items():
        try:
            if name in kept.rows and isinstance(factory, partial):
                row = Row(name, [], asked_for, kept.rows[name])
                logger.info("%s is taken from %s", name, kept.path)
            else:
                row = _row(name, factory, asked, asked_for, progress)
        except OmbaError as error:
            result.skipped[name] = str(error)
            logger.warning("%s is left out: %s", name, error)
            if len(result.skipped) == len(factories):
                raise
            continue
        result.rows.append(row)
        logger.info(row.tell())
        kept.write(result.to_json())
    for note in notes:
        logger.warning(note)
    result.rows.sort(key=lambda row: -row.score)
    kept.write(result.to_json())
    return result


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
    asked: Mapping[int, tuple[Baskets, list[Queries]]],
    task: AnyTask,
    progress: Progress | None,
) -> Row:
    """One method through the queries of every seed."""
    trials = []
    for turn, (seed, (baskets, found)) in enumerate(asked.items()):
        tick = partial(_tick, progress, name, turn, len(asked))
        trial = run(factory, baskets, found, task.every, seed, tick, task.judge)
        trial.figures = task.measure(trial.ranks, found)
        trials.append(trial)
    return Row(name, trials, task)


def _tick(progress: Progress | None, name: str, turn: int, turns: int, done: float) -> None:
    if progress is not None:
        progress(name, (turn + done) / turns)


def _target_prices(asked: Sequence[list[Queries]]) -> list[NDArray[np.float32]] | None:
    """Prices of what was hidden, by seed; None where there are none."""
    prices = [[queries.target_prices for queries in found if queries.target_prices is not None] for found in asked]
    return [np.concatenate(found) for found in prices] if all(prices) else None
