"""Trial: one method taken through the windows, what it got right and what it cost.

A method with `partial_fit` goes through the stream once and learns each window after it has been asked about
it. Any other is trained from scratch, before each window it is asked about, on all that came before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines import Method, Queries
from omba.baskets import Baskets
from omba.evaluation.metrics import Ranks, ranks
from omba.evaluation.peak_memory import PeakMemory

Factory = Callable[[int], Method]
"""Builds a method from a seed."""

Tick = Callable[[float], None]

Judge = Callable[[Any, Queries], Ranks]
"""Finds the ranks of what a window's queries ask for."""

WARM_UP = 50
"""Baskets a throw-away method learns first, so that compiling and loading are not counted as learning."""


@dataclass
class Trial:
    """What one method got right in one seed, and what it cost.

    Parameters
    ----------
    online
        Whether it goes through the stream once; else it is trained from scratch before each window.
    by_window
        The ranks that every hidden product may have, window by window; see `metrics.Ranks`.
    learn_seconds, score_seconds
        Seconds of learning and answering, by the clock on the wall.
    learn_work, score_work
        The processor's own seconds, which neighbours on the machine do not lengthen.
    peak_memory
        The most bytes it held above what was there before; None where the system does not tell.
    figures
        The task's own figures by name; None where they are those of the ranks of hidden products.
    """

    online: bool
    by_window: list[Ranks] = field(default_factory=list)
    learn_seconds: float = 0.0
    score_seconds: float = 0.0
    learn_work: float = 0.0
    score_work: float = 0.0
    peak_memory: int | None = None
    figures: dict[str, float] | None = None

    @property
    def ranks(self) -> Ranks:
        return np.concatenate(self.by_window)


def run(
    factory: Factory,
    baskets: Baskets,
    asked: Sequence[Queries],
    every: str | int = "1d",
    seed: int = 0,
    tick: Tick = lambda done: None,
    judge: Judge | None = None,
) -> Trial:
    """Take a new method through the stream; `tick` is told the share of the work done, after each piece.

    `judge` finds the ranks of a window's targets; without one they are those of the hidden products among candidates.
    """
    judge = judge or rank_hidden
    warm_up(factory, baskets, asked[0], judge)
    with PeakMemory() as peak:
        method: Any = factory(seed)
        trial = Trial(online=hasattr(method, "partial_fit"))
        if trial.online:
            _stream(method, baskets, asked, every, trial, tick, judge)
        else:
            _retrain(method, baskets, asked, trial, tick, judge)
    trial.peak_memory = peak.bytes
    return trial


def _stream(
    method: Any,
    baskets: Baskets,
    asked: Sequence[Queries],
    every: str | int,
    trial: Trial,
    tick: Tick,
    judge: Judge,
) -> None:
    by_first = {queries.first: queries for queries in asked}
    first, last = 0, max(by_first)
    for window in baskets.windows(every):
        if first in by_first:
            _judge(method, by_first[first], trial, judge)
        if first == last:
            return
        began, worked = perf_counter(), process_time()
        method.partial_fit(window)
        trial.learn_seconds += perf_counter() - began
        trial.learn_work += process_time() - worked
        first += len(window)
        tick(first / last)
    _judge(method, by_first[first], trial, judge)  # what comes after the last of them


def _retrain(method: Any, baskets: Baskets, asked: Sequence[Queries], trial: Trial, tick: Tick, judge: Judge) -> None:
    for done, queries in enumerate(asked, 1):
        began, worked = perf_counter(), process_time()
        method.fit(baskets.slice(0, queries.first))
        trial.learn_seconds += perf_counter() - began
        trial.learn_work += process_time() - worked
        _judge(method, queries, trial, judge)
        tick(done / len(asked))


def _judge(method: Any, queries: Queries, trial: Trial, judge: Judge) -> None:
    began, worked = perf_counter(), process_time()
    found = judge(method, queries)
    trial.score_seconds += perf_counter() - began
    trial.score_work += process_time() - worked
    trial.by_window.append(found)


def rank_hidden(method: Any, queries: Queries) -> Ranks:
    """The ranks of the hidden products among their candidates."""
    return ranks(score(method, queries))


def score(method: Any, queries: Queries) -> NDArray[np.floating[Any]]:
    """Scores of all queries, at once where the method can, one by one in labels where it cannot."""
    if hasattr(method, "score_queries"):
        return np.asarray(method.score_queries(queries))
    return np.array([method.score(products, user, candidates) for products, user, candidates in queries.labels()])


def warm_up(factory: Factory, baskets: Baskets, queries: Queries, judge: Judge = rank_hidden) -> None:
    """Let a throw-away method learn a little and answer, so that what it needs is loaded and compiled."""
    method: Any = factory(0)
    few = baskets.slice(0, min(WARM_UP, queries.first))
    (method.partial_fit if hasattr(method, "partial_fit") else method.fit)(few)
    judge(method, queries.part(0, min(WARM_UP, len(queries))))
