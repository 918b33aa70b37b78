"""Baskets on Spark, and models held against each other to the byte: what the tests of Spark share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import omba
from omba import spark
from omba.baskets import Baskets
from omba.spark.baskets import SparkBaskets
from omba.spark.cluster import quietly


def framed(session: Any, table: pa.Table) -> Any:
    with quietly():
        return session.createDataFrame(table)


def on_spark(session: Any, baskets: Baskets) -> SparkBaskets:
    return spark.read_baskets(framed(session, baskets.to_arrow()))


def same(ours: omba.OMBA, theirs: omba.OMBA) -> bool:
    """Whether two models hold the same bytes."""
    pairs = [(ours.evidence.state(), theirs.evidence.state()), (ours.forecast.state(), theirs.forecast.state())]
    pairs += [(a.state(), b.state()) for a, b in zip(ours.spaces, theirs.spaces, strict=True)]
    pairs += [(ours.prices.state(), theirs.prices.state())]
    if ours.sets.triples.n_baskets == theirs.sets.triples.n_baskets:
        # One process counts all triples, where parts count those that are watched.
        pairs += [(ours.sets.state(), theirs.sets.state())]
    pairs += [({"blend": ours.blend.weights}, {"blend": theirs.blend.weights})]
    pairs += [(ours.questions.state(), theirs.questions.state())]
    # Quantities, which `more` is made of, do not go through Spark: there each product bought counts as one piece.
    return ours.products == theirs.products and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f")
        for a, b in pairs
        for name in a
        if name != "more"
    )
