"""The learner on Spark: an OMBA whose windows are learned in parts, and which is an ordinary model all the time.

The driver holds the tables. For each window it takes a census, sends every part the rows it will touch, and merges
what comes back into the tables (`spark.merge`). A part has users of its own, so no two parts change a user's row.
Everything else that a model keeps (evidence, forecast, triples, memory, the weights of the clues) is counted in the
parts and added up here, as one process would have done.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from omba import model
from omba.baskets import Baskets, Clock
from omba.errors import InputError, SettingError
from omba.model import effort
from omba.model.hidden_products import QUERIES, HiddenProducts
from omba.model.omba import ticks_of_day
from omba.model.row_index import RowIndex
from omba.model.space import WindowRows
from omba.model.weekly_sales import STORES, gather, week_of
from omba.spark.baskets import SparkBaskets
from omba.spark.census import Census, label_list
from omba.spark.merge import Changed, merge
from omba.spark.payload import Arrays, at_level
from omba.spark.payload_builder import PayloadBuilder
from omba.spark.window import LocalWindow, SparkWindow, Window

PARTS = 8
"""Parts of a window where neither the setting nor Spark says how many."""


class OMBA(model.OMBA):
    """OMBA that learns each window in parts, which Spark's executors learn at the same time.

    `fit` and `partial_fit` take what `omba.spark.read_baskets` gives. Ordinary baskets are learned in the same parts
    without Spark. `save` writes a model as any other: `omba.OMBA.load` reads it.

    Parameters
    ----------
    partitions
        Parts of each window; None takes as many as Spark has cores; 1 or more.
    settings
        Those of `omba.OMBA`.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> omba.spark.OMBA(partitions=8).fit(baskets).save("shop")  # doctest: +SKIP
    """

    def __init__(self, *, partitions: int | None = None, **settings: Any) -> None:
        if partitions is not None and not 1 <= partitions <= 10_000:
            raise SettingError(f"partitions is {partitions}: it must lie from 1 to 10000")
        self.partitions = partitions
        super().__init__(**settings)

    @classmethod
    def of(cls, learned: model.OMBA, partitions: int | None = None) -> Self:
        """A model as it was loaded, to go on with."""
        if type(learned) is not model.OMBA and not isinstance(learned, cls):
            raise InputError(f"a {type(learned).__name__} has a way of learning of its own, which does not go in parts")
        ours = cls(partitions=partitions, **learned.get_params())
        vars(ours).update({name: value for name, value in vars(learned).items() if name != "partitions"})
        return ours

    def fit(
        self,
        baskets: Any,
        every: str | int = "1d",
        progress: Callable[[Any], None] | None = None,
        y: None = None,
        scratch: str | None = None,
    ) -> Self:
        """Begin anew and learn all windows; `scratch` is for `SparkBaskets.windows`."""
        self._reset()
        windows: Any = baskets.windows(every, scratch) if isinstance(baskets, SparkBaskets) else baskets.windows(every)
        # Closed at once where a window fails, so that the files written for the others are removed.
        with closing(windows):
            for window in windows:
                self.partial_fit(window)
                if progress:
                    progress(window)
        return self

    def partial_fit(self, window: Any, allow_late: bool = False) -> Self:
        """Learn one window. One that begins before what was learned is refused, unless `allow_late`."""
        source: Window = LocalWindow(window) if isinstance(window, Baskets) else window
        parts = self.partitions or _cores(source)
        if self.prices.anchor == 0.0:
            self.prices.anchor = source.middle_price()
        census = source.census(parts, self.prices.anchor)
        if not census.baskets:
            return self
        if source.timed:
            self._check_span(source.clock, census.first, census.last, allow_late)
        builder = self._make_room(census, source)
        self.forecast.hold(self.product_vectors, self.evidence)
        results = source.learn(
            parts, builder.payloads(self, census, (QUERIES // parts + 1, 2 * effort.NEXT.most // parts + 1))
        )
        self._take_in(census, builder, [results[part] for part in sorted(results)])
        self.n_windows += 1
        return self

    learn_many = partial_fit

    def _make_room(self, census: Census, window: Window) -> PayloadBuilder:
        """Make rows for all that is new, and take in the window's prices; the builder knows the rows of each part."""
        shares = census.shares
        products = _rows(self.product_rows, {part: share.products for part, share in shares.items()})
        users = _rows(self.user_rows, {part: share.users for part, share in shares.items()})
        self._grow(window.attributes)
        self.prices.learn(np.empty(0, np.int32), None, len(self.product_rows.vocabulary))
        self.prices.histogram += census.histogram
        for part, share in shares.items():
            self.prices.sums[products[part]] += share.sums
            self.prices.numbers[products[part]] += share.known
        day = ticks_of_day(window.clock) if window.timed else 0
        return PayloadBuilder(products, users, self._power_law(), day)

    def _take_in(self, census: Census, builder: PayloadBuilder, results: list[Arrays]) -> None:
        """Add up what the parts counted, and merge what they learned."""
        if self.n_windows:
            self._weigh_clues_by(results, census.baskets)
        sold = builder.product_counts(census, len(self.product_rows.vocabulary))
        self._judge(builder, results, sold, census.baskets)
        rows = np.flatnonzero(sold).astype(np.int32)
        keys, key_counts = (np.concatenate([result[name] for result in results]) for name in ("keys", "key_counts"))
        oversized = sum(int(result["oversized"][0]) for result in results)
        counted = self.sets
        self.evidence.add(rows, sold[rows], keys, key_counts, census.baskets, oversized)
        for sets, result in zip(builder.sets, results, strict=True):
            counted.watched[sets] += result["watched"]
        if self.clock is Clock.DATETIME:
            self.seasons.count(self.clock.day(census.last), sold, census.baskets)
            self._count_week(builder, census)
        days = [tick // builder.day if builder.day else self.n_windows for tick in (census.first, census.last)]
        for level, space in enumerate(self.spaces):
            mine = [at_level(result, level) for result in results]
            sold, sizes = np.zeros((2, len(space.counts)), np.int64)
            for users, share, result in zip(builder.users.values(), census.shares.values(), mine, strict=True):
                sold[result["met_rows"]] += result["met"]
                sizes[result["met_rows"]] += result["met_sizes"]
                space.user_counts[users] += share.visits
                space.users.vectors[users], space.users.squares[users] = result["users"], result["user_squares"]
                known = {n.removeprefix("memory_"): array for n, array in result.items() if n.startswith("memory_")}
                space.memory.put(users, known)
            space.count_sales(sold, sizes, *days)
            changed = [Changed(each["rows"], each["vectors"], each["squares"]) for each in mine]
            merge(space.products.vectors, space.products.squares, changed)
        self.sets.look(self.product_vectors, self.evidence)

    def _count_week(self, builder: PayloadBuilder, census: Census) -> None:
        """Add the window to the sales of the week it ends in; stores are not told apart."""
        shares = [(builder.products[part], share) for part, share in census.shares.items()]
        if not any(share.known.any() for _, share in shares):
            return
        with np.errstate(invalid="ignore", divide="ignore"):
            price = np.concatenate([share.sums / share.known for _, share in shares])
        rows, counts = np.concatenate([rows for rows, _ in shares]), np.concatenate([s.counts for _, s in shares])
        week = int(week_of(np.array([self.clock.day(census.last)]))[0])
        baskets = np.bincount([0], weights=[census.baskets], minlength=STORES).astype(np.int64)
        self.weekly_sales.add(week, gather(rows, counts, price), baskets)

    def _weigh_clues_by(self, results: list[Arrays], baskets: int) -> None:
        """Weigh the clues by the baskets that the parts picked, with what was known before the window."""
        if not self.clues:
            return
        hidden, asked = (_join_rows(results, kind) for kind in ("query", "asked"))
        queries = HiddenProducts(hidden, np.random.default_rng([self.seed, self.n_windows, 0, 1]))
        for job in queries.jobs(self):
            job()
        self.questions.learn(self, asked, baskets, np.random.default_rng([self.seed, self.n_windows, 4]))
        self._weigh_clues(queries)

    def _judge(self, builder: PayloadBuilder, results: list[Arrays], sold: NDArray[np.int64], baskets: int) -> None:
        """Give the forecast what the parts counted of the pairs that it holds."""
        cohort = self.forecast.cohort
        if self.n_windows and cohort is not None:
            for number, result in enumerate(results):
                cohort.later[builder.held[number]] += result["later"]
                known = builder.rows[number] < len(cohort.sold)
                cohort.sold[builder.rows[number][known]] += result["sold"][known]
                cohort.baskets[1] += result["held_baskets"][0]
        if self.n_windows:
            self.forecast.judge(sold, baskets, sum(float(result["squares"][0]) for result in results))


def _join_rows(results: list[Arrays], kind: str) -> WindowRows:
    """The baskets of one kind that the parts picked, as one window."""
    sizes = np.concatenate([np.diff(result[f"{kind}_offsets"]) for result in results])
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    items, users = (np.concatenate([result[f"{kind}_{name}"] for result in results]) for name in ("items", "users"))
    return WindowRows(offsets, items, np.ones(len(items), np.float32), users, np.zeros(len(users), np.int32))


def _rows(index: RowIndex, labels: dict[int, Any]) -> dict[int, NDArray[np.int64]]:
    """The rows of each part's labels; new ones get theirs in the order of the labels, as in one process."""
    known = {part: label_list(column) for part, column in labels.items()}
    index.rows_of({label: None for column in known.values() for label in column})
    return {part: index.rows_of(column).astype(np.int64) for part, column in known.items()}


def _cores(window: Window) -> int:
    if isinstance(window, SparkWindow):
        return int(window.frame.sparkSession.sparkContext.defaultParallelism)
    return PARTS
