"""Sources on the command line: a built-in data set by name, or files by path, whole or as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from omba.baskets import Baskets, Report
from omba.baskets.identity import Identity
from omba.datasets import is_built_in, load
from omba.errors import InputError
from omba.sources import BasketStream, read_baskets, stream_baskets
from omba.sources.columns import ROLES
from omba.terminal import say


@dataclass(frozen=True)
class ColumnOptions:
    """What the command line says of a source: columns by their roles (None is to be recognised, "" left out), the sheet
    of a workbook, and what is folded and left out."""

    basket: str | None = None
    product: str | None = None
    user: str | None = None
    time: str | None = None
    price: str | None = None
    quantity: str | None = None
    store: str | None = None
    sheet: str | None = None
    fold: str | None = None
    exclude: str | None = None

    def names(self) -> dict[str, Any]:
        """The columns that were named."""
        given = asdict(self)
        return {role: given[role] for role in ROLES if given[role] is not None}

    def cleaning(self) -> dict[str, Any]:
        """What else was said of the source: a sheet, what is folded and left out."""
        given = asdict(self)
        return {name: given[name] for name in ("sheet", "fold", "exclude") if given[name] is not None}

    def refuse_sheet(self, source: str) -> None:
        """Refuse a sheet where the source is no workbook by nature."""
        if self.sheet is not None:
            raise InputError(f"--sheet {self.sheet!r} is of a workbook, and {source!r} is none: leave it out")


def read(source: str, columns: ColumnOptions) -> Baskets:
    """All baskets of a source, and a word on every row that was dropped or changed."""
    baskets = (
        _load(source, columns) if is_built_in(source) else read_baskets(source, **columns.names(), **columns.cleaning())
    )
    say_report(baskets.report)
    return baskets


@contextmanager
def open_source(
    source: str, columns: ColumnOptions, every: str, known: Identity | None = None
) -> Iterator[Baskets | BasketStream]:
    """Something to take windows from: a built-in data set, or a stream of files that need not fit in memory.

    What a model has `known` to be folded or left out is so here too.
    """
    if is_built_in(source):
        yield _load(source, columns)
    else:
        with stream_baskets(source, every, **columns.names(), **columns.cleaning(), identity=known) as stream:
            yield stream


def say_report(report: Report) -> None:
    """Say what became of the rows; which columns were recognised has been said before."""
    for line in str(report).splitlines():
        if not line.startswith("recognised"):
            say(line, style="dim")


def _load(source: str, columns: ColumnOptions) -> Baskets:
    if columns.names():
        role, name = next(iter(columns.names().items()))
        raise InputError(f"--{role} {name!r} names a column, but {source!r} is built in and has its own: leave it out")
    return load(source)
