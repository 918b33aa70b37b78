"""Item attributes: how baskets describe their products: name, department, category and the like."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from omba.baskets import Baskets, Label
from omba.baskets.descriptions import is_nothing, vote_table

PLAIN = ("id", "price", "quantity")


class Attributes:
    """What baskets have said of their products since the last window; the model adds it to what it knows."""

    def __init__(self) -> None:
        self.rows: dict[Label, dict[str, Any]] = {}
        self.votes: Counter[tuple[Label, str, str]] = Counter()

    def add(self, basket: Mapping[str, Any]) -> None:
        """Take in how a basket describes its products."""
        for product in basket["products"]:
            if len(product) > 1:
                for name, value in product.items():
                    if name not in PLAIN and not is_nothing(value):
                        self.rows.setdefault(product["id"], {"product": product["id"]})[name] = value
                        if isinstance(value, str):
                            self.votes[product["id"], name, value] += 1

    def on(self, window: Baskets) -> Baskets:
        """The window with the attributes, if there is something new among them."""
        if not self.rows:
            return window
        rows, votes = list(self.rows.values()), self.votes
        self.rows, self.votes = {}, Counter()
        columns = {
            name: [row.get(name) for row in rows] for name in dict.fromkeys(name for row in rows for name in row)
        }
        if len({type(label) for label in columns["product"]}) > 1:
            columns["product"] = [str(label) for label in columns["product"]]
        counted = vote_table((*vote, float(n), n) for vote, n in votes.items())
        return replace(
            window, attributes=pa.table({name: _array(each) for name, each in columns.items()}), votes=counted
        )


def _array(values: list[Any]) -> pa.Array:
    """A column; values that are of several kinds become text."""
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if value is None else str(value) for value in values])
