"""Records: a basket as it comes, checked and filled in, and as it stands in the journal, a line of JSON.

A basket is `{"id", "user", "time", "store", "products": [{"id", "price", "quantity"}]}`; only products with their id
are needed. A time is kept as UTC without a zone, or as a whole number of days where the stream counts days. One without
a time gets the time it came in, so that reading the journal again gives the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from omba.baskets import Clock
from omba.baskets.iso import EPOCH, ticks
from omba.baskets.spelling import as_label
from omba.baskets.time_spelling import read_time
from omba.errors import InputError
from omba.store.ids import key

AHEAD = timedelta(days=1)
"""How far a basket may be ahead of the clock on the wall. One of 2099 would make all that follow come late."""

MOST = sys.float_info.max
"""Prices and quantities beyond it are not finite, and so not known."""

_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True)
class Record:
    """A basket ready for the journal.

    Parameters
    ----------
    line
        The basket as it will stand there.
    key
        The key of its id, by which it is known again; 0 without an id.
    clock, tick
        Its time.
    """

    line: bytes
    key: int
    clock: Clock
    tick: int


def record(basket: Mapping[str, Any], now: datetime) -> Record:
    """Check a basket; `now` is the time in UTC, without a zone."""
    name = basket.get("id")
    shown = "a basket without an id" if name is None else f"basket {name!r}"
    clock, tick = check_time(basket.get("time"), now, shown)
    products = [_product(product, shown) for product in _products(basket, shown)]
    kept: dict[str, Any] = {"time": show_time(clock, tick), "products": products}
    for field in ("id", "user", "store"):
        if (label := as_label(basket.get(field), shown, field)) is not None:
            kept[field] = label
    return Record(line(kept), key(kept.get("id")), clock, tick)


def line(value: Mapping[str, Any]) -> bytes:
    """A value as it stands in the journal."""
    return _write(value).encode("utf-8", "surrogatepass")


def check_time(time: object, now: datetime, shown: str) -> tuple[Clock, int]:
    """A time as given, on its clock: ISO, or a number as in any other source; none is now.

    >>> check_time(12, datetime(2017, 1, 2), "it")
    (<Clock.DAY: 'day'>, 12)
    >>> check_time("1970-01-02T01:00+01:00", datetime(2017, 1, 2), "it")
    (<Clock.DATETIME: 'datetime'>, 86400000000)
    """
    if time is None:
        return Clock.DATETIME, ticks(now)
    try:
        clock, tick = read_time(time)
    except (ValueError, OverflowError):
        remedy = (
            "write it as '2017-10-01' or '2017-10-01T08:30Z'"
            if isinstance(time, str)
            else "give a date such as '2017-10-01T08:30Z', or a day's number"
        )
        raise InputError(f"{shown} has the time {time!r}: {remedy}") from None
    if clock is Clock.DATETIME and tick > ticks(now + AHEAD):
        raise InputError(
            f"{shown} is of {Clock.DATETIME.show(tick)}, more than a day after now ({now:%Y-%m-%d %H:%M} UTC): correct "
            "its time, or leave it out"
        )
    return clock, tick


def show_time(clock: Clock, tick: int) -> str | int:
    """A time as it stands in the journal."""
    return tick if clock is Clock.DAY else (EPOCH + timedelta(microseconds=tick)).isoformat()


def tick_of(time: str | int) -> int:
    """The reverse of `show_time`."""
    if isinstance(time, int):
        return time
    return ticks(datetime.fromisoformat(time))


def utc_now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _products(basket: Mapping[str, Any], shown: str) -> list[Any]:
    products = basket.get("products")
    if not isinstance(products, list | tuple) or not products:
        raise InputError(f"{shown} has no products: give a list of them, as in [{{'id': 'pasta'}}]")
    return list(products)


def _product(product: Any, shown: str) -> dict[str, Any]:
    """The product with the fields that are known; beyond price and quantity they are attributes."""
    given = product if type(product) is dict or isinstance(product, Mapping) else {"id": product}
    label = as_label(given.get("id"), shown)
    if label is None:
        raise InputError(f"{shown} has a product without an id: give each one an 'id'")
    kept: dict[str, Any] = {"id": label}
    for field, value in given.items():
        if field == "id" or value is None or value != value:
            continue
        if field in ("price", "quantity"):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise InputError(f"{shown} has the {field} {value!r} for product {label!r}: give a number")
            if not abs(value) <= MOST:
                continue
        kept[field] = value
    return kept
