"""From a model to rules: the one place where mining meets a learner, and takes only arrays and counts from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from omba.baskets import Baskets, Label
from omba.rules.counts import Counts
from omba.rules.explain import Explainer
from omba.rules.mine import mine
from omba.rules.rules import Rules
from omba.rules.space import Space

Two = tuple[NDArray[Any], NDArray[Any]]
Three = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


class Evidence(Protocol):
    """Streaming counts: what was bought, and what was bought together."""

    counts: NDArray[np.int64]
    n_baskets: int

    def pairs(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.int64]: ...
    def seen(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.bool_]: ...
    def observed(self, minimum: int = 1) -> Three: ...


class Forecast(Protocol):
    """What lift to expect next."""

    def expect(
        self, cosine: ArrayLike, n_ab: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, a: ArrayLike, b: ArrayLike
    ) -> Three: ...
    def interval(
        self, lift: ArrayLike, baskets: ArrayLike, n_a: ArrayLike, n_b: ArrayLike, n: int, season: ArrayLike
    ) -> Two: ...
    def season(self, rows: ArrayLike, counts: NDArray[Any], n: int) -> NDArray[Any]: ...


class Sets(Protocol):
    """Counts of larger sets of products, as far as they are watched."""

    def counts(self, sets: NDArray[Any], evidence: Any) -> NDArray[np.int64]: ...


class Prices(Protocol):
    """The mean price of each product."""

    means: NDArray[np.float64]
    known: bool


class Learned(Protocol):
    """What mining reads of a model."""

    products: Sequence[Label]
    users: Sequence[Label]
    spaces: Sequence[Any]
    product_vectors: NDArray[np.float32]
    evidence: Evidence
    sets: Sets
    forecast: Forecast
    prices: Prices
    attributes: pa.Table | None


def mine_rules(model: Any, top: int = 100, evidence: Baskets | None = None, **options: Any) -> Rules:
    """The strongest rules of a model, with their evidence.

    Counts come from what the model kept while it learned; with `evidence`, they are counted exactly over those
    baskets. `options` are those of `omba.rules.mine.mine`: preset, sort, where, antecedents, …
    """
    return mine(space_of(model, evidence), top, **options)


def space_of(model: Learned, evidence: Baskets | None = None) -> Space:
    """The model's vectors and counts as a space to mine."""
    labels = model.products
    pairs: Callable[..., NDArray[np.int64]]
    itemsets: Callable[..., NDArray[np.int64]]
    seen: Callable[..., NDArray[np.bool_]] | None = None
    if evidence is not None:
        exact = Counts.of(evidence, labels)
        n, counts, observed = exact.n, exact.products, cache(exact.observed)
        pairs, itemsets = exact.pairs, exact.itemsets
    else:
        kept = model.evidence
        n, counts, observed = kept.n_baskets, kept.counts[: len(labels)], cache(kept.observed)
        pairs, itemsets, seen = kept.pairs, partial(model.sets.counts, evidence=kept), kept.seen

    def expected(a: ArrayLike, b: ArrayLike, cosine: ArrayLike, n_ab: ArrayLike) -> Three:
        return model.forecast.expect(cosine, n_ab, counts[np.asarray(a)], counts[np.asarray(b)], n, a, b)

    def interval(sets: ArrayLike, lift: ArrayLike, baskets: ArrayLike, n_a: ArrayLike, n_b: ArrayLike) -> Two:
        season = model.forecast.season(sets, counts, n)
        return model.forecast.interval(lift, baskets, n_a, n_b, n, season)

    def partners(row: int) -> tuple[NDArray[Any], NDArray[Any]]:
        a, b, count = observed(1)
        there = np.flatnonzero((a == row) | (b == row))
        return a[there] + b[there] - row, count[there]

    vectors, remembered = model.product_vectors, model.spaces[0].memory.rows
    return Space(
        labels=labels,
        vectors=vectors,
        counts=counts,
        n_baskets=n,
        pair_counts=pairs,
        seen=seen,
        itemset_counts=itemsets,
        observed=observed,
        prices=model.prices.means if model.prices.known else None,
        attributes=model.attributes,
        expected=expected,
        interval=interval,
        explainer=Explainer(
            labels,
            vectors,
            counts,
            n,
            pairs,
            partners,
            expected,
            seen,
            model.users,
            remembered if remembered.size else None,
        ),
    )
