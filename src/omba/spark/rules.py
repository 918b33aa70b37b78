"""Rules on Spark: near vectors by a join, exact counts by another, and candidates ranked where they are found.

What `omba.mine_rules` does on one machine is done here with the same code on pieces: the nearest pairs come from
`spark.nearest`; where baskets are given as evidence, their pairs are counted and scored in partitions, each passes on
its best, and only these reach the driver, which makes the table of rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.model.evidence import Evidence
from omba.model.forecast import Forecast
from omba.model.sets import Sets
from omba.rules.candidates import Candidates
from omba.rules.catalogue import Catalogue
from omba.rules.evidence import Observed, PartialEvidence, Rows
from omba.rules.filter import Filter
from omba.rules.from_model import mining_input, scope_of_families
from omba.rules.hashing import HashingOptions
from omba.rules.mine import mine, order
from omba.rules.mining_input import POOL, MiningInput
from omba.rules.nearest import MIN_COUNT, cosines
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import map_arrow, quietly, to_arrow
from omba.spark.counts import count_pairs, count_products
from omba.spark.failures import plainly
from omba.spark.nearest import nearest

SPARE = 8
"""Observed pairs kept for each rule asked for: a filter may let a few through only."""
PAIRS = "a int, b int, count long"


class SparkOptions(HashingOptions, total=False):
    """How near vectors are searched for: the tables of hashes, and where the search runs."""

    spark: Any


def mine_rules(
    model: Any,
    top: int = 100,
    evidence: SparkBaskets | None = None,
    *,
    preset: str = "default",
    sort: str | None = None,
    where: Filter | None = None,
    antecedents: int = 2,
    min_count: int = MIN_COUNT,
    within_families: bool = False,
    **search: Unpack[SparkOptions],
) -> Rules:
    """The strongest rules of a model, as `omba.mine_rules` finds them, with the heavy parts on Spark.

    With `evidence` the counts are exact counts of those baskets, else those the model kept. `spark` is a session, the
    active one unless given; all else is as in `omba.mine_rules`.

    Parameters
    ----------
    model
        A model that has learned, on Spark or not.
    top, preset, sort, where, antecedents, min_count, within_families
        As in `omba.mine_rules`, with the same bounds: 1 or more of each number.
    evidence
        Baskets on Spark to count exactly; None for the counts that the model kept.
    search
        `spark`, `F`, `H`, `ties` and `seed`.

    >>> import omba.spark
    >>> spark = omba.spark.session("local[2]")  # doctest: +SKIP
    >>> baskets = omba.spark.read_baskets(spark.read.parquet("sales"))  # doctest: +SKIP
    >>> model = omba.spark.OMBA().fit(baskets)  # doctest: +SKIP
    >>> omba.spark.mine_rules(model, top=1000, evidence=baskets)  # doctest: +SKIP
    """
    where = scope_of_families(where, within_families, preset)
    session, tables = search.pop("spark", None), cast(HashingOptions, search)
    if evidence is None:
        given, session = mining_input(model), session or _active()
    else:
        session = evidence.spark
        given = mining_input(model, SparkEvidence.of(model, evidence))
        scope, column = Scope.of(given, where, min_count), order(given, preset, sort)
        inside = best_pairs(given, scope, column, SPARE * max(POOL, top))
        given = replace(given, evidence=PartialEvidence(given.evidence, inside))
    finder = partial(nearest, session, given.vectors, seed=tables.get("seed", 0))
    return mine(
        replace(given, finder=finder), top, preset,
        sort=sort, where=where, antecedents=antecedents, min_count=min_count, **tables,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SparkEvidence:
    """Exact counts on Spark: those of products are here, those of pairs are looked up where they are.

    Parameters
    ----------
    session
        The Spark session.
    table
        The counts of all pairs, as a frame of Spark.
    n_baskets
        Baskets in all.
    counts
        Baskets with each product.
    kept
        What the model counted, for sets of more than two products.
    sets
        The triples that the model watched.
    """

    session: Any
    table: Any
    n_baskets: int
    counts: NDArray[np.int64]
    kept: Evidence
    sets: Sets
    complete: bool = True

    @classmethod
    def of(cls, model: Any, evidence: SparkBaskets) -> SparkEvidence:
        """Count the products of a model, and their pairs."""
        labels = model.products
        with plainly("counting products"):
            table = to_arrow(count_products(evidence))
            n = int(evidence.kept.select("basket").distinct().count())
        rows = model.product_rows.vocabulary.find(table["product"].to_pylist())
        counts = np.zeros(len(labels), np.int64)
        counts[rows[rows >= 0]] = table["count"].to_numpy()[rows >= 0]
        pairs = count_pairs(evidence, labels=labels).persist()
        return cls(evidence.spark, pairs, n, counts, model.evidence, model.sets)

    def pairs(self, a: Rows, b: Rows) -> NDArray[np.int64]:
        """The count of each pair asked for, 0 where it was never counted."""
        low, high = np.minimum(a, b).astype(np.int32), np.maximum(a, b).astype(np.int32)
        counts = np.zeros(len(low), np.int64)
        with plainly("looking up pairs"), quietly():
            asked = self.session.createDataFrame(pa.table({"a": low, "b": high, "place": np.arange(len(low))}))
            table = to_arrow(asked.join(self.table, ["a", "b"]).select("place", "count"))
        counts[table["place"].to_numpy()] = table["count"].to_numpy()
        return counts

    def seen(self, a: Rows, b: Rows) -> NDArray[np.bool_]:
        return self.pairs(a, b) > 0

    def itemsets(self, sets: Rows) -> NDArray[np.int64]:
        return self.pairs(sets[:, 0], sets[:, 1]) if sets.shape[1] == 2 else self.sets.counts(sets, self.kept)

    def exact(self, sets: Rows) -> NDArray[np.bool_]:
        """Pairs are counted exactly, larger sets as the model watched them."""
        return np.ones(len(sets), bool) if sets.shape[1] == 2 else self.sets.exact(sets, self.kept)

    def triples(self, least: int) -> tuple[Rows, NDArray[np.int64]]:
        return self.sets.observed(least)

    def observed(self, least: int = 1) -> Observed:
        """All pairs in so many baskets or more: there may be more of them than the driver holds."""
        table = to_arrow(self.table.where(f"count >= {int(least)}"))
        return table["a"].to_numpy(), table["b"].to_numpy(), table["count"].to_numpy()


@dataclass(frozen=True)
class ScoringInput:
    """What an executor needs to score a pair: plain arrays, sent once.

    Parameters
    ----------
    vectors
        One vector a product.
    counts
        Baskets with each product.
    n_baskets
        Baskets in all.
    forecast
        The state of the model's forecast.
    prices
        The mean price of each product; None where none are known.
    """

    vectors: NDArray[np.float32]
    counts: NDArray[np.int64]
    n_baskets: int
    forecast: dict[str, NDArray[Any]]
    prices: NDArray[np.floating] | None
    complete: bool = True

    def mining_input(self) -> MiningInput:
        """An input that ranks pairs of rows as the driver's would; its labels are rows."""
        catalogue = Catalogue(range(len(self.counts)), self.prices)
        return MiningInput(catalogue, self.vectors, self, Forecast.from_state(self.forecast))

    def pairs(self, a: Rows, b: Rows) -> NDArray[np.int64]:
        """None: the counts come with the pairs that are scored."""
        return np.zeros(len(a), np.int64)

    def seen(self, a: Rows, b: Rows) -> NDArray[np.bool_]:
        return np.zeros(len(a), bool)

    def itemsets(self, sets: Rows) -> NDArray[np.int64]:
        return np.zeros(len(sets), np.int64)

    def exact(self, sets: Rows) -> NDArray[np.bool_]:
        return np.zeros(len(sets), bool)

    def observed(self, least: int = 1) -> Observed:
        none = np.zeros(0, np.int32)
        return none, none, none


