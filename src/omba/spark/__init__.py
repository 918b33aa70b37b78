"""OMBA on Apache Spark: the same names on Spark's data frames, and an ordinary model out."""

from omba.spark.baskets import SparkBaskets, read_baskets
from omba.spark.counts import count_pairs, count_products
from omba.spark.evaluation import evaluate
from omba.spark.omba import OMBA
from omba.spark.rules import mine_rules
from omba.spark.session import session
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
