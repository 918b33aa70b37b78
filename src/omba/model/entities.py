"""Entities: the products and users a model has met: their rows, names and vectors, and what is near them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.baskets.identity import Identity
from omba.baskets.names import NAME, ProductNames, is_code
from omba.errors import InputError, UnknownError, nearest
from omba.model.evidence import Evidence
from omba.model.row_index import RowIndex
from omba.model.seasons import Seasons
from omba.model.space import Space

log = logging.getLogger("omba")


class Entities:
    """Who and what a model knows, by label, name and row."""

    spaces: list[Space]
    product_rows: RowIndex
    user_rows: RowIndex
    evidence: Evidence
    seasons: Seasons
    attributes: pa.Table | None
    identity: Identity
    _notes: set[str]
    _names: tuple[pa.Table | None, ProductNames] | None

    @property
    def products(self) -> list[Label]:
        """Every product met so far, in the order of the rows."""
        return list(self.product_rows.vocabulary)

    @property
    def users(self) -> list[Label]:
        """Every user met so far."""
        return list(self.user_rows.vocabulary)

    @property
    def product_vectors(self) -> NDArray[np.float32]:
        """One row a product."""
        return self.spaces[0].products.vectors

    @property
    def user_vectors(self) -> NDArray[np.float32]:
        """One row a user."""
        return self.spaces[0].users.vectors

    @property
    def product_counts(self) -> NDArray[np.int64]:
        """In how many baskets each product was."""
        return self.spaces[0].counts

    @property
    def n_baskets(self) -> int:
        """Baskets learned so far."""
        return self.evidence.n_baskets

    def row(self, product: Label) -> int:
        """The row of a product by its label, its name or a part of it; an unknown one is an error that suggests the
        nearest names, and one that may mean several an error that lists them.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.products[model.row("pasta")]
        'pasta'
        """
        row = self.product_rows.row(product)
        if row < 0:
            row = self.product_names.row(product)
        if row < 0:
            if not self.product_rows.vocabulary:
                raise UnknownError("the model has not learned any baskets yet: call fit or partial_fit first")
            near = nearest(product, self.product_rows.vocabulary)
            raise UnknownError(f"product {product!r} is not known to the model{near}")
        return row

    @property
    def product_names(self) -> ProductNames:
        """What products are called beside their labels, to be found by it."""
        vocabulary, attributes = self.product_rows.vocabulary, self.attributes
        if self._names is None or self._names[0] is not attributes or len(self._names[1].labels) != len(vocabulary):
            names: list[str | None] = [None] * len(vocabulary)
            if attributes is not None and NAME in attributes.column_names:
                rows = [self.product_rows.row(label) for label in attributes["product"].to_pylist()]
                for row, name in zip(rows, attributes[NAME].to_pylist(), strict=True):
                    if row >= 0:
                        names[row] = name
            self._names = attributes, ProductNames(list(vocabulary), names, self.product_counts)
        return self._names[1]

    def _row_in_basket(self, product: Label) -> int:
        """The row of a product of a basket by its label or its name, −1 where it is not known.

        A till writes codes, and one that is not known is no part of a name.
        """
        row = self.product_rows.row(product)
        if row >= 0 or is_code(product) or self.identity.product(product) is None:
            return row
        return self.product_names.row(product)

    def vector(self, product: Label) -> NDArray[np.float32]:
        """The vector of a product.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.vector("pasta").shape
        (16,)
        """
        return np.array(self.product_vectors[self.row(product)])

    def season(self, product: Label) -> str:
        """When in the year a product is mostly sold, such as "Nov–Dec"; "" where there is no such time or none to tell
        by yet.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> model.season("pasta")
        ''
        """
        return self.seasons.of([[self.row(product)]])[0]

    def similar(self, product: Label, n: int = 10) -> list[tuple[Label, float]]:
        """The nearest products by cosine; those met only once, whose vectors are still noise, are left out.

        Parameters
        ----------
        product
            Its label, its name or a part of its name.
        n
            How many, at most; 0 or more.

        >>> from omba import OMBA
        >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
        >>> [product for product, _ in model.similar("pasta", n=1)]
        ['sauce']
        """
        row, vectors = self.row(product), self.product_vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) + 1e-12
        cosine = (vectors @ vectors[row]) / (lengths * lengths[row])
        return self._best(cosine, np.array([row]), n)

    def _find_user(self, user: Label | None) -> int:
        """The row of a user, −1 for none and for one who is not known."""
        row = -1 if user is None else self.user_rows.row(user)
        if user is not None and row < 0:
            self._warn_once(f"user {user!r} is not known to the model: scored without one")
        return row

    def _find_known(self, products: Iterable[Label]) -> NDArray[np.int32]:
        """The rows of those products that the model knows, each once."""
        if isinstance(products, str | bytes):
            raise InputError(f"the basket is the text {products!r}: give a list of products, as in [{products!r}]")
        found = {name: self._row_in_basket(name) for name in products}
        unknown = [name for name, row in found.items() if row < 0]
        if unknown:
            self._warn_once(f"not known to the model and left out: {', '.join(map(repr, unknown[:5]))}")
        return np.array(list(dict.fromkeys(row for row in found.values() if row >= 0)), np.int32)

    def _best(
        self, scores: NDArray[np.float32], without: NDArray[np.integer[Any]], n: int
    ) -> list[tuple[Label, float]]:
        scores = np.where(self.product_counts > 1, scores, -np.inf)
        scores[without] = -np.inf
        n = min(n, int(np.isfinite(scores).sum()))
        top = np.argpartition(-scores, max(n - 1, 0))[:n] if n else np.empty(0, np.int64)
        top = top[np.argsort(-scores[top], kind="stable")]
        return [(self.product_rows.vocabulary[row], float(scores[row])) for row in top.tolist()]

    def _warn_once(self, note: str) -> None:
        if note not in self._notes:
            self._notes.add(note)
            log.warning(note)
