"""Table: candidates as a table of rules. Every table that was not read from a file is built here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Label
from omba.rules.candidates import Candidates
from omba.rules.hashing import Hashing
from omba.rules.late_columns import LateColumns
from omba.rules.measures import measure
from omba.rules.mining_input import MiningInput
from omba.rules.rule_columns import AT_LEAST
from omba.rules.rule_status import status
from omba.rules.rules import Rules

Longs = NDArray[np.int64]

DEFAULT_ORDER = "expected_lift_low"
"""The column rules are ranked by where there is a forecast and nothing else is asked for."""


def build_table(
    given: MiningInput,
    parts: Sequence[Candidates],
    hashing: Hashing,
    column: str = DEFAULT_ORDER,
    adjust: bool = True,
    most: int | None = None,
    only: Longs | None = None,
) -> Rules:
    """Candidates of all lengths as one table, best first by a column; only the first `most`, or the candidates at the
    places `only`, where that is given.

    `hashing` has its F and H chosen. P-values are adjusted for all the rules given here, not only for those that come
    out on top, unless `adjust` is false: of a few rules picked out, that would say nothing.
    """
    adjusted = None
    if adjust:
        count, n_a, consequent = gather(parts)
        adjusted = measure("p_adjusted", count, n_a, given.counts[consequent], given.n_baskets)
    if most is not None:
        only = best_places(given, parts, column, most)
    if only is not None:
        # What else a table has is worked out for those alone that are shown.
        only = np.sort(only)
        parts = take_places(parts, only)
        adjusted = None if adjusted is None else adjusted[only]
    count, n_a, consequent = gather(parts)
    columns = {
        name: np.concatenate([getattr(part, field) for part in parts])
        for name, field in (
            ("similarity", "similarity"),
            ("expected_lift", "expected"),
            ("expected_lift_low", "low"),
            ("expected_lift_high", "high"),
        )
    }
    columns["status"] = status(count, np.concatenate([part.seen for part in parts]))
    columns["probability"] = hashing.probability(columns["similarity"])
    columns["value"] = np.concatenate([part.value(given) for part in parts])
    columns[AT_LEAST] = np.concatenate(
        [
            part.seen & ~given.evidence.exact(np.column_stack([part.antecedents, part.consequent]))
            if len(part)
            else part.seen
            for part in parts
        ]
    )
    if adjusted is not None:
        columns["p_adjusted"] = adjusted
    labels = given.labels
    rules = Rules(
        antecedents=[side for part in parts for side in label_sides(part.antecedents, labels)],
        consequents=[(labels[row],) for row in consequent.tolist()],
        count=count,
        n_a=n_a,
        n_b=np.asarray(given.counts[consequent], np.int64),
        n=given.n_baskets,
        given=LateColumns(columns, {"collisions": _late_collisions(given, parts, hashing)}),
        catalogue=given.catalogue,
        explainer=given.explainer,
        hashing=hashing,
    )
    if column == "collisions" and hashing.ties:
        rules = rules.sort("similarity")
    return rules.sort(column)


def label_sides(rows: NDArray[np.integer], labels: Sequence[Label]) -> Iterator[tuple[Label, ...]]:
    """The labels of each line of rows."""
    return zip(*([labels[row] for row in column.tolist()] for column in rows.T), strict=True)


def _late_collisions(given: MiningInput, parts: Sequence[Candidates], hashing: Hashing) -> Callable[[], Longs]:
    """What counts the tables in which the two sides of each rule collide, by the vectors as they are now."""
    sets = [np.column_stack([part.antecedents, part.consequent]) for part in parts]
    used, places = np.unique(np.concatenate([rows.ravel() for rows in sets]), return_inverse=True)
    edges = np.cumsum([rows.size for rows in sets])[:-1]
    sets = [place.reshape(rows.shape) for place, rows in zip(np.split(places.ravel(), edges), sets, strict=True)]
    return partial(_count_collisions, hashing.take(used), given.vectors[used], sets)


def _count_collisions(hashing: Hashing, vectors: NDArray[np.floating], sets: Sequence[Longs]) -> Longs:
    return np.concatenate([hashing.collisions(vectors, rows[:, :-1], rows[:, -1]) for rows in sets])


def gather(parts: Sequence[Candidates]) -> tuple[Longs, Longs, Longs]:
    """Baskets with all of a rule, with its antecedents, and its consequent, of all candidates."""
    count, n_a, consequent = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("count", "n_a", "consequent")
    )
    return count, n_a, consequent


def best_places(given: MiningInput, parts: Sequence[Candidates], column: str, most: int | None = None) -> Longs:
    """The places of the `most` best by a column among the candidates of all parts, best first."""
    cost = np.concatenate([part.cost(given, column) for part in parts])
    return np.argsort(cost, kind="stable")[:most]


def take_places(parts: Sequence[Candidates], places: Longs) -> list[Candidates]:
    """The candidates at these places among those of all parts, which rise."""
    starts = np.append(0, np.cumsum([len(part) for part in parts]))
    edges = np.searchsorted(places, starts)
    return [part.take(places[edges[k] : edges[k + 1]] - starts[k]) for k, part in enumerate(parts)]
