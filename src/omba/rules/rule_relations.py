"""Rule relations: what the products of a rule are to each other: of larger ones, what its weakest pair is."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from omba.assortment.relations import RELATIONS

if TYPE_CHECKING:
    from omba.rules.rules import Rules

COMPLEMENT = RELATIONS.index("complement")


def rule_relations(rules: Rules) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """The relation of each rule and its probability; None and NaN where relations are not known.

    Each antecedent stands to the consequents as it does; a rule is what the pair is that is least likely a complement.
    """
    relations, rows = rules.catalogue.relations, rules.catalogue.rows
    names, likely = np.full(len(rules), None, object), np.full(len(rules), np.nan)
    if relations is None or not len(rules):
        return names, likely
    known = len(relations.counts)
    pairs = [
        (place, rows[a], rows[c])
        for place, (left, right) in enumerate(rules.sides)
        for a in left
        for c in right
        if rows.get(a, known) < known and rows.get(c, known) < known
    ]
    if not pairs:
        return names, likely
    place, left, right = np.array(pairs, np.int64).T
    found = relations.judge(left, right)
    texts, probability = found.names, found.probability
    # The last one put in stays: the pair that is least likely a complement.
    for pair in np.argsort(-found.chances[:, COMPLEMENT], kind="stable").tolist():
        names[place[pair]], likely[place[pair]] = texts[pair], probability[pair]
    return names, likely


def pair_relations(rules: Rules, kind: str) -> NDArray[np.bool_]:
    """Which rules have all pairs of their products, those of one side too, in a relation."""
    relations, rows = rules.catalogue.relations, rules.catalogue.rows
    if relations is None or not len(rules):
        return np.zeros(len(rules), bool)
    pairs = [
        (place, rows[a], rows[b])
        for place, (left, right) in enumerate(rules.sides)
        for a, b in combinations((*left, *right), 2)
    ]
    place, left, right = np.array(pairs, np.int64).T
    other = relations.judge(left, right).kind != RELATIONS.index(kind)
    return np.asarray(np.bincount(place[other], minlength=len(rules)) == 0)
