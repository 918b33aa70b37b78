"""Mine: association rules out of an embedding, each with its evidence (paper, section 4.3).

Candidates come from the vectors (LSH) and from the counts; counts prove them; the forecast, where there is one, ranks
them. What comes out is a table of rules P ⇒ p, single and multi-item, one direction each, none redundant.
"""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from omba.errors import SettingError, UnknownError, nearest
from omba.rules.candidates import Candidates, Tables, candidates, value
from omba.rules.filter import Filter
from omba.rules.grow import grow
from omba.rules.lsh import check, codes
from omba.rules.measures import MEASURES, measure
from omba.rules.nearest import MIN_COUNT
from omba.rules.rules import COLUMNS, Rules, status
from omba.rules.scope import Scope
from omba.rules.space import Space
from omba.rules.theory import p_omba

log = logging.getLogger("omba")

POOL, FAR = 1000, 30_000
"""Candidates from each source, at least; and so many of the nearest pairs are looked at where the forecast ranks unseen
ones, since it may speak for frequent products that are not among the very nearest: of 200 unseen pairs from the nearest
1,000, 2% then occurred, from 30,000, 25% (Complete Journey, product types)."""
FORECAST = ("expected_lift", "expected_lift_low", "expected_lift_high", "value")
EDGES = 1000
"""Best pairs from whose products larger sets grow."""
ROUNDS = 3
"""How often the pool is made eight times larger where a filter lets too few through."""


def mine(
    space: Space,
    top: int = 100,
    preset: str = "default",
    *,
    sort: str | None = None,
    where: Filter | None = None,
    antecedents: int = 2,
    min_count: int = MIN_COUNT,
    F: int | None = None,
    H: int | None = None,
    ties: bool = True,
    seed: int = 0,
) -> Rules:
    """The `top` best rules that `where` lets through, best first by `sort`.

    The order is by `expected_lift_low` where the space has a forecast, else by `similarity`; with `preset="paper"` by
    `collisions`, equal ones by cosine (unless `ties` is false). Rules have up to `antecedents` antecedents. Products
    met in fewer than `min_count` baskets are left out: their vectors have not learned anything yet.
    """
    if top < 1 or antecedents < 1:
        raise SettingError(f"top={top} rules of up to {antecedents} antecedents are none: give 1 or more of each")
    check(F, H, preset)
    column, where, tables = order(space, preset, sort), where or Filter(), Tables(preset, F or 0, H or 0, ties, seed)
    scope = Scope.of(space, where, min_count)
    pool = top if preset == "paper" and where == Filter() else max(POOL, top)
    for attempt in range(ROUNDS + 1):
        around = max(FAR, pool) if preset == "default" and far(column, where) else pool
        found, used = candidates(space, scope, column, min(around, scope.pairs), min(pool, scope.pairs), tables)
        larger = grow(space, found.best(space, column, EDGES), antecedents) if preset == "default" else []
        rules = table(space, [found, *larger], used, column).where(where)
        if len(rules) >= top or pool >= scope.pairs or attempt == ROUNDS:
            break
        pool = 8 * pool
    if len(rules) < top:
        where_from = "" if pool >= scope.pairs else f" among the {pool:,} best candidates"
        log.warning("%d rules were asked for, and there are %d%s", top, len(rules), where_from)
    return rules.head(top)


def far(column: str, where: Filter) -> bool:
    """Whether unseen pairs beyond the very nearest may be among the best.

    The low end of their interval is next to nothing, so by that column they come after whatever was seen.
    """
    return column in FORECAST and (where.status == "unseen" or column != "expected_lift_low")


def order(space: Space, preset: str, sort: str | None) -> str:
    """The column in which rules are ranked."""
    if sort is not None:
        if sort not in COLUMNS and sort not in MEASURES:
            raise UnknownError(f"rules cannot be sorted by {sort!r}{nearest(sort, (*COLUMNS, *MEASURES))}")
        return sort
    if preset == "paper":
        return "collisions"
    return "similarity" if space.expected is None else "expected_lift_low"


def table(space: Space, parts: list[Candidates], tables: Tables, column: str) -> Rules:
    """Candidates of all lengths as one table, best first by a column."""
    labels = space.labels
    consequent = np.concatenate([part.consequent for part in parts])
    count, n_a = (np.concatenate([getattr(part, name) for part in parts]) for name in ("count", "n_a"))
    given = {
        ours: np.concatenate([getattr(part, name) for part in parts])
        for ours, name in (
            ("similarity", "similarity"),
            ("expected_lift", "expected"),
            ("expected_lift_low", "low"),
            ("expected_lift_high", "high"),
        )
    }
    given["status"] = status(count, np.concatenate([part.seen for part in parts]))
    given["collisions"] = np.concatenate([collisions(space, part, tables) for part in parts])
    given["probability"] = p_omba(given["similarity"], tables.F, tables.H)
    given["value"] = np.concatenate([value(space, part) for part in parts])
    # Adjusted for all the rules looked at, not only for those that come out on top.
    given["p_adjusted"] = measure("p_adjusted", count, n_a, space.counts[consequent], space.n_baskets)
    rules = Rules(
        antecedents=[tuple(labels[row] for row in rows) for part in parts for rows in part.antecedents.tolist()],
        consequents=[(labels[row],) for row in consequent.tolist()],
        count=count,
        n_a=n_a,
        n_b=space.counts[consequent],
        n=space.n_baskets,
        given=given,
        catalogue=space.catalogue,
        explainer=space.explainer,
    )
    if column == "collisions" and tables.ties:
        rules = rules.sort("similarity")
    return rules.sort(column)


def collisions(space: Space, rules: Candidates, tables: Tables) -> NDArray[np.int64]:
    """Tables in which the consequent shares a bucket with every antecedent."""
    items = np.column_stack([rules.antecedents, rules.consequent])
    used, place = np.unique(items, return_inverse=True)
    code = codes(space.vectors[used], tables.F, tables.H, tables.seed)[place.reshape(items.shape)]
    return np.asarray((code[:, :-1] == code[:, -1:]).all(axis=1).sum(axis=1))
