"""Data sets: The Complete Journey, Ta-Feng, Instacart, and a synthetic world whose truth is known."""

from omba.datasets.complete_journey import complete_journey
from omba.datasets.ta_feng import ta_feng

__all__ = ["complete_journey", "ta_feng"]
