"""Gatherer: rows of a growing file, as they come, into whole baskets, and how far the file has been read with them.

The rows of a basket follow each other, so a basket is whole when another one begins. Without an id a basket is what a
user bought on one day, and all of a day's are whole when the next day begins. Everything before the row that begins
something new is then handed on, and reading goes on from that row after a restart.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from omba.baskets import Clock, Label
from omba.baskets.descriptions import is_nothing
from omba.baskets.reasons import NO_NUMBER, NO_TIME, RowRule, drop_reason, drop_rules
from omba.baskets.spelling import are_whole, as_label, as_number, as_whole, drop_fraction
from omba.baskets.time_spelling import TimeSpelling, is_missing
from omba.errors import InputError
from omba.live.records import Record, record, show_time
from omba.sources.columns import Columns, recognise, resolve

log = logging.getLogger("omba")

LABELS = ("basket", "product", "user", "store")
NUMBERS = ("price", "quantity")
VISIT = (("basket", "id"), ("user", "user"), ("store", "store"), ("time", "tick"))
"""The roles that tell of a basket, and what they are called there."""
FORGOTTEN = 10_000
"""Baskets after which one whose rows go on is not known any more."""


@dataclass
class ColumnTypes:
    """What the first rows have settled.

    Parameters
    ----------
    whole
        Roles whose texts are whole numbers.
    text
        Roles whose numbers are text, since they came mixed with text.
    time
        The name of the time spelling.
    settled
        Whether any rows have come.
    """

    whole: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    time: str | None = None
    settled: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As it is kept with the position in the file."""
        return asdict(self)


