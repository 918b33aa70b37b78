"""Rules on Spark: near vectors by a join, exact counts by another, and candidates ranked where they are found.

What `omba.mine_rules` does on one machine is done here with the same code on pieces: the nearest pairs come from
`spark.nearest`; where baskets are given as evidence, their pairs are counted and scored in partitions, each passes on
its best, and only these reach the driver, which makes the table of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from omba.model.forecast import Forecast
from omba.rules.candidates import Candidates
from omba.rules.filter import Filter
from omba.rules.from_model import space_of
from omba.rules.mine import POOL, mine, order
from omba.rules.nearest import MIN_COUNT, cosines
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.space import Space
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import map_arrow, quietly, to_arrow
from omba.spark.counts import count_pairs, count_products
from omba.spark.failures import plainly
from omba.spark.nearest import nearest

SPARE = 8
"""Observed pairs kept for each rule asked for: a filter may let a few through only."""
PAIRS = "a int, b int, count long"


def mine_rules(
    model: Any, top: int = 100, evidence: SparkBaskets | None = None, *, spark: Any = None, **options: Any
) -> Rules:
    """The strongest rules of a model, as `omba.mine_rules` finds them, with the heavy parts on Spark.

    With `evidence` the counts are exact counts of those baskets, else those the model kept. `options` are those of
    `omba.rules.mine.mine`; `spark` is a session, the active one unless given.
    """
    if evidence is None:
        space = space_of(model)
        session = spark or _active()
    else:
        session = evidence.spark
        space = counted(model, evidence, top, options)
    found = partial(nearest, session, space.vectors, seed=options.get("seed", 0))
    return mine(replace(space, nearest=found), top, **options)


@dataclass(frozen=True)
class Known:
    """What an executor needs to score a pair: plain arrays, sent once."""

    vectors: NDArray[np.float32]
    counts: NDArray[np.int64]
    n: int
    forecast: dict[str, NDArray[Any]]
    prices: NDArray[np.float64] | None

    def space(self) -> Space:
        """A space that ranks pairs of rows as the driver's would; its labels are rows."""
        forecast, counts, n = Forecast.from_state(self.forecast), self.counts, self.n

        def expected(a: ArrayLike, b: ArrayLike, cosine: ArrayLike, n_ab: ArrayLike) -> Any:
            return forecast.expect(cosine, n_ab, counts[np.asarray(a)], counts[np.asarray(b)], n, a, b)

        return Space(
            labels=range(len(counts)),
            vectors=self.vectors,
            counts=counts,
            n_baskets=n,
            pair_counts=lambda a, b: np.zeros(len(a), np.int64),
            prices=self.prices,
            expected=expected,
        )


def counted(model: Any, evidence: SparkBaskets, top: int, options: dict[str, Any]) -> Space:
    """The model's space with exact counts: those of products whole, of pairs the best, and any that are asked for."""
    labels, spark = model.products, evidence.spark
    with plainly("counting products"):
        table = to_arrow(count_products(evidence))
        n = int(evidence.kept.select("basket").distinct().count())
    rows = model.product_rows.vocabulary.find(table["product"].to_pylist())
    counts = np.zeros(len(labels), np.int64)
    counts[rows[rows >= 0]] = table["count"].to_numpy()[rows >= 0]
    pairs = count_pairs(evidence, labels=labels).persist()
    prices = model.prices.means if model.prices.known else None
    known = Known(np.ascontiguousarray(model.product_vectors), counts, n, model.forecast.state(), prices)
    space = replace(known.space(), labels=labels, attributes=model.attributes)
    asked = partial(look_up, spark, pairs)
    scope = Scope.of(space, options.get("where") or Filter(), options.get("min_count", MIN_COUNT))
    column = order(space, options.get("preset", "default"), options.get("sort"))
    a, b, count = best_pairs(spark, pairs, known, scope, column, SPARE * max(POOL, top))

    def observed(least: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        kept = count >= least
        return a[kept], b[kept], count[kept]

    def itemsets(sets: NDArray[Any]) -> NDArray[np.int64]:
        return asked(sets[:, 0], sets[:, 1]) if sets.shape[1] == 2 else model.sets.counts(sets, model.evidence)

    def interval(sets: ArrayLike, lift: ArrayLike, baskets: ArrayLike, n_a: ArrayLike, n_b: ArrayLike) -> Any:
        return model.forecast.interval(lift, baskets, n_a, n_b, n, model.forecast.season(sets, counts, n))

    return replace(space, observed=observed, pair_counts=asked, itemset_counts=itemsets, interval=interval)


def best_pairs(
    spark: Any, pairs: Any, known: Known, scope: Scope, column: str, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """The best of the counted pairs in the column rules are ranked by, at most so many of each partition."""
    shared = spark.sparkContext.broadcast((known, scope))
    try:
        with plainly("ranking the counted pairs"):
            table = to_arrow(map_arrow(pairs.coalesce(parallel(spark)), ranker(shared, column, most), PAIRS))
    finally:
        shared.destroy()
    return table["a"].to_numpy(), table["b"].to_numpy(), table["count"].to_numpy()


def ranker(shared: Any, column: str, most: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known, scope = shared.value
        space, best = known.space(), None
        for batch in batches:
            a, b, count = (batch[name].to_numpy() for name in ("a", "b", "count"))
            found = Candidates.of_pairs(space, scope, a, b, cosines(known.vectors, a, b), count)
            best = (found if best is None else _both(best, found)).best(space, column, most)
        if best is not None and len(best):
            first, second = best.antecedents[:, 0], best.consequent
            rows = {"a": np.minimum(first, second), "b": np.maximum(first, second)}
            columns = {name: pa.array(values.astype(np.int32)) for name, values in rows.items()}
            yield pa.RecordBatch.from_pydict(columns | {"count": pa.array(best.count.astype(np.int64))})

    return task


def _both(first: Candidates, second: Candidates) -> Candidates:
    columns = (np.concatenate([getattr(part, name) for part in (first, second)]) for name in vars(first))
    return Candidates(*columns)


def look_up(spark: Any, pairs: Any, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.int64]:
    """The count of each pair asked for, 0 where it was never counted."""
    low, high = np.minimum(a, b).astype(np.int32), np.maximum(a, b).astype(np.int32)
    counts = np.zeros(len(low), np.int64)
    with plainly("looking up pairs"), quietly():
        asked = spark.createDataFrame(pa.table({"a": low, "b": high, "place": np.arange(len(low))}))
        table = to_arrow(asked.join(pairs, ["a", "b"]).select("place", "count"))
    counts[table["place"].to_numpy()] = table["count"].to_numpy()
    return counts


def parallel(spark: Any) -> int:
    return int(spark.sparkContext.defaultParallelism)


def _active() -> Any:
    from omba.spark.cluster import session

    return session()
