"""Nearest pairs on Spark: buckets of LSH as a join on packed codes (paper, section 4.3).

The driver looks at a few tables to choose F and H (`rules.search`). Then every product goes, once a table, to where its
packed code (table, bucket) is at home, tasks sift the pairs that meet in a bucket, each keeps its best, and the best of
all are combined by Spark. Vectors and sketches reach each executor once, as a broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.rules import kernels
from omba.rules.lsh import MANY, RECALL, Pairs, codes, describe, nearest_pairs
from omba.rules.nearest import Trained
from omba.rules.search import (
    MOST_TABLES,
    SKETCH_WORDS,
    Best,
    Floats,
    Found,
    Rows,
    Sieve,
    Words,
    estimated_recall,
    limits,
    planes,
    signs,
    tables_needed,
)
from omba.spark.cluster import map_arrow, to_arrow
from omba.spark.failures import plainly

BLOCK = 1 << 14
"""Products whose codes are made at a time."""
PAIRS = "left int, right int, cosine float"


def nearest(spark: Any, vectors: NDArray[np.floating], known: NDArray[np.bool_], most: int, seed: int = 0) -> Pairs:
    """The `most` nearest pairs of the known products; few products are looked at by the driver alone."""
    trained = Trained.of(vectors, known.astype(np.int64), 1)
    if MANY * most > len(trained) ** 2:
        return nearest_pairs(vectors, most, counts=known.astype(np.int64), min_count=1, seed=seed)
    dim = trained.vectors.shape[1]
    sketches = np.column_stack([signs(trained.vectors, planes(seed, word, dim)) for word in range(SKETCH_WORDS)])
    sieve, best = Sieve(trained.vectors, trained.scales, sketches, most), Best(len(trained), most)
    F = sieve.choose_functions(best, RECALL)
    H = tables_needed(best.floor, F, RECALL)
    while True:
        found = join(spark, sieve, F, H, best.floor, seed)
        reached = estimated_recall(found.score.astype(np.float32), F, H)
        if H >= MOST_TABLES or (len(found.score) == most and reached >= RECALL):
            break
        H = min(2 * H, MOST_TABLES)
    return describe(trained, Found(found.left, found.right, found.score.astype(np.float32), F, H, reached), seed)


def join(spark: Any, sieve: Sieve, F: int, H: int, floor: float, seed: int) -> Best:
    """The best pairs above `floor` that share a bucket in one of H tables of F planes."""
    from pyspark.sql import functions as F_

    n, context = len(sieve.vectors), spark.sparkContext
    shared = context.broadcast((sieve.vectors, sieve.scales, sieve.sketches))
    try:
        with plainly("looking for the nearest pairs"):
            blocks = spark.range(0, n, BLOCK, max(1, min(context.defaultParallelism, -(-n // BLOCK))))
            coded = map_arrow(blocks, coder(shared, F, H, seed), "key long, row int")
            parts = max(context.defaultParallelism, n * H // (1 << 22))
            pairs = map_arrow(coded.repartition(parts, "key"), sifter(shared, sieve.top, floor), PAIRS)
            # A pair that meets in several tables has the same cosine in all.
            once = pairs.groupBy("left", "right").agg(F_.max("cosine").alias("cosine"))
            table = to_arrow(once.orderBy(F_.desc("cosine"), "left", "right").limit(sieve.top))
    finally:
        shared.destroy()
    best = Best(n, sieve.top)
    best.add(*(table[name].to_numpy() for name in ("left", "right", "cosine")))
    return best


def coder(shared: Any, F: int, H: int, seed: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Blocks of products as (packed code, row), once a table."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        vectors: Floats = shared.value[0]
        for batch in batches:
            for start in batch["id"].to_pylist():
                block = vectors[start : start + BLOCK]
                packed = codes(block, F, H, seed).astype(np.int64) + (np.arange(H, dtype=np.int64) << F)
                rows = np.repeat(np.arange(start, start + len(block), dtype=np.int32), H)
                yield pa.RecordBatch.from_pydict({"key": pa.array(packed.ravel()), "row": pa.array(rows)})

    return task


def sifter(shared: Any, top: int, floor: float) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The best pairs that meet in a task's buckets."""

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        table = pa.Table.from_batches(list(batches), pa.schema([("key", pa.int64()), ("row", pa.int32())]))
        vectors, scales, sketches = shared.value
        keys, rows = table["key"].to_numpy(), table["row"].to_numpy()
        found = sift(keys, rows, vectors, scales, sketches, top, floor)
        yield pa.RecordBatch.from_pydict(
            {
                "left": pa.array(found.left.astype(np.int32)),
                "right": pa.array(found.right.astype(np.int32)),
                "cosine": pa.array(found.score.astype(np.float32)),
            }
        )

    return task


def sift(
    keys: NDArray[np.int64], rows: Rows, vectors: Floats, scales: Floats, sketches: Words, top: int, floor: float
) -> Best:
    """The best pairs of rows under the same key."""
    order = np.lexsort((rows, keys))
    keys, rows = keys[order], rows[order]
    starts = np.append(np.flatnonzero(np.diff(keys, prepend=-1)), len(keys)).astype(np.int64)
    room = len(vectors) + max(2 * top, 1 << 16)
    left, right, cosine = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
    best, place, mine = Best(len(vectors), top), np.zeros(2, np.int64), sketches[rows]
    while place[0] < len(starts) - 1:
        floor = max(floor, best.floor)
        found = kernels.scan_buckets(
            starts, rows, mine, limits(floor), vectors, scales, np.float32(floor), place, left, right, cosine
        )
        best.add(left[:found], right[:found], cosine[:found])
    return best
