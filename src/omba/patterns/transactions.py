"""Transactions: any source of baskets as compressed rows of product numbers, the form in which sets are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Label
from omba.errors import InputError, UnknownError, nearest
from omba.patterns import kernels
from omba.sources import BasketStream, read_baskets
from omba.sources.frames import is_frame
from omba.sources.reading import ReadOptions

Longs = NDArray[np.int64]
Codes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Transactions:
    """Baskets as rows of product numbers.

    Parameters
    ----------
    offsets
        Where the products of each basket begin, and where the last one ends.
    items
        The number of each product, each once a basket.
    labels
        What each number is called.
    one_hot
        Whether they came from a pandas frame with a column a product, whose sets mlxtend tells by numbers of columns.

    >>> found = Transactions.of([["tea", "milk"], ["tea"]])
    >>> len(found), found.counts.tolist(), found.names([0])
    (2, [2, 1], ['tea'])
    """

    offsets: Longs
    items: Codes
    labels: Sequence[Any]
    one_hot: bool = False

    @classmethod
    def of(cls, source: Any, **options: Unpack[ReadOptions]) -> Transactions:
        """The baskets of anything: `Baskets`, a stream, lists, files, one-hot tables (pandas, polars, SciPy, NumPy).

        A table is one-hot if it holds nothing but true and false, or 0 and 1; any other is read as `read_baskets` does.
        """
        if isinstance(source, Transactions):
            return source
        if isinstance(source, BasketStream):
            source = source.read()
        elif hasattr(source, "tocsr"):
            matrix = source.tocsr().astype(bool)
            matrix.eliminate_zeros()
            return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), range(matrix.shape[1]))
        elif isinstance(source, np.ndarray) and source.ndim == 2:
            return cls.of_table(_truth(source, "the array"), range(source.shape[1]))
        elif is_frame(source):
            found = one_hot(source)
            if found is not None:
                return found
        baskets = source if isinstance(source, Baskets) else read_baskets(source, **options)
        return cls(baskets.offsets, baskets.items, baskets.product_vocabulary)

    @classmethod
    def of_table(cls, values: NDArray[np.bool_], labels: Sequence[Any], one_hot: bool = False) -> Transactions:
        """The baskets of a table of truth values, a row a basket."""
        turned = values.flags.f_contiguous and not values.flags.c_contiguous
        table = np.ascontiguousarray(values.T if turned else values).view(np.uint8)
        offsets, columns = np.zeros(len(table) + 1, np.int64), np.empty(int(np.count_nonzero(table)), np.int32)
        kernels.ones_of_dense(table, offsets, columns)
        if turned:
            starts, rows = offsets, columns
            offsets, columns = np.empty(len(values) + 1, np.int64), np.empty(len(rows), np.int32)
            kernels.transpose(starts, rows, offsets, columns)
        return cls(offsets, columns, labels, one_hot)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def counts(self) -> Longs:
        """Baskets with each product."""
        return np.bincount(self.items, minlength=len(self.labels))

    def names(self, numbers: Sequence[int]) -> list[Label]:
        """What products are called."""
        return [self.labels[number] for number in numbers]

    def find(self, labels: Sequence[Any]) -> list[int]:
        """The numbers of products."""
        numbers = {label: number for number, label in enumerate(self.labels)}
        for label in labels:
            if label not in numbers:
                raise UnknownError(f"product {label!r} is in no basket{nearest(label, numbers)}")
        return [numbers[label] for label in labels]

    def that_hold(self, numbers: Sequence[int]) -> Transactions:
        """The baskets that hold all of these products, without them."""
        asked = np.isin(self.items, numbers)
        rows = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        full = np.bincount(rows[asked], minlength=len(self)) == len(numbers)
        kept = full[rows] & ~asked
        offsets = np.append(0, np.cumsum(np.bincount(rows[kept], minlength=len(self))[full]))
        return Transactions(offsets.astype(np.int64), self.items[kept], self.labels, self.one_hot)

    def without(self, numbers: Sequence[int]) -> Transactions:
        """The same baskets without these products."""
        kept = ~np.isin(self.items, numbers)
        totals = np.append(0, np.cumsum(kept))
        return Transactions(totals[self.offsets], self.items[kept], self.labels, self.one_hot)


def one_hot(frame: Any) -> Transactions | None:
    """A frame with a column a product as transactions; None where it is none."""
    if hasattr(frame, "sparse") and all(hasattr(kind, "subtype") for kind in frame.dtypes):
        matrix = frame.sparse.to_coo().tocsr()
        found = Transactions.of(matrix)
        return Transactions(found.offsets, found.items, list(frame.columns), one_hot=True)
    try:
        table = nw.from_native(frame)
    except (TypeError, nw.exceptions.NarwhalsError):
        return None
    if isinstance(table, nw.LazyFrame):
        kinds = list(table.collect_schema().values())
        if not kinds or not all(kind == nw.Boolean for kind in kinds):
            return None
        table = table.collect()
    kinds = table.schema.dtypes()
    if not kinds or not all(kind == nw.Boolean or kind.is_numeric() for kind in kinds):
        return None
    native = hasattr(frame, "iloc")
    values = frame.to_numpy() if native else table.to_numpy()
    if values.dtype != bool:
        if not np.isin(values, (0, 1)).all():
            return None
        values = values.astype(bool)
    return Transactions.of_table(values, list(frame.columns) if native else table.columns, one_hot=native)


def _truth(values: NDArray[Any], what: str) -> NDArray[np.bool_]:
    """A table of truth values; anything but 0 and 1 is refused."""
    if values.dtype != bool:
        wrong = ~np.isin(values, (0, 1))
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise InputError(
                f"{what} holds {values[row, column]!r} in row {row}, column {column}: a one-hot table has 0 and 1 alone"
            )
        values = values.astype(bool)
    return values
