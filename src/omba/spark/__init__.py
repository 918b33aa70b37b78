"""OMBA on Apache Spark: the same names on Spark's data frames, and an ordinary model out."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omba.spark.baskets import SparkBaskets, read_baskets
    from omba.spark.cluster import session
    from omba.spark.counts import count_pairs, count_products
    from omba.spark.evaluation import evaluate
    from omba.spark.omba import OMBA
    from omba.spark.rules import mine_rules
    from omba.spark.streaming import learn_stream

__all__ = [
    "OMBA",
    "SparkBaskets",
    "count_pairs",
    "count_products",
    "evaluate",
    "learn_stream",
    "mine_rules",
    "read_baskets",
    "session",
]

_HOMES = {
    "OMBA": "omba",
    "SparkBaskets": "baskets",
    "count_pairs": "counts",
    "count_products": "counts",
    "evaluate": "evaluation",
    "learn_stream": "streaming",
    "mine_rules": "rules",
    "read_baskets": "baskets",
    "session": "cluster",
}


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for: every worker imports this package, and few need all of it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'omba.spark' has no attribute {name!r}")
    return getattr(import_module(f"omba.spark.{_HOMES[name]}"), name)
