"""Windows that are learned in parts: by the executors of Spark, or one after the other in this process.

Both do the same work on the same parts with the same random numbers, so that they give the same model bit for bit; the
second serves to try things out, and as the oracle of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock
from omba.baskets.long import label_column
from omba.spark import census
from omba.spark.census import Census
from omba.spark.cluster import map_arrow, quietly, to_arrow
from omba.spark.failures import plainly
from omba.spark.part import learn
from omba.spark.payload import Arrays, from_pieces, pieces, to_bytes

RESULT = "part int, piece int, payload binary"


class Window(Protocol):
    """What a learner asks of a window."""

    @property
    def clock(self) -> Clock: ...
    @property
    def attributes(self) -> pa.Table | None: ...
    @property
    def timed(self) -> bool: ...
    def middle_price(self) -> float: ...
    def census(self, parts: int, anchor: float) -> Census: ...
    def learn(self, parts: int, payloads: dict[int, Arrays]) -> dict[int, Arrays]: ...


@dataclass(frozen=True, eq=False)
class SparkWindow:
    """A window as a data frame of baskets (see `SparkBaskets.frame`), made when it is first asked for.

    Parameters
    ----------
    source
        Makes the data frame.
    n_baskets
        Baskets in it.
    clock
        How its times are measured.
    attributes
        What is known of its products.
    start, stop
        When it begins, and when the next one does.
    """

    source: Callable[[], Any]
    n_baskets: int
    clock: Clock
    attributes: pa.Table | None = None
    start: int | None = None
    stop: int | None = None

    def __len__(self) -> int:
        return self.n_baskets

    @cached_property
    def frame(self) -> Any:
        return self.source()

    @property
    def timed(self) -> bool:
        return self.clock is not Clock.NONE

    @property
    def times(self) -> NDArray[np.int64] | None:
        """When the window begins, for a history that is kept by time."""
        return None if self.start is None else np.array([self.start])

    def middle_price(self) -> float:
        """The median of the known prices, 0 where there are none."""
        from pyspark.sql import functions as F

        price = self.frame.select(F.explode("prices").alias("price")).where("price > 0 AND NOT isnan(price)")
        with plainly("reading the prices of a window"):
            found = price.agg(F.median("price")).first()[0]
        return float(found or 0.0)

    def census(self, parts: int, anchor: float) -> Census:
        """Who and what is in each part: one pass, no shuffle."""
        kinds = dict(self.frame.dtypes)
        schema = census.SCHEMA.format(product=kinds["products"][6:-1], user=kinds["user"])
        with plainly("counting a window"):
            return Census.of(to_arrow(map_arrow(self._with_parts(parts), partial(census.count, anchor), schema)))

    def learn(self, parts: int, payloads: dict[int, Arrays]) -> dict[int, Arrays]:
        """Learn each part where its baskets and its payload meet; results by part."""
        from pyspark.sql import functions as F

        baskets = self._with_parts(parts)
        blank = [
            F.lit(None).cast(baskets.schema[name].dataType).alias(name) for name in baskets.columns if name != "part"
        ]
        with plainly("learning a window"):
            sent = self._send(payloads).select("part", *blank, "piece", "payload")
            both = baskets.select(
                "*", F.lit(None).cast("int").alias("piece"), F.lit(None).cast("binary").alias("payload")
            )
            met = both.unionByName(sent).repartitionById(parts, F.col("part"))
            table = to_arrow(map_arrow(met, learn_task, RESULT))
        return collect(table)

    def _with_parts(self, parts: int) -> Any:
        """The baskets with the part of each: a user's are all in one."""
        from pyspark.sql import functions as F

        key = F.coalesce(F.col("user").cast("string"), F.col("basket").cast("string")).cast("binary")
        return self.frame.withColumn("part", F.pmod(F.crc32(key), F.lit(parts)).cast("int"))

    def _send(self, payloads: dict[int, Arrays]) -> Any:
        with quietly():
            return self.frame.sparkSession.createDataFrame(lines(payloads))


