"""Tune: settings of peers and variants, chosen on days and customers that no reported figure uses.

    python benchmarks/tune.py hidden omba-decay learning_rate=0.01,0.005,0.002    every combination of these values
    python benchmarks/tune.py next tifu-knn own=0.1,0.3 groups=7,11 --sources next-basket:FOLDER
    python benchmarks/tune.py complete ease regularization=100,500 habit=1,3

Every setting serves all data sets, so the last column, the mean over the sources of the first figure, decides;
docs/decisions.md has what was tried and kept.

    hidden      eight days from the middle of the second half on
    complete    the eight days before those that are reported
    next        the customers of the validation half, or of `val` where the files say so

A baseline is trained once, on the baskets before the first day asked about; a method that learns the stream goes on
learning, a day after it was asked about it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import omba
from omba import baselines
from omba.baselines import Queries, split_name
from omba.baskets import Baskets
from omba.datasets import judged_users
from omba.evaluation import Completion, NextBasket, Task, metrics, run
from omba.evaluation.retrieval import ask, second_half
from omba.evaluation.tasks import TASKS

SEED = 100
"""No reported test has this one."""
DAYS = 8
"""Days that are asked about, from the middle of the second half of the period on."""


def combinations(given: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every combination of the values given as name=value,value."""
    named = [one.partition("=") for one in given]
    for chosen in product(*(values.split(",") for _, _, values in named)):
        yield split_name(":".join(["", *(f"{name}={one}" for (name, _, _), one in zip(named, chosen, strict=True))]))[1]


def hidden_days(baskets: Baskets) -> list[Queries]:
    """The questions of the paper's test on the days that settings are chosen by."""
    spans = second_half(baskets, "1d")
    start = len(spans) // 2
    rng = np.random.default_rng(SEED)
    return [ask(baskets, first, after, Task(), rng) for first, after in spans[start : start + DAYS]]


def hidden(method: str, settings: dict[str, Any], baskets: Baskets) -> dict[str, float]:
    """The MRR of a setting."""
    asked = hidden_days(baskets)
    if method in baselines.BASELINES:  # trained once, not for each day: what is compared are its settings
        learned = baselines.make(method, seed=SEED, **settings).fit(baskets.slice(0, asked[0].first))  # type: ignore[attr-defined]
        ranks = np.concatenate([metrics.ranks(learned.score_queries(each)) for each in asked])
    else:
        ranks = run(partial(baselines.make, method, **settings), baskets, asked, "1d", SEED).ranks
    return {"MRR": metrics.mrr(ranks)}


def catalogue(
    task: Completion | NextBasket, method: str, settings: dict[str, Any], baskets: Baskets
) -> dict[str, float]:
    """The figures of a setting over the whole catalogue."""
    baskets, asked = task.ask(baskets, SEED)
    if method in baselines.BASELINES:
        learned = baselines.make(method, seed=SEED, **settings).fit(baskets.slice(0, asked[0].first))  # type: ignore[attr-defined]
        ranks = np.concatenate([task.judge(learned, each) for each in asked])
    else:
        every = task.every if baskets.times is not None else 1_000
        ranks = run(partial(baselines.make, method, **settings), baskets, asked, every, SEED, judge=task.judge).ranks
    return task.measure(ranks, asked)


def judge(task: str, source: str, method: str, settings: dict[str, Any], baskets: Baskets) -> dict[str, float]:
    """The figures of a setting on a data set, the one that decides first."""
    if task == "hidden":
        return hidden(method, settings, baskets)
    if task == "complete":
        return catalogue(Completion(DAYS, before=6), method, settings, baskets)
    users = judged_users(source, "validation")
    chosen = NextBasket(part="validation") if users is None else NextBasket(least=1, users=users)
    return catalogue(chosen, method, settings, baskets)


SOURCES = ["complete-journey", "ta-feng"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=list(TASKS))
    parser.add_argument("method")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE,…")
    parser.add_argument("--sources", help="data sets, separated by commas")
    chosen = parser.parse_args()
    sources = chosen.sources.split(",") if chosen.sources else SOURCES
    data = {source: omba.datasets.load(source) for source in sources}
    for settings in combinations(chosen.settings):
        found = {
            source: judge(chosen.task, source, chosen.method, settings, baskets) for source, baskets in data.items()
        }
        line = " ".join(f"{name}={value}" for name, value in settings.items()) or "as it is"
        for source, figures in found.items():
            line += f" | {source} " + " ".join(f"{name} {value:.4f}" for name, value in figures.items())
        print(
            f"{chosen.method} {line} | mean {np.mean([next(iter(f.values())) for f in found.values()]):.4f}", flush=True
        )


if __name__ == "__main__":
    main()
