"""A stream of baskets in time order, from a source of any size, cut into windows as it comes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Every, Label, Report, Vocabulary
from omba.baskets.alignment import align
from omba.baskets.identity import Identity
from omba.baskets.windows import runs
from omba.errors import InputError


class BasketStream(ABC):
    """Baskets that need not fit in memory, window by window.

    The windows share vocabularies that grow as the stream goes; since rows are read some at a time, a
    vocabulary may know a product a little before the window it is first bought in.

    Parameters
    ----------
    every
        How long a window is, unless `windows` is told otherwise.
    """

    clock = Clock.NONE
    attributes: pa.Table | None = None
    votes: pa.Table | None = None
    identity = Identity()
    """What was folded and left out."""
    total: int | None = None
    """Baskets in all, where that is known before they are read."""

    def __init__(self, every: str | int | Every = "1d") -> None:
        self.every = every
        self.report = Report()
        self.product_vocabulary = Vocabulary()
        self.user_vocabulary = Vocabulary()
        self.store_vocabulary = Vocabulary()

    @abstractmethod
    def chunks(self) -> Iterator[Baskets]:
        """The baskets in time order, some at a time; at least one chunk, which may be empty."""

    def read(self) -> Baskets:
        """All baskets at once."""
        baskets = Baskets.concat(list(self.chunks()))
        if baskets.attributes is None:
            return baskets
        return replace(baskets, attributes=align(baskets.attributes, baskets.product_vocabulary))

    def windows(self, every: str | int | Every | None = None) -> Iterator[Baskets]:
        """The windows in time order; spans with no basket are passed over."""
        span = Every.parse(self.every if every is None else every).on(self.clock)
        held: list[Baskets] = []
        held_key = 0
        for chunk, keys in self._chunks_and_keys(span):
            for key, first, after in runs(keys):
                if held and key != held_key:
                    yield _window(held, held_key, span)
                    held = []
                held.append(chunk.slice(first, after))
                held_key = key
        if held:
            yield _window(held, held_key, span)

    def _chunks_and_keys(self, span: Every) -> Iterator[tuple[Baskets, NDArray[np.int64]]]:
        seen = 0
        for chunk in self.chunks():
            if span.unit == "baskets" or chunk.times is None:
                yield chunk, np.arange(seen, seen + len(chunk)) // span.count
            else:
                yield chunk, span.keys(chunk.times, self.clock)
            seen += len(chunk)

    def __iter__(self) -> Iterator[Baskets]:
        return self.windows()

    def close(self) -> None:  # noqa: B027 - a stream of lists has nothing to let go of
        """Let go of files and scratch space."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ListStream(BasketStream):
    """A stream from an iterable of lists of products, in the order they come.

    Parameters
    ----------
    lists
        The baskets.
    every
        How many of them make a window.
    """

    chunk = 10_000

    def __init__(self, lists: Iterable[Iterable[Label]], every: str | int | Every = "1d") -> None:
        super().__init__(every)
        self.lists = lists

    def chunks(self) -> Iterator[Baskets]:
        self.report = Report()
        lists, count = iter(self.lists), 0
        while some := list(islice(lists, self.chunk)):
            chunk = Baskets.from_lists(some, self.product_vocabulary, count)
            self.report.add(chunk.report)
            yield replace(chunk, report=self.report)
            count += len(some)
        if not count:
            raise InputError("there is no list to read: give at least a basket, as in [['pasta', 'sauce']]")


def _window(parts: list[Baskets], key: int, span: Every) -> Baskets:
    whole = Baskets.concat(parts)
    bounds = (None, None) if span.unit == "baskets" else span.bounds(key, whole.clock)
    return whole.slice(0, len(whole), *bounds)
