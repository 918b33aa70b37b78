"""Rule search: filters and orders over all pairs that were counted, beside the rules that are kept.

The kept rules are a few; what is asked for may be any pair. All counted pairs stand in columns, so that a filter is a
mask, a measure one pass over the counts, and the first page what a partial sort brings up. The forecast takes longer,
and is worked out for the `SHORTLIST` strongest of the pairs that the filters leave: for all of them, where they are no
more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from omba.assortment.families import Families
from omba.assortment.relations import RELATIONS
from omba.rules import MEASURES, Filter, Rules
from omba.rules.addition import adds
from omba.rules.candidates import Candidates
from omba.rules.filter import within
from omba.rules.lines import Groups, by_hundreds, choose_lines, groups_of, is_broad, is_narrow, picked_by
from omba.rules.nearest import MIN_COUNT
from omba.rules.order import rank_numbers
from omba.rules.rule_columns import RISING
from omba.rules.rule_status import FEW
from omba.service.views.pair_index import PairIndex
from omba.service.views.rule_index import DEFAULT_SORT, FIELDS, Record, RuleIndex, records_of
from omba.service.views.rule_key import key_of

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Rows = NDArray[np.integer]
Mask = NDArray[np.bool_]
Pairs = tuple[Rows, Rows, Longs, Longs | None]

SHORTLIST = 20_000
REMEMBERED = 8
"""Questions whose answers are remembered: whoever scrolls asks the same again, further down."""
FIRST_PAGES = 200
"""Rules of the order that nobody has to ask for, worked out before anybody does."""
LINES = 20_000
"""Rules among the best of which a line is looked for for each family."""
SLOW = ("p_adjusted", "hyper_lift", "hyper_confidence", "fishers_p")
CHEAP = ("count", *(name for name in MEASURES if name not in SLOW))
"""Columns that follow from the counts alone, quickly."""
OF_PRODUCTS = ("length", "price", "antecedents", "consequents", "status")
"""Columns that follow from the products, or from whether they were counted."""


@dataclass(frozen=True, eq=False)
class MatchingRules:
    """Rules that fulfil a filter, in order, as far as a page needs them.

    Parameters
    ----------
    total
        How many there are.
    places
        The first of them: places in the table of kept rules, and from its length on in the pairs.
    left
        The antecedents of those pairs.
    right
        Their consequents.
    """

    total: int
    places: Longs
    left: Rows
    right: Rows


class RuleSearch:
    """All counted pairs of a view, beside its kept rules.

    Parameters
    ----------
    rule_index
        The kept rules; larger sets and pairs never seen come from there alone.
    pair_index
        All counted pairs.
    """

    def __init__(self, rule_index: RuleIndex, pair_index: PairIndex) -> None:
        self.rule_index, self.pair_index, self.given = rule_index, pair_index, pair_index.given
        left, right, count = self.given.observed(1)
        counts = self.given.counts
        known = np.flatnonzero((counts[left] >= MIN_COUNT) & (counts[right] >= MIN_COUNT))
        left, right = left[known].astype(np.int32), right[known].astype(np.int32)
        turned = counts[left] > counts[right]
        self.left, self.right = np.where(turned, right, left), np.where(turned, left, right)
        self.count = count[known].astype(np.int64)
        self._keys = (left.astype(np.int64) << 32) | right
        self._found: dict[str, tuple[int, MatchingRules]] = {}

    @cached_property
    def _kept(self) -> tuple[Longs, Longs, Longs]:
        """The rows of the kept rules between two products, and where each stands among the pairs; −1 for the others."""
        rows = self.rule_index.table.catalogue.rows
        pairs = [(rows[a[0]], rows[c[0]]) if len(a) == len(c) == 1 else (-1, -1) for a, c in self.rule_index.sides]
        left, right = np.array(pairs, np.int64).reshape(-1, 2).T
        keys = (np.minimum(left, right) << 32) | np.maximum(left, right)
        places = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        there = self._keys[places] == keys if len(self._keys) else np.zeros(len(keys), bool)
        return left, right, np.where(there & (left >= 0), places, -1)

    @cached_property
    def _strengths(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Two rough guesses at the strength of each pair: its lift drawn down as if one more basket had been due to
        chance, and the lift of a count that is lower by its own error."""
        counts = self.given.counts.astype(np.float32)
        chance = counts[self.left] * counts[self.right] / np.float32(max(self.given.n_baskets, 1))
        count = self.count.astype(np.float32)
        return (count + np.float32(0.5)) / (chance + np.float32(1.0)), (
            count - np.float32(1.5) * np.sqrt(count)
        ) / chance

    def ready(self) -> RuleSearch:
        """Work out now what requests will need: the first page that anybody sees among it."""
        _ = self._kept, self._strengths, self._spelling
        self.find(Filter(families="between"), None, None, FIRST_PAGES)
        return self

    def page(
        self, where: Filter, sort: str | None, order: str | None, offset: int, limit: int
    ) -> tuple[int, list[Record]]:
        """How many rules fulfil a filter, and a page of them, best first by `sort` or in the `order` given."""
        found = self.find(where, sort, order, offset + limit)
        places = found.places[offset : offset + limit]
        kept = len(self.rule_index)
        pairs = places[places >= kept] - kept
        made: dict[int, Record] = {}
        if len(pairs):
            left, right = found.left[pairs], found.right[pairs]
            by_key = {record["key"]: record for record in records_of(self.pair_index.rules_from(left, right))}
            labels = self.given.labels
            keys = [key_of([labels[a]], [labels[b]]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
            made = {pair: by_key[key] for pair, key in zip(pairs.tolist(), keys, strict=True)}
        records = self.rule_index.records
        return found.total, [records[place] if place < kept else made[place - kept] for place in places.tolist()]

    def find(self, where: Filter, sort: str | None, order: str | None, most: int) -> MatchingRules:
        """The rules that fulfil a filter, `most` of them in order; the last few questions are remembered."""
        asked = repr((where, sort, order, SHORTLIST))
        known = self._found.get(asked)
        if known is None or known[0] < most:
            # A page more than was asked for: whoever looks at the first looks at the next.
            known = 2 * most, self._find(where, sort, order, 2 * most)
            self._found = {**dict(list(self._found.items())[-REMEMBERED:]), asked: known}
        return known[1]

    def forget(self) -> None:
        """Work out anew what was asked before."""
        self._found = {}

    def _find(self, where: Filter, sort: str | None, order: str | None, most: int) -> MatchingRules:
        column = FIELDS.get(sort or DEFAULT_SORT, sort or DEFAULT_SORT)
        rising = (*RISING, "status")
        falling = column not in rising if order is None else order == "desc"
        table = self.rule_index.rules
        inside = np.flatnonzero(where.keep(table))
        left, right, count, pick = self._without_kept(*self._pairs(where), inside)
        total = len(left)
        pairs = None
        bounds = {*where.minimum, *where.maximum}
        closely = where.relation is not None or where.season is not None
        if closely or not bounds | {column} <= {*CHEAP, *OF_PRODUCTS}:
            # A page far down needs as many pairs as lie above it.
            size = max(SHORTLIST, 2 * most)
            few = self._shortlist(pick, size, best=falling == (column not in rising))
            pairs = self.pair_index.candidates(left[few].astype(np.int64), right[few].astype(np.int64), count[few])
            keep = self._within_bounds(pairs, where)
            left, right, count, pairs = left[few][keep], right[few][keep], count[few][keep], pairs.take(keep)
            total = total if bounds <= {*CHEAP, *OF_PRODUCTS} and not closely else len(left)
        mine = self._values(column, left, right, count, pairs)
        theirs = self._kept_values(table, column, inside)
        numbers = rank_numbers(column, np.concatenate([theirs, mine]))
        numbers = -numbers if falling else numbers
        every = np.concatenate([inside, len(self.rule_index) + np.arange(len(mine))])
        if where.families == "between" and self.families is not None:
            rows = first(self._pick_numbers(where, column, numbers, inside, pairs), LINES)
            if is_broad(where):
                rows = rows[~np.isin(every[rows], self._adding_little)]
            rows = rows[self._lines(every[rows], left, right, is_narrow(where))]
            shown = np.argsort(numbers[rows], kind="stable")
            rows = rows[by_hundreds(shown) if falling else shown]
            return MatchingRules(len(rows), every[rows[:most]], left, right)
        return MatchingRules(len(inside) + total, every[first(numbers, most)], left, right)

    @cached_property
    def families(self) -> Families | None:
        """The families of the products, None where there are none."""
        families = self.given.catalogue.families
        return families if families is not None and len(families) else None

    @cached_property
    def _adding_little(self) -> Longs:
        """The kept rules of several products that say too little beyond the pairs in them, by their places."""
        rows, expected = self.rule_index.table.catalogue.rows, self.rule_index.table.column("expected_lift")
        of_size: dict[int, list[tuple[int, list[int]]]] = {}
        for place, (antecedents, consequents) in enumerate(self.rule_index.sides):
            if len(antecedents) > 1 == len(consequents):
                of_size.setdefault(len(antecedents), []).append(
                    (place, [rows[label] for label in (*antecedents, *consequents)])
                )
        little = [np.empty(0, np.int64)]
        for found in of_size.values():
            places, sets = np.array([place for place, _ in found]), np.array([each for _, each in found])
            little.append(places[~adds(self.given, sets[:, :-1], sets[:, -1], expected[places])])
        return np.concatenate(little)

    @cached_property
    def _kept_groups(self) -> list[Groups]:
        """The families on each kept rule."""
        assert self.families is not None
        return groups_of(self.rule_index.table, self.families)

    def _lines(self, places: Longs, left: Rows, right: Rows, narrow: bool) -> list[int]:
        """Which of the rules at some places, best first, are lines of their own."""
        assert self.families is not None
        kept = len(self.rule_index)
        pairs = np.maximum(places - kept, 0)
        groups = self.families.groups
        sides = zip(groups[left[pairs]].tolist(), groups[right[pairs]].tolist(), strict=True) if len(left) else ()
        made = list(sides) or [(-1, -1)] * len(places)
        each = [self._kept_groups[place] if place < kept else made[k] for k, place in enumerate(places.tolist())]
        return choose_lines(each, len(self.families), narrow)

    def _pick_numbers(
        self, where: Filter, column: str, numbers: Floats, inside: Longs, pairs: Candidates | None
    ) -> Floats:
        """The numbers by which each family's line is picked, least first: those of the order, or what is likeliest to
        hold."""
        by = picked_by(column, where, self.given.catalogue)
        if by == column or pairs is None:
            return numbers
        theirs = self._kept_values(self.rule_index.rules, by, inside)
        chances = np.concatenate([theirs, pairs.values(self.given, by)])
        return np.asarray(-np.nan_to_num(chances, nan=-1.0))

    def _without_kept(self, left: Rows, right: Rows, count: Longs, pick: Longs | None, inside: Longs) -> Pairs:
        """The pairs without those that are shown as kept rules, as they were mined."""
        of_kept, to_kept, places = (column[inside] for column in self._kept)
        among = np.flatnonzero(places >= 0)
        at = places[among] if pick is None else np.minimum(np.searchsorted(pick, places[among]), max(len(pick) - 1, 0))
        if not len(at) or not len(left):
            return left, right, count, pick
        same = (left[at] == of_kept[among]) & (right[at] == to_kept[among])
        if pick is not None:
            same &= pick[at] == places[among]
        fresh = np.ones(len(left), bool)
        fresh[at[same]] = False
        rest = np.flatnonzero(fresh)
        return left[rest], right[rest], count[rest], rest if pick is None else pick[rest]

    def _pairs(self, where: Filter) -> Pairs:
        """The pairs that fulfil what a filter says of products and counts; one asked for stands on its side. Last come
        their places among all, None where it is all of them."""
        left, right, count = self.left, self.right, self.count
        catalogue, given = self.given.catalogue, self.given
        length = where.length if where.length is not None else 2
        bounds = (where.minimum.get("length", 2), where.maximum.get("length", 2))
        if where.status == "unseen" or length != 2 or bounds[0] > 2 or bounds[1] < 2:
            none = np.empty(0, np.int64)
            return none, none, none, none
        if where == Filter():
            return left, right, count, None
        places: Longs | None = None
        named = (where.product, where.antecedent, where.consequent)
        asked = [catalogue.row(name) for name in named if name is not None]
        if asked:
            row = asked[0]
            places = np.flatnonzero((left == row) | (right == row))
            left, right, count = left[places], right[places], count[places]
        keep = np.ones(len(left), bool)
        for row in asked[1:]:
            keep &= (left == row) | (right == row)
        groups = [catalogue.rows_with(word) for word in where.text.split()]
        if where.category is not None:
            groups.append(np.isin(np.arange(len(catalogue)), catalogue.members(where.category)))
        for members in groups:
            keep &= members[left] | members[right]
        if where.priced and given.prices is not None:
            priced = within(given.prices, where.min_price, where.max_price) & ~np.isnan(given.prices)
            keep &= priced[left] & priced[right]
        if where.status is not None:
            keep &= (count >= FEW) == (where.status == "observed")
        if where.families is not None:
            within_one = np.zeros(len(left), bool)
            if self.families is not None:
                within_one = self.families.groups[left] == self.families.groups[right]
            keep &= within_one == (where.families == "within")
        if not keep.all():
            pick = np.flatnonzero(keep)
            left, right, count = left[pick], right[pick], count[pick]
            places = pick if places is None else places[pick]
        if where.antecedent is not None or where.consequent is not None:
            left, right = self._turn(where, left, right)
        fulfils = np.ones(len(left), bool)
        for bound, least in ((where.minimum, True), (where.maximum, False)):
            for name, value in bound.items():
                if name in CHEAP or name == "price":
                    numbers = self._values(name, left, right, count, None)
                    fulfils &= within(numbers, value, None) if least else within(numbers, None, value)
        if fulfils.all():
            return left, right, count, places
        pick = np.flatnonzero(fulfils)
        return left[pick], right[pick], count[pick], pick if places is None else places[pick]

    def _turn(self, where: Filter, left: Rows, right: Rows) -> tuple[Rows, Rows]:
        """The pairs with the product that is asked for on its side; none where both sides ask for the same one."""
        turned = np.zeros(len(left), bool)
        if where.antecedent is not None:
            turned |= right == self.given.catalogue.row(where.antecedent)
        if where.consequent is not None:
            turned |= left == self.given.catalogue.row(where.consequent)
        return np.where(turned, right, left), np.where(turned, left, right)

    def _shortlist(self, pick: Longs | None, size: int, best: bool) -> Longs:
        """The strongest of the pairs at some places, or the weakest: half of them by each guess at their strength."""
        strengths = [strength if pick is None else strength[pick] for strength in self._strengths]
        n = len(strengths[0])
        if n <= size:
            return np.arange(n)
        half = size // 2
        halves = [
            np.argpartition(strength, n - half)[n - half :] if best else np.argpartition(strength, half)[:half]
            for strength in strengths
        ]
        return np.unique(np.concatenate(halves))

    def _within_bounds(self, pairs: Candidates, where: Filter) -> Longs:
        """The pairs within the bounds that speak of the forecast or the vectors."""
        keep = np.ones(len(pairs), bool)
        relations = self.given.catalogue.relations
        if where.relation is not None and relations is not None:
            kind = relations.judge(pairs.antecedents[:, 0], pairs.consequent).kind
            keep &= kind == RELATIONS.index(where.relation)
        if where.season is not None:
            seasons = self.given.catalogue.seasons
            rows = np.column_stack([pairs.antecedents[:, 0], pairs.consequent])
            told = [""] * len(rows) if seasons is None else seasons(rows)
            keep &= np.array([where.in_season(one) for one in told], bool)
        for bound, least in ((where.minimum, True), (where.maximum, False)):
            for name, value in bound.items():
                if name not in CHEAP and name not in OF_PRODUCTS:
                    numbers = self._of_pairs(name, pairs)
                    keep &= within(numbers, value, None) if least else within(numbers, None, value)
        return np.flatnonzero(keep)

    def _of_pairs(self, column: str, pairs: Candidates) -> Floats:
        """A column that speaks of the forecast or the vectors; NaN for one that only mined rules have."""
        hashing = self.pair_index.tables
        if column == "collisions":
            return hashing.collisions(self.given.vectors, pairs.antecedents, pairs.consequent).astype(np.float64)
        if column == "probability":
            return np.asarray(hashing.probability(pairs.similarity), np.float64)
        if column == "p_adjusted":
            return np.full(len(pairs), np.nan)
        if column == "relation_probability":
            relations = self.given.catalogue.relations
            assert relations is not None
            return relations.judge(pairs.antecedents[:, 0], pairs.consequent).probability
        return np.asarray(pairs.values(self.given, column), np.float64)

    def _values(self, column: str, left: Rows, right: Rows, count: Longs, pairs: Candidates | None) -> Floats:
        """A column of pairs, as numbers to be ordered by."""
        counts = self.given.counts
        if column == "count":
            return count.astype(np.float64)
        if column in CHEAP:
            n = np.full(len(left), float(self.given.n_baskets))
            with np.errstate(divide="ignore", invalid="ignore"):
                return MEASURES[column].function(
                    count.astype(np.float64), counts[left].astype(np.float64), counts[right].astype(np.float64), n
                )
        if column == "price":
            unknown = np.full(len(left), np.nan)
            return unknown if self.given.prices is None else np.asarray(self.given.prices[right], np.float64)
        if column == "status":
            return np.where(count >= FEW, 0.0, 1.0)
        if column in ("antecedents", "consequents"):
            return self._spelling[0][left if column == "antecedents" else right]
        assert pairs is not None
        return self._of_pairs(column, pairs)

    @cached_property
    def _spelling(self) -> tuple[Floats, list[str]]:
        """Where each product stands in the order of labels, and that order."""
        texts = [str((label,)).casefold() for label in self.given.labels]
        order = sorted(set(texts))
        place = {text: float(2 * k) for k, text in enumerate(order)}
        return np.array([place[text] for text in texts]), order

    def _kept_values(self, table: Rules, column: str, inside: Longs) -> Floats:
        """The same column of the kept rules."""
        if column == "status":
            return np.array([{"observed": 0.0, "rare": 1.0}.get(one, 2.0) for one in table["status"][inside]])
        if column in ("antecedents", "consequents"):
            order = self._spelling[1]
            texts = [str(value).casefold() for value in table[column][inside]]
            at = np.searchsorted(order, texts) if texts else np.empty(0, np.int64)
            exact = [k < len(order) and order[k] == text for k, text in zip(at.tolist(), texts, strict=True)]
            return np.asarray(2.0 * at - np.where(exact, 0.0, 1.0), np.float64)
        return np.asarray(table.numbers(column)[inside], np.float64)


def first(costs: Floats, most: int) -> Longs:
    """The places of the lowest values in their order, `most` of them; what is not known comes last."""
    if len(costs) <= 4 * most:
        return np.argsort(costs, kind="stable")[:most]
    few = np.argpartition(costs, most)[:most]
    # All that are as good as the last one, so that the first of equals are the same whatever the page.
    bound = costs[few].max() if not np.isnan(costs[few]).any() else np.inf
    among = np.flatnonzero(costs <= bound) if np.isfinite(bound) else np.sort(few)
    return among[np.argsort(costs[among], kind="stable")][:most]
