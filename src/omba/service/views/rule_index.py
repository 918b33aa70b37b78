"""Rule index: a table of rules made ready to be asked: every column worked out once, looked up by key or product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.rules import MEASURES, Filter, Rules
from omba.rules.rule_columns import OURS, RELATION, SEASON
from omba.rules.table import DEFAULT_ORDER
from omba.rules.worth import WORTH
from omba.service.views.rule_key import key_of

COLUMNS = (*MEASURES, *OURS, "price", *WORTH, *RELATION, SEASON)
FIELDS = {name.replace(" ", "_"): name for name in COLUMNS if name != "hyper_lift"}
"""What an answer has of each rule beside its products: the name in JSON, and the column. (A hyper-lift takes as long as
all the others together.)"""
NUMBERS = tuple(name for name in FIELDS if name not in ("status", "relation", SEASON))
"""The fields that can be bounded."""
OF_TABLE = ("p_adjusted",)
"""Of no meaning but in the table that was mined, and left out of rules made on request."""
DEFAULT_SORT = DEFAULT_ORDER

Record = dict[str, Any]


class RuleIndex:
    """Rules, best first, with every field worked out once.

    Parameters
    ----------
    rules
        The table.
    """

    def __init__(self, rules: Rules) -> None:
        self.table = rules
        self.sides = list(rules.sides)

    def __len__(self) -> int:
        return len(self.sides)

    @cached_property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Every field as a column."""
        rules = self.table
        counts = (rules.count, rules.n_a, rules.n_b, np.full(len(self), rules.n))
        floats = [np.asarray(column, np.float64) for column in counts]
        found: dict[str, NDArray[Any]] = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, column in FIELDS.items():
                if column in OF_TABLE and column not in rules.given:
                    found[name] = np.full(len(self), np.nan)
                elif column in MEASURES and column not in rules.given:
                    # Straight from the counts: a table of a few rules would spend most of its time on ceremony.
                    found[name] = MEASURES[column].function(*floats)
                else:
                    found[name] = rules.column(column)
        return found

    @cached_property
    def rules(self) -> Rules:
        """The table with every field among its columns, so that no filter and no order has to work one out."""
        return replace(
            self.table, given={**self.table.given, **{FIELDS[name]: column for name, column in self.columns.items()}}
        )

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
    def records(self) -> list[Record]:
        """Every rule as plain values; what is not known is None."""
        columns = plain_columns(self.columns)
        names = list(columns)
        return [
            {"key": key, **self._products(a, c), "count_at_least": bound, **dict(zip(names, row, strict=True))}
            for key, (a, c), bound, row in zip(
                self.keys, self.sides, self.table.at_least.tolist(), zip(*columns.values(), strict=True), strict=True
            )
        ]

    def _products(self, antecedents: Sequence[Label], consequents: Sequence[Label]) -> Record:
        """The products of both sides, and their names where products have some."""
        catalogue = self.table.catalogue
        return {
            "antecedents": list(antecedents),
            "consequents": list(consequents),
            "antecedent_names": [catalogue.name(label) for label in antecedents] if catalogue.named else None,
            "consequent_names": [catalogue.name(label) for label in consequents] if catalogue.named else None,
        }

    def take(self, places: Sequence[int]) -> list[Record]:
        return [self.records[place] for place in places]

    def ready(self) -> RuleIndex:
        """Work everything out now rather than at the first request."""
        _ = self.records, self.places, self.of_product, self.rules.texts
        return self

    def find(self, where: Filter, sort: str | None = None, order: str | None = None) -> list[int]:
        """The places of the rules that fulfil a filter, best first by `sort` or in the `order` given; without `sort`
        in the order of the table."""
        fulfils = where.keep(self.rules)
        if sort is not None:
            places = self.rules.ranking(FIELDS.get(sort, sort), order)
            found: list[int] = places[fulfils[places]].tolist()
            return found
        found = np.flatnonzero(fulfils).tolist()
        return found[::-1] if order == "asc" else found


def plain_columns(columns: dict[str, NDArray[Any]]) -> dict[str, list[Any]]:
    """Columns as values that JSON can hold: numbers of six digits, None for what is not known or not finite."""
    numbers = [name for name, column in columns.items() if column.dtype.kind == "f"]
    # All at once: of a few rules each step costs the same for one column as for forty.
    rounded = dict(zip(numbers, shorten(np.array([columns[name] for name in numbers], np.float64)), strict=True))
    return {
        name: rounded[name] if name in rounded else [None if value == -1 else value for value in column.tolist()]
        for name, column in columns.items()
    }


def shorten(values: NDArray[np.float64]) -> list[list[Any]]:
    """Lines of numbers in six digits, None for what is not finite."""
    known = np.isfinite(values) & (values != 0)
    with np.errstate(all="ignore"):
        # Through whole numbers and powers of ten, so that what comes out is the double nearest to its six digits.
        power = 5 - np.floor(np.log10(np.abs(values)))
        whole, scale = np.rint(values * 10.0**power), 10.0 ** np.abs(power)
        short = np.where(known & (np.abs(power) < 290), np.where(power >= 0, whole / scale, whole * scale), values)
    lines: list[list[Any]] = short.tolist()
    return [
        line if finite else [None if value - value != 0 else value for value in line]
        for line, finite in zip(lines, np.atleast_1d(np.isfinite(short).all(axis=-1)), strict=True)
    ]


def records_of(rules: Rules) -> list[Record]:
    """A few rules as plain values."""
    return RuleIndex(rules).records
