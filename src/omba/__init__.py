"""OMBA: online market basket analysis. One embedding space for products and users, and the rules in it."""

from omba import datasets
from omba.baskets import Basket, Baskets
from omba.evaluation import evaluate, truth_test
from omba.model import OMBA
from omba.rules.from_model import mine_rules
from omba.sources import read_baskets, stream_baskets

__version__ = "0.1.0"
__all__ = [
    "OMBA",
    "Basket",
    "Baskets",
    "datasets",
    "evaluate",
    "mine_rules",
    "read_baskets",
    "stream_baskets",
    "truth_test",
]
