"""Mine: association rules out of an embedding, each with its evidence (paper, section 4.3).

Candidates come from the vectors (LSH) and from the counts; counts prove them; the forecast, where there is one, ranks
them. What comes out is a table of rules P ⇒ p, single and multi-item, one direction each, none redundant.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Unpack, cast

import numpy as np

from omba.errors import SettingError, UnknownError, nearest
from omba.rules.between import EDGES, Asked, mine_lines
from omba.rules.candidates import Candidates, candidates
from omba.rules.filter import Filter
from omba.rules.grow import grow
from omba.rules.hashing import Hashing, HashingOptions
from omba.rules.lines import LINED, add_enough, by_hundreds, is_broad, lines_between, picked_by
from omba.rules.measures import MEASURES
from omba.rules.mining_input import POOL, MiningInput
from omba.rules.nearest import MIN_COUNT
from omba.rules.productive import FALSE
from omba.rules.rule_columns import COLUMNS, DERIVED, SPELLINGS
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.table import DEFAULT_ORDER, build_table

log = logging.getLogger("omba")

FAR = 30_000
"""So many of the nearest pairs are looked at where the forecast ranks unseen ones, since it may speak for frequent
products that are not among the very nearest: of 200 unseen pairs from the nearest 1,000, 2% then occurred, from 30,000,
25% (Complete Journey, product types)."""
FORECAST = ("expected_lift", "expected_lift_low", "expected_lift_high", "value")
ROUNDS = 3
"""How often the pool is made eight times larger where a filter lets too few through."""


class MiningOptions(HashingOptions, total=False):
    """What else mining can be told, by name: its hash tables, and how many rules of several products may be chance."""

    false_discovery: float


def mine(
    given: MiningInput,
    top: int = 100,
    preset: str = "default",
    *,
    sort: str | None = None,
    where: Filter | None = None,
    antecedents: int = 2,
    min_count: int = MIN_COUNT,
    **options: Unpack[MiningOptions],
) -> Rules:
    """The `top` best rules that `where` lets through, best first by `sort`.

    The order is by `expected_lift_low` where there is a forecast, else by `similarity`; with `preset="paper"` by
    `collisions`, equal ones by cosine (unless `ties` is false). Rules have up to `antecedents` antecedents. Products
    met in fewer than `min_count` baskets are left out: their vectors have not learned anything yet. Of the rules of
    several antecedents a share `false_discovery` is there by chance, at most (0.05; with 1 each is tested for itself).
    `F`, `H`, `ties` and `seed` are those of `Hashing`.
    """
    if top < 1 or antecedents < 1:
        raise SettingError(f"top={top} rules of up to {antecedents} antecedents are none: give 1 or more of each")
    false = options.pop("false_discovery", FALSE)
    tables = cast(HashingOptions, options)
    if not 0 < false <= 1:
        raise SettingError(f"false_discovery={false} is a share of the rules: give a number above 0 and up to 1")
    column, where, hashing = order(given, preset, sort), where or Filter(), Hashing(preset, **tables)
    shown, column = column, picked_by(column, where, given.catalogue)
    scope, chosen = Scope.of(given, where, min_count), given.choose(hashing)
    if not scope.pairs:
        # Nothing lies in the range of prices: no rules, as of any other filter that nothing passes.
        return build_table(given, [Candidates.none()], chosen)
    if where == Filter(families="between") and column in LINED and given.catalogue.families:
        nearest = FAR if far(column, where) else 0
        rules = mine_lines(given, scope, Asked(column, hashing, top, nearest, antecedents, false))
        return _shown(rules, top, shown, column)
    pool = top if preset == "paper" and where == Filter() else max(POOL, top)
    for attempt in range(ROUNDS + 1):
        around = max(FAR, pool) if preset == "default" and far(column, where) else pool
        found = candidates(given, scope, column, min(around, scope.pairs), min(pool, scope.pairs), hashing)
        larger = []
        if preset == "default" and antecedents > 1 and where.length != 2:
            edges = found
            if scope.bounds:
                # What is asked of a rule is not asked of the pairs in it: larger sets grow from all.
                free = replace(scope, bounds=())
                edges = candidates(given, free, column, min(around, scope.pairs), min(pool, scope.pairs), hashing)
            larger = grow(given, edges.best(given, column, EDGES), antecedents, false, pool)
            larger = [rules.best(given, column, pool) for rules in larger]
            if where.families == "between" and given.catalogue.families and is_broad(where):
                larger = [rules.take(np.flatnonzero(add_enough(given, rules))) for rules in larger]
        rules = build_table(given, [found, *larger], chosen, column).where(where)
        if where.families == "between":
            # Only the pool is sure to be the best there is: behind it stand pairs that were near by chance.
            rest = whole_or(pool, scope.pairs, attempt)
            rules = lines_between(rules if rest is None else rules.head(rest), where)
        if len(rules) >= top or whole_or(pool, scope.pairs, attempt) is None:
            break
        pool = 8 * pool
    return _shown(rules, top, shown, column, "" if pool >= scope.pairs else f" among the {pool:,} best candidates")


def _shown(rules: Rules, top: int, shown: str, column: str, among: str = "") -> Rules:
    """The first `top` of rules that were picked by a column, in the order in which they are shown; too few are told."""
    if len(rules) < top:
        log.warning("%d rules were asked for, and there are %d%s", top, len(rules), among)
    return (rules if shown == column else rules.take(by_hundreds(rules.ranking(shown)))).head(top)


def whole_or(pool: int, pairs: int, attempt: int) -> int | None:
    """How many of the candidates are sure to be the best there are; None where all that are found count."""
    return None if pool >= pairs or attempt == ROUNDS else pool


def far(column: str, where: Filter) -> bool:
    """Whether unseen pairs beyond the very nearest may be among the best.

    The low end of their interval is next to nothing, so by that column they come after whatever was seen.
    """
    return column in FORECAST and (where.status == "unseen" or column != "expected_lift_low")


def order(given: MiningInput, preset: str, sort: str | None) -> str:
    """The column in which rules are ranked."""
    if sort is not None:
        known = (*COLUMNS, *MEASURES, *DERIVED)
        sort = SPELLINGS.get(sort, sort)
        if sort not in known:
            raise UnknownError(f"rules cannot be sorted by {sort!r}{nearest(sort, known)}")
        return sort
    if preset == "paper":
        return "collisions"
    return "similarity" if given.forecast is None else DEFAULT_ORDER
