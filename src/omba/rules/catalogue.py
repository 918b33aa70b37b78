"""Catalogue: what is known of the products beside their vectors: labels, prices, categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import InputError, UnknownError, nearest


@dataclass(frozen=True, eq=False)
class Catalogue:
    """Products by label; `prices` are means, NaN where not known; `attributes` is a table with a column `product`."""

    labels: Sequence[Label] = field(default_factory=list)
    prices: NDArray[np.floating] | None = None
    attributes: pa.Table | None = None

    @cached_property
    def rows(self) -> dict[Label, int]:
        return {label: row for row, label in enumerate(self.labels)}

    def find(self, product: Label) -> Label:
        """The product's own label; text is taken for a number where the labels are numbers."""
        if product in self.rows:
            return product
        if isinstance(product, str) and product.lstrip("-").isdigit() and int(product) in self.rows:
            return int(product)
        raise UnknownError(f"product {product!r} is not known here{nearest(product, self.labels)}")

    def price(self, product: Label) -> float:
        """The product's mean price, NaN where it is not known."""
        row = self.rows.get(product)
        return float("nan") if row is None or self.prices is None else float(self.prices[row])

    def in_category(self, category: str) -> set[Label]:
        """The products with this value in any column of the attributes, whatever its case."""
        if self.attributes is None:
            raise InputError(
                f"category {category!r} cannot be looked up: nothing but the labels of the products is known"
            )
        products = self.attributes.column("product").to_pylist()
        found: set[Label] = set()
        names: set[str] = set()
        for name in self.attributes.column_names:
            column = self.attributes.column(name)
            if name == "product" or not (pa.types.is_string(column.type) or pa.types.is_dictionary(column.type)):
                continue
            values = column.cast(pa.string())
            wanted = pc.equal(pc.utf8_lower(values), category.lower()).fill_null(False).to_pylist()
            found |= {product for product, here in zip(products, wanted, strict=True) if here}
            names |= set(pc.unique(values).to_pylist()) if not found else set()
        if not found:
            raise UnknownError(f"category {category!r} is not known here{nearest(category, names - {None})}")
        return found
