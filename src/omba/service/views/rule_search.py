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

from omba.rules import MEASURES, Filter, Rules
from omba.rules.candidates import Candidates
from omba.rules.filter import within
from omba.rules.nearest import MIN_COUNT
from omba.rules.rule_status import FEW
from omba.rules.rules import RISING
from omba.service.views.pair_index import PairIndex
from omba.service.views.rule_index import DEFAULT_SORT, FIELDS, Record, RuleIndex, records_of
from omba.service.views.rule_key import key_of

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Mask = NDArray[np.bool_]

SHORTLIST = 20_000
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
    left: Longs
    right: Longs


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
        left, right = left[known], right[known]
        turned = counts[left] > counts[right]
        self.left, self.right = np.where(turned, right, left), np.where(turned, left, right)
        self.count = count[known].astype(np.int64)

    @cached_property
    def _kept(self) -> Longs:
        """The pairs among the kept rules, packed, with their places."""
        rows = self.rule_index.table.catalogue.rows
        pairs = [(rows[a[0]], rows[c[0]]) if len(a) == len(c) == 1 else (-1, -1) for a, c in self.rule_index.sides]
        left, right = np.array(pairs, np.int64).reshape(-1, 2).T
        return np.where(left >= 0, (left << 32) | right, -1)

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
            by_key = {record["key"]: record for record in records_of(self.pair_index.directed(left, right))}
            labels = self.given.labels
            keys = [key_of([labels[a]], [labels[b]]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
            made = {pair: by_key[key] for pair, key in zip(pairs.tolist(), keys, strict=True)}
        records = self.rule_index.records
        return found.total, [records[place] if place < kept else made[place - kept] for place in places.tolist()]

    def find(self, where: Filter, sort: str | None, order: str | None, most: int) -> MatchingRules:
        """The rules that fulfil a filter, `most` of them in order."""
        column = FIELDS.get(sort or DEFAULT_SORT, sort or DEFAULT_SORT)
        rising = (*RISING, "status")
        falling = column not in rising if order is None else order == "desc"
        table = self.rule_index.rules
        inside = np.flatnonzero(where.keep(table))
        left, right, count = self._pairs(where)
        # A kept rule is shown as it was mined, and not once more as a pair.
        fresh = ~np.isin((left.astype(np.int64) << 32) | right, self._kept[inside])
        left, right, count = left[fresh], right[fresh], count[fresh]
        total = len(left)
        pairs = None
        bounds = {*where.minimum, *where.maximum}
        if not bounds | {column} <= {*CHEAP, *OF_PRODUCTS}:
            # A page far down needs as many pairs as lie above it.
            size = max(SHORTLIST, 2 * most)
            few = self._shortlist(left, right, count, size, best=falling == (column not in rising))
            pairs = self.pair_index.candidates(left[few], right[few], count[few])
            keep = self._bounded(pairs, where)
            left, right, count, pairs = left[few][keep], right[few][keep], count[few][keep], pairs.take(keep)
            total = total if bounds <= {*CHEAP, *OF_PRODUCTS} else len(left)
        mine = self._values(column, left, right, count, pairs)
        theirs = self._kept_values(table, column, inside)
        numbers = np.concatenate([theirs, mine])
        numbers = -numbers if falling else numbers
        rows = first(numbers, most)
        places = np.concatenate([inside, len(self.rule_index) + np.arange(len(mine))])[rows]
        return MatchingRules(len(inside) + total, places, left, right)

    def _pairs(self, where: Filter) -> tuple[Longs, Longs, Longs]:
        """The pairs that fulfil what a filter says of products and counts; one asked for stands on its side."""
        left, right, count = self.left, self.right, self.count
        catalogue, given = self.given.catalogue, self.given
        length = where.length if where.length is not None else 2
        bounds = (where.minimum.get("length", 2), where.maximum.get("length", 2))
        if where.status == "unseen" or length != 2 or bounds[0] > 2 or bounds[1] < 2:
            none = np.empty(0, np.int64)
            return none, none, none
        named = (where.product, where.antecedent, where.consequent)
        asked = [catalogue.row(name) for name in named if name is not None]
        if asked:
            row = asked[0]
            part = np.flatnonzero((left == row) | (right == row))
            left, right, count = left[part], right[part], count[part]
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
        pick = np.flatnonzero(keep)
        left, right, count = left[pick], right[pick], count[pick]
        if where.antecedent is not None or where.consequent is not None:
            left, right = self._turned(where, left, right)
        fulfils = np.ones(len(left), bool)
        for bound, least in ((where.minimum, True), (where.maximum, False)):
            for name, value in bound.items():
                if name in CHEAP or name == "price":
                    numbers = self._values(name, left, right, count, None)
                    fulfils &= within(numbers, value, None) if least else within(numbers, None, value)
        pick = np.flatnonzero(fulfils)
        return left[pick].astype(np.int64), right[pick].astype(np.int64), count[pick]

    def _turned(self, where: Filter, left: Longs, right: Longs) -> tuple[Longs, Longs]:
        """The pairs with the product that is asked for on its side; none where both sides ask for the same one."""
        turned = np.zeros(len(left), bool)
        if where.antecedent is not None:
            turned |= right == self.given.catalogue.row(where.antecedent)
        if where.consequent is not None:
            turned |= left == self.given.catalogue.row(where.consequent)
        return np.where(turned, right, left), np.where(turned, left, right)

    def _shortlist(self, left: Longs, right: Longs, count: Longs, size: int, best: bool) -> Longs:
        """The strongest pairs, or the weakest: half of them by the lift drawn down as if one more basket had been due
        to chance, half by the lift of a count that is lower by its own error."""
        if len(left) <= size:
            return np.arange(len(left))
        counts = self.given.counts.astype(np.float64)
        chance = counts[left] * counts[right] / max(self.given.n_baskets, 1)
        bold, careful = (count + 0.5) / (chance + 1.0), (count - 1.5 * np.sqrt(count)) / chance
        halves = [
            np.argpartition(-strength if best else strength, size // 2)[: size // 2] for strength in (bold, careful)
        ]
        return np.unique(np.concatenate(halves))

    def _bounded(self, pairs: Candidates, where: Filter) -> Longs:
        """The pairs within the bounds that speak of the forecast or the vectors."""
        keep = np.ones(len(pairs), bool)
        for bound, least in ((where.minimum, True), (where.maximum, False)):
            for name, value in bound.items():
                if name not in CHEAP and name not in OF_PRODUCTS:
                    numbers = self._of_pairs(name, pairs)
                    keep &= within(numbers, value, None) if least else within(numbers, None, value)
        return np.flatnonzero(keep)

    def _of_pairs(self, column: str, pairs: Candidates) -> Floats:
        """A column that speaks of the forecast or the vectors; NaN for one that only mined rules have."""
        hashing = self.pair_index.hashing
        if column == "collisions":
            return hashing.collisions(self.given.vectors, pairs.antecedents, pairs.consequent).astype(np.float64)
        if column == "probability":
            return np.asarray(hashing.probability(pairs.similarity), np.float64)
        if column == "p_adjusted":
            return np.full(len(pairs), np.nan)
        return np.asarray(pairs.values(self.given, column), np.float64)

    def _values(self, column: str, left: Longs, right: Longs, count: Longs, pairs: Candidates | None) -> Floats:
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
