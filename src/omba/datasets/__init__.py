"""Data sets: The Complete Journey, Ta-Feng, Instacart, and a synthetic world whose truth is known."""

from omba.datasets.complete_journey import complete_journey
from omba.datasets.instacart import instacart
from omba.datasets.loading import BUILT_IN, is_built_in, judged_users, load
from omba.datasets.next_basket_files import NextBasketFiles, next_basket
from omba.datasets.planted_shop import PlantedShop, planted_shop
from omba.datasets.synthetic import Truth, World, synthetic
from omba.datasets.ta_feng import ta_feng

__all__ = [
    "BUILT_IN",
    "NextBasketFiles",
    "PlantedShop",
    "Truth",
    "World",
    "complete_journey",
    "instacart",
    "is_built_in",
    "judged_users",
    "load",
    "next_basket",
    "planted_shop",
    "synthetic",
    "ta_feng",
]
