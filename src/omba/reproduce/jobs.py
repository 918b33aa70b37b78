"""Jobs: contenders taken through the retrieval task (paper, section 5) side by side, in processes of their own.

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
from functools import cache
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baselines import Queries
from omba.errors import OmbaError
from omba.evaluation import Task, queries, run
from omba.evaluation.retrieval import Hide
from omba.reproduce.contender import Contender, DataSet, load
from omba.reproduce.outcome import Outcome
from omba.reproduce.result_cache import ResultCache

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Libraries that would start threads of their own, and wait for each other where two processes do."""

Progress = Callable[[float, str], None]
"""Called with the share of the work done and a word on where it stands."""


@dataclass(frozen=True)
class ContestQueries:
    """The queries that all contenders on a data set are asked.

    Parameters
    ----------
    data
        The data set they come from.
    windows
        How many windows are asked about.
    seed
        It settles windows, hidden products and negatives.
    hide
        One product of a basket, or each in turn.
    """

    data: DataSet
    windows: int
    seed: int = 0
    hide: Hide = "one"

    def ask(self) -> list[Queries]:
        """The queries of each window, in time order; drawn once a process."""
        return _draw(self)

    def target_prices(self) -> NDArray[np.float64]:
        """Prices of the hidden products, in the order of an outcome's ranks."""
        return np.concatenate([asked.target_prices for asked in self.ask()]).astype(np.float64)


@cache
def _draw(questions: ContestQueries) -> list[Any]:
    return queries(load(questions.data), Task(questions.windows, hide=questions.hide), questions.seed)


@dataclass(frozen=True)
class Job:
    """A contender and what it is asked: all windows, or only the one at `window`."""

    questions: ContestQueries
    contender: Contender
    window: int | None = None

    @property
    def key(self) -> str:
        """What its findings are kept under."""
        asked = self.questions
        part = ("" if self.window is None else f"-window{self.window}") + ("" if asked.hide == "one" else "-all")
        return f"ranks-{asked.data.key}-{self.contender.key}-{asked.windows}windows-seed{asked.seed}{part}"


def compete(
    questions: ContestQueries,
    contenders: Sequence[Contender],
    results: ResultCache,
    processes: int = 1,
    progress: Progress = lambda share, note: None,
    only: Sequence[int] | None = None,
) -> tuple[dict[Contender, Outcome], dict[Contender, str]]:
    """The outcome of each contender, and the reason of those that could not take part.

    With `only`, methods that are trained anew for each window are asked about these windows alone.
    """
    jobs = {each: _jobs(Job(questions, each), only) for each in contenders}
    found: dict[str, dict[str, Any]] = {}
    for job in (job for group in jobs.values() for job in group):
        if kept := results.get(job.key):
            found[job.key] = kept
    # The longest first, so that none is left to run alone at the end.
    waiting = sorted((job for group in jobs.values() for job in group if job.key not in found), key=_order)
    for done, (job, findings) in enumerate(_work(waiting, processes), 1):
        found[job.key] = findings
        if "skipped" not in findings:
            results.put(job.key, findings)
        progress(done / len(waiting), f"{questions.data.key} {job.contender.key}")
    by_contender = {each: [found[job.key] for job in group] for each, group in jobs.items()}
    skipped = {
        each: next((one["skipped"] for one in group if "skipped" in one), "") for each, group in by_contender.items()
    }
    outcomes = {each: Outcome.join(group) for each, group in by_contender.items() if not skipped[each]}
    return outcomes, {each: reason for each, reason in skipped.items() if reason}


def _jobs(job: Job, only: Sequence[int] | None) -> list[Job]:
    if job.contender.online:
        return [job]
    windows = range(len(job.questions.ask()))
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
    baskets, asked = load(job.questions.data), job.questions.ask()
    windows = asked if job.window is None else [asked[job.window]]
    try:
        trial = run(job.contender.make, baskets, windows, "1d", job.questions.seed)
    except OmbaError as error:
        return {"skipped": str(error)}
    return {
        "ranks": [ranks.tolist() for ranks in trial.by_window],
        "learn": trial.learn_work,
        "score": trial.score_work,
        "peak": trial.peak_memory,
        "online": trial.online,
    }
