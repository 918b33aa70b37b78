"""Reading baskets: whole, or as a stream of windows, from whatever holds them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from omba.baskets import Baskets, Every
from omba.errors import InputError
from omba.sources.columns import recognise, resolve
from omba.sources.delimited import Delimited, header
from omba.sources.engine import Engine
from omba.sources.files import Form, find, kind
from omba.sources.frames import Frame, is_frame
from omba.sources.jsonlines import JsonLines
from omba.sources.lines import Lines, looks_like_lines
from omba.sources.nested import Nested
from omba.sources.parquet import Parquet
from omba.sources.sorting import SortedStream
from omba.sources.source import Source
from omba.sources.stream import BasketStream, ListStream

log = logging.getLogger("omba")


def read_baskets(
    source: Any,
    basket: str | None = None,
    product: str | None = None,
    user: str | None = None,
    time: str | None = None,
    price: str | None = None,
    quantity: str | None = None,
    store: str | None = None,
    *,
    attributes: Sequence[str] | None = None,
    form: Form | None = None,
) -> Baskets:
    """Read baskets from files, a data frame or lists, in time order.

    `source` is a path or a glob (CSV, TSV, Parquet, JSON lines, each also compressed; arules' basket form; the
    integer lines of FIMI and SPMF), a pandas or polars data frame, an Arrow table, or an iterable of lists of
    products. The other arguments name its columns. A column that is not named is recognised by a common name,
    if it has one, and "" leaves it out. Without a basket column a basket is what a user bought on one day.
    `attributes` are columns that describe products. `form` says whether a line of text holds a product
    ("rows") or a basket ("baskets") where that is not plain.

    >>> baskets = read_baskets([["pasta", "sauce"], ["pasta", "soap"]])
    >>> baskets[1].products
    ['pasta', 'soap']
    """
    given = _given(basket, product, user, time, price, quantity, store)
    with _stream(source, given, attributes, form, "1d", bounded=False) as stream:
        return stream.read()


def stream_baskets(
    source: Any,
    every: str | int | Every = "1d",
    basket: str | None = None,
    product: str | None = None,
    user: str | None = None,
    time: str | None = None,
    price: str | None = None,
    quantity: str | None = None,
    store: str | None = None,
    *,
    attributes: Sequence[str] | None = None,
    form: Form | None = None,
) -> BasketStream:
    """A stream of the same baskets, window by window, for sources larger than memory.

    >>> stream = stream_baskets([["pasta", "sauce"], ["pasta", "soap"], ["soap"]], every=2)
    >>> [len(window) for window in stream.windows()]
    [2, 1]
    """
    given = _given(basket, product, user, time, price, quantity, store)
    return _stream(source, given, attributes, form, every, bounded=True)


def _given(*names: str | None) -> dict[str, str | None]:
    return dict(zip(("basket", "product", "user", "time", "price", "quantity", "store"), names, strict=True))


def _stream(
    source: Any,
    given: dict[str, str | None],
    attributes: Sequence[str] | None,
    form: Form | None,
    every: str | int | Every,
    bounded: bool,
) -> BasketStream:
    if not isinstance(source, str | Path) and not is_frame(source):
        if not isinstance(source, Iterable):
            raise InputError(f"{source!r} holds no baskets: give a path, a data frame, or lists of products")
        return ListStream(source, every)
    engine = Engine(bounded)
    try:
        found = _open_files(source, given, form, engine) if isinstance(source, str | Path) else Frame(source)
        found, given = _unnested(found, given, engine)
        columns = resolve(given, attributes, list(found.columns), found.title)
        if columns.recognised:
            found.notes.insert(0, f"recognised {columns}")
            log.info("%s: recognised %s", found.title, columns)
        return SortedStream(engine, found, columns, every)
    except BaseException:
        engine.close()
        raise


def _open_files(source: str | Path, given: dict[str, str | None], form: Form | None, engine: Engine) -> Source:
    paths = find(source)
    kinds = {kind(path) for path in paths}
    if len(kinds) > 1:
        raise InputError(
            f"{str(source)!r} matches files of different kinds ({', '.join(sorted(kinds))}): read each apart"
        )
    only = kinds.pop()
    if only == "parquet":
        return Parquet(paths, engine)
    if only == "json":
        return JsonLines(paths, engine)
    if form is None and not any(given.values()):
        unknown = only == "text" and recognise("product", header(paths[0])[1]) is None
        form = "baskets" if only == "baskets" or (unknown and looks_like_lines(paths[0])) else "rows"
    return Lines(paths, engine) if form == "baskets" else Delimited(paths, engine)


def _unnested(source: Source, given: dict[str, str | None], engine: Engine) -> tuple[Source, dict[str, str | None]]:
    name = given["product"] or recognise("product", list(source.columns))
    if name is None or not source.columns.get(name, "").endswith("]"):
        return source, given
    nested = Nested(source, name, engine)
    return nested, nested.given(given, name)
