"""Input: the forms in which people have baskets at hand, and how each becomes baskets that a model can learn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol, cast

from omba.baskets import Basket, Baskets, Every, Label


class Windowed(Protocol):
    """Anything that can be cut into windows: `Baskets`, or a stream of them."""

    def windows(self, every: str | int | Every = "1d") -> Iterator[Baskets]: ...


class Frame(Protocol):
    """A data frame of any library."""

    @property
    def columns(self) -> Any: ...


BasketsLike = Windowed | Frame | Iterable[Iterable[Label]] | Iterable[Basket] | str | Path


def as_windowed(given: BasketsLike) -> Windowed:
    """What can be cut into windows as it is, and all else as baskets."""
    return cast(Windowed, given) if callable(getattr(given, "windows", None)) else as_baskets(given)


def as_baskets(given: BasketsLike) -> Baskets:
    """Baskets as they are, and all else as `omba.read_baskets` reads it."""
    if isinstance(given, Baskets):
        return given
    from omba import sources  # here, so that a model that is given baskets need not load the readers

    return sources.as_baskets(given)
