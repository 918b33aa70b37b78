"""Pair columns: what is known of the products of pairs beyond their counts, by the rows of the products.

A table of rules looks its products up by their labels, one by one, since rules may have any number of them. A page has
some forty rules, all of them pairs, and would spend a tenth of its time on that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.rules import Rules
from omba.rules.rule_columns import RELATION, SEASON
from omba.rules.worth import WORTH, worth


def with_pair_columns(rules: Rules) -> Rules:
    """Rules of one product each side with the columns on their products worked out, as `Rules.column` has them."""
    catalogue = rules.catalogue
    rows = np.array([[catalogue.rows[a], catalogue.rows[c]] for (a,), (c,) in rules.sides], np.int64).reshape(-1, 2)
    found: dict[str, NDArray[Any]] = {"price": of_rows(catalogue.prices, rows[:, 1])}
    seasons = [""] * len(rows) if catalogue.seasons is None or not len(rows) else catalogue.seasons(rows)
    found[SEASON] = np.array(seasons, object)
    chance = rules.n_a.astype(np.float64) * rules.n_b / max(rules.n, 1)
    if catalogue.outlook is not None and len(rows):
        chance = chance * catalogue.outlook.chance(rows)
    spent = of_rows(catalogue.amounts, rows[:, 0]) + of_rows(catalogue.amounts, rows[:, 1])
    found |= {name: worth(name, rules.count, chance, rules.column, spent) for name in WORTH}
    if catalogue.relations is not None and len(rows):
        judged = catalogue.relations.judge(rows[:, 0], rows[:, 1])
        found |= zip(RELATION, (np.array(judged.names, object), judged.probability), strict=True)
    return replace(rules, given={**rules.given, **found})


def of_rows(values: NDArray[np.floating] | None, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """The values of some rows, NaN where none are known."""
    if values is None:
        return np.full(len(rows), np.nan)
    return np.asarray(np.where(rows < len(values), values[np.minimum(rows, len(values) - 1)], np.nan), np.float64)
