"""Tune: settings of peers and variants, chosen on days and customers that no reported figure uses.

    python benchmarks/tune.py hidden omba-decay learning_rate=0.01,0.005,0.002    every combination of these values
    python benchmarks/tune.py hidden triple2vec epochs=6,12 dim=100,300 --sources ta-feng

Every setting serves all data sets, so the last column, the mean over the sources, decides; docs/decisions.md has what
was tried and kept. A baseline is trained once, on the baskets before the first day asked about; a method that learns
the stream goes on learning, a day after it was asked about it.
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
from omba.baselines import Queries
from omba.baskets import Baskets
from omba.evaluation import Task, metrics, run
from omba.evaluation.retrieval import ask, second_half

SEED = 100
"""No reported test has this one."""
DAYS = 8
"""Days that are asked about, from the middle of the second half of the period on."""


def combinations(given: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Every combination of the values given as name=value,value."""
    names = [one.partition("=")[0] for one in given]
    values = [[number(value) for value in one.partition("=")[2].split(",")] for one in given]
    for chosen in product(*values):
        yield dict(zip(names, chosen, strict=True))


def number(text: str) -> Any:
    """A value as the whole number, fraction or word it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


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


TASKS = {"hidden": hidden}
SOURCES = {"hidden": ["complete-journey", "ta-feng"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("method")
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE,…")
    parser.add_argument("--sources", help="data sets, separated by commas")
    chosen = parser.parse_args()
    sources = chosen.sources.split(",") if chosen.sources else SOURCES[chosen.task]
    data = {source: omba.datasets.load(source) for source in sources}
    for settings in combinations(chosen.settings):
        found = {source: TASKS[chosen.task](chosen.method, settings, baskets) for source, baskets in data.items()}
        line = " ".join(f"{name}={value}" for name, value in settings.items()) or "as it is"
        for source, figures in found.items():
            line += f" | {source} " + " ".join(f"{name} {value:.4f}" for name, value in figures.items())
        print(
            f"{chosen.method} {line} | mean {np.mean([next(iter(f.values())) for f in found.values()]):.4f}", flush=True
        )


if __name__ == "__main__":
    main()
