"""Hierarchy: which level of a product hierarchy the second space learns (the paper's closing section asks for it).

At the finest level most products are rare: a household that never bought this can of tomatoes has bought canned
tomatoes all year. So the same learner runs once more on baskets of categories, and its clues join the product's own.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label, Vocabulary
from omba.model.row_index import label_order

LEVELS = (
    "product_type", "subclass", "product_subclass", "subcategory", "product_category", "category", "aisle",
    "class", "department",
)  # fmt: skip
"""Names a level goes by, the finest first: the finest one that the products have is used."""


class Hierarchy:
    """The category of each product row, read from the attributes that come with the baskets."""

    def __init__(self) -> None:
        self.level: str | None = None
        self.vocabulary = Vocabulary()
        self.parents: NDArray[np.int32] = np.empty(0, np.int32)
        self._attributes: pa.Table | None = None
        self._categories: dict[Label, Label] = {}
        """The category of each product in the attributes, read once for as long as they stay the same."""

    def learn(self, attributes: pa.Table | None, products: Vocabulary) -> None:
        """Look up the products that have joined since the last window."""
        missing = products.labels[len(self.parents) :]
        if not missing:
            return
        parents = np.full(len(missing), -1, np.int32)
        if attributes is not None and self.level is None:
            self.level = finest(attributes)
        if attributes is not None and self.level in attributes.column_names:
            if attributes is not self._attributes:
                pairs = zip(attributes["product"].to_pylist(), attributes[self.level].to_pylist(), strict=True)
                self._attributes, self._categories = attributes, {p: c for p, c in pairs if c is not None}
            known = [(place, label) for place, label in enumerate(missing) if label in self._categories]
            found = [(place, self._categories[label]) for place, label in known]
            # Sorted, so that the numbering follows from the labels and not from the order of a file.
            self.vocabulary.add(sorted({category for _, category in found}, key=label_order))
            for place, category in found:
                parents[place] = self.vocabulary.codes[category]
        self.parents = np.append(self.parents, parents)


def finest(attributes: pa.Table) -> str | None:
    """The finest known level that groups these products at all."""
    for name in LEVELS:
        if name in attributes.column_names:
            distinct = len(attributes[name].unique().drop_null())
            if 1 < distinct < 0.8 * len(attributes):
                return name
    return None
