"""Trials: methods taken through the retrieval task (paper, section 5) side by side, in processes of their own.

A method that is trained anew for each window gives a job a window, one that learns the stream a single job. What a job
found is kept as soon as it is done. In a process of its own the memory of a method is its own too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from threading import Thread
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from omba import baselines, datasets
from omba.baskets import Baskets
from omba.errors import OmbaError
from omba.evaluation import Task, metrics, queries, run
from omba.evaluation.retrieval import Hide
from omba.model import OMBA
from omba.reproduce.shelf import Shelf

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Libraries that would start threads of their own, and wait for each other where two processes do."""


@dataclass(frozen=True)
class Source:
    """Baskets by the name of their data set, up to a date or all."""

    name: str
    until: str | None = None

    @property
    def key(self) -> str:
        return self.name.replace("/", "_") + (f"-{self.until}" if self.until else "")


@dataclass(frozen=True)
class Contender:
    """A method by its name, with settings that are not its defaults."""

    method: str
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        return "-".join([self.method, *(f"{name}={value}" for name, value in self.settings)])

    @property
    def online(self) -> bool:
        return self.method in baselines.VARIANTS

    def make(self, seed: int) -> Any:
        make = Batch if self.method == BATCH else partial(baselines.make, self.method)
        return make(seed=seed, **dict(self.settings))


BATCH = "omba-batch"


class Batch:
    """OMBA with the paper's settings, learned in one go from all there is: what being online is held against."""

    def __init__(self, seed: int = 0) -> None:
        self.model = OMBA.paper(seed=seed)

    def fit(self, baskets: Baskets) -> Self:
        self.model = OMBA.paper(seed=self.model.seed).partial_fit(baskets)
        return self

    def score_queries(self, asked: Any) -> NDArray[np.float32]:
        return self.model.score_queries(asked)


@dataclass(frozen=True)
class Job:
    """A contender on the queries of a seed: all windows, or only the one at `window`."""

    source: Source
    contender: Contender
    windows: int
    seed: int
    window: int | None = None
    hide: Hide = "one"

    @property
    def key(self) -> str:
        part = ("" if self.window is None else f"-window{self.window}") + ("" if self.hide == "one" else "-all")
        return f"trial-{self.source.key}-{self.contender.key}-{self.windows}windows-seed{self.seed}{part}"


@dataclass(frozen=True)
class Trial:
    """The rank of every hidden product, window by window, the seconds of one processor and the bytes it took."""

    by_window: Sequence[NDArray[np.float64]]
    learn_seconds: float
    score_seconds: float
    peak: int | None
    online: bool

    @property
    def ranks(self) -> NDArray[np.float64]:
        return np.concatenate(self.by_window)

    @property
    def mrr(self) -> float:
        return metrics.mrr(self.ranks)

    def recall(self, k: int) -> float:
        return metrics.recall(self.ranks, k)

    @property
    def dcg(self) -> float:
        return metrics.dcg(self.ranks)

    def at(self, windows: Sequence[int]) -> Trial:
        """The same trial, asked about these windows only; the costs stay those of all."""
        return replace(self, by_window=[self.by_window[window] for window in windows])

    def margin(self, other: Trial) -> tuple[float, float]:
        """By how much the MRR is above another's, as a share of that, and the standard error over windows.

        Both were asked the same, so the error is that of the differences, by leaving out a window at a time.
        """
        mine, theirs = ([1 / ranks for ranks in trial.by_window] for trial in (self, other))
        n = len(mine)
        whole = np.concatenate(mine).mean() / np.concatenate(theirs).mean() - 1
        without = [
            np.concatenate(mine[:k] + mine[k + 1 :]).mean() / np.concatenate(theirs[:k] + theirs[k + 1 :]).mean() - 1
            for k in range(n if n > 1 else 0)
        ]
        error = np.sqrt((n - 1) / n * np.sum((np.array(without) - np.mean(without)) ** 2)) if n > 1 else np.nan
        return float(whole), float(error)

    @classmethod
    def joined(cls, found: Sequence[dict[str, Any]]) -> Trial:
        """The trial made of the jobs of a contender, in the order of their windows."""
        peaks = [one["peak"] for one in found if one["peak"] is not None]
        return cls(
            [np.array(ranks) for one in found for ranks in one["ranks"]],
            sum(one["learn"] for one in found),
            sum(one["score"] for one in found),
            max(peaks) if peaks else None,
            found[0]["online"],
        )


