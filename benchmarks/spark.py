"""Spark: what learning in parts costs in quality, and what windows, bytes and rows cost in time.

python benchmarks/spark.py merging      # MRR by number of parts and by how deltas merge; no Spark needed
python benchmarks/spark.py overhead     # seconds and bytes a window, by number of partitions
python benchmarks/spark.py growth       # counting and learning 3 to 30 million rows
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

import omba
from omba.spark import omba as learner
from omba.spark.merge import Changed, Floats, merge

Merge = Callable[[Floats, Floats, Sequence[Changed]], None]


def summed(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + Σ Δ: every way whole."""
    before, sums = vectors.copy(), squares.copy()
    for part in parts:
        vectors[part.rows] += part.vectors - before[part.rows]
        squares[part.rows] += part.squares - sums[part.rows]


def averaged(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + mean Δ over the parts that changed the row."""
    weigh(vectors, squares, parts, [np.ones(len(part.rows)) for part in parts])


def weighted(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + Σ wΔ, w the part's share of the row's squared gradients: how much and how often it updated the row."""
    sums = squares.copy()
    weigh(vectors, squares, parts, [(part.squares - sums[part.rows]).sum(axis=1) for part in parts])


def weigh(vectors: Floats, squares: Floats, parts: Sequence[Changed], weights: list[np.ndarray]) -> None:
    before, sums, total = vectors.copy(), squares.copy(), np.zeros(len(vectors))
    for part, weight in zip(parts, weights, strict=True):
        total[part.rows] += weight
    for part, weight in zip(parts, weights, strict=True):
        share = (weight / np.maximum(total[part.rows], 1e-30))[:, None].astype(np.float32)
        vectors[part.rows] += share * (part.vectors - before[part.rows])
        squares[part.rows] += part.squares - sums[part.rows]


MERGES: dict[str, Merge] = {"adagrad": merge, "sum": summed, "mean": averaged, "weighted mean": weighted}


def merging(until: str | None, parts: list[int], merges: list[str], seeds: int) -> None:
    """MRR on Complete Journey, product types, in parts that are learned one after the other."""
    baskets = omba.datasets.complete_journey().between(None, until)
    whole = omba.evaluate({"one process": "omba"}, baskets, seeds=seeds)
    print(f"one process: {whole['one process'].mrr:.4f}", flush=True)
    for name in merges:
        learner.merge = MERGES[name]
        for n in parts:

            def in_parts(seed: int, n: int = n) -> learner.OMBA:
                return learner.OMBA(partitions=n, seed=seed)

            found = omba.evaluate({"parts": in_parts}, baskets, seeds=seeds)
            print(f"{name}, {n} parts: {found['parts'].mrr:.4f}", flush=True)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["merging", "overhead", "growth"])
    parser.add_argument("--until", default=None, help="merging: leave out baskets from this date on")
    parser.add_argument("--parts", default="1,2,4,8", help="numbers of partitions")
    parser.add_argument("--merges", default=",".join(MERGES), help="merging: which ways to merge")
    parser.add_argument("--seeds", type=int, default=1, help="merging: seeds")
    given = parser.parse_args(arguments)
    parts = [int(n) for n in given.parts.split(",")]
    if given.what == "merging":
        merging(given.until, parts, given.merges.split(","), given.seeds)


if __name__ == "__main__":
    main(sys.argv[1:])
