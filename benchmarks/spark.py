"""Spark: what learning in parts costs in quality, and what windows, bytes and rows cost in time.

python benchmarks/spark.py merging      # MRR by number of parts and by how deltas merge; no Spark needed
python benchmarks/spark.py overhead     # seconds and bytes a window, by number of partitions
python benchmarks/spark.py growth       # counting and learning 3 to 30 million rows
python benchmarks/spark.py executors    # learning with one executor, and with two
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import omba
from omba import spark
from omba.spark import omba as learner
from omba.spark.census import Census
from omba.spark.cluster import quietly
from omba.spark.merge import Changed, Floats, merge
from omba.spark.payload import Arrays, to_bytes
from omba.spark.window import LocalWindow, SparkWindow

Merge = Callable[[Floats, Floats, Sequence[Changed]], None]


def add_up(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + Σ Δ: every way whole."""
    before, sums = vectors.copy(), squares.copy()
    for part in parts:
        vectors[part.rows] += part.vectors - before[part.rows]
        squares[part.rows] += part.squares - sums[part.rows]


def average(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + mean Δ over the parts that changed the row."""
    weigh(vectors, squares, parts, [np.ones(len(part.rows)) for part in parts])


def weighted_mean(vectors: Floats, squares: Floats, parts: Sequence[Changed]) -> None:
    """v + Σ wΔ, w the part's share of the row's squared gradients: how much and how often it updated the row."""
    sums = squares.copy()
    weigh(vectors, squares, parts, [(part.squares - sums[part.rows]).sum(axis=1) for part in parts])


def weigh(vectors: Floats, squares: Floats, parts: Sequence[Changed], weights: list[Any]) -> None:
    before, sums, total = vectors.copy(), squares.copy(), np.zeros(len(vectors))
    for part, weight in zip(parts, weights, strict=True):
        total[part.rows] += weight
    for part, weight in zip(parts, weights, strict=True):
        share = (weight / np.maximum(total[part.rows], 1e-30))[:, None].astype(np.float32)
        vectors[part.rows] += share * (part.vectors - before[part.rows])
        squares[part.rows] += part.squares - sums[part.rows]


MERGES: dict[str, Merge] = {"adagrad": merge, "sum": add_up, "mean": average, "weighted mean": weighted_mean}


def compare_merges(until: str | None, parts: list[int], merges: list[str], seeds: int) -> None:
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


CLUSTER = "local-cluster[2,1,2048]"
WARM = 3
"""Windows that are not timed: workers start and kernels are loaded."""


class Measured:
    """A window that notes what its jobs cost."""

    def __init__(self, window: SparkWindow, notes: dict[str, list[float]]) -> None:
        self.window, self.notes = window, notes
        self.clock, self.attributes, self.timed = window.clock, window.attributes, window.timed
        self.frame, self.middle_price = window.frame, window.middle_price

    def census(self, parts: int, anchor: float) -> Census:
        began = perf_counter()
        found = self.window.census(parts, anchor)
        self.notes["census"].append(perf_counter() - began)
        return found

    def learn(self, parts: int, payloads: dict[int, Arrays]) -> dict[int, Arrays]:
        began = perf_counter()
        found = self.window.learn(parts, payloads)
        self.notes["learning"].append(perf_counter() - began)
        self.notes["down"].append(sum(len(to_bytes(payload)) for payload in payloads.values()))
        self.notes["up"].append(sum(len(to_bytes(result)) for result in found.values()))
        return found


def overhead(parts: list[int], windows: int) -> None:
    """Days of Complete Journey, product types: seconds a window beside the kernels' own, and bytes moved."""
    days = list(islice(omba.datasets.complete_journey().windows("1d"), WARM + windows))
    table = omba.Baskets.concat(days).to_arrow()
    session = spark.session(CLUSTER, spark__sql__shuffle__partitions=2)
    with quietly():
        frame = session.createDataFrame(table)
    print("partitions | s a window | census | learning | kernels, one process | MB down | MB up")
    for n in parts:
        notes: dict[str, list[float]] = {"census": [], "learning": [], "down": [], "up": []}
        here, there, walls, kernels = learner.OMBA(partitions=n), learner.OMBA(partitions=n), [], []
        with spark.read_baskets(frame).cut("1d") as cut:
            for day, window in zip(days, cut, strict=True):
                began = perf_counter()
                there.partial_fit(Measured(window, notes))
                walls.append(perf_counter() - began)
                kernels.append(alone(here, day))
        means = {name: float(np.median(values[WARM:])) for name, values in notes.items()}
        print(
            f"{n} | {np.median(walls[WARM:]):.2f} | {means['census']:.2f} | {means['learning']:.2f} | "
            f"{np.median(kernels[WARM:]):.2f} | {means['down'] / 1e6:.1f} | {means['up'] / 1e6:.1f}",
            flush=True,
        )
    session.stop()


def alone(model: learner.OMBA, day: omba.Baskets) -> float:
    """Learn a day in the same parts here; the seconds the parts took, one after the other."""
    spent: list[float] = []

    class Timed(LocalWindow):
        def learn(self, parts: int, payloads: dict[int, Arrays]) -> dict[int, Arrays]:
            began = perf_counter()
            found = super().learn(parts, payloads)
            spent.append(perf_counter() - began)
            return found

    model.partial_fit(Timed(day))
    return sum(spent)


def say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def growth(millions: list[float], days: int, dim: int, partitions: int) -> None:
    """Synthetic rows through exact counting and day-by-day learning; memory is the driver's and its children's peak."""
    session = spark.session(CLUSTER, spark__sql__shuffle__partitions=8, spark__driver__memory="2g")
    print("million rows | pairs in 10 baskets or more | counting s | learning s | driver's peak MB", flush=True)
    for size in millions:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            rows = omba.datasets.synthetic(baskets=int(size * 1e6 / 7.16), products=5_000, users=100_000, days=days)
            rows.write(path)
            baskets = spark.read_baskets(session.read.parquet(str(path)))
            began = perf_counter()
            pairs = spark.count_pairs(baskets, minimum=10).count()
            counted = perf_counter() - began
            say(f"counted in {counted:.0f} s")
            began = perf_counter()
            model = learner.OMBA(partitions=partitions, dim=dim, epochs=1, pairs=4_000_000).fit(
                baskets, progress=lambda window: say(f"learned {len(window):,} baskets")
            )
            learned = perf_counter() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
            total = int(model.product_counts.sum()) / 1e6
            print(f"{total:.1f} | {pairs:,} | {counted:.0f} | {learned:.0f} | {peak:.0f}", flush=True)
    session.stop()


def executors(millions: list[float], days: int, dim: int, partitions: int) -> None:
    """Synthetic rows learned day by day with one executor of one core and with two; the first day is not timed."""
    for size in millions:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            rows = omba.datasets.synthetic(baskets=int(size * 1e6 / 7.16), products=5_000, users=100_000, days=days)
            rows.write(path)
            took = {n: learn_with(n, path, dim, partitions) for n in (1, 2)}
        shown = " | ".join(f"{n} executors {seconds:.0f} s" for n, seconds in took.items())
        print(f"{size:g} million rows | {shown} | two over one {took[1] / took[2]:.2f}", flush=True)


def learn_with(number: int, path: Path, dim: int, partitions: int) -> float:
    """Seconds from the end of the first day, by which workers have started, to the end of the last."""
    master = f"local-cluster[{number},1,2048]"
    session = spark.session(master, spark__sql__shuffle__partitions=partitions, spark__driver__memory="2g")
    ends: list[float] = []

    def note(window: SparkWindow) -> None:
        ends.append(perf_counter())
        say(f"{number} executors: day {len(ends)}, {len(window):,} baskets")

    baskets = spark.read_baskets(session.read.parquet(str(path)))
    learner.OMBA(partitions=partitions, dim=dim, epochs=1, pairs=4_000_000).fit(baskets, progress=note)
    session.stop()
    return ends[-1] - ends[0]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["merging", "overhead", "growth", "executors"])
    parser.add_argument("--until", default=None, help="merging: leave out baskets from this date on")
    parser.add_argument("--parts", default="1,2,4,8", help="numbers of partitions")
    parser.add_argument("--merges", default=",".join(MERGES), help="merging: which ways to merge")
    parser.add_argument("--seeds", type=int, default=1, help="merging: seeds")
    parser.add_argument("--windows", type=int, default=10, help="overhead: days timed")
    parser.add_argument("--millions", default="3,10,30", help="growth, executors: rows")
    parser.add_argument("--days", type=int, default=10, help="growth, executors: days the rows are spread over")
    parser.add_argument("--dim", type=int, default=32, help="growth, executors: length of the vectors")
    given = parser.parse_args(arguments)
    parts = [int(n) for n in given.parts.split(",")]
    if given.what == "merging":
        compare_merges(given.until, parts, given.merges.split(","), given.seeds)
    elif given.what == "overhead":
        overhead(parts, given.windows)
    else:
        run = growth if given.what == "growth" else executors
        run([float(size) for size in given.millions.split(",")], given.days, given.dim, 2)


if __name__ == "__main__":
    main(sys.argv[1:])
