"""Keeping current: what one more day costs. OMBA learns the day and reads its rules anew; the others start over.

python benchmarks/current.py        only beside the two quickest miners, which takes two minutes
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import omba
from measure import PATIENCE, Table, announce, apart, time_of
from omba.baselines import make
from omba.baskets import Baskets
from omba.rules import Standing
from peers import MINERS, TOP
from rules import world, write_codes

DAYS = 5
"""Days that are learned one after another; the median counts."""
RETRAINED = ("item2vec", "triple2vec", "als")
QUICKEST = ("PyFIM eclat", "SciPy matrix product")


def days_of(after: Baskets, number: int) -> list[Baskets]:
    windows = after.windows("1d")
    return [window for window, _ in zip(windows, range(number), strict=False)]


def pairs(rules: Any) -> set[frozenset[Any]]:
    return {frozenset(one + other) for one, other in zip(rules.antecedents, rules.consequents, strict=True)}


def trainings(past: Baskets, quick: bool) -> dict[str, Callable[[], Any]]:
    """What starting over costs, for OMBA itself and for the other learners."""
    settings = {"dim": 32, "epochs": 1} if quick else {}
    sides: dict[str, Callable[[], Any]] = {"OMBA, from scratch": lambda: omba.OMBA(threads=2, **settings).fit(past)}
    for name in RETRAINED:
        sides[f"{name}, from scratch"] = lambda name=name: make(name, seed=0).fit(past)
    return sides


def compare(level: str, quick: bool, peers: bool = True) -> Table:
    announce(f"reading {level}")
    past, after = world(quick, level)
    table = Table(
        f"One more day after {len(past):,} baskets, {level}: {len(past.products):,} products",
        ("what", "seconds", "times OMBA's day", "ended"),
    )
    model = omba.OMBA(dim=32, epochs=1, threads=2) if quick else omba.OMBA(threads=2)
    announce(f"learning {level}")
    whole = time_of(lambda: model.fit(past))
    first, *others = days_of(after, DAYS + 1)
    standing = Standing(TOP, antecedents=1)
    standing.after(model.partial_fit(first), first)
    learning, mining = [], []
    for one in others:
        learning.append(time_of(lambda one=one: model.partial_fit(one)))
        mining.append(time_of(lambda one=one: standing.after(model, one)))
    # Not between two days: threads of BLAS go on spinning for some 20 ms after a look, on the processor that learns.
    looking = [time_of(lambda: omba.mine_rules(model, TOP, antecedents=1, within_families=True)) for _ in others]
    day, refresh, look = median(learning), median(mining), median(looking)
    same = (
        len(pairs(standing.after(model, one)) & pairs(omba.mine_rules(model, TOP, antecedents=1, within_families=True)))
        / TOP
    )
    both = day + refresh
    table.rows += [
        ("OMBA learns the day", day, day / both, "done"),
        (f"OMBA keeps its rules current: {same:.1%} of them those of a whole look", refresh, refresh / both, "done"),
        ("OMBA looks at all pairs anew", look, look / both, "done"),
        ("OMBA, both", both, 1.0, "done"),
        ("OMBA, from scratch", whole, whole / both, "done"),
    ]
    for name, work in trainings(past, quick).items():
        if peers and name != "OMBA, from scratch":
            announce(name)
            try:
                seconds, ended = time_of(work), "done"
            except ImportError:
                seconds, ended = float("nan"), "not installed"
            table.rows.append((name, seconds, seconds / both, ended))
    with tempfile.TemporaryDirectory() as folder:
        data = write_codes(past, Path(folder))
        quickest = float("inf")
        for miner in MINERS if peers and not quick else QUICKEST:
            one = apart("peers.py", miner, data, 10, seconds=PATIENCE / 4)
            table.rows.append((f"{miner}, all over", one.seconds, one.seconds / both, one.ended))
            quickest = min(quickest, one.seconds if one.done else float("inf"))
    table.bar("a day's learning cheaper than retraining", whole / day, "at least", 100.0)
    table.bar("rules refreshed faster than the quickest miner starts over", quickest / refresh, "at least", 10.0)
    table.bar("day and rules together, faster than the quickest miner", quickest / both, "at least", 10.0)
    return table


def suite(quick: bool) -> list[Table]:
    return [compare(level, quick) for level in (("synthetic",) if quick else ("product_type", "product_id"))]


if __name__ == "__main__":
    for level in ("product_type", "product_id"):
        print(f"\n{compare(level, quick=False, peers=False)}", flush=True)
