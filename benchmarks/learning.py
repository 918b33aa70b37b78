"""Learning: OMBA's rate and time to quality beside gensim's Word2Vec, how it grows, and how near it is to the machine.

    python benchmarks/learning.py            everything, some ten minutes on a quiet machine
    python benchmarks/learning.py --quick    that it runs, on two months of data
    python benchmarks/learning.py rate       one part: rate, quality, threads, growth, memory, start, limit

Sides are run in turns and medians compared, so that figures are ratios of the same minute on the same machine.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numba import njit

import omba
from omba.baskets import Baskets
from omba.evaluation.metrics import mrr, ranks
from omba.evaluation.retrieval import Task, queries
from omba.model import kernels
from omba.model.sampler import sampler

LIKE_GENSIM: dict[str, Any] = {
    "dim": 300, "negatives": 3, "epochs": 1, "clues": False, "categories": False, "memory": 0,
}  # fmt: skip


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turns(sides: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median seconds of each side, run in turns after a warm-up of each."""
    for work in sides.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, work in sides.items():
            seconds[name].append(timed(work))
    return {name: statistics.median(found) for name, found in seconds.items()}


def sentences(baskets: Baskets) -> list[list[str]]:
    return [[str(p) for p in basket.products] for basket in baskets]


def gensim(corpus: list[list[str]], epochs: int, skip_gram: bool = False, threads: int = 1) -> Any:
    from gensim.models import Word2Vec

    return Word2Vec(
        corpus, vector_size=300, window=max(map(len, corpus)), negative=3, min_count=1, sample=0, sg=int(skip_gram),
        workers=threads, epochs=epochs, alpha=0.05, min_alpha=0.05, seed=1, batch_words=10_000,
    )  # fmt: skip


def rate(baskets: Baskets, repeats: int) -> None:
    """Products learned a second, one thread, by the passes alone: tables and vocabulary are ready on both sides."""
    from gensim.models import Word2Vec

    corpus = sentences(baskets)
    ready = Word2Vec(vector_size=300, window=1000, negative=3, min_count=1, sample=0, sg=0, workers=1, seed=1)
    ready.build_vocab(corpus)
    words = sum(map(len, corpus))
    model = omba.OMBA(**LIKE_GENSIM, user_targets=True).fit(baskets)
    space, pace, rng = model.spaces[0], model._pace(), np.random.default_rng(0)
    parts = [model._read(window) for window in baskets.windows("1d")]

    def passes() -> None:
        for part in parts:
            space.train(part, pace, rng)

    sides = {
        "omba": passes,
        "gensim CBOW": lambda: ready.train(corpus, total_examples=len(corpus), epochs=1),
    }
    found = in_turns(sides, repeats)
    for name, seconds in found.items():
        print(f"  {name:14s} {words / seconds / 1e3:8,.0f} thousand products a second")
    print(f"  ratio          {found['gensim CBOW'] / found['omba']:8.2f}   (must reach 1.3, aim 2.5)")


