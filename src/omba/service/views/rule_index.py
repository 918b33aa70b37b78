"""Rule index: a table of rules made ready to be asked: filtered, sorted, paged, and looked up by key or product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.rules import MEASURES, Rules
from omba.rules.rules import OURS, RISING
from omba.service.views.rule_key import key_of

FIELDS = {name.replace(" ", "_"): name for name in (*MEASURES, *OURS, "price") if name != "hyper_lift"}
"""What is told of each rule beside its products: the name in JSON, and the column. (A hyper-lift takes as long as all
the others together.)"""
NUMBERS = tuple(name for name in FIELDS if name != "status")
"""The fields that can be bounded."""
OF_TABLE = ("p_adjusted",)
"""Of no meaning but in the table that was mined, and not told of rules made on request."""
DEFAULT_SORT = "expected_lift_low"

Record = dict[str, Any]


@dataclass(frozen=True)
class RuleQuery:
    """What the rules of a page must fulfil, and their order; `sort` None keeps the order of the table, best first."""

    text: str = ""
    product: Label | None = None
    antecedent: Label | None = None
    consequent: Label | None = None
    members: frozenset[Label] | None = None
    status: str | None = None
    prices: tuple[float | None, float | None] = (None, None)
    lengths: tuple[int | None, int | None] = (None, None)
    bounds: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    sort: str | None = None
    order: str | None = None


class RuleIndex:
    """Rules, best first, with every field worked out once."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.without = [name for name in OF_TABLE if name not in rules.given]
        self.sides = list(rules.sides)

    def __len__(self) -> int:
        return len(self.sides)

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every field as a column."""
        rules, unknown = self.rules, np.full(len(self), np.nan)
        counts = (rules.count, rules.n_a, rules.n_b, np.full(len(self), rules.n))
        floats = [np.asarray(column, np.float64) for column in counts]
        found = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, column in FIELDS.items():
                if name in self.without:
                    found[name] = unknown
                elif name == "price":
                    found[name] = self._price()
                elif column in MEASURES and column not in rules.given:
                    # Straight from the counts: a table of a few rules would spend most of its time on ceremony.
                    found[name] = MEASURES[column].function(*floats)
                else:
                    found[name] = rules.column(column)
        return found

    def _price(self) -> NDArray[np.float64]:
        """What the consequents cost together."""
        price = self.rules.catalogue.price
        return np.array([sum(map(price, consequents)) for _, consequents in self.sides], np.float64)

    @cached_property
    def keys(self) -> list[str]:
        return [key_of(*sides) for sides in self.sides]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the rule of a key stands."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def of_product(self) -> dict[Label, list[int]]:
        """The places of the rules with a product on either side."""
        found: dict[Label, list[int]] = defaultdict(list)
        for place, (antecedents, consequents) in enumerate(self.sides):
            for label in (*antecedents, *consequents):
                found[label].append(place)
        return dict(found)

    @cached_property
    def _texts(self) -> list[str]:
        return ["\n".join(map(str, (*a, *c))).casefold() for a, c in self.sides]

    @cached_property
    def records(self) -> list[Record]:
        """Every rule as plain values; what is not known is None."""
        columns = {name: plain(column) for name, column in self.columns.items()}
        names = list(columns)
        return [
            {"key": key, "antecedents": list(a), "consequents": list(c), **dict(zip(names, row, strict=True))}
            for key, (a, c), row in zip(self.keys, self.sides, zip(*columns.values(), strict=True), strict=True)
        ]

    def take(self, places: Sequence[int]) -> list[Record]:
        return [self.records[place] for place in places]

    def ready(self) -> RuleIndex:
        """Work everything out now rather than at the first request."""
        _ = self.records, self.places, self.of_product, self._texts
        return self

    def find(self, wanted: RuleQuery) -> list[int]:
        """The places of the rules that fulfil everything, in the order asked for."""
        kept = np.ones(len(self), bool)
        for name, (least, most) in wanted.bounds.items():
            kept &= within(self.columns[name].astype(np.float64), least, most)
        kept &= within(self.rules.lengths, *wanted.lengths)
        if wanted.status is not None:
            kept &= self.columns["status"] == wanted.status
        for word in wanted.text.casefold().split():
            kept &= np.array([word in text for text in self._texts], bool)
        if wanted.product is not None:
            kept &= self._among(self.of_product.get(wanted.product, []))
        if wanted.antecedent is not None:
            kept &= np.array([wanted.antecedent in a for a, _ in self.sides], bool)
        if wanted.consequent is not None:
            kept &= np.array([wanted.consequent in c for _, c in self.sides], bool)
        if wanted.members is not None:
            kept &= np.array([not wanted.members.isdisjoint((*a, *c)) for a, c in self.sides], bool)
        if wanted.prices != (None, None):
            low, high = self._prices
            kept &= within(low, wanted.prices[0], None) & within(high, None, wanted.prices[1])
        return self._sorted(np.flatnonzero(kept), wanted.sort, wanted.order)

    def _among(self, places: Sequence[int]) -> NDArray[np.bool_]:
        kept = np.zeros(len(self), bool)
        kept[list(places)] = True
        return kept

    @cached_property
    def _prices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest price of each rule's products, NaN where one is not known."""
        price = self.rules.catalogue.price
        all_of = [[price(label) for label in (*a, *c)] for a, c in self.sides]
        # min and max of Python would pass NaN by; numpy's keep it, and NaN lies in no range.
        return (
            np.array([np.min(values) for values in all_of], np.float64),
            np.array([np.max(values) for values in all_of], np.float64),
        )

    def _sorted(self, places: NDArray[np.int64], sort: str | None, order: str | None) -> list[int]:
        """Best first, or as `order` says; what is not known comes last either way."""
        if sort is None:
            return listed(places[::-1] if order == "asc" else places)
        if sort in ("antecedents", "consequents", "status"):
            told: list[Any] = [str(self.records[place][sort]).casefold() for place in places.tolist()]
            found = sorted(range(len(told)), key=told.__getitem__, reverse=order == "desc")
            return listed(places[found])
        falling = order == "desc" if order else FIELDS[sort] not in RISING
        values = self.columns[sort][places].astype(np.float64)
        return listed(places[np.argsort(-values if falling else values, kind="stable")])


def listed(places: NDArray[np.int64]) -> list[int]:
    found: list[int] = places.tolist()
    return found


def within(values: NDArray[Any], least: float | None, most: float | None) -> NDArray[np.bool_]:
    kept = np.ones(len(values), bool)
    if least is not None:
        kept &= values >= least
    if most is not None:
        kept &= values <= most
    return kept


def plain(column: NDArray[Any]) -> list[Any]:
    """A column as values that JSON can hold: six digits, None for what is not known or not finite."""
    if column.dtype.kind != "f":
        return [None if value == -1 else value for value in column.tolist()]
    values = column.astype(np.float64)
    known = np.isfinite(values) & (values != 0)
    with np.errstate(all="ignore"):
        # Through whole numbers and powers of ten, so that what comes out is the double nearest to its six digits.
        power = 5 - np.floor(np.log10(np.abs(values)))
        whole, scale = np.rint(values * 10.0**power), 10.0 ** np.abs(power)
        short = np.where(known & (np.abs(power) < 290), np.where(power >= 0, whole / scale, whole * scale), values)
    out: list[Any] = short.tolist()
    return out if known.all() else [None if value - value != 0 else value for value in out]


def records_of(rules: Rules) -> list[Record]:
    """A few rules as plain values."""
    return RuleIndex(rules).records
