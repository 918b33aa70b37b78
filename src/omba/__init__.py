"""OMBA: online market basket analysis. One embedding space for products and users, and the rules in it."""

from omba import datasets
from omba.baskets import Basket, Baskets
from omba.model import OMBA
from omba.sources import read_baskets, stream_baskets

__version__ = "0.1.0"
__all__ = ["OMBA", "Basket", "Baskets", "datasets", "read_baskets", "stream_baskets"]
