"""How long /rules takes to filter and sort all counted pairs of a large shop.

    python benchmarks/rule_search.py [--products 70000] [--pairs 4000000] [--dim 300] [--out FILE]

Counts are drawn, not learned: sales by a power law, pairs of products by their sales, and a few joint baskets for each.
Every question is asked as if nobody had asked it before; what HTTP and JSON add is not in the times.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from measure import Table, machine
from omba.model.forecast import Forecast
from omba.rules import Catalogue, Filter, Hashing, MiningInput
from omba.service.views.pair_index import PairIndex
from omba.service.views.rule_index import RuleIndex
from omba.service.views.rule_search import RuleSearch

BASKETS, KEPT, TIMES, BAR = 2_000_000, 1_000, 5, 0.2
WORDS = ("RED", "BLUE", "TEA", "POT", "CHRISTMAS", "CANDLE", "HEART", "BAG", "SMALL", "SET")

QUESTIONS: dict[str, tuple[dict[str, Any], str | None]] = {
    "nothing asked": ({}, None),
    "sorted by together": ({}, "count"),
    "sorted by lift": ({}, "lift"),
    "sorted by closeness": ({}, "similarity"),
    "sorted by product": ({}, "antecedents"),
    "a best seller": ({"product": "P0"}, None),
    "a word": ({"text": "christmas"}, None),
    "two words, by together": ({"text": "christmas tea"}, "count"),
    "rare": ({"status": "rare"}, None),
    "lift of 5, 20 together": ({"minimum": {"lift": 5.0, "count": 20.0}}, None),
    "lift to expect of 2": ({"minimum": {"expected_lift": 2.0}}, None),
    "prices from 2 to 5": ({"min_price": 2.0, "max_price": 5.0}, "value"),
}


@dataclass(frozen=True, eq=False)
class DrawnCounts:
    """Evidence that was drawn."""

    n_baskets: int
    counts: NDArray[np.int64]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    count: NDArray[np.int64]
    complete: bool = True

    def pairs(self, a: Any, b: Any) -> NDArray[np.int64]:
        keys = (self.left.astype(np.int64) << 32) | self.right
        wanted = (np.minimum(a, b).astype(np.int64) << 32) | np.maximum(a, b)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, self.count[at], 0)

    def seen(self, a: Any, b: Any) -> NDArray[np.bool_]:
        return self.pairs(a, b) > 0

    def itemsets(self, sets: Any) -> NDArray[np.int64]:
        return self.pairs(sets[:, 0], sets[:, 1])

    def exact(self, sets: Any) -> NDArray[np.bool_]:
        return np.ones(len(sets), bool)

    def observed(self, least: int = 1) -> tuple[Any, Any, Any]:
        often = np.flatnonzero(self.count >= least)
        return self.left[often], self.right[often], self.count[often]


def draw(products: int, pairs: int, dim: int) -> RuleSearch:
    """A search over so many pairs of so many products."""
    rng = np.random.default_rng(0)
    counts = np.maximum(2, (BASKETS * 0.05 / np.arange(1, products + 1) ** 0.8)).astype(np.int64)
    some = rng.choice(products, (2, 2 * pairs), p=counts / counts.sum())
    keys = np.unique((some.min(axis=0).astype(np.int64) << 32) | some.max(axis=0))
    left, right = keys >> 32, keys & 0xFFFFFFFF
    keep = np.flatnonzero(left != right)
    keep = np.sort(rng.permutation(keep)[:pairs])
    left, right = left[keep].astype(np.int32), right[keep].astype(np.int32)
    chance = counts[left] * counts[right] / BASKETS
    count = np.minimum(
        1 + rng.poisson(chance * rng.gamma(0.5, 2.0, len(left))), np.minimum(counts[left], counts[right])
    )
    labels = [f"P{row}" for row in range(products)]
    names = [" ".join(rng.choice(WORDS, 3)) + f" {row}" for row in range(products)]
    catalogue = Catalogue(
        labels, rng.lognormal(1.0, 1.0, products), pa.table({"product": labels, "name": names}), counts
    ).ready()
    vectors = rng.standard_normal((products, dim), dtype=np.float32)
    evidence = DrawnCounts(BASKETS, counts, left, right, count.astype(np.int64))
    given = MiningInput(catalogue, vectors, evidence, Forecast())
    pair_index = PairIndex(None, given, Hashing(F=12, H=8))  # type: ignore[arg-type]
    best = np.argsort(-count, kind="stable")[:KEPT]
    kept = pair_index.pairs(left[best].astype(np.int64), right[best].astype(np.int64))
    return RuleSearch(RuleIndex(kept).ready(), pair_index)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--products", type=int, default=70_000)
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    search = draw(asked.products, asked.pairs, asked.dim)
    begin = process_time()
    search.ready()
    print(f"made ready in {process_time() - begin:.1f} s of CPU, {len(search.left):,} pairs")
    table = Table("A page of /rules, in milliseconds", ("question", "wall", "CPU", "rules"))
    for name, (wanted, sort) in QUESTIONS.items():
        walls, work = [], []
        for _ in range(TIMES):
            search.forget()
            begin, used = perf_counter(), process_time()
            total, _ = search.page(Filter(**wanted), sort, None, 0, 100)
            walls.append(perf_counter() - begin)
            work.append(process_time() - used)
        wall, cpu = float(np.median(walls)), float(np.median(work))
        table.rows.append((name, round(1e3 * wall), round(1e3 * cpu), total))
        table.bar(name, 1e3 * cpu, "at most", 1e3 * BAR)
    print(table)
    if asked.out is not None:
        asked.out.write_text(json.dumps({"machine": machine(), "table": table.to_dict()}, indent=1))


if __name__ == "__main__":
    main()
