"""Mining: rules out of vectors and counts, beside looking at all pairs and beside mlxtend, all in one run.

    python benchmarks/mining.py            Complete Journey at product_id, and worlds of 10,000 to 1,000,000 products
    python benchmarks/mining.py --quick    product types, and worlds of 5,000 to 50,000

What is timed is cold: the first call in this process. All pairs by BLAS is the exact search that recall is measured
with: blocks of a matrix product over the upper triangle, and the best kept.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import omba
from omba.rules import classic, mine, nearest_pairs, recall
from omba.rules.from_model import mining_input
from omba.rules.nearest import Trained, exact_pairs

TOP = 1000


def time_and_result(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def clusters(products: int, dim: int = 300, seed: int = 0) -> NDArray[np.float32]:
    """Vectors as a shop's are: a direction common to all, departments, and groups of some ten at many distances."""
    rng = np.random.default_rng(seed)
    common, departments = rng.standard_normal(dim), rng.standard_normal((50, dim))
    groups = rng.standard_normal((max(1, products // 10), dim), dtype=np.float32)
    groups += 0.35 * common.astype(np.float32) + 0.6 * departments[np.arange(len(groups)) % 50].astype(np.float32)
    out = np.empty((products, dim), np.float32)
    for start in range(0, products, 1 << 16):
        part = out[start : start + (1 << 16)]
        share = rng.uniform(0.2, 0.9, (len(part), 1)).astype(np.float32)
        part[:] = np.sqrt(1 - share) * rng.standard_normal(part.shape, dtype=np.float32)
        part += np.sqrt(share) * groups[rng.integers(0, len(groups), len(part))]
    return out


def groceries(level: str, support: int) -> None:
    """Rules of a year of groceries, and the same by other means."""
    baskets = omba.datasets.complete_journey(level=level)
    model = omba.OMBA()
    _, learning = time_and_result(lambda: model.fit(baskets))
    print(f"\nComplete Journey, {level}: {len(model.products):,} products, learned in {learning:.0f} s")
    rules, seconds = time_and_result(lambda: omba.mine_rules(model, TOP, evidence=baskets))
    print(f"  top {len(rules):,} rules, counts and all, cold {seconds:8.2f} s")
    given = mining_input(model, baskets)
    _, again = time_and_result(lambda: mine(given, TOP))
    print(f"  once more                             {again:8.2f} s")
    everything = Trained.of(given.vectors, None)
    pairs, hashed = time_and_result(lambda: nearest_pairs(given.vectors, TOP, counts=given.counts))
    _, exact = time_and_result(lambda: exact_pairs(everything, TOP))
    print(f"  nearest {TOP:,} pairs by LSH            {hashed:8.2f} s   F = {pairs.F}, H = {pairs.H}")
    ratios = f"{exact / seconds:.1f} × the rules, {exact / hashed:.1f} × LSH"
    print(f"  all pairs by BLAS                     {exact:8.2f} s   {ratios}")
    print(f"  recall of the true {TOP:,}              {recall(given.vectors, counts=given.counts, pairs=pairs):8.4f}")
    _, grown = time_and_result(lambda: classic.fpgrowth(baskets, support / len(baskets), max_len=2))
    print(f"  mlxtend's FP-growth, pairs in {support} baskets {grown:6.2f} s   {grown / seconds:.1f} × the rules")


def worlds(sizes: list[int], sample: int) -> None:
    """How time and memory grow with the number of products."""
    print("\nClustered worlds, 300 dimensions: the nearest tenth of a pair a product")
    before: tuple[int, float] | None = None
    for products in sizes:
        vectors = clusters(products)
        top = products // 10
        pairs, seconds = time_and_result(lambda: nearest_pairs(vectors, top, recall=0.98))  # noqa: B023
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        found = recall(vectors, pairs=pairs, sample=sample)
        growth = (
            ""
            if before is None
            else f"   time ~ products^{np.log(seconds / before[1]) / np.log(products / before[0]):.2f}"
        )
        shape = f"F = {pairs.F}, H = {pairs.H}, down to cosine {pairs.cosine[-1]:.2f}"
        print(f"  {products:>9,}  {seconds:7.1f} s  {memory:4.1f} GB  recall {found:.3f}  {shape}{growth}", flush=True)
        before = products, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    if chosen.quick:
        worlds([5_000, 15_000, 50_000], 1_000)
        groceries("product_type", 500)
    else:
        worlds([10_000, 100_000, 1_000_000], 1_000)
        groceries("product_id", 50)


if __name__ == "__main__":
    main()
