"""Between: the lines of a page of rules between families, mined round by round.

A family has one line in a list of everything, and the best sellers' families have most of the best pairs. So lines are
told in rounds: of the best candidates, those that are lines; then, of the best candidates among the products that may
still be in a line, those; and so on. That tells what one look at all candidates would, without looking at a thousand
for each line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from omba.rules.candidates import Candidates, candidates
from omba.rules.grow import grow
from omba.rules.hashing import Hashing
from omba.rules.lines import HUNDRED, Lines, pick_lines
from omba.rules.mining_input import POOL, MiningInput
from omba.rules.rules import Rules
from omba.rules.scope import Scope
from omba.rules.table import build_table

EDGES = 1000
"""Best pairs from whose products larger sets grow."""
FEW = 8
"""Where there are no more than so many times the candidates of a round, the next one has all of them."""
TESTED = 16
"""Of so many rules of several antecedents one may be a line, once all better ones are told."""
LARGEST_POOL = 64_000
"""Candidates of a round at most; each has twice as many as the one before."""


@dataclass(frozen=True)
class Asked:
    """What is asked of lines.

    Parameters
    ----------
    column
        The column in which candidates are ranked.
    hashing
        The tables by which the nearest are found.
    top
        How many lines; a round goes on to the end of their hundred.
    nearest
        The nearest pairs that are looked at in a round, at least.
    antecedents
        Antecedents of a rule at most.
    false_discovery
        The share of the rules of several antecedents that is there by chance, at most.
    """

    column: str
    hashing: Hashing
    top: int
    nearest: int
    antecedents: int
    false_discovery: float


def mine_lines(given: MiningInput, scope: Scope, asked: Asked) -> Rules:
    """The best lines in a scope, best first by the column that is asked for."""
    families, wanted = given.catalogue.families, HUNDRED * -(-asked.top // HUNDRED)
    assert families is not None
    told = Lines(len(families))
    parts: list[Candidates] = []
    places: list[NDArray[np.int64]] = []
    for some, pool in _rounds(given, scope, asked, told):
        if pool is None and scope.pairs <= FEW * max(POOL, asked.top):
            # All pairs there are: lines as good as each other stand in the order of these.
            told, parts, places = Lines(len(families)), [], []
        found = pick_lines(given, some, asked.column, pool, told, wanted)
        places.append(found + sum(map(len, parts)))
        parts += some
        if len(told) >= asked.top:
            break
    return build_table(given, parts, given.choose(asked.hashing), asked.column, only=np.concatenate(places))


def _rounds(
    given: MiningInput, scope: Scope, asked: Asked, told: Lines
) -> Iterator[tuple[list[Candidates], int | None]]:
    """The candidates of each round, and how many of them are sure to be the best there are; None where all count.

    It ends with a round of all pairs that are left, or after one that has told no line.
    """
    families, pool = given.catalogue.families, max(POOL, asked.top)
    assert families is not None
    larger: list[Candidates] = []
    while scope.pairs:
        last, before = pool >= scope.pairs, len(told)
        nearest, most = min(max(asked.nearest, pool), scope.pairs), min(pool, scope.pairs)
        pairs = candidates(given, scope, asked.column, nearest, most, asked.hashing)
        if not before and asked.antecedents > 1:
            edges = pairs.best(given, asked.column, EDGES)
            larger = grow(given, edges, asked.antecedents, asked.false_discovery, TESTED * asked.top)
            larger = [rules.best(given, asked.column, len(rules)) for rules in larger]
        if last:
            yield [pairs, *larger], None
            return
        yield [pairs, *(rules.take(np.arange(len(rules))[:pool]) for rules in larger)], pool
        if scope.pairs <= FEW * pool:
            pool = scope.pairs
            continue
        if len(told) == before:
            return
        left = ~told.told_enough(families.groups)
        scope = replace(scope, open=scope.open & left)
        larger = [rules.take(np.flatnonzero(_all_among(rules, left))) for rules in larger]
        pool = min(2 * pool, LARGEST_POOL)


def _all_among(rules: Candidates, products: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether all products of each rule are among some."""
    return np.asarray(products[rules.antecedents].all(axis=1) & products[rules.consequent])
