"""Reading baskets: whole, or as a stream of windows, from whatever holds them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

import narwhals as nw

from omba.baskets import Basket, Baskets, Every
from omba.baskets.gathering import gather
from omba.baskets.identity import Identity
from omba.errors import InputError
from omba.sources.basket_lines import looks_like_lines
from omba.sources.cleaning import Cleaning
from omba.sources.columns import ROLES, recognise, resolve
from omba.sources.delimited import read_header
from omba.sources.engine import Engine
from omba.sources.files import Form, find_files, find_format
from omba.sources.formats import BASKETS, EXCEL, TEXT
from omba.sources.frames import FrameSource, is_frame
from omba.sources.nested import Nested
from omba.sources.one_hot import is_one_hot, read_one_hot
from omba.sources.sorting import SortedStream
from omba.sources.source import Source
from omba.sources.stream import BasketStream, ListStream

log = logging.getLogger("omba")


class ReadOptions(TypedDict, total=False):
    """What `read_baskets` can be told about a source, by name."""

    basket: str | None
    product: str | None
    user: str | None
    time: str | None
    price: str | None
    quantity: str | None
    store: str | None
    attributes: Sequence[str] | None
    form: Form | None
    sheet: str | int | None
    fold: Mapping[str, str] | str | Path | None
    exclude: Sequence[str] | str | Path | None
    identity: Identity | None


class FurtherOptions(TypedDict, total=False):
    """Those of them that say how a file is laid out, and what of it is folded and left out."""

    form: Form | None
    sheet: str | int | None
    fold: Mapping[str, str] | str | Path | None
    exclude: Sequence[str] | str | Path | None
    identity: Identity | None


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
    **options: Unpack[FurtherOptions],
) -> Baskets:
    """Read baskets from files, a data frame or lists, in time order.

    `source` is a path or a glob (CSV, TSV, Parquet, JSON lines, each also compressed; arules' basket form; the
    integer lines of FIMI and SPMF), a pandas or polars data frame, an Arrow table, a frame of one-hot columns, or an
    iterable of lists of products. The other arguments name its columns. A column that is not named is recognised by a
    common name, if it has one, and "" leaves it out. Without a basket column a basket is what a user bought on one day.
    `attributes` are columns that describe products.

    Further options by name: `form`, whether a line of text holds a product ("rows") or a basket ("baskets"), where
    that is not plain; `sheet` of a workbook, by name or number; `fold`, a mapping of codes that are one product,
    a CSV file of two columns, or "auto" for those that differ by case, spaces or leading zeros alone; `exclude`,
    patterns of what is no product, or "auto"; `identity`, that of a model, for its own folds and exclusions.

    Parameters
    ----------
    source
        A path, a glob, a frame, a table or lists.
    basket, product, user, time, price, quantity, store
        The columns that hold them.
    attributes
        Columns that describe products: names, categories, brands.
    options
        `form`, `sheet`, `fold`, `exclude` and `identity`.

    >>> baskets = read_baskets([["pasta", "sauce"], ["pasta", "soap"]])
    >>> baskets[1].products
    ['pasta', 'soap']
    """
    names = (basket, product, user, time, price, quantity, store)
    given = dict(zip(ROLES, names, strict=True))
    asked: ReadOptions = {"attributes": attributes}
    asked.update(options)  # type: ignore[typeddict-item]
    with open_stream(source, given, asked, "1d", bounded=False) as stream:
        return stream.read()


def as_baskets(source: Any) -> Baskets:
    """Baskets in whatever form they are at hand: `Baskets`, a list of `Basket`, or what `read_baskets` takes.

    >>> as_baskets([["pasta", "sauce"], {"soap": 2}])[1].products
    ['soap']
    """
    if isinstance(source, Baskets):
        return source
    if isinstance(source, Sequence) and len(source) and all(isinstance(each, Basket) for each in source):
        return gather(source)
    return read_baskets(source)


def stream_baskets(source: Any, every: str | int | Every = "1d", **options: Unpack[ReadOptions]) -> BasketStream:
    """A stream of the same baskets, window by window, for sources larger than memory.

    The options are those of `read_baskets`: the names of columns, `attributes` and `form`.

    Parameters
    ----------
    source
        As in `read_baskets`; files may be larger than memory.
    every
        How long a window is: "1d", "12h", "1w", or a number of baskets; 1 or more baskets where it is a number.
    options
        Those of `read_baskets`.

    >>> stream = stream_baskets([["pasta", "sauce"], ["pasta", "soap"], ["soap"]], every=2)
    >>> [len(window) for window in stream.windows()]
    [2, 1]
    """
    given = {role: options.get(role) for role in ROLES}
    return open_stream(source, given, options, every, bounded=True)


def open_stream(
    source: Any, given: Mapping[str, Any], options: ReadOptions, every: str | int | Every, bounded: bool
) -> BasketStream:
    """The stream of a source whose columns are `given` by role."""
    unknown = options.keys() - ReadOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"there is no option {min(unknown)!r}: there are {', '.join(ReadOptions.__annotations__)}")
    if not any(given.values()) and is_one_hot(source):
        return ListStream(read_one_hot(source), every)
    if nw.dependencies.is_into_series(source):
        source = source.to_list()
    if not isinstance(source, str | Path) and not is_frame(source):
        if not isinstance(source, Iterable):
            raise InputError(f"{source!r} holds no baskets: give a path, a data frame, or lists of products")
        return ListStream(source, every)
    engine = Engine(bounded)
    try:
        files = isinstance(source, str | Path)
        found: Source = _open_files(source, given, options, engine) if files else FrameSource(source)
        found, given = _unnest(found, given, engine)
        columns = resolve(given, options.get("attributes"), list(found.columns), found.title)
        for name in [name for name, column in columns.attributes.items() if is_nested(found.columns[column])]:
            # Products are described by words and numbers; what is more than one says nothing of a category.
            found.notes.append(f"column {columns.attributes.pop(name)!r} holds lists or structures, and is left out")
        if columns.recognised:
            found.notes.insert(0, f"recognised {columns}")
            log.info("%s: recognised %s", found.title, columns)
        cleaning = Cleaning(options.get("fold"), options.get("exclude"), options.get("identity") or Identity())
        return SortedStream(engine, found, columns, every, cleaning)
    except BaseException:
        engine.close()
        raise


def is_nested(kind: str) -> bool:
    """Whether values of a type of DuckDB hold several.

    >>> [is_nested(kind) for kind in ("VARCHAR[]", "MAP(VARCHAR, BIGINT)", "VARCHAR")]
    [True, True, False]
    """
    return kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))


def _open_files(source: str | Path, given: Mapping[str, str | None], options: ReadOptions, engine: Engine) -> Source:
    form, sheet = options.get("form"), options.get("sheet")
    paths = find_files(source)
    formats = {find_format(path) for path in paths}
    if len(formats) > 1:
        names = ", ".join(sorted(one.name for one in formats))
        raise InputError(f"{str(source)!r} matches files of different kinds ({names}): read each apart")
    only = formats.pop()
    if only is EXCEL:
        from omba.sources.excel import Excel

        return Excel(paths, engine, sheet)
    if sheet is not None:
        raise InputError(f"sheet {sheet!r} is of a workbook, and {str(source)!r} is none: leave it out")
    if only in (TEXT, BASKETS):
        if form is None and not any(given.values()):
            unknown = only is TEXT and recognise("product", read_header(paths[0])[1]) is None
            form = "baskets" if only is BASKETS or (unknown and looks_like_lines(paths[0])) else "rows"
        only = BASKETS if form == "baskets" else TEXT
    return only.load_reader()(paths, engine)


def _unnest(source: Source, given: Mapping[str, str | None], engine: Engine) -> tuple[Source, Mapping[str, str | None]]:
    """The source with a row a product, where its products are in lists."""
    name = given["product"] or recognise("product", list(source.columns))
    if name is None or not source.columns.get(name, "").endswith("]"):
        return source, given
    nested = Nested(source, name, engine)
    return nested, nested.with_basket(given, name)
