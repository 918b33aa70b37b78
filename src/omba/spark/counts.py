"""Counts: exactly how many baskets hold each product and each pair of products, however many there are.

Each task counts the pairs of its baskets in a table of bounded size and passes on what it holds when that is full, so
that a pair met a thousand times in a task is shuffled once; the sums meet by key. Labels become codes for it, and
labels again at the end. The driver collects nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from omba.baskets import Label
from omba.model.evidence import LARGEST
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import map_arrow, quietly
from omba.spark.failures import plainly
from omba.spark.pairing import pairs

SENT = 1_000_000
"""Products whose codes are sent to every task; more are joined."""
AT_ONCE = 1 << 16
"""Baskets counted at a time, at least."""


def count_products(baskets: SparkBaskets) -> Any:
    """A data frame (product, count).

    Parameters
    ----------
    baskets
        What `omba.spark.read_baskets` gives.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> omba.spark.count_products(baskets).show()  # doctest: +SKIP
    """
    return baskets.items.groupBy("product").count()


def count_pairs(
    baskets: SparkBaskets, minimum: int = 1, largest: int | None = LARGEST, labels: Sequence[Label] | None = None
) -> Any:
    """A data frame (a, b, count) of the pairs in `minimum` baskets or more, each once.

    Of a basket of more than `largest` products only so many, chosen by a hash, are paired: 5,000 would make 12.5
    million pairs of one visit. None pairs them all. With `labels`, a and b are places in that list, a < b, and
    other products are passed over.

    Parameters
    ----------
    baskets
        What `omba.spark.read_baskets` gives.
    minimum
        Baskets that a pair must be in; 1 or more.
    largest
        Products of a basket that are paired, at most; None for all; 2 or more.
    labels
        Products whose places stand for them.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> omba.spark.count_pairs(baskets, minimum=10).show()  # doctest: +SKIP
    """
    from pyspark.sql import functions as F

    with plainly("counting pairs"):
        coded = codes(baskets, labels).persist()
        # Sent to all tasks, the codes spare the rows a shuffle of their own; the one by basket is all there is.
        small = F.broadcast(coded) if coded.count() <= SENT else coded
        rows = baskets.kept.join(small, "product").select("basket", "code")
        lists = rows.groupBy("basket").agg(F.sort_array(F.collect_set("code")).alias("codes"))
        counted = map_arrow(cap(lists, largest).select("codes"), count_task, "key long, count long")
        pairs = counted.groupBy("key").agg(F.sum("count").alias("count")).where(F.col("count") >= minimum)
        a, b = F.shiftright("key", 32), F.col("key").bitwiseAND(0xFFFFFFFF)
        by_code = pairs.select(a.cast("int").alias("a"), b.cast("int").alias("b"), "count")
        if labels is not None:
            return by_code
        first, second = (
            coded.select(F.col("code").alias(side), F.col("product").alias(f"product_{side}")) for side in ("a", "b")
        )
        both = by_code.join(first, "a").join(second, "b")
        return both.select(F.col("product_a").alias("a"), F.col("product_b").alias("b"), "count")


def codes(baskets: SparkBaskets, labels: Sequence[Label] | None) -> Any:
    """A data frame (product, code): places in the labels given, or in the order of all labels."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if labels is None:
        order = F.row_number().over(Window.orderBy("product")) - 1
        products = baskets.kept.select("product").distinct()
        return products.select("product", order.cast("int").alias("code"))
    kind = dict(baskets.items.dtypes)["product"]
    column = pa.array(labels, pa.string() if kind == "string" else pa.int64())
    table = pa.table({"product": column, "code": pa.array(np.arange(len(labels), dtype=np.int32))})
    with quietly():
        return baskets.spark.createDataFrame(table)


def cap(lists: Any, largest: int | None) -> Any:
    """Baskets of codes, each of at most so many: those with the least hashes, so that a retried task takes the same."""
    from pyspark.sql import functions as F

    if largest is None:
        return lists
    hashed = "transform(codes, c -> struct(xxhash64(basket, c) AS h, c AS c))"
    few = F.expr(f"array_sort(slice(array_sort({hashed}), 1, {largest}).c)")
    return lists.withColumn("codes", F.when(F.size("codes") > largest, few).otherwise(F.col("codes")))


def count_task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One task: the pairs of its baskets, combined as far as the table reaches."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(map(len, held)) >= AT_ONCE:
            yield from combine(held)
            held = []
    if held:
        yield from combine(held)


def combine(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pairs of some baskets, packed, with their counts."""
    lists = pa.Table.from_batches(batches)["codes"].combine_chunks()
    offsets = np.concatenate([[0], np.cumsum(pc.list_value_length(lists).to_numpy())]).astype(np.int64)
    items = pc.list_flatten(lists).to_numpy().astype(np.int32)
    for keys, counts in pairs(offsets, items):
        yield pa.RecordBatch.from_pydict({"key": pa.array(keys.astype(np.int64)), "count": pa.array(counts)})