class Gatherer:
    """Rows in, records of baskets out, by the same rules as where a source is read whole.

    Parameters
    ----------
    title
        What to call the file in a sentence.
    given
        The columns that were named, by role.
    types
        What was settled when the file was read before; empty for a new one.
    since
        The last time the model knows: baskets up to it are passed over.
    """

    def __init__(
        self, title: str, given: Mapping[str, str | None], types: Mapping[str, Any], since: int | None
    ) -> None:
        self.title, self.given, self.types, self.since = title, dict(given), ColumnTypes(**types), since
        self.columns: Columns | None = None
        self.nested = False
        self.untyped = True
        self.counts: Counter[str] = Counter()
        """What became of rows and baskets that are not learned as they came."""
        self.refused = ""
        self.whole: list[Record] = []
        self.position: Any = None
        """Where the first row is that is not in a whole basket."""
        self._rules: list[RowRule] = []
        self._open: dict[Any, dict[str, Any]] = {}
        self._latest: Any = None
        self._lately: dict[Any, None] = {}
        self._described: dict[Label, dict[str, Any]] = {}

    @property
    def pending(self) -> bool:
        """Whether a basket waits for its end."""
        return bool(self._open)

    def add(self, rows: list[tuple[Any, Any, dict[str, Any]]], now: datetime) -> None:
        """Take in rows, each with the place it begins at and the one after it."""
        if not rows:
            return
        columns = self._resolve(rows[0][2])
        if not self.types.settled:
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

    def begin_file(self, untyped: bool) -> None:
        """Another file begins, whose columns may be in another order; in an untyped one all values are text."""
        self.columns, self.untyped = None, untyped

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
            self._rules = drop_rules(self.columns.roles)
            if self.columns.recognised and not self.types.settled:
                log.info("%s: recognised %s", self.title, self.columns)
        return self.columns

    def _settle(self, rows: list[dict[str, Any]], columns: Columns) -> None:
        """Decide by the rows at hand how labels and times are spelt from now on."""
        for role in LABELS:
            values = [row.get(columns.roles[role]) for row in rows] if role in columns.roles else []
            texts = [value for value in values if isinstance(value, str) and value]
            if self.untyped and are_whole(texts):
                self.types.whole.append(role)
            elif texts and not self.untyped:
                self.types.text.append(role)
        if "time" in columns.roles:
            times = [time for row in rows if not is_missing(time := row.get(columns.roles["time"]))]
            if times:
                self.types.time = TimeSpelling.of(times, self.title).name
        self.types.settled = True

    def _row(self, begin: Any, row: Mapping[str, Any], columns: Columns, now: datetime) -> None:
        basket = self._basket(row, columns)
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
        day = self._clock.day(basket["tick"])
        return (basket["user"], day), day

    @cached_property
    def _spelling(self) -> TimeSpelling:
        """How times are written, once that is settled."""
        assert self.types.time is not None
        return TimeSpelling(self.types.time)

    @property
    def _clock(self) -> Clock:
        return self._spelling.clock if self.types.time else Clock.DATETIME

    def _basket(self, row: Mapping[str, Any], columns: Columns) -> dict[str, Any] | None:
        """The basket of a row with its product; None where the row is dropped, which is counted."""
        values = self._values(row, columns)
        for role in NUMBERS:
            if role in columns.roles:
                values[role] = self._number(role, row.get(columns.roles[role]))
        if self._drops(values, self._rules):
            return None
        product = self._describe(values["product"], row, columns)
        for role in NUMBERS:
            if role in values:
                product[role] = values[role]
        basket = self._visit(values)
        basket["products"] = [product]
        return basket

    def _drops(self, values: Mapping[str, Any], rules: list[RowRule]) -> bool:
        reason = drop_reason(values, rules)
        if reason is not None:
            self.counts[f"dropped: {reason}"] += 1
        return reason is not None

    def _values(self, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """The labels of a row and the tick of its time, by role; None where there is none."""
        values: dict[str, Any] = {
            role: self._label(role, row.get(columns.roles[role])) for role in LABELS if role in columns.roles
        }
        if "time" in columns.roles:
            values["time"] = self._tick(row.get(columns.roles["time"]))
        return values

    def _tick(self, time: Any) -> int | None:
        if is_missing(time):
            return None
        if self.types.time is None:
            self.types.time = TimeSpelling.of([time], self.title).name
        return self._spelling.read(time)

    def _visit(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What a row tells of its basket."""
        return {name: values[role] for role, name in VISIT if values.get(role) is not None}

    def _whole_basket(self, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """A row that is a basket, its products in a list."""
        listed = row.get(columns.roles["product"])
        roles = {role: name for role, name in columns.roles.items() if role != "product"}
        values = self._values(row, Columns(roles))
        products = [self._listed_product(one) for one in (listed if isinstance(listed, list) else [])]
        return {
            **self._visit(values),
            "products": [product for product in products if product is not None],
            "timed": "time" in columns.roles,
        }

    def _listed_product(self, listed: Any) -> dict[str, Any] | None:
        """A product of a list, as a basket over HTTP has it; None where it is dropped, which is counted."""
        fields: dict[str, Any] = dict(listed) if isinstance(listed, Mapping) else {"id": listed}
        name = recognise("product", list(fields)) or "id"
        # Labels in a list are as given: what the first rows settle is for columns of rows.
        values: dict[str, Any] = {"product": self._label("listed", fields.pop(name, None))}
        for role in NUMBERS:
            if role in fields:
                values[role] = fields[role] = self._number(role, fields[role])
        return None if self._drops(values, drop_rules(values)) else {"id": values["product"], **fields}

    def _finish(self, basket: dict[str, Any], now: datetime) -> None:
        tick, timed = basket.pop("tick", None), basket.pop("timed", False)
        if timed and tick is None:
            self.counts[f"dropped: {NO_TIME}"] += 1
            return
        if not basket["products"]:
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

    def _describe(self, product: Label, row: Mapping[str, Any], columns: Columns) -> dict[str, Any]:
        """The product, with its attributes the first time it comes, and whenever they change."""
        values = {name: row.get(column) for name, column in columns.attributes.items()}
        said = {name: value for name, value in values.items() if value is not None and not is_nothing(value)}
        if not said or self._described.get(product) == said:
            return {"id": product}
        self._described[product] = said
        return {"id": product} | said

    def _label(self, role: str, value: Any) -> Label | None:
        """A value as a label; what is neither text nor a whole number is none, since a file goes on."""
        if isinstance(value, str):
            return None if not value else as_whole(value) if role in self.types.whole else drop_fraction(value)
        if role in self.types.text and isinstance(value, int | float) and value == value:
            return drop_fraction(json.dumps(value))
        try:
            return as_label(value, self.title, role)
        except InputError:
            return None

    def _number(self, role: str, value: Any) -> float | None:
        try:
            return as_number(value)
        except ValueError:
            self.counts[NO_NUMBER[role]] += 1
            return None
