"""Choices: what each setting of the learner is worth, one changed at a time, by the retrieval test.

    python benchmarks/choices.py                              Complete Journey (product types) and Ta-Feng
    python benchmarks/choices.py complete-journey:product_id  another source
    python benchmarks/choices.py --quick ta-feng              fewer query windows

Every row is the default with one thing changed, on the same queries; docs/decisions.md tells what was concluded.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import omba

CHANGES: dict[str, dict[str, Any]] = {
    "default": {},
    "no clues: the paper's two cosines": {"clues": False},
    "no categories": {"categories": False},
    "no user memory": {"memory": 0},
    "memory of 32": {"memory": 32},
    "user targets": {"user_targets": True},
    "value weights, fitted": {"value": "fit"},
    "value weights, exponent 1": {"value": (1.0, 10.0)},
    "value weights, the paper's": {"value": (2.3, 10.0)},
    "5 negatives": {"negatives": 5},
    "5 passes of 5 negatives": {"epochs": 5, "negatives": 5},
    "10 negatives": {"negatives": 10},
    "negatives by frequency": {"power": 1.0},
    "negatives uniform": {"power": 0.0},
    "tau 0": {"tau": 0.0},
    "tau 1": {"tau": 1.0},
    "rate 0.05": {"learning_rate": 0.05},
    "rate 0.2": {"learning_rate": 0.2},
    "2 passes": {"epochs": 2},
    "5 passes": {"epochs": 5},
    "10 passes": {"epochs": 10},
    "dim 100": {"dim": 100},
    "2 threads": {"threads": 2},
}


def build(changes: dict[str, Any], seed: int) -> omba.OMBA:
    return omba.OMBA(**changes, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", default=["complete-journey", "ta-feng"])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help="changes whose name holds this text")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    for source in chosen.sources:
        baskets = omba.datasets.load(source)
        print(f"{source}: MRR, above 10 in price, seconds of learning", flush=True)
        base = None
        for name, changes in CHANGES.items():
            if chosen.only not in name and name != "default":
                continue
            method: Callable[[int], omba.OMBA] = partial(build, changes)
            found = omba.evaluate({name: method}, baskets, windows=5 if chosen.quick else 20, seeds=chosen.seeds)
            row = found.rows[0]
            base = row.mrr if base is None else base
            print(
                f"  {name:36s} {row.mrr:.4f}  {row.mrr - base:+.4f}  {row.to_dict()['learn_seconds']:7.1f}", flush=True
            )


if __name__ == "__main__":
    main()
