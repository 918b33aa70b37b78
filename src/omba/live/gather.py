"""Gather: rows of a growing file, as they come, into whole baskets, and how far the file has been read with them.

The rows of a basket follow each other, so a basket is whole when another one begins. Without an id a basket is what a
user bought on one day, and all of a day's are whole when the next day begins. Everything before the row that begins
something new is then handed on, and reading goes on from that row after a restart.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from omba.baskets import Clock, Label
from omba.baskets import report as why
from omba.baskets.clock import MICROSECONDS
from omba.errors import InputError
from omba.live.records import Record, record, show_time
from omba.live.spelling import Spelling
from omba.sources.columns import Columns, recognise, resolve

log = logging.getLogger("omba")

LABELS = ("basket", "product", "user", "store")
FORGOTTEN = 10_000
"""Baskets after which one whose rows go on is not known any more."""


@dataclass
class Kinds:
    """What the first rows have settled: which columns hold whole numbers, and how times are written."""

    whole: list[str] = field(default_factory=list)
    time: str | None = None
    settled: bool = False

    def told(self) -> dict[str, Any]:
        return asdict(self)


class Gather:
    """Rows in, records of baskets out."""

    def __init__(
        self, title: str, given: Mapping[str, str | None], kinds: Mapping[str, Any], since: int | None
    ) -> None:
        self.title, self.given, self.kinds, self.since = title, dict(given), Kinds(**kinds), since
        self.columns: Columns | None = None
        self.nested = False
        self.counts: Counter[str] = Counter()
        """What became of rows and baskets that are not learned as they came."""
        self.refused = ""
        self.whole: list[Record] = []
        self.position: Any = None
        """Where the first row is that is not in a whole basket."""
        self._open: dict[Any, dict[str, Any]] = {}
        self._latest: Any = None
        self._lately: dict[Any, None] = {}
        self._described: set[Label] = set()

    @property
    def pending(self) -> bool:
        """Whether a basket waits for its end."""
        return bool(self._open)

    def add(self, rows: list[tuple[Any, Any, dict[str, Any]]], now: datetime) -> None:
        """Take in rows, each with the place it begins at and the one after it."""
        if not rows:
            return
        columns = self._resolve(rows[0][2])
        if not self.kinds.settled:
            self._settle([row for _, _, row in rows], columns)
        for begin, end, row in rows:
            if self.nested:
                self._finish(self._whole_basket(row, columns), now)
                self.position = end
            else:
                self._row(begin, row, columns, now)

    def flush(self, end: Any, now: datetime) -> None:
        """Take what waits for its end as whole: no row has come for a while."""
        for basket in self._open.values():
            self._finish(basket, now)
        self._lately |= dict.fromkeys(self._open)
        self._open = {}
        self.position = end

    def new_header(self) -> None:
        """Another file begins, whose columns may be in another order."""
        self.columns = None

    def _resolve(self, row: Mapping[str, Any]) -> Columns:
        if self.columns is None:
            names = [name for name in row if name]
            product = self.given.get("product") or recognise("product", names)
            self.nested = product is not None and isinstance(row.get(product), list)
            given = self.given
            if self.nested:
                known = recognise("basket", [name for name in names if name != product])
                # A basket that comes whole needs no id; the list itself then stands for the column.
                basket = given.get("basket") or known or ("id" if "id" in names else product)
                given = {**given, "product": product, "basket": basket}
            self.columns = resolve(given, None, names, self.title)
            if self.columns.recognised and not self.kinds.settled:
                log.info("%s: recognised %s", self.title, self.columns)
        return self.columns

    def _settle(self, rows: list[dict[str, Any]], columns: Columns) -> None:
        """Decide by the rows at hand; text that is a whole number in all of them is taken for one from now on."""
        for role in LABELS:
            values = [row.get(columns.roles[role]) for row in rows] if role in columns.roles else []
            texts = [value for value in values if isinstance(value, str) and value]
            if texts and all(_is_whole(text) for text in texts):
                self.kinds.whole.append(role)
        if "time" in columns.roles:
            times = [time for row in rows if (time := row.get(columns.roles["time"])) not in (None, "")]
            if times:
                self.kinds.time = Spelling.of(times, self.title).name
        self.kinds.settled = True

    def _row(self, begin: Any, row: Mapping[str, Any], columns: Columns, now: datetime) -> None:
        basket = self._basket(row, columns, now)
        if basket is None:
            return
        key, order = self._key(basket, columns)
        if self._open and (order > self._latest if "basket" not in columns.roles else key not in self._open):
            self.flush(begin, now)
        if not self._open:
            self.position = begin
        if key not in self._open:
            if key in self._lately:
                self.counts["a basket's rows did not follow each other: it was learned in parts"] += 1
            while len(self._lately) > FORGOTTEN:
                del self._lately[next(iter(self._lately))]
            self._latest = order if not self._open else max(self._latest, order)
            self._open[key] = basket
        else:
            held = self._open[key]
            held["products"] += basket["products"]
            for name, value in basket.items():
                held.setdefault(name, value)

    def _key(self, basket: Mapping[str, Any], columns: Columns) -> tuple[Any, Any]:
        """What tells a basket from others, and what must grow for the open ones to be whole."""
        if "basket" in columns.roles:
            return basket["id"], 0
        day = basket["tick"] if self._clock is Clock.DAY else basket["tick"] // MICROSECONDS["d"]
        return (basket["user"], day), day

    @property
    def _clock(self) -> Clock:
        return Spelling(self.kinds.time).clock if self.kinds.time else Clock.DATETIME

    def _basket(self, row: Mapping[str, Any], columns: Columns, now: datetime) -> dict[str, Any] | None:
        """The basket of a row with its product; None where the row is of no use, which is counted."""
        basket = self._visit(row, columns)
        product = self._label("product", row.get(columns.roles["product"]))
        if product is None:
            self.counts[f"dropped: {why.NO_PRODUCT}"] += 1
            return None
        if "basket" in columns.roles and "id" not in basket:
            self.counts[f"dropped: {why.NO_BASKET}"] += 1
            return None
        if "basket" not in columns.roles and "user" not in basket:
            self.counts[f"dropped: {why.NO_USER}"] += 1
            return None
        if "time" in columns.roles and "tick" not in basket:
            self.counts[f"dropped: {why.NO_TIME}"] += 1
            return None
        basket["products"] = [self._described_once(product, row, columns)]
        for role in ("price", "quantity"):
            if role in columns.roles:
                basket["products"][0][role] = self._number(role, row.get(columns.roles[role]))
        return basket

    def _visit(self, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        basket: dict[str, Any] = {}
        for role, name in (("basket", "id"), ("user", "user"), ("store", "store")):
            if role in columns.roles and (label := self._label(role, row.get(columns.roles[role]))) is not None:
                basket[name] = label
        if "time" in columns.roles and (time := row.get(columns.roles["time"])) not in (None, ""):
            if self.kinds.time is None:
                self.kinds.time = Spelling.of([time], self.title).name
            tick = Spelling(self.kinds.time).read(time)
            if tick is not None:
                basket["tick"] = tick
        return basket

    def _whole_basket(self, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """A row that is a basket, its products in a list."""
        listed = row.get(columns.roles["product"])
        basket = self._visit(row, columns)
        return {**basket, "products": listed if isinstance(listed, list) else [], "timed": "time" in columns.roles}

    def _finish(self, basket: dict[str, Any], now: datetime) -> None:
        tick, timed = basket.pop("tick", None), basket.pop("timed", False)
        if timed and tick is None:
            self.counts[f"dropped: {why.NO_TIME}"] += 1
            return
        if tick is not None:
            if self.since is not None and tick <= self.since:
                self.counts["the model knows them already"] += 1
                return
            basket["time"] = show_time(self._clock, tick)
        try:
            self.whole.append(record(basket, now))
        except InputError as error:
            self.refused = self.refused or f"baskets that cannot be used; the first: {error}"
            self.counts[self.refused] += 1

    def _described_once(self, product: Label, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """The product, with its attributes the first time it comes."""
        if not columns.attributes or product in self._described:
            return {"id": product}
        self._described.add(product)
        told = {name: row.get(column) for name, column in columns.attributes.items()}
        return {"id": product} | {name: value for name, value in told.items() if value not in (None, "")}

    def _label(self, role: str, value: Any) -> Label | None:
        if isinstance(value, str):
            return int(value) if role in self.kinds.whole and _is_whole(value) else value or None
        if isinstance(value, float) and value == round(value):
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def _number(self, role: str, value: Any) -> float | None:
        if value in (None, ""):
            return None
        try:
            return float(value)
        except (TypeError, ValueError):
            self.counts[f"{role} is no number: taken as not known"] += 1
            return None


def _is_whole(text: str) -> bool:
    """Whether a text is a whole number written as numbers are: '1201' is, '01201' is not."""
    return text.lstrip("-").isdecimal() and text.isascii() and str(int(text)) == text and abs(int(text)) < 2**63
