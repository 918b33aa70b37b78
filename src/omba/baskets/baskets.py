"""Baskets: who bought what, when and at what price, as columns (paper, section 3).

Basket `b` is the slice `offsets[b]:offsets[b + 1]` of `items`, a compressed sparse row over a growing
vocabulary. Slices share the vocabulary and the memory of the whole, so a window costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets.clock import Clock, Moment
from omba.baskets.long import long_table, show_html, write_long
from omba.baskets.reasons import NO_PRODUCT
from omba.baskets.row_report import Report
from omba.baskets.spelling import as_label
from omba.baskets.vocabulary import Label, Vocabulary
from omba.baskets.windows import Every, runs
from omba.errors import InputError, MissingExtraError


@dataclass(frozen=True)
class Basket:
    """One visit, in the labels the data gave.

    Parameters
    ----------
    id
        What the basket is called, or its number.
    products
        Each product once, in the order of the rows.
    user, store
        Who bought, and where; None where it is not known.
    time
        A datetime, or a day number on a clock of days, 0 or more.
    prices, quantities
        Of each product: the price of one piece, above 0 (NaN where it is not known), and the pieces.

    >>> Basket(7, ["pasta", "sauce"], user="u7").products
    ['pasta', 'sauce']
    """

    id: Label
    products: list[Label]
    user: Label | None = None
    time: datetime | int | None = None
    prices: list[float] | None = None
    quantities: list[float] | None = None
    store: Label | None = None


@dataclass(frozen=True, eq=False)
class Baskets:
    """A run of baskets in time order.

    Parameters
    ----------
    offsets
        Where each basket begins in `items`, and where the last one ends.
    items
        Product codes, each product once a basket.
    product_vocabulary, user_vocabulary, store_vocabulary
        The labels behind the codes.
    user_codes, store_codes
        The user and the store of each basket, −1 where there is none.
    times
        The clock's integers, ascending.
    prices, quantities
        Of each item: the price of one piece, NaN where it is not known, and the pieces.
    ids
        What the baskets are called; without it, their numbers.
    clock
        What `times` count.
    attributes
        A table with a column `product` and any of name, department, category, …
    votes
        How often each product has each value of an attribute, where rows differ.
    report
        What became of the rows.
    start, stop
        Set on windows: the span of time they stand for, from `start` to before `stop`, on the clock's integers.

    >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["pasta", "cheese", "sauce"]])
    >>> len(baskets), baskets.n_items, baskets.products
    (2, 5, ['pasta', 'sauce', 'cheese'])
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    product_vocabulary: Vocabulary
    user_vocabulary: Vocabulary = field(default_factory=Vocabulary)
    store_vocabulary: Vocabulary = field(default_factory=Vocabulary)
    user_codes: NDArray[np.int32] | None = None
    store_codes: NDArray[np.int32] | None = None
    times: NDArray[np.int64] | None = None
    prices: NDArray[np.float32] | None = None
    quantities: NDArray[np.float32] | None = None
    ids: pa.Array | None = None
    clock: Clock = Clock.NONE
    attributes: pa.Table | None = None
    """What is known of products: a table with a column `product` and any of name, department, category, …
    Where baskets were read whole, its rows are in the order of the vocabulary."""
    votes: pa.Table | None = None
    """How often each product has each value of an attribute (`omba.baskets.descriptions`)."""
    report: Report = field(default_factory=Report)
    start: int | None = None
    stop: int | None = None

    @classmethod
    def from_lists(
        cls, lists: Iterable[Iterable[Label]], vocabulary: Vocabulary | None = None, first: int = 0
    ) -> Baskets:
        """Baskets from plain lists of products, numbered from `first`; a product repeated in a list counts once.

        Parameters
        ----------
        lists
            A list of products for each basket; None and NaN are no products.
        vocabulary
            Products that have codes already; new ones are added to it.
        first
            The number of the first basket; 0 or more.

        >>> Baskets.from_lists([["pasta", "sauce", "pasta"], ["soap"]])
        Baskets(2 baskets, 3 items, 3 products)
        """
        vocabulary = Vocabulary() if vocabulary is None else vocabulary
        codes, ids, report = [np.empty(0, np.int32)], [], Report()
        for number, products in enumerate(lists, first):
            place = f"basket {number}"
            labels = [as_label(product, place) for product in _products(products, place)]
            known = [label for label in labels if label is not None]
            report.rows += len(labels)
            report.dropped[NO_PRODUCT] += len(labels) - len(known)
            if known:
                codes.append(vocabulary.add(dict.fromkeys(known)))
                report.merged += len(known) - len(codes[-1])
                ids.append(number)
        report.kept = sum(map(len, codes))
        offsets = np.cumsum([len(part) for part in codes], dtype=np.int64)
        return cls(offsets, np.concatenate(codes), vocabulary, ids=pa.array(ids, pa.int64()), report=report)

    @classmethod
    def concat(cls, parts: Sequence[Baskets]) -> Baskets:
        """Parts of one stream, which share their vocabularies, as one run of baskets.

        Parameters
        ----------
        parts
            One at least, in order of time.

        >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap"], ["pasta"]])
        >>> Baskets.concat(list(baskets.windows(2)))
        Baskets(3 baskets, 4 items, 3 products)
        """
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([part.sizes for part in parts])
        columns: dict[str, Any] = {name: _join([getattr(part, name) for part in parts]) for name in _COLUMNS}
        ids = None if parts[0].ids is None else pa.concat_arrays([part.ids for part in parts])
        return replace(parts[0], offsets=np.append(0, np.cumsum(sizes)), ids=ids, start=None, stop=None, **columns)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_items(self) -> int:
        """Products over all baskets."""
        return int(self.offsets[-1] - self.offsets[0])

    @cached_property
    def products(self) -> list[Label]:
        """The products that occur here, in the order they were first met."""
        return self.product_vocabulary.take(np.unique(self.items).tolist())

    @cached_property
    def users(self) -> list[Label]:
        """The users that occur here, in the order they were first met."""
        if self.user_codes is None:
            return []
        codes = np.unique(self.user_codes)
        return self.user_vocabulary.take(codes[codes >= 0].tolist())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Products in each basket."""
        return np.diff(self.offsets)

    def __getitem__(self, index: int) -> Basket:
        index = range(len(self))[index]
        part = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        user = -1 if self.user_codes is None else int(self.user_codes[index])
        store = -1 if self.store_codes is None else int(self.store_codes[index])
        return Basket(
            id=index if self.ids is None else self.ids[index].as_py(),
            products=self.product_vocabulary.take(self.items[part].tolist()),
            user=None if user < 0 else self.user_vocabulary[user],
            time=None if self.times is None else self.clock.show(int(self.times[index])),
            prices=None if self.prices is None else self.prices[part].tolist(),
            quantities=None if self.quantities is None else self.quantities[part].tolist(),
            store=None if store < 0 else self.store_vocabulary[store],
        )

    def __iter__(self) -> Iterator[Basket]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        users = f", {len(self.users):,} users" if self.user_codes is not None else ""
        return f"Baskets({len(self):,} baskets, {self.n_items:,} items, {len(self.products):,} products{users})"

    def slice(self, first: int, after: int, start: int | None = None, stop: int | None = None) -> Baskets:
        """Baskets `first` up to `after`, sharing memory with these.

        Parameters
        ----------
        first, after
            The first basket, and the one after the last; from 0 to the number of baskets.
        start, stop
            The span of time that they stand for, if they are a window: from `start` to before `stop`.

        >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap"], ["pasta"]])
        >>> baskets.slice(1, 3)
        Baskets(2 baskets, 2 items, 2 products)
        """
        part = slice(int(self.offsets[first]), int(self.offsets[after]))
        return replace(
            self,
            offsets=self.offsets[first : after + 1] - self.offsets[first],
            items=self.items[part],
            user_codes=None if self.user_codes is None else self.user_codes[first:after],
            store_codes=None if self.store_codes is None else self.store_codes[first:after],
            times=None if self.times is None else self.times[first:after],
            prices=None if self.prices is None else self.prices[part],
            quantities=None if self.quantities is None else self.quantities[part],
            ids=None if self.ids is None else self.ids[first:after],
            start=start,
            stop=stop,
        )

    def between(self, start: Moment | None = None, stop: Moment | None = None) -> Baskets:
        """The baskets from `start` on and before `stop`; None leaves an end open.

        Parameters
        ----------
        start, stop
            A date or time as text or as a `datetime`, or a day number on a clock of days.

        >>> import omba
        >>> shop = omba.datasets.synthetic(baskets=300, products=100, users=20, days=10).baskets
        >>> len(shop.between(None, shop[150].time)) <= 150
        True
        """
        if start is None and stop is None:
            return self
        first, after = 0, len(self)
        times = np.empty(0, np.int64) if self.times is None else self.times
        if start is not None:
            first = int(np.searchsorted(times, self.clock.read(start), "left"))
        if stop is not None:
            after = int(np.searchsorted(times, self.clock.read(stop), "left"))
        return self.slice(first, max(first, after))

    def windows(self, every: str | int | Every = "1d") -> Iterator[Baskets]:
        """The windows in time order; spans with no basket are passed over.

        Parameters
        ----------
        every
            How long a window is: "1d", "12h", "1w", "1mo", or a number of baskets; 1 or more baskets where it is a
            number.

        >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap"], ["pasta"]])
        >>> [len(window) for window in baskets.windows(2)]
        [2, 1]
        """
        span = Every.parse(every).on(self.clock)
        if span.unit == "baskets" or self.times is None:
            for first in range(0, len(self), span.count):
                yield self.slice(first, min(first + span.count, len(self)))
            return
        for key, first, after in runs(span.keys(self.times, self.clock)):
            yield self.slice(first, after, *span.bounds(key, self.clock))

    def to_arrow(self) -> pa.Table:
        """The baskets in long form, a row a product, under the names `read_baskets` knows; attributes ride along.

        >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap"], ["pasta"]])
        >>> baskets.to_arrow()["product"].to_pylist()
        ['pasta', 'sauce', 'soap', 'pasta']
        """
        return long_table(self)

    def to_pandas(self) -> Any:
        """The long form as a pandas DataFrame.

        >>> baskets = Baskets.from_lists([["pasta", "sauce"], ["soap"], ["pasta"]])
        >>> baskets.to_pandas().shape[0]
        4
        """
        try:
            return self.to_arrow().to_pandas()
        except ImportError:
            raise MissingExtraError("to_pandas needs pandas: install it with `pip install pandas`") from None

    def _repr_html_(self) -> str:
        return show_html(self)

    def write(self, path: str | Path) -> None:
        """Write the long form as CSV, TSV or Parquet; reading it back gives the same baskets.

        Parameters
        ----------
        path
            Where to; the suffix says what: .csv, .tsv or .parquet.

        >>> import tempfile, omba
        >>> path = tempfile.mkdtemp() + "/sales.csv"
        >>> Baskets.from_lists([["pasta", "sauce"], ["soap"]]).write(path)
        >>> omba.read_baskets(path)
        Baskets(2 baskets, 3 items, 3 products)
        """
        write_long(self, path)


def _products(products: object, place: str) -> Iterable[object]:
    if isinstance(products, str | bytes) or not isinstance(products, Iterable):
        raise InputError(
            f"{place} is {products!r}, not a list of products: give lists, as in [['pasta', 'sauce'], ['soap']]"
        )
    return products


_COLUMNS = ("items", "user_codes", "store_codes", "times", "prices", "quantities")


def _join(columns: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    kept = [column for column in columns if column is not None]
    return np.concatenate(kept) if kept else None
