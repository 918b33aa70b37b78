"""Bundles: two to four products that belong together, of different families, and what they are worth.

Candidates are the observed pairs of complements, and the larger sets that grow from them. They are ranked by the
revenue to expect, or by the low end of the lift to expect, under a floor of expected baskets; each product is in few of
those chosen, so that a best seller does not fill the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from omba.baskets import Label
from omba.errors import SettingError
from omba.rules.between import EDGES
from omba.rules.candidates import Candidates
from omba.rules.filter import Filter
from omba.rules.grow import cliques, surest_directions
from omba.rules.lines import best_of_each, groups_of
from omba.rules.mining_input import MiningInput
from omba.rules.nearest import MIN_COUNT, cosines
from omba.rules.rule_relations import pair_relations
from omba.rules.rule_status import FEW
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.table import build_table
from omba.rules.worth import WORTH, spent

Order = Literal["revenue", "lift"]
ORDERS = {"revenue": "expected_revenue", "lift": "expected_lift_low"}
"""The column by which bundles are ranked."""
EACH = 20
"""Pairs of each product that are looked at closely."""
FLOOR = 10.0
"""Baskets expected with a bundle in the next period, at least."""
USES = 2
"""Bundles that a product is in, at most."""
LARGEST = 4


@dataclass(frozen=True)
class Bundle:
    """Products to sell together.

    Parameters
    ----------
    products
        What is in it, two to four products of different families.
    names
        What they are called beside their labels, None for those without a name.
    count
        Baskets with all of them so far.
    lift
        How many times more often than by chance the last was bought with the others.
    price
        What they bring in a basket together, prices times quantities; None where that is not known.
    expected_baskets
        Baskets with all of them in the next period, with both ends of the 90% interval.
    expected_revenue
        What they bring in then, with both ends; this is what goes together anyway, not what an offer adds.
    break_even
        The discount at which an offer brings in as much as without, for the extra uptake that was stated.
    season
        The months in which they are mostly sold together, "" for all year.
    """

    products: list[Label]
    names: list[str | None]
    count: int
    lift: float
    price: float | None
    expected_baskets: float | None
    expected_baskets_low: float | None
    expected_baskets_high: float | None
    expected_revenue: float | None
    expected_revenue_low: float | None
    expected_revenue_high: float | None
    break_even: float
    season: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def break_even(uptake: float, margin: float = 1.0) -> float:
    """The discount on a bundle at which so much extra uptake earns what it costs.

    All who take the bundle get the discount d, those who would have taken it anyway too. With the share `margin` of the
    price as profit and (1 + uptake) times as many takers, (1 + u)·(margin − d) = margin.

    >>> round(break_even(0.25), 3), round(break_even(0.25, margin=0.3), 3)
    (0.2, 0.06)
    """
    if uptake < 0 or not 0 < margin <= 1:
        raise SettingError(f"uptake={uptake} and margin={margin}: give an uptake of 0 or more and a margin up to 1")
    return margin * uptake / (1.0 + uptake)


def find_bundles(
    given: MiningInput,
    top: int = 20,
    by: Order = "revenue",
    floor: float = FLOOR,
    uptake: float = 0.2,
    margin: float = 1.0,
) -> list[Bundle]:
    """The `top` best bundles of a shop: by expected revenue (by lift where no prices are known), or by lift."""
    if top < 1 or floor < 0 or by not in ORDERS:
        raise SettingError(f"top={top}, by={by!r}, floor={floor}: give 1 or more, revenue or lift, and 0 or more")
    order: Order = "lift" if given.prices is None else by
    discount = break_even(uptake, margin)
    rules = candidate_rules(given, ORDERS[order], floor)
    rules = rules.take(np.array(choose([(*a, *c) for a, c in rules.sides], USES, top), np.int64))
    columns = {name: rules[name] for name in WORTH if name != "revenue"}
    return [
        Bundle(
            products=[*rule.antecedents, *rule.consequents],
            names=[rules.catalogue.name(label) for label in (*rule.antecedents, *rule.consequents)],
            count=rule.count,
            lift=rule.lift,
            price=as_known(price),
            break_even=discount,
            season=rules.seasons[place],
            **{name: as_known(column[place]) for name, column in columns.items()},
        )
        for place, (rule, price) in enumerate(zip(rules, spent(rules).tolist(), strict=True))
    ]


def candidate_rules(given: MiningInput, column: str, floor: float) -> Rules:
    """Pairs and larger sets that may be bundles, best first by a column.

    Of each product only the best pairs are looked at closely, so that one that goes with everything does not push out
    all others.
    """
    scope, hashing = Scope.of(given, Filter(families="between"), MIN_COUNT), given.choose()
    left, right, count = given.observed(FEW)
    cosine = cosines(np.ascontiguousarray(given.vectors, np.float32), left, right)
    pairs = Candidates.of_pairs(given, scope, left, right, cosine, count)
    pairs = pairs.take(np.flatnonzero(pairs.values(given, "expected_baskets") >= floor))
    pairs = pairs.best(given, column, len(pairs))
    among = best_of_each(pairs.antecedents[:, 0], pairs.consequent, EACH)
    rules = build_table(given, [pairs.take(among)], hashing, column, adjust=False)
    kept = np.flatnonzero(is_bundle(rules))
    if not len(kept):
        return rules.take(kept)
    rows = given.catalogue.rows
    sold = {frozenset((rows[a[0]], rows[c[0]])) for a, c in rules.take(kept).sides}
    chosen = [
        place
        for place in among.tolist()
        if frozenset((int(pairs.antecedents[place, 0]), int(pairs.consequent[place]))) in sold
    ]
    edges = pairs.take(np.array(chosen[:EDGES], np.int64))
    larger = []
    for sets in cliques(edges.antecedents[:, 0], edges.consequent, LARGEST):
        count = given.evidence.itemsets(sets)
        often = count >= FEW
        if often.any():
            larger.append(surest_directions(given, sets[often], count[often]))
    rules = build_table(given, [pairs.take(np.array(chosen, np.int64)), *larger], hashing, column, adjust=False)
    return rules.take(np.flatnonzero(is_bundle(rules) & (rules["expected_baskets"] >= floor)))


def is_bundle(rules: Rules) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which rules are of complements alone, each of another family: all pairs of a set, not only those of its sides."""
    families = rules.catalogue.families
    apart = np.ones(len(rules), bool)
    if families is not None:
        apart = np.array([len(set(each)) == len(each) for each in groups_of(rules, families)], bool)
    return apart & pair_relations(rules, "complement")


def choose(sets: Sequence[tuple[Label, ...]], uses: int, most: int) -> list[int]:
    """The places of the first sets, best first, with no product in more than `uses` of them and no set twice.

    >>> choose([("a", "b"), ("b", "a"), ("a", "c"), ("a", "d"), ("d", "e")], uses=2, most=3)
    [0, 2, 4]
    """
    used: Counter[Label] = Counter()
    seen: set[frozenset[Label]] = set()
    places: list[int] = []
    for place, each in enumerate(sets):
        if frozenset(each) in seen or any(used[label] >= uses for label in each):
            continue
        seen.add(frozenset(each))
        used.update(each)
        places.append(place)
        if len(places) == most:
            break
    return places


def as_known(value: float) -> float | None:
    """A number, None where there is none."""
    return float(value) if np.isfinite(value) else None
