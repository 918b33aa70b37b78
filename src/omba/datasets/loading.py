"""Built-in data sets by the names they have on the command line."""

from __future__ import annotations

from collections.abc import Callable

from omba.baskets import Baskets, Label
from omba.datasets.complete_journey import LEVELS, complete_journey
from omba.datasets.instacart import instacart
from omba.datasets.next_basket_files import NextBasketFiles, next_basket
from omba.datasets.ta_feng import ta_feng
from omba.errors import InputError, nearest

BUILT_IN = ("complete-journey", *(f"complete-journey:{level}" for level in LEVELS), "ta-feng", "ta-feng:raw")
"""The names that stand for a data set; `instacart:FOLDER` and `next-basket:FOLDER` are too, for any folder."""


def is_built_in(name: str) -> bool:
    """Whether a name means a built-in data set, well spelt or not, rather than a file.

    >>> is_built_in("ta-feng:raw"), is_built_in("sales.csv")
    (True, False)
    """
    return name.split(":")[0] in _READERS


def load(name: str) -> Baskets:
    """The baskets of a built-in data set, such as `complete-journey:product_id`."""
    first, _, rest = name.partition(":")
    if first not in _READERS:
        raise InputError(f"{name!r} is no built-in data set: {_list_built_in()}{nearest(name, BUILT_IN)}")
    return _READERS[first](rest)


def _ta_feng(form: str) -> Baskets:
    if form not in ("", "raw"):
        raise InputError(f"'ta-feng:{form}' is no built-in data set: {_list_built_in()}; did you mean 'ta-feng:raw'?")
    return ta_feng(raw=form == "raw")


def _instacart(folder: str) -> Baskets:
    if not folder:
        raise InputError("'instacart' needs the folder of the Kaggle files: write instacart:FOLDER")
    return instacart(folder)


def _next_basket(folder: str) -> NextBasketFiles:
    if not folder:
        raise InputError("'next-basket' needs the folder of the history, future and keyset: write next-basket:FOLDER")
    return next_basket(folder)


def judged_users(name: str, part: str) -> tuple[Label, ...] | None:
    """The customers of `part` whose next basket a data set wants to be found; None where it does not say."""
    first, _, folder = name.partition(":")
    if first != "next-basket":
        return None
    files = _next_basket(folder)
    return files.validation if part == "validation" else files.test


def _list_built_in() -> str:
    return f"there are {', '.join(BUILT_IN)}, instacart:FOLDER, next-basket:FOLDER"


_READERS: dict[str, Callable[[str], Baskets]] = {
    "complete-journey": lambda level: complete_journey(level or "product_type"),
    "ta-feng": _ta_feng,
    "instacart": _instacart,
    "next-basket": lambda folder: _next_basket(folder).baskets,
}
