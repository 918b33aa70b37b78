"""Attributes: how baskets describe their products: name, department, category and the like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from omba.baskets import Baskets, Label

PLAIN = ("id", "price", "quantity")


class Attributes:
    """A table of all products that were described; as in files, the first description of a product counts."""

    def __init__(self, table: pa.Table | None) -> None:
        self.known: dict[Label, dict[str, Any]] = {}
        if table is not None:
            self.known = {row["product"]: row for row in table.to_pylist()}
        self.changed = False

    def add(self, basket: Mapping[str, Any]) -> None:
        """Take in how a basket describes its products."""
        for product in basket["products"]:
            if len(product) > 1 and product["id"] not in self.known:
                described = {name: value for name, value in product.items() if name not in PLAIN}
                if described:
                    self.known[product["id"]] = {"product": product["id"], **described}
                    self.changed = True

    def on(self, window: Baskets) -> Baskets:
        """The window with the attributes, if there is something new among them."""
        if not self.changed:
            return window
        self.changed = False
        names = dict.fromkeys(name for row in self.known.values() for name in row)
        columns = {name: [row.get(name) for row in self.known.values()] for name in names}
        if len({type(label) for label in columns["product"]}) > 1:
            columns["product"] = [str(label) for label in columns["product"]]
        return replace(window, attributes=pa.table(columns))
