"""OMBA: online market basket analysis. One embedding space for products and users, and the rules in it."""

from omba.baskets import Basket, Baskets

__version__ = "0.1.0"
__all__ = ["Basket", "Baskets"]
