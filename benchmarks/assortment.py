"""What families, relations, seasons and prices cost in a shop of some 70,000 products: learning a day, and asking.

    python benchmarks/assortment.py --folder DIR --make     # learns the products of The Complete Journey, once
    python benchmarks/assortment.py --folder DIR [--out FILE]

Two questions. How much longer does learning a day take because sales are also counted by fortnight (seasons) and by
week and store (prices)? The same ten days are learned with and without it, in turns, from the same model. Families and
relations are worked out of what is learned anyway, once per state that is published: that stands beside it. And how
long does a page of /rules with families and relations take, and the first page of /families? What HTTP and JSON add is
not in these times.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import omba
from measure import Table, machine
from omba.live.current_rules import look_over
from omba.model import OMBA
from omba.rules import Filter
from omba.service.routes.families import lines_of
from omba.service.views.view import View

SPLIT, DAYS, REPEATS, TIMES = "2017-12-01", 10, 3, 5
LONGER, PAGE = 1.15, 0.2
"""Learning a day may take so many times as long, and a page of rules so many seconds."""
ASKED: dict[str, dict[str, Any]] = {
    "between families": {"families": "between"},
    "all rules": {},
    "complements": {"families": "between", "relation": "complement"},
    "substitutes": {"families": "between", "relation": "substitute"},
    "all year round": {"families": "between", "season": "none"},
    "a word": {"families": "between", "text": "milk"},
    "within families": {"families": "within"},
}


def make(folder: Path, dim: int) -> None:
    """Learn the products of eleven months, and keep the model."""
    year = omba.datasets.complete_journey(level="product_id")
    OMBA(dim=dim).fit(year.between(None, SPLIT), every="1d").save(folder)


def nothing(*_: object) -> None:
    """Count nothing."""


def learn(model: OMBA, windows: list[omba.Baskets], counted: bool) -> float:
    """Seconds of the processor for some days, with sales counted by fortnight, week and store, or without."""
    learner = copy.deepcopy(model)
    if not counted:
        learner.seasons.learn = nothing  # type: ignore[method-assign]
        learner.weekly_sales.learn = nothing  # type: ignore[method-assign]
    begin = process_time()
    for window in windows:
        learner.partial_fit(window)
    return process_time() - begin


def cost_of_days(model: OMBA) -> Table:
    """What a day's learning takes with and without, and what a published state takes besides."""
    year = omba.datasets.complete_journey(level="product_id").between(SPLIT, None)
    windows = list(year.windows("1d"))[:DAYS]
    learn(model, windows[:1], True)
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(REPEATS):
        for counted in found:
            found[counted].append(learn(model, windows, counted))
    with_it, without = (min(found[counted]) / DAYS for counted in (True, False))
    table = Table("Learning a day, seconds of the processor", ("what", "seconds", "over without"))
    table.rows.append(("without seasons and prices", round(without, 4), 1.0))
    table.rows.append(("with them", round(with_it, 4), round(with_it / without, 3)))
    table.bar("a day", with_it / without, "at most", LONGER)
    for name, work in {
        "families of a state": lambda: model.assortment.families(),
        "relations of a state, made ready": lambda: model.assortment.ready(),
    }.items():
        seconds = timed(work)[1]
        table.rows.append((name, round(seconds, 4), round(seconds / without, 3)))
    return table


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    begin, used = perf_counter(), process_time()
    work()
    return perf_counter() - begin, process_time() - used


def answers(model: OMBA) -> Table:
    """Times of a page of rules and of families."""
    view = View.now(model, None)
    view = view.with_rules(look_over(model)).ready()
    search = view.rule_search
    assert search is not None
    table = Table("Answers, milliseconds", ("question", "first, wall", "wall", "CPU"))
    for name, wanted in ASKED.items():
        found = []
        for _ in range(TIMES):
            search.forget()
            found.append(timed(lambda wanted=wanted: search.page(Filter(**wanted), None, None, 0, 100)))
        wall, cpu = np.median(found[1:], axis=0)
        table.rows.append((f"/rules, {name}", round(1e3 * found[0][0]), round(1e3 * wall), round(1e3 * cpu)))
        table.bar(f"/rules, {name}", 1e3 * cpu, "at most", 1e3 * PAGE)
    first, again = timed(lambda: lines_of(view)), timed(lambda: lines_of(view))
    table.rows.append(("/families", round(1e3 * first[0]), round(1e3 * again[0]), round(1e3 * again[1])))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="Where the model is kept.")
    parser.add_argument("--make", action="store_true", help="Learn the model, and do no more.")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    if asked.make:
        return make(asked.folder, asked.dim)
    model = OMBA.load(asked.folder)
    print(f"{len(model.products):,} products, {model.n_baskets:,} baskets")
    tables = [cost_of_days(model), answers(model)]
    for table in tables:
        print(table)
    if asked.out is not None:
        found = {"machine": machine(), "tables": [table.to_dict() for table in tables]}
        asked.out.write_text(json.dumps(found, indent=1))
    return None


if __name__ == "__main__":
    main()