@dataclass(frozen=True, eq=False)
class LocalWindow:
    """Ordinary baskets, learned in the same parts in this process.

    Parameters
    ----------
    baskets
        The window.
    """

    baskets: Baskets

    @property
    def clock(self) -> Clock:
        return self.baskets.clock

    @property
    def attributes(self) -> pa.Table | None:
        return self.baskets.attributes

    @property
    def timed(self) -> bool:
        return self.baskets.times is not None

    def middle_price(self) -> float:
        prices = self.baskets.prices
        if prices is None:
            return 0.0
        known = prices[np.isfinite(prices) & (prices > 0)].astype(np.float64)
        return float(np.median(known)) if len(known) else 0.0

    def census(self, parts: int, anchor: float) -> Census:
        return Census.of(pa.Table.from_batches(list(census.count(anchor, self._table(parts)))))

    def learn(self, parts: int, payloads: dict[int, Arrays]) -> dict[int, Arrays]:
        table = self._table(parts)
        return {part: learn(payload, table.filter(pc.equal(table["part"], part))) for part, payload in payloads.items()}

    def _table(self, parts: int) -> pa.Table:
        """The baskets in the columns of `SparkBaskets.frame`, with the part of each."""
        baskets = self.baskets
        n, offsets = len(baskets), pa.array(baskets.offsets - baskets.offsets[0], pa.int32())
        ids = pa.array(np.arange(n)) if baskets.ids is None else baskets.ids
        users = pa.nulls(n, pa.string())
        if baskets.user_codes is not None:
            users = label_column(baskets.user_vocabulary, baskets.user_codes)
        prices = np.full(baskets.n_items, np.nan, np.float32) if baskets.prices is None else baskets.prices
        keys = [user if user is not None else id for user, id in zip(users.to_pylist(), ids.to_pylist(), strict=True)]
        times = np.zeros(n, np.int64) if baskets.times is None else baskets.times
        columns = {
            "basket": ids,
            "user": users,
            "time": pa.array(times),
            "products": pa.ListArray.from_arrays(offsets, label_column(baskets.product_vocabulary, baskets.items)),
            "prices": pa.ListArray.from_arrays(offsets, pa.array(prices)),
            "part": pa.array([crc32(str(key).encode()) % parts for key in keys], pa.int32()),
        }
        return pa.table(columns)


def learn_task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One task of Spark: its baskets and its payload, in whatever order they arrive; a part may have no user."""
    held = list(batches)
    if not held:
        return
    table = pa.Table.from_batches(held)
    for part in np.unique(table["part"].to_numpy()):
        mine = table.filter(pc.equal(table["part"], int(part)))
        sent = mine.filter(pc.is_valid(mine["piece"])).sort_by("piece")
        result = learn(from_pieces(sent["payload"].to_pylist()), mine.filter(pc.is_null(mine["piece"])))
        yield from lines({int(part): result}).to_batches()


def lines(payloads: dict[int, Arrays]) -> pa.Table:
    """Payloads as lines of a table, a line and a batch a piece: Spark sends a batch as one task, which has a bound."""
    schema = pa.schema({"part": pa.int32(), "piece": pa.int32(), "payload": pa.binary()})
    return pa.Table.from_batches(
        [
            pa.record_batch([pa.array([part], pa.int32()), pa.array([number], pa.int32()), pa.array([piece])], schema)
            for part, payload in payloads.items()
            for number, piece in enumerate(pieces(to_bytes(payload)))
        ],
        schema,
    )


def collect(table: pa.Table) -> dict[int, Arrays]:
    """Payloads by part, in order of the parts, from lines in any order."""
    ordered = table.sort_by([("part", "ascending"), ("piece", "ascending")])
    number = ordered["part"].to_numpy()
    return {
        int(part): from_pieces(ordered.filter(pc.equal(ordered["part"], int(part)))["payload"].to_pylist())
        for part in np.unique(number)
    }