def best_pairs(given: MiningInput, scope: Scope, column: str, most: int) -> Observed:
    """The best of the counted pairs in the column rules are ranked by, at most so many of each partition."""
    evidence: Any = given.evidence
    forecast: Any = given.forecast
    session, vectors = evidence.session, np.ascontiguousarray(given.vectors)
    scoring = ScoringInput(vectors, evidence.counts, evidence.n_baskets, forecast.state(), given.prices)
    # What may be due to how codes are spelt is asked of pairs that never met alone, and needs all names.
    shared = session.sparkContext.broadcast((scoring, replace(scope, suspect=None)))
    try:
        with plainly("ranking the counted pairs"):
            pairs = evidence.table.coalesce(parallel(session))
            table = to_arrow(map_arrow(pairs, ranker(shared, column, most), PAIRS))
    finally:
        shared.destroy()
    return table["a"].to_numpy(), table["b"].to_numpy(), table["count"].to_numpy()


def ranker(shared: Any, column: str, most: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        scoring, scope = shared.value
        given, best = scoring.mining_input(), None
        for batch in batches:
            a, b, count = (batch[name].to_numpy() for name in ("a", "b", "count"))
            found = Candidates.of_pairs(given, scope, a, b, cosines(scoring.vectors, a, b), count)
            best = (found if best is None else _both(best, found)).best(given, column, most)
        if best is not None and len(best):
            first, second = best.antecedents[:, 0], best.consequent
            rows = {"a": np.minimum(first, second), "b": np.maximum(first, second)}
            columns = {name: pa.array(values.astype(np.int32)) for name, values in rows.items()}
            yield pa.RecordBatch.from_pydict(columns | {"count": pa.array(best.count.astype(np.int64))})

    return task


def _both(first: Candidates, second: Candidates) -> Candidates:
    columns = (np.concatenate([getattr(part, name) for part in (first, second)]) for name in vars(first))
    return Candidates(*columns)


def parallel(spark: Any) -> int:
    return int(spark.sparkContext.defaultParallelism)


def _active() -> Any:
    from omba.spark.cluster import session

    return session()
