"""One-hot tables, as mlxtend takes them: a column a product, a row a basket, true or 1 where the basket holds it."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from omba.baskets import Label
from omba.sources.columns import recognise


def is_one_hot(table: Any) -> bool:
    """Whether a table holds nothing but zeros and ones, under names of which none is a column of products.

    Tables are data frames, dense or sparse, and the matrices of NumPy and SciPy, whose columns have no names.

    >>> is_one_hot(np.eye(2, dtype=bool)), is_one_hot(np.array([[4, 7]]))
    (True, False)
    """
    if hasattr(table, "tocsr"):
        return bool(np.isin(table.tocsr().data, (0, 1)).all())
    if isinstance(table, np.ndarray):
        return table.ndim == 2 and (table.dtype == bool or bool(np.isin(table, (0, 1)).all()))
    if not nw.dependencies.is_into_dataframe(table):
        return False
    columns = list(table.columns) if hasattr(table, "columns") else []
    if len(columns) < 2 or recognise("product", list(map(str, columns))) is not None:
        return False
    if is_sparse(table):
        return is_one_hot(table.sparse.to_coo())
    known = nw.from_native(table, eager_only=True)
    if all(kind == nw.Boolean for kind in known.schema.values()):
        return True
    if not all(kind == nw.Boolean or kind.is_numeric() for kind in known.schema.values()):
        return False
    return is_one_hot(known.to_numpy())


def is_sparse(table: Any) -> bool:
    """Whether a table is a pandas frame whose columns are all sparse."""
    return hasattr(table, "sparse") and all(hasattr(kind, "subtype") for kind in table.dtypes)


def read_one_hot(table: Any) -> list[list[Label]]:
    """The products of each row; those of a matrix are numbered.

    >>> read_one_hot(np.array([[1, 0, 1], [0, 1, 0]]))
    [[0, 2], [1]]
    """
    names: list[Label] = []
    if nw.dependencies.is_into_dataframe(table) and not isinstance(table, np.ndarray):
        names = list(table.columns)
        table = table.sparse.to_coo() if is_sparse(table) else nw.from_native(table, eager_only=True).to_numpy()
    if hasattr(table, "tocsr"):
        rows = table.tocsr()
        rows.eliminate_zeros()
        held = np.split(rows.indices, rows.indptr[1:-1])
    else:
        held = [np.flatnonzero(row) for row in table.astype(bool)]
    names = names or list(range(table.shape[1]))
    return [[names[column] for column in row] for row in held]
