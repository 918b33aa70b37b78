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
    """

    online: bool
    by_window: list[Ranks] = field(default_factory=list)
    learn_seconds: float = 0.0
    score_seconds: float = 0.0
    learn_work: float = 0.0
    score_work: float = 0.0
    peak_memory: int | None = None

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
) -> Trial:
    """Take a new method through the stream; `tick` is told the share of the work done, after each piece."""
    warm_up(factory, baskets, asked[0])
    with PeakMemory() as peak:
        method: Any = factory(seed)
        trial = Trial(online=hasattr(method, "partial_fit"))
        if trial.online:
            _stream(method, baskets, asked, every, trial, tick)
        else:
            _retrain(method, baskets, asked, trial, tick)
    trial.peak_memory = peak.bytes
    return trial


def _stream(
    method: Any,
    baskets: Baskets,
    asked: Sequence[Queries],
    every: str | int,
    trial: Trial,
    tick: Tick,
) -> None:
    by_first = {queries.first: queries for queries in asked}
    first, last = 0, max(by_first)
    for window in baskets.windows(every):
        if first in by_first:
            _score(method, by_first[first], trial)
        if first == last:
            break
        began, worked = perf_counter(), process_time()
        method.partial_fit(window)
        trial.learn_seconds += perf_counter() - began
        trial.learn_work += process_time() - worked
        first += len(window)
        tick(first / last)


def _retrain(method: Any, baskets: Baskets, asked: Sequence[Queries], trial: Trial, tick: Tick) -> None:
    for done, queries in enumerate(asked, 1):
        began, worked = perf_counter(), process_time()
        method.fit(baskets.slice(0, queries.first))
        trial.learn_seconds += perf_counter() - began
        trial.learn_work += process_time() - worked
        _score(method, queries, trial)
        tick(done / len(asked))


def _score(method: Any, queries: Queries, trial: Trial) -> None:
    began, worked = perf_counter(), process_time()
    scores = score(method, queries)
    trial.score_seconds += perf_counter() - began
    trial.score_work += process_time() - worked
    trial.by_window.append(ranks(scores))


def score(method: Any, queries: Queries) -> NDArray[np.floating[Any]]:
    """Scores of all queries, at once where the method can, one by one in labels where it cannot."""
    if hasattr(method, "score_queries"):
        return np.asarray(method.score_queries(queries))
    return np.array([method.score(products, user, candidates) for products, user, candidates in queries.labels()])


def warm_up(factory: Factory, baskets: Baskets, queries: Queries) -> None:
    """Let a throw-away method learn a little and answer, so that what it needs is loaded and compiled."""
    method: Any = factory(0)
    few = baskets.slice(0, min(WARM_UP, queries.first))
    (method.partial_fit if hasattr(method, "partial_fit") else method.fit)(few)
    score(method, queries)
