"""Records: a basket as it comes, checked and filled in, and as it stands in the journal, a line of JSON.

A basket is `{"id", "user", "time", "store", "products": [{"id", "price", "quantity"}]}`; only products with their id
are needed. A time is kept as UTC without a zone, or as a whole number of days where the stream counts days. One without
a time gets the time it came in, so that reading the journal again gives the same.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from omba.baskets import Clock, Label
from omba.baskets.clock import EPOCH
from omba.baskets.vocabulary import as_label
from omba.errors import InputError
from omba.store.ids import key

MOST_DAYS = 1_000_000
"""Whole numbers up to here are days; larger ones count seconds, or finer, since 1970."""
SCALES = ((10**11, 10**6), (10**14, 10**3), (10**17, 1))
"""(bound, microseconds in one): what a large number counts, told by its size."""
AHEAD = timedelta(days=1)
"""How far a basket may be ahead of the clock on the wall. One of 2099 would make all that follow come late."""

_write = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True)
class Record:
    """A basket ready for the journal: its line, the key of its id, and its time."""

    line: bytes
    key: int
    clock: Clock
    tick: int


def record(basket: Mapping[str, Any], now: datetime) -> Record:
    """Check a basket; `now` is the time in UTC, without a zone."""
    name = basket.get("id")
    shown = "a basket without an id" if name is None else f"basket {name!r}"
    clock, tick = read_time(basket.get("time"), now, shown)
    products = [_product(product, shown) for product in _products(basket, shown)]
    kept: dict[str, Any] = {"time": show_time(clock, tick), "products": products}
    for field in ("id", "user", "store"):
        if (label := as_label(basket.get(field), shown)) is not None:
            kept[field] = label
    return Record(line(kept), key(kept.get("id")), clock, tick)


def line(value: Mapping[str, Any]) -> bytes:
    """A value as it stands in the journal."""
    return _write(value).encode("utf-8", "surrogatepass")


def read_time(time: object, now: datetime, shown: str) -> tuple[Clock, int]:
    """A time as given, on its clock: a date and time, or a day's number; none is now.

    >>> read_time(12, datetime(2017, 1, 2), "it")
    (<Clock.DAY: 'day'>, 12)
    >>> read_time("1970-01-02T01:00+01:00", datetime(2017, 1, 2), "it")
    (<Clock.DATETIME: 'datetime'>, 86400000000)
    """
    if time is None:
        return Clock.DATETIME, ticks(now)
    if isinstance(time, int) and not isinstance(time, bool):
        if abs(time) <= MOST_DAYS:
            return Clock.DAY, time
        scale = next((scale for bound, scale in SCALES if 0 < time < bound), None)
        if scale is None:
            raise InputError(f"{shown} has the time {time}: give a date such as '2017-10-01T08:30Z', or a day's number")
        tick = time * scale
    elif isinstance(time, str | datetime):
        try:
            moment = datetime.fromisoformat(time) if isinstance(time, str) else time
        except ValueError:
            raise InputError(
                f"{shown} has the time {time!r}: write it as '2017-10-01' or '2017-10-01T08:30Z'"
            ) from None
        tick = ticks(moment)
    else:
        raise InputError(f"{shown} has the time {time!r}: give a date such as '2017-10-01T08:30Z', or a day's number")
    if tick > ticks(now + AHEAD):
        raise InputError(
            f"{shown} is of {Clock.DATETIME.show(tick)}, more than a day after now ({now:%Y-%m-%d %H:%M} UTC): correct "
            "its time, or leave it out"
        )
    return Clock.DATETIME, tick


def show_time(clock: Clock, tick: int) -> str | int:
    """A time as it stands in the journal."""
    return tick if clock is Clock.DAY else (EPOCH + timedelta(microseconds=tick)).isoformat()


def tick_of(time: str | int) -> int:
    """The reverse of `show_time`."""
    if isinstance(time, int):
        return time
    return ticks(datetime.fromisoformat(time))


def ticks(moment: datetime) -> int:
    """Microseconds since 1970, in UTC where the moment has a zone."""
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    since = moment - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def utc_now() -> datetime:
    return datetime.now(UTC).replace(tzinfo=None)


def _products(basket: Mapping[str, Any], shown: str) -> list[Any]:
    products = basket.get("products")
    if not isinstance(products, list | tuple) or not products:
        raise InputError(f"{shown} has no products: give a list of them, as in [{{'id': 'pasta'}}]")
    return list(products)


def _product(product: Any, shown: str) -> dict[str, Any]:
    """The product with the fields that are known; beyond price and quantity they are attributes."""
    given = product if isinstance(product, Mapping) else {"id": product}
    label: Label | None = as_label(given.get("id"), shown)
    if label is None:
        raise InputError(f"{shown} has a product without an id: give each one an 'id'")
    kept: dict[str, Any] = {"id": label}
    for field, value in given.items():
        if field == "id" or value is None or value != value:
            continue
        if field in ("price", "quantity") and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise InputError(f"{shown} has the {field} {value!r} for product {label!r}: give a number")
        kept[field] = value
    return kept
