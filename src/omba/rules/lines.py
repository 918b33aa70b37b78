"""Lines: rules between families, one line for each, so that ten variants of one thing do not fill a page.

Between families a rule is told once, by its best pair of products; and a family has one line in a list of everything,
the best it is in; a product without variants has two at most, since what goes with everything would otherwise
fill a page as variants do. Best is, unless something else is asked for, what is likeliest to hold in the next period;
by the low end of the lift alone a line would go to a product that is sold no more. A rule of several products has a
line only where it adds something to the pairs in it (`addition.py`). Whoever asks for a product, a
category or a word wants to see what there is, and gets a line for each pair of families.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from omba.assortment.families import Families
from omba.baskets import Label
from omba.rules.addition import adds
from omba.rules.candidates import Candidates
from omba.rules.catalogue import Catalogue
from omba.rules.filter import Filter
from omba.rules.holding import HOLDS, LINE
from omba.rules.mining_input import MiningInput
from omba.rules.order import LOW_END
from omba.rules.rules import Rules
from omba.rules.scope import BOUNDED
from omba.rules.table import best_places
from omba.rules.worth import WORTH

Groups = tuple[int, ...]
Rows = NDArray[np.integer]

LINED = (LINE, HOLDS, *BOUNDED, *WORTH)
"""Columns that candidates have by themselves, so that lines can be picked before a table is made."""
AT_ONCE = 10_000
"""Candidates of which the families are looked up together."""
HUNDRED = 100
"""Lines that are put in order together."""
ALONE = 2
"""Lines of a product that is in no family. Of the first hundred of a wholesaler as many hold with one, two or three of
them (learned to May, June and July)."""


def groups_of(rules: Rules, families: Families) -> list[Groups]:
    """The families on each rule, a product in none counted as its own."""
    rows, groups = rules.catalogue.rows, families.groups
    return [tuple(int(groups[rows[label]]) for label in (*a, *c)) for a, c in rules.sides]


def is_narrow(where: Filter) -> bool:
    """Whether a filter asks for certain products, all of whose lines are then wanted."""
    return bool(where.product or where.antecedent or where.consequent or where.category or where.text)


def is_broad(where: Filter) -> bool:
    """Whether it is left to us what rules are of: neither certain products are asked for, nor larger sets of them."""
    return not is_narrow(where) and where.length is None and where.minimum.get("length", 2) <= 2


def add_enough(given: MiningInput, rules: Candidates) -> NDArray[np.bool_]:
    """Whether each rule may have a line, by what it adds to the pairs in it."""
    return adds(given, rules.antecedents, rules.consequent, rules.expected)


class Lines:
    """The lines told so far, and of whom they tell.

    Parameters
    ----------
    families
        Groups below this number are families of several products, all others single products.
    narrow
        Whether certain products are asked for, all of whose lines are wanted.

    >>> lines = Lines(2)
    >>> lines.add([(0, 5), (5, 0), (0, 6), (1, 1), (6, 7), (6, 8), (6, 9)])
    [0, 4, 5]
    >>> lines.add([(6, 10), (7, 11)]), lines.told_enough(np.arange(8)).tolist()
    ([1], [True, False, False, False, False, False, True, True])
    """

    def __init__(self, families: int, narrow: bool = False) -> None:
        self.families, self.narrow = families, narrow
        self._seen: set[frozenset[int]] = set()
        self._told: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._seen)

    def add(self, groups: Iterable[Groups], most: int | None = None) -> list[int]:
        """The places of the rules that are lines of their own, until there are `most` lines in all; rules come best
        first."""
        places: list[int] = []
        for place, each in enumerate(groups):
            line = frozenset(each)
            if len(line) < len(each) or line in self._seen:
                continue
            if not self.narrow and any(self._told[group] >= self._limit(group) for group in line):
                continue
            self._seen.add(line)
            self._told.update(line)
            places.append(place)
            if most is not None and len(self) == most:
                break
        return places

    def told_enough(self, groups: Rows) -> NDArray[np.bool_]:
        """Whether each of some groups can be in no other line."""
        done = [group for group, lines in self._told.items() if not self.narrow and lines >= self._limit(group)]
        return np.isin(groups, done)

    def _limit(self, group: int) -> int:
        return 1 if group < self.families else ALONE


def choose_lines(groups: Iterable[Groups], families: int, narrow: bool, most: int | None = None) -> list[int]:
    """The places of the rules that are lines of their own, `most` of them; rules come best first.

    >>> choose_lines([(0, 5), (5, 0), (0, 6), (1, 1), (6, 7), (6, 8), (6, 9)], 2, narrow=True)
    [0, 2, 4, 5, 6]
    """
    return Lines(families, narrow).add(groups, most)


def best_of_each(left: Rows, right: Rows, most: int) -> NDArray[np.int64]:
    """The places of pairs, best first, that are among the first `most` of both of their products.

    >>> best_of_each(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 2]), 2)
    array([0, 1, 3])
    """
    kept: Counter[int] = Counter()
    places = []
    for place, pair in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if all(kept[row] < most for row in pair):
            places.append(place)
            kept.update(pair)
    return np.array(places, np.int64)


def picked_by(column: str, where: Filter, catalogue: Catalogue) -> str:
    """The column by which the line of a family is picked where rules are ranked by one: what is likeliest to hold,
    unless an order or certain products are asked for, or there are no families."""
    plain = where.families == "between" and column == LOW_END and where.status != "unseen" and not is_narrow(where)
    return LINE if plain and catalogue.families is not None and len(catalogue.families) else column


def by_hundreds(order: NDArray[np.integer]) -> NDArray[np.int64]:
    """The places of lines as they are shown, given those of the order to show them in; lines come best first.

    The first hundred stand in that order, then the next: so a page has what is surest, and is sorted by what it shows,
    however many lines are asked for.

    >>> by_hundreds(np.array([100, 1, 0, *range(2, 100)]))[[0, 1, -1]].tolist()
    [1, 0, 100]
    """
    return np.asarray(order[np.argsort(order // HUNDRED, kind="stable")], np.int64)


def lines_between(rules: Rules, where: Filter) -> Rules:
    """Of rules best first, those that are lines of their own."""
    families = rules.catalogue.families
    if families is None or not len(families):
        return rules
    places = choose_lines(groups_of(rules, families), len(families), is_narrow(where))
    return rules.take(np.array(places, np.int64))


def pick_lines(
    given: MiningInput, parts: Sequence[Candidates], column: str, pool: int | None, lines: Lines, most: int
) -> NDArray[np.int64]:
    """The places of new lines among the candidates of all parts, best first by a column, until there are `most`: of the
    `pool` best between families, or of all of them."""
    families = given.catalogue.families
    assert families is not None
    widest = max(part.antecedents.shape[1] for part in parts) + 1
    sides = []
    for part in parts:
        groups = families.groups[np.column_stack([part.antecedents, part.consequent])]
        # A place without a product is a group of its own.
        none = np.tile(-1 - np.arange(widest - groups.shape[1]), (len(groups), 1))
        sides.append(np.column_stack([groups, none]))
    groups = np.concatenate(sides)
    ordered = np.sort(groups, axis=1)
    between = (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)
    between &= np.concatenate([add_enough(given, part) for part in parts])
    order = best_places(given, parts, column)
    order = order[between[order]][:pool]
    blocks = (groups[order[first : first + AT_ONCE]].tolist() for first in range(0, len(order), AT_ONCE))
    told = (tuple(group for group in each if group >= 0) for block in blocks for each in block)
    return np.asarray(order[lines.add(told, most)], np.int64)


def family_names(products: Sequence[Label], rules: Rules) -> list[str | None]:
    """The family of each product, None where it is in none."""
    families, rows = rules.catalogue.families, rules.catalogue.rows
    return [None if families is None else families.of_row(rows[label]) for label in products]
