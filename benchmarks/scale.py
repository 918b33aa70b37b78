"""Scale: how seconds and memory grow with products, with the length of the stream, and with the size of baskets.

Each size runs in a process of its own, so that its peak memory is its own; the exponent is the slope of a line through
the logarithms.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from measure import Outcome, Table, apart, tell

ROWS_A_BASKET = 7.1
"""What a basket of the synthetic world holds, on average."""


def exponent(sizes: list[int], seconds: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def products(size: str, out: str) -> None:
    """The nearest tenth of a pair a product, in a clustered world of 300 dimensions."""
    from mining import clusters
    from omba.rules import nearest_pairs, recall

    vectors = clusters(int(size))
    nearest_pairs(vectors[:2_000], 100)
    start = time.perf_counter()
    pairs = nearest_pairs(vectors, max(10, int(size) // 10), recall=0.98)
    seconds = time.perf_counter() - start
    tell(out, seconds, recall=recall(vectors, pairs=pairs, sample=500))


def stream(size: str, path: str, out: str) -> None:
    """A year read from a file and learned day by day, one pass at 100 dimensions."""
    import omba
    from omba.datasets import synthetic

    synthetic(baskets=2_000, products=200, users=100, days=3).write(f"{path}.small")
    omba.OMBA(dim=100, epochs=1, threads=2).fit(omba.read_baskets(f"{path}.small"))
    start = time.perf_counter()
    model = omba.OMBA(dim=100, epochs=1, threads=2)
    with omba.stream_baskets(path, every="1d") as windows:
        for window in windows:
            model.partial_fit(window)
    tell(out, time.perf_counter() - start, baskets=model.n_baskets)


def baskets(size: str, items: str, out: str) -> None:
    """One pass over so many products in baskets of one size."""
    import omba

    n, rng = int(size), np.random.default_rng(0)
    lists = [rng.choice(2_000, n, replace=False).tolist() for _ in range(max(1, int(items) // n))]
    given = omba.Baskets.from_lists(lists)
    model = omba.OMBA(epochs=1, categories=False)
    model.partial_fit(given)
    start = time.perf_counter()
    model.partial_fit(given)
    tell(out, (time.perf_counter() - start) / len(lists))


def grown(title: str, what: str, sizes: list[int], run: Any, more: tuple[str, ...] = ()) -> tuple[Table, float]:
    table = Table(title, (what, "seconds", "peak GB", *more, "ended"))
    done: list[tuple[int, Outcome]] = []
    for size in sizes:
        one = run(size)
        table.rows.append(
            (size, one.seconds, one.gigabytes, *(one.findings.get(name, "–") for name in more), one.ended)
        )
        if one.done:
            done.append((size, one))
    slope = exponent([n for n, _ in done], [one.seconds for _, one in done]) if len(done) > 1 else float("nan")
    table.title += f"; seconds grow with the power {slope:.2f}"
    return table, slope


def suite(quick: bool) -> list[Table]:
    sizes = [500, 1_000] if quick else [1_000, 10_000, 100_000, 1_000_000]
    by_products, slope = grown(
        "Nearest pairs among so many products", "products", sizes,
        lambda n: apart("scale.py", "products", n), ("recall",),
    )  # fmt: skip
    by_products.bar("exponent in products", slope, "at most", 1.3)
    with tempfile.TemporaryDirectory() as folder:

        def stream(rows: int) -> Outcome:
            from omba.datasets import synthetic

            path = Path(folder) / "world.parquet"
            n = max(1, round(rows / ROWS_A_BASKET))
            size = {"products": 500, "users": 200, "days": 10} if quick else {"products": 20_000, "users": 100_000}
            synthetic(baskets=n, **{"days": 365, **size}).write(path)
            return apart("scale.py", "stream", rows, path, seconds=1_800)

        rows = [3_000, 10_000] if quick else [100_000, 1_000_000, 10_000_000, 30_000_000, 100_000_000]
        by_rows, _ = grown("A year of so many rows, read and learned day by day", "rows", rows, stream, ("baskets",))
    sizes = [2, 20] if quick else [2, 10, 100, 1_000]
    items = 4_000 if quick else 200_000
    by_size, slope = grown(
        "A basket of so many products", "products", sizes, lambda n: apart("scale.py", "baskets", n, items)
    )
    by_size.bar("exponent in the size of a basket", slope, "at most", 1.3)
    return [by_products, by_rows, by_size]


if __name__ == "__main__":
    {"products": products, "stream": stream, "baskets": baskets}[sys.argv[1]](*sys.argv[2:])
