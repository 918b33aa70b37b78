"""Product records: a catalogue as plain values for JSON, each product with its name, group and department."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.hierarchy import LEVELS
from omba.rules import Catalogue

UNSORTED = "unsorted"
"""The department of products of which none is known."""


class ProductIndex:
    """The products of a view by row.

    Parameters
    ----------
    catalogue
        What is known of them; products are searched and found in it.
    counts
        Baskets with each.
    """

    def __init__(self, catalogue: Catalogue, counts: NDArray[np.integer]) -> None:
        self.catalogue, self.labels, self.counts = catalogue, catalogue.labels, counts

    def __len__(self) -> int:
        return len(self.labels)

    def ready(self) -> ProductIndex:
        """Work out now rather than at the first request what one needs."""
        _ = self.catalogue.ready(), self.category, self.department
        return self

    @cached_property
    def category(self) -> list[str | None]:
        """The finest known group of each product."""
        return self._level(0)

    @cached_property
    def department(self) -> list[str | None]:
        """The coarsest known group of each product."""
        return self._level(-1)

    def _level(self, place: int) -> list[str | None]:
        known = [name for name in LEVELS if name in self.catalogue.levels]
        return self.catalogue.columns[known[place]].to_pylist() if known else [None] * len(self)

    @property
    def named(self) -> bool:
        """Whether products have a name beside their label, such as a description beside an article number."""
        return self.catalogue.named

    def name(self, row: int) -> str | None:
        """The name of a product beside its label, if it has one."""
        return self.catalogue.names[row]

    def price(self, row: int) -> float | None:
        """The mean price of a product, None where it is not known."""
        prices = self.catalogue.prices
        value = float("nan") if prices is None else float(prices[row])
        return round(value, 4) if np.isfinite(value) else None

    def record(self, row: int) -> dict[str, Any]:
        """A product as plain values."""
        return {
            "id": self.labels[row],
            "name": self.name(row),
            "category": self.category[row],
            "department": self.department[row],
            "count": int(self.counts[row]),
            "price": self.price(row),
        }
