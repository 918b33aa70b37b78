"""Baskets on Spark: a data frame of rows as a frame of baskets, cut into windows that are kept apart on disk.

A window is read some moments after the one before it, by jobs of its own. To filter the whole for each would be to
read it as often as there are windows, so the baskets are written once, a folder a window, and go when all is read.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

import pyarrow as pa

from omba.baskets import Clock, Every, Moment, Report
from omba.baskets.identity import Identity
from omba.baskets.reasons import change_conditions
from omba.errors import InputError
from omba.sources.columns import resolve
from omba.spark.cluster import to_arrow
from omba.spark.failures import plainly
from omba.spark.roles import drop_unpaid, fold_rows, quote, take_roles
from omba.spark.window import SparkWindow

log = logging.getLogger("omba")


def read_baskets(
    frame: Any,
    basket: str | None = None,
    product: str | None = None,
    user: str | None = None,
    time: str | None = None,
    price: str | None = None,
    quantity: str | None = None,
    *,
    attributes: Sequence[str] | None = None,
    identity: Identity | None = None,
) -> SparkBaskets:
    """The rows of a Spark data frame as baskets, under the same rules as `omba.read_baskets`.

    Columns that are not named are recognised by a common name, and "" leaves one out. Without a basket column a basket
    is what a user bought on one day. What the `identity` of a model folds and leaves out is so here. Rows of a
    data frame have no order: where the rows of a basket differ in their time or user, the least one counts.

    Parameters
    ----------
    frame
        A Spark data frame, a row a product.
    basket, product, user, time, price, quantity
        The columns that hold them.
    attributes
        Columns that describe products.
    identity
        That of a model, for its own folds and exclusions.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    """
    given = {"basket": basket, "product": product, "user": user, "time": time, "price": price, "quantity": quantity}
    columns = resolve(given | {"store": ""}, attributes, frame.columns, "the data frame")
    if columns.recognised:
        log.info("the data frame: recognised %s", columns)
    with plainly("reading the data frame"):
        rows, clock = take_roles(frame, columns)
        if identity is not None and identity.changes:
            rows = fold_rows(rows, identity)
        if "price" in columns.roles:
            rows = drop_unpaid(rows)
        return SparkBaskets(rows, clock, tuple(columns.attributes))


@dataclass(frozen=True, eq=False)
class SparkBaskets:
    """Baskets in a data frame: nothing is read before it is asked for.

    Parameters
    ----------
    rows
        A data frame with a row a product, in the columns of their roles; `drop_reason` says why one is left out.
    clock
        What its times count.
    described_by
        The names of the attributes, which are the columns a0, a1, …

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> baskets.frame.columns, len(list(baskets.windows("month")))  # doctest: +SKIP
    """

    rows: Any
    clock: Clock
    described_by: tuple[str, ...] = ()

    @property
    def spark(self) -> Any:
        return self.rows.sparkSession

    @property
    def kept(self) -> Any:
        """The rows that are not dropped."""
        return self.rows.where("drop_reason IS NULL")

    @property
    def items(self) -> Any:
        """Each product of each basket once: (basket, product)."""
        return self.kept.select("basket", "product").distinct()

    @property
    def frame(self) -> Any:
        """A row a basket: `basket`, `user`, `time`, and its `products` in order with their `prices`, NaN if not known.

        Rows of the same product are merged: the price is the mean of the known ones.
        """
        from pyspark.sql import functions as F

        rows = self.kept
        price = F.col("price") if "price" in rows.columns else F.lit(None).cast("double")
        user = F.min("user") if "user" in rows.columns else F.lit(None).cast("string")
        time = F.min("time") if self.clock is not Clock.NONE else F.lit(0).cast("long")
        # One shuffle serves both groupings: rows of a basket are in one place from the first on.
        products = (
            rows.repartition("basket")
            .groupBy("basket", "product")
            .agg(user.alias("user"), time.alias("time"), F.avg(F.when(price > 0, price)).cast("float").alias("price"))
        )
        item = F.struct("product", F.coalesce("price", F.lit(float("nan")).cast("float")).alias("price"))
        return (
            products.groupBy("basket")
            .agg(
                F.min("user").alias("user"), F.min("time").alias("time"), F.sort_array(F.collect_list(item)).alias("i")
            )
            .select("basket", "user", "time", F.col("i.product").alias("products"), F.col("i.price").alias("prices"))
        )

    @property
    def attributes(self) -> pa.Table | None:
        """What is known of each product: as many rows as there are products."""
        from pyspark.sql import functions as F

        if not self.described_by:
            return None
        products = self.kept.groupBy("product")
        least = [F.min(f"a{i}").alias(name) for i, name in enumerate(self.described_by)]
        with plainly("reading what is known of products"):
            return to_arrow(products.agg(*least).orderBy("product"))

    def report(self) -> Report:
        """What becomes of the rows; it takes a pass over them."""
        from pyspark.sql import functions as F

        changes = change_conditions(self.rows.columns, quote)
        counts = [F.count_if(F.expr(condition)).alias(f"n{i}") for i, condition in enumerate(changes.values())]
        with plainly("reading the data frame"):
            found = self.rows.groupBy("drop_reason").agg(F.count(F.lit(1)).alias("n"), *counts).collect()
            kept = self.items.count()
        report = Report(kept=kept)
        for row in sorted(found, key=lambda row: row.drop_reason or ""):
            report.rows += row.n
            if row.drop_reason is None:
                report.merged = row.n - kept
                report.changed.update({reason: row[f"n{i}"] for i, reason in enumerate(changes) if row[f"n{i}"]})
            else:
                report.dropped[row.drop_reason] = row.n
        return report

    def between(self, start: Moment | None = None, stop: Moment | None = None) -> SparkBaskets:
        """The baskets from `start` on and before `stop`, by the time of each row; None leaves an end open."""
        rows = self.rows
        if start is not None:
            rows = rows.where(rows["time"] >= self.clock.read(start))
        if stop is not None:
            rows = rows.where(rows["time"] < self.clock.read(stop))
        return replace(self, rows=rows)

    def windows(self, every: str | int | Every = "1d", scratch: str | None = None) -> Iterator[SparkWindow]:
        """The windows in time order.

        `scratch` is a folder that all executors can write to and read, such as one on HDFS or S3; on a local master a
        temporary one is made. What is written there goes with the last window.
        """
        with self.cut(every, scratch) as windows:
            yield from windows

    @contextmanager
    def cut(self, every: str | int | Every = "1d", scratch: str | None = None) -> Iterator[list[SparkWindow]]:
        """All windows at once, in time order, as long as this lasts."""
        span = Every.parse(every).on(self.clock)
        place = f"{scratch.rstrip('/')}/omba-windows-{uuid4().hex}" if scratch else temporary(self.spark)
        known, schema = self.attributes, self.frame.schema
        try:
            with plainly("cutting the baskets into windows"):
                counts = self._write(span, place)
            windows = []
            for key, count in counts:
                start, stop = (None, None) if span.unit == "baskets" else span.bounds(key, self.clock)
                source = partial(self.spark.read.schema(schema).parquet, f"{place}/window={key}")
                windows.append(SparkWindow(source, count, self.clock, known, start, stop))
            yield windows
        finally:
            remove(self.spark, place)

    def _write(self, span: Every, place: str) -> list[tuple[int, int]]:
        """Write the baskets, a folder a window; the key of each window and its number of baskets, in order."""
        from pyspark.sql import functions as F

        frame = self.frame
        keyed = frame.withColumn("window", self._keys(frame, span))
        # Rebalanced, a window fills as few files as it can, and a large one several.
        keyed.hint("rebalance", "window").write.mode("overwrite").partitionBy("window").parquet(place)
        written = self.spark.read.schema(keyed.schema).parquet(place)
        found = written.groupBy(F.col("window").cast("long").alias("key")).count().collect()
        return sorted((int(row.key), int(row["count"])) for row in found)

    def _keys(self, frame: Any, span: Every) -> Any:
        """The number of the window each basket falls in: `Every.keys`, as Spark says it."""
        from pyspark.sql import functions as F

        time = F.col("time")
        if span.unit == "baskets":
            if self.clock is not Clock.NONE:
                raise InputError(
                    f"a window of {span.count} baskets needs them in a row, and rows of Spark have no order: give a "
                    "span of time, such as '1d'"
                )
            # Baskets without time have no order to respect: any may share a window, and a hash shares them out evenly.
            windows = -(-frame.count() // span.count)
            return F.pmod(F.crc32(F.col("basket").cast("string").cast("binary")), F.lit(max(windows, 1)))
        if span.unit == "month" and self.clock is Clock.DATETIME:
            day = F.date_add(F.lit("1970-01-01").cast("date"), F.floor(time / 86_400_000_000).cast("int"))
            return F.floor(((F.year(day) - 1970) * 12 + F.month(day) - 1) / span.count).cast("long")
        first, after = span.bounds(0, self.clock)
        since, width = f"(time - ({first}))", after - first
        return F.expr(f"({since} - pmod({since}, {width})) div {width}")


def temporary(spark: Any) -> str:
    """A new folder for windows, where all executors are on this machine."""
    if not spark.sparkContext.master.startswith("local"):
        raise InputError(
            f"the executors of {spark.sparkContext.master!r} share no temporary folder: give scratch, a folder that "
            "all of them can write to and read"
        )
    return tempfile.mkdtemp(prefix="omba-windows-")


def remove(spark: Any, place: str) -> None:
    """Remove a folder, wherever Spark keeps it."""
    path = spark._jvm.org.apache.hadoop.fs.Path(place)
    path.getFileSystem(spark._jsc.hadoopConfiguration()).delete(path, True)
