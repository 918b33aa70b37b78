"""One-hot frames, as mlxtend takes them: a column a product, a row a basket, true or 1 where the basket holds it."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from omba.baskets import Label
from omba.sources.columns import recognise


def is_one_hot(frame: Any) -> bool:
    """Whether a data frame holds nothing but zeros and ones, under names of which none is a column of products."""
    if not nw.dependencies.is_into_dataframe(frame):
        return False
    columns = list(frame.columns) if hasattr(frame, "columns") else []
    if len(columns) < 2 or recognise("product", list(map(str, columns))) is not None:
        return False
    known = nw.from_native(frame, eager_only=True)
    if all(kind == nw.Boolean for kind in known.schema.values()):
        return True
    if not all(kind == nw.Boolean or kind.is_numeric() for kind in known.schema.values()):
        return False
    values = known.to_numpy()
    return bool(np.isin(values, (0, 1)).all())


def read_one_hot(frame: Any) -> list[list[Label]]:
    """The products of each row."""
    known = nw.from_native(frame, eager_only=True)
    names, held = list(known.columns), known.to_numpy().astype(bool)
    return [[names[column] for column in np.flatnonzero(row)] for row in held]
