"""Sources on the command line: a built-in data set by name, or files by path, whole or as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from omba.baskets import Baskets, Report
from omba.datasets import is_built_in, load
from omba.errors import InputError
from omba.sources import BasketStream, read_baskets, stream_baskets
from omba.terminal import say


@dataclass(frozen=True)
class ColumnOptions:
    """Columns named on the command line, by their roles; None is to be recognised, "" left out."""

    basket: str | None = None
    product: str | None = None
    user: str | None = None
    time: str | None = None
    price: str | None = None
    quantity: str | None = None
    store: str | None = None

    def named(self) -> dict[str, Any]:
        """The columns that were named."""
        return {role: name for role, name in asdict(self).items() if name is not None}


def read(source: str, columns: ColumnOptions) -> Baskets:
    """All baskets of a source, and a word on every row that was dropped or changed."""
    baskets = _load(source, columns) if is_built_in(source) else read_baskets(source, **columns.named())
    say_report(baskets.report)
    return baskets


@contextmanager
def open_source(source: str, columns: ColumnOptions, every: str) -> Iterator[Baskets | BasketStream]:
    """Something to take windows from: a built-in data set, or a stream of files that need not fit in memory."""
    if is_built_in(source):
        yield _load(source, columns)
    else:
        with stream_baskets(source, every, **columns.named()) as stream:
            yield stream


def say_report(report: Report) -> None:
    """Say what became of the rows; which columns were recognised has been said before."""
    for line in str(report).splitlines():
        if not line.startswith("recognised"):
            say(line, style="dim")


def _load(source: str, columns: ColumnOptions) -> Baskets:
    if columns.named():
        role, name = next(iter(columns.named().items()))
        raise InputError(f"--{role} {name!r} names a column, but {source!r} is built in and has its own: leave it out")
    return load(source)