Tell = Callable[[float, str], None]
"""Called with the share of the work done and a word on where it stands."""


def hold(
    source: Source,
    contenders: Sequence[Contender],
    windows: int,
    seed: int,
    shelf: Shelf,
    processes: int = 1,
    tell: Tell = lambda share, note: None,
    only: Sequence[int] | None = None,
    hide: Hide = "one",
) -> tuple[dict[Contender, Trial], dict[Contender, str]]:
    """The trial of each contender, and the reason of those that could not take part.

    With `only`, methods that are trained anew for each window are asked about these windows alone.
    """
    jobs = {each: _jobs(Job(source, each, windows, seed, hide=hide), only) for each in contenders}
    found: dict[str, dict[str, Any]] = {}
    for job in (job for group in jobs.values() for job in group):
        if kept := shelf.get(job.key):
            found[job.key] = kept
    # The longest first, so that none is left to run alone at the end.
    waiting = sorted((job for group in jobs.values() for job in group if job.key not in found), key=_order)
    for done, (job, outcome) in enumerate(_work(waiting, processes), 1):
        found[job.key] = outcome
        if "skipped" not in outcome:
            shelf.put(job.key, outcome)
        tell(done / len(waiting), f"{job.source.key} {job.contender.key}")
    outcomes = {each: [found[job.key] for job in group] for each, group in jobs.items()}
    skipped = {
        each: next((one["skipped"] for one in group if "skipped" in one), "") for each, group in outcomes.items()
    }
    trials = {each: Trial.joined(group) for each, group in outcomes.items() if not skipped[each]}
    return trials, {each: why for each, why in skipped.items() if why}


def _jobs(job: Job, only: Sequence[int] | None) -> list[Job]:
    if job.contender.online:
        return [job]
    windows = range(len(_asked(job.source, job.windows, job.seed, job.hide)))
    return [replace(job, window=window) for window in windows if only is None or window in only]


def _order(job: Job) -> tuple[bool, int]:
    return not job.contender.online, -(job.window or 0)


def _work(jobs: Sequence[Job], processes: int) -> Iterator[tuple[Job, dict[str, Any]]]:
    """What each job found, as they finish."""
    if processes < 2 or len(jobs) < 2:
        yield from ((job, _do(job)) for job in jobs)
        return
    with _one_thread_each(), ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _attend) as pool:
        try:
            waiting = {pool.submit(_do, job): job for job in jobs}
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _attend() -> None:
    """Ctrl-C is for the process that watches over the others; with it, however it ends, they end too."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _do(job: Job) -> dict[str, Any]:
    """Run one job; figures in plain lists, or the reason why it cannot be run."""
    baskets = load(job.source)
    asked = _asked(job.source, job.windows, job.seed, job.hide)
    try:
        trial = run(job.contender.make, baskets, asked if job.window is None else [asked[job.window]], "1d", job.seed)
    except OmbaError as error:
        return {"skipped": str(error)}
    return {
        "ranks": [ranks.tolist() for ranks in trial.by_window],
        "learn": trial.learn_work,
        "score": trial.score_work,
        "peak": trial.peak_memory,
        "online": trial.online,
    }


@cache
def load(source: Source) -> Baskets:
    """The baskets of a source, read once a process."""
    return datasets.load(source.name).between(None, source.until)


@cache
def _asked(source: Source, windows: int, seed: int, hide: Hide) -> list[Any]:
    return queries(load(source), Task(windows, hide=hide), seed)


def target_prices(source: Source, windows: int, seed: int, hide: Hide) -> NDArray[np.float64]:
    """Prices of the hidden products, in the order of a trial's ranks."""
    return np.concatenate([asked.target_prices for asked in _asked(source, windows, seed, hide)]).astype(np.float64)
