"""Rule columns: what the columns of a table of rules are called, and how each is made from its counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from omba.baskets import Label
from omba.errors import UnknownError, nearest
from omba.rules.holding import HOLDS, LINE, line_order, rules_hold
from omba.rules.measures import MEASURES, MLXTEND, measure
from omba.rules.rule_status import status
from omba.rules.worth import WORTH, rule_worth

if TYPE_CHECKING:
    from omba.rules.rules import Rules

Items = tuple[Label, ...]
Column = NDArray[Any]

OURS = (
    "count", "similarity", "collisions", "probability", "status",
    "expected_lift", "expected_lift_low", "expected_lift_high", "value",
)  # fmt: skip
COLUMNS = ("antecedents", "consequents", *MLXTEND, *OURS)
"""The columns of a table, unless others are asked for; every other measure can be had by its name."""

NAMES = {"antecedent_names": "antecedents", "consequent_names": "consequents"}
"""Columns with the names of the products of each side, in tables whose products have names."""

AT_LEAST = "count_at_least"
"""A column that tells whether a count, and with it support, confidence and lift, is a lower bound: memory is bounded,
and what came together before it was watched, or was let go for a while, is not made up for."""

RISING = ("antecedents", "consequents", "fishers_p", "p_adjusted")
"""Columns in which the best come first when sorted upwards."""

RELATION = ("relation", "relation_probability")
"""What the products of a rule are to each other, and how likely, in tables of which that is known."""

SEASON = "season"
DERIVED = ("length", "price", SEASON, HOLDS, *WORTH)
"""Columns that say something of the products of a rule: how many there are, what the consequents cost together, when in
the year they are sold."""

FORECAST = ("expected_lift", "expected_lift_low", "expected_lift_high")
"""The lift to expect and both ends of its 90% interval."""

ATTRIBUTES = frozenset({*COLUMNS, *NAMES, *MEASURES, *DERIVED})
"""Columns that can be asked for as attributes."""

SPELLINGS = {name.replace(" ", "_"): name for name in MEASURES if " " in name}
"""Measures that mlxtend spells with a space go by their name with an underscore too."""


def rule_column(rules: Rules, name: str) -> Column:
    """A column by name: given, counted, derived from the counts, or what is known of the products."""
    name = SPELLINGS.get(name, name)
    if name in rules.given:
        return rules.given[name]
    if name in ("antecedents", "consequents"):
        return items_array(getattr(rules, name))
    if name in NAMES:
        return items_array([tuple(map(rules.catalogue.name, items)) for items in getattr(rules, NAMES[name])])
    if name in ("count", "n_a", "n_b"):
        return np.asarray(getattr(rules, name))
    if name in MEASURES:
        return measure(name, rules.count, rules.n_a, rules.n_b, rules.n)
    if name == "status":
        return status(rules.count)
    if name in WORTH:
        return rule_worth(rules, name)
    if name == HOLDS:
        return rules_hold(rules)
    if name == LINE:
        return line_order(rules_hold(rules), rules.column("expected_lift_low"))
    if name in RELATION:
        return rules.relations[RELATION.index(name)]
    if name == AT_LEAST:
        return np.zeros(len(rules), bool)
    if name == "collisions":
        return np.full(len(rules), -1, np.int64)
    if name == "length":
        return rules.lengths
    if name == "price":
        price = rules.catalogue.price
        return np.array([sum(map(price, consequents)) for consequents in rules.consequents], np.float64)
    if name == SEASON:
        return np.array(rules.seasons, object)
    if name in OURS:
        return np.full(len(rules), np.nan)
    known = (*COLUMNS, *NAMES, AT_LEAST, *MEASURES, *DERIVED)
    raise UnknownError(f"column {name!r} is not known{nearest(name, known)}")


def arrow_column(rules: Rules, name: str) -> pa.Array:
    """The same for Arrow: items are lists, what is not known is null."""
    values = rules.column(name)
    if name in ("antecedents", "consequents"):
        kinds = {type(label) for items in values for label in items}
        kind = pa.int64() if kinds == {int} else pa.string()
        cast = int if kind == pa.int64() else str
        return pa.array([[cast(label) for label in items] for items in values], pa.list_(kind))
    if name in NAMES:
        return pa.array([list(names) for names in values], pa.list_(pa.string()))
    if name == "collisions":
        return pa.array(values, pa.int64(), mask=np.asarray(values < 0))
    if name in ("status", "relation", SEASON):
        return pa.array(values.tolist(), pa.string())
    return pa.array(values, from_pandas=True)


def items_array(items: Sequence[Any]) -> Column:
    """A column of tuples or sets: numpy would take tuples of one length for a matrix."""
    out = np.empty(len(items), object)
    out[:] = items
    return out