def quality(baskets: Baskets, quick: bool) -> None:
    """Seconds of learning until MRR 0.60, against gensim's until its own best."""
    asked = queries(baskets, Task(20, 10, "1d", "one", "window", None), 0)

    def tally(epochs: int) -> tuple[float, float]:
        model, spent, found, marks = omba.OMBA(categories=False, epochs=epochs, negatives=3), 0.0, [], iter(asked)
        query = next(marks)
        place = 0
        for window in baskets.windows("1d"):
            if query is not None and place == query.first:
                found.append(ranks(model.score_queries(query)))
                query = next(marks, None)
            spent += timed(lambda window=window: model.partial_fit(window))
            place += len(window)
        return spent, mrr(np.concatenate(found))

    def peer(epochs: int) -> tuple[float, float]:
        from omba.baselines import make

        best = 0.0, 0.0
        seconds, found = 0.0, []
        for query in asked[:: max(1, len(asked) // 5)]:
            method = make("item2vec", seed=0, epochs=epochs)
            seconds += timed(lambda query=query, method=method: method.fit(baskets.slice(0, query.first)))
            found.append(ranks(method.score_queries(query)))
        best = seconds / len(found), mrr(np.concatenate(found))
        return best

    ours = [(epochs, *tally(epochs)) for epochs in ((1,) if quick else (1, 2, 3, 5))]
    theirs = [(epochs, *peer(epochs)) for epochs in ((2,) if quick else (5, 10, 20, 40))]
    for name, rows in (("omba", ours), ("gensim, one training", theirs)):
        for epochs, seconds, score in rows:
            print(f"  {name:22s} {epochs:3d} passes  {seconds:7.1f} s  MRR {score:.4f}")
    reached = next((seconds for _, seconds, score in ours if score >= 0.60), None)
    best = max(theirs, key=lambda row: row[2])
    if reached is not None:
        print(f"  ratio of seconds to 0.60 over gensim's to its best {reached / best[1]:.2f}   (must be 0.5 or less)")


def threads(baskets: Baskets, repeats: int) -> None:
    """Two threads against one: the passes alone, and the whole `fit`."""
    model = omba.OMBA(**LIKE_GENSIM).fit(baskets)
    space, rng = model.spaces[0], np.random.default_rng(0)
    parts = [model._read(window) for window in baskets.windows("1d")]
    paces = {n: replace(model._pace(), epochs=5, threads=n) for n in (1, 2)}

    def passes(n: int) -> None:
        for part in parts:
            space.train(part, paces[n], rng)

    def whole(n: int) -> None:
        omba.OMBA(**{**LIKE_GENSIM, "epochs": 5, "threads": n}).fit(baskets)

    for name, work in (("the passes", passes), ("whole fit", whole)):
        found = in_turns({str(n): partial(work, n) for n in (1, 2)}, repeats)
        print(f"  {name}: two threads over one {found['1'] / found['2']:.2f}   (must reach 1.6)")


def growth(quick: bool) -> None:
    """Seconds against basket size and stream length; a slope of 1 on logarithmic scales is linear growth."""
    rng = np.random.default_rng(0)
    sizes = (10, 100, 1000)
    per_item = []
    for size in sizes:
        count = (20_000 if quick else 100_000) // size
        lists = [rng.choice(2_000, size, replace=False).tolist() for _ in range(count)]
        baskets = Baskets.from_lists(lists)
        model = omba.OMBA(**LIKE_GENSIM)
        model.partial_fit(baskets)
        part, pace = model._read(baskets), model._pace()
        train = partial(model.spaces[0].train, part, pace, np.random.default_rng(0))
        best = min(timed(train) for _ in range(3))
        per_item.append(best / baskets.n_items)
        print(f"  baskets of {size:5d}: {per_item[-1] * 1e9:7.0f} ns a product")
    slope = np.polyfit(np.log(sizes), np.log(np.array(per_item) * np.array(sizes)), 1)[0]
    print(f"  exponent of a basket's time in its size {slope:.2f}")


MEMORY = """
import sys, omba
world = omba.datasets.synthetic(baskets=40_000, products=2_000, users=1_000, days=40, seed=0).baskets
model = omba.OMBA(dim=100, epochs=1)
for turn in range(int(sys.argv[1])):
    for window in world.windows("1d"):
        model.partial_fit(window, allow_late=True)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def memory() -> None:
    """Peak memory after ten times the stream, with the same products and users."""
    peaks = [int(subprocess.check_output([sys.executable, "-c", MEMORY, str(n)]).split()[-1]) for n in (1, 10)]
    print(f"  peak {peaks[0] / 1024:.0f} MB after one round, {peaks[1] / peaks[0] - 1:+.1%} after ten   (within 2%)")


START = """
import time, sys
start = time.perf_counter()
import omba
from omba.baskets import Baskets
omba.OMBA(dim=300).partial_fit(Baskets.from_lists([["a", "b"], ["b", "c"]] * 20))
print(time.perf_counter() - start)
"""


def start() -> None:
    """The first call compiles; later processes find the compiled kernels on disk."""
    import os
    import tempfile

    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "NUMBA_CACHE_DIR": cache}
        first, second = (float(subprocess.check_output([sys.executable, "-c", START], env=env)) for _ in range(2))
    print(f"  first process {first:.1f} s (under 15), the next {second:.1f} s (under 3)")


@njit(nogil=True)
def hot_rows(table, squares, line, back, rounds, kind):  # type: ignore[no-untyped-def]
    """Row operations of the kernel on four rows that never leave the nearest cache."""
    total = np.float32(0.0)
    for i in range(rounds):
        row, sums = table[i & 3], squares[i & 3]
        if kind == 0:
            kernels.push(row, sums, line, back, np.float32(0.001), np.float32(0.001), True)
        elif kind == 1:
            kernels.step(row, sums, line, np.float32(0.001), True)
        else:
            total += kernels.dot(row, line)
    return total


def limit(repeats: int) -> None:
    """What a product costs, against its row operations in the nearest cache and its bytes at the machine's best pace.

    For each product the kernel pushes three rivals, steps the product and its user, takes six dot products and passes
    eight times over working lines; rivals and product, vector and AdaGrad sum, are read from and written to the tables.
    """
    d, rows, negatives, n, size = 300, 4_000, 3, 2_000, 8
    rng = np.random.default_rng(0)
    table, users = rng.random((rows, d), np.float32), rng.random((100, d), np.float32)
    squares, user_squares = np.ones_like(table), np.ones_like(users)
    line, back = rng.random(d, np.float32), np.zeros(d, np.float32)
    offsets = np.arange(0, (n + 1) * size, size)
    items = np.concatenate([np.sort(rng.choice(rows, size, replace=False)) for _ in range(n)]).astype(np.int32)
    draw, user_draw = sampler(np.ones(rows, np.int64), 0.75), sampler(np.ones(100, np.int64), 0.75)
    owners, ones = rng.integers(0, 100, n).astype(np.int32), np.ones(len(items), np.float32)

    def learn() -> None:
        kernels.learn_baskets(
            np.arange(n), offsets, items, ones, owners, table, squares, users, user_squares, *draw, *user_draw,
            negatives, 0.01, 0.1, 0.5, False, True, np.array([1, 2], np.uint64),
        )  # fmt: skip

    big, rounds = np.ones(64_000_000, np.float32), 100_000
    copy = np.empty_like(big)
    hot = {k: partial(hot_rows, table, squares, line, back, rounds, i) for i, k in enumerate(("push", "step", "dot"))}
    found = in_turns({"learn": learn, "copy": lambda: np.copyto(copy, big), **hot}, repeats)
    push, step, dot = (found[k] / rounds * 1e9 for k in hot)
    actual = found["learn"] / len(items) * 1e9
    arithmetic = negatives * push + 2 * step + (negatives + 3 + 8) * dot
    moved = 4 * d * (negatives + 1) * 4
    memory = moved / (2 * big.nbytes / found["copy"]) * 1e9
    print(f"  a row pushed {push:.0f} ns, stepped {step:.0f} ns, a dot product {dot:.0f} ns, in the nearest cache")
    print(
        f"  a product {actual:.0f} ns; its arithmetic alone {arithmetic:.0f} ns: {arithmetic / actual:.0%} of the time"
    )
    print(f"  its {moved / 1000:.0f} kB of table rows would take {memory:.0f} ns at the pace of main memory")


PARTS = ("rate", "quality", "threads", "growth", "memory", "start", "limit")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS, choices=(*PARTS, []), help="which to run")
    parser.add_argument("--quick", action="store_true", help="two months of data, one repeat")
    chosen = parser.parse_args()
    baskets = omba.datasets.complete_journey()
    some = baskets.between(None, "2017-03-01")
    repeats = 1 if chosen.quick else 5
    calls: dict[str, Callable[[], None]] = {
        "rate": lambda: rate(some, repeats),
        "quality": lambda: quality(some if chosen.quick else baskets, chosen.quick),
        "threads": lambda: threads(some, repeats),
        "growth": lambda: growth(chosen.quick),
        "memory": memory,
        "start": start,
        "limit": lambda: limit(repeats),
    }
    for part in chosen.parts or PARTS:
        print(f"{part}: {calls[part].__doc__ or globals()[part].__doc__}")
        calls[part]()
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
