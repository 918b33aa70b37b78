"""Classic: rules by counting alone, in the same table: Apriori, FP-growth and top-k rules, all by one exact miner.

`topk` gives the k rules of highest support among those of a minimum confidence, as TopKRules does (Fournier-Viger et
al., 2012); `topk_class` those with a single consequent out of a given list. Both are the miners the paper compares
itself with (section 5). Which algorithm found frequent sets cannot be seen in them: `apriori` and `fpgrowth` are two
names, and give the rows of mlxtend's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Label
from omba.errors import InputError, SettingError, UnknownError, nearest
from omba.patterns import Transactions
from omba.patterns.itemsets import Itemsets, lay_out
from omba.patterns.miner import Miner, TooMany
from omba.patterns.mining import Threshold
from omba.patterns.splits import split
from omba.rules.catalogue import Catalogue
from omba.rules.counts import Counts
from omba.rules.measures import MEASURES, measure
from omba.rules.rules import Rules
from omba.rules.search import threads

MOST_SETS = 2_000_000
"""Itemsets held at a time; beyond, a search asks for a higher confidence or fewer rules."""

Itemset = tuple[int, ...]
Numbers = NDArray[np.int64]


def apriori(
    baskets: Baskets,
    min_support: float = 0.01,
    metric: str = "confidence",
    min_threshold: float = 0.8,
    max_len: int | None = None,
) -> Rules:
    """Rules by Apriori: those of mlxtend's `association_rules` on its `apriori`."""
    return _by_threshold(baskets, min_support, metric, min_threshold, max_len)


def fpgrowth(
    baskets: Baskets,
    min_support: float = 0.01,
    metric: str = "confidence",
    min_threshold: float = 0.8,
    max_len: int | None = None,
) -> Rules:
    """Rules by FP-growth: those of mlxtend's `association_rules` on its `fpgrowth`."""
    return _by_threshold(baskets, min_support, metric, min_threshold, max_len)


def _by_threshold(
    baskets: Baskets, min_support: float, metric: str, min_threshold: float, max_len: int | None
) -> Rules:
    _check(baskets)
    if metric not in MEASURES:
        raise UnknownError(f"measure {metric!r} is not known{nearest(metric, MEASURES)}")
    sets = frequent(Transactions.of(baskets), Threshold(min_support).least(len(baskets)), max_len)
    found = Splits.of(sets, min_threshold if metric == "confidence" else 0.0)
    together, n_a, n_b = found.counts.T
    score = measure(metric, together, n_a, n_b, len(baskets))
    return found.take(np.flatnonzero(score >= min_threshold)).table(baskets)


def topk(baskets: Baskets, k: int = 100, min_confidence: float = 0.5, max_length: int = 4) -> Rules:
    """The k rules of highest support whose confidence is at least `min_confidence`, of up to `max_length` products."""
    _check(baskets, k, min_confidence, max_length)
    transactions = Transactions.of(baskets)
    pairs = Counts.of(baskets).observed()[2]

    def rules(least: int) -> Splits:
        return Splits.of(frequent(transactions, least, max_length), min_confidence)

    return _best(baskets, k, min_confidence, kth(pairs, k), rules)


def topk_class(
    baskets: Baskets, k: int, min_confidence: float, consequents: Iterable[Label], max_length: int = 4
) -> Rules:
    """As `topk`, of the rules whose one consequent is among `consequents`."""
    _check(baskets, k, min_confidence, max_length)
    catalogue = Catalogue(baskets.products)
    wanted = baskets.product_vocabulary.find([catalogue.find(product) for product in consequents]).tolist()
    if not wanted:
        raise InputError("no consequents were given: name at least one product")
    counts, transactions = Counts.of(baskets), Transactions.of(baskets)
    # What leads to a product is found among its own baskets: a set's count there is that of the whole rule.
    worlds = {product: transactions.that_hold([product]) for product in dict.fromkeys(wanted)}

    def rules(least: int) -> Splits:
        parts = [
            class_rules(counts, frequent(world, least, max_length - 1), product) for product, world in worlds.items()
        ]
        return Splits(
            [items for part in parts for items in part.antecedents],
            [items for part in parts for items in part.consequents],
            np.concatenate([part.counts for part in parts]),
        )

    return _best(baskets, k, min_confidence, kth(np.concatenate([w.counts for w in worlds.values()]), k), rules)


def kth(counts: NDArray[np.integer], k: int) -> int:
    """The k-th highest count, at least 1: a support to begin with."""
    return max(1, int(np.sort(counts)[-min(k, len(counts))])) if len(counts) else 1


def _best(baskets: Baskets, k: int, min_confidence: float, least: int, rules: Callable[[int], Splits]) -> Rules:
    """Search at falling support: once k rules are found at one, no rule below it can be among the k best."""
    while True:
        found = rules(least)
        found = found.take(np.flatnonzero(found.counts[:, 0] >= min_confidence * found.counts[:, 1]))
        if len(found) >= k or least == 1:
            break
        least = max(1, least // 2)
    # Highest support first, then confidence; what is still equal stands in the order of the products.
    among = np.flatnonzero(found.counts[:, 0] >= kth(found.counts[:, 0], k)).tolist()
    sides, numbers = list(zip(found.antecedents, found.consequents, strict=True)), found.counts

    def order(row: int) -> tuple[int, int, int, Itemset, Itemset]:
        left, right = sides[row]
        return -int(numbers[row, 0]), int(numbers[row, 1]), len(left) + len(right), left, right

    return found.take(np.array(sorted(among, key=order)[:k], np.int64)).table(baskets)


def frequent(transactions: Transactions, least: int, max_length: int | None) -> Itemsets:
    """All itemsets of up to `max_length` products in `least` baskets or more."""
    try:
        tree = Miner(transactions, "frequent", max_length, threads()).search(least, MOST_SETS)
    except TooMany:
        raise InputError(
            f"more than {MOST_SETS:,} itemsets in {least} baskets or more are too many to hold: "
            "ask for fewer rules, a lower min_confidence or a smaller max_length"
        ) from None
    return Itemsets(transactions, lay_out(tree, np.empty(0, np.int32), 1), least)


class Splits:
    """Rules by the numbers of their products.

    Parameters
    ----------
    antecedents
        The products each starts from.
    consequents
        The products it leads to.
    counts
        Of each rule: the baskets with both sides, with the first and with the second.
    """

    def __init__(self, antecedents: list[Itemset], consequents: list[Itemset], counts: Numbers) -> None:
        self.antecedents, self.consequents, self.counts = antecedents, consequents, counts

    @classmethod
    def of(cls, sets: Itemsets, min_confidence: float) -> Splits:
        """Every split of every set into antecedents and consequents, of a confidence or more."""
        columns = [np.empty((3, 0), np.int32)]
        columns += [
            np.array(places) for places in split(sets.offsets, sets.items, sets.count.astype(float), min_confidence)
        ]
        whole, left, right = np.concatenate(columns, axis=1)
        products = [tuple(items) for group, _ in sets.groups for items in group.tolist()]
        counts = np.column_stack([sets.count[whole], sets.count[left], sets.count[right]])
        return cls([products[row] for row in left.tolist()], [products[row] for row in right.tolist()], counts)

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, rows: NDArray[np.integer]) -> Splits:
        places = rows.tolist()
        return Splits(
            [self.antecedents[row] for row in places], [self.consequents[row] for row in places], self.counts[rows]
        )

    def table(self, baskets: Baskets) -> Rules:
        """The rules in the common table."""
        labels = list(baskets.product_vocabulary)
        return Rules(
            antecedents=[tuple(labels[row] for row in items) for items in self.antecedents],
            consequents=[tuple(labels[row] for row in items) for items in self.consequents],
            count=self.counts[:, 0],
            n_a=self.counts[:, 1],
            n_b=self.counts[:, 2],
            n=len(baskets),
            catalogue=Catalogue(labels),
        )


def class_rules(counts: Counts, sets: Itemsets, product: int) -> Splits:
    """Every set found in a product's baskets, as the antecedents of that product."""
    products = [tuple(items) for group, _ in sets.groups for items in group.tolist()]
    n_a = [counts.itemsets(group) for group, _ in sets.groups]
    columns = np.zeros((len(products), 3), np.int64)
    if n_a:
        columns = np.column_stack([sets.count, np.concatenate(n_a), np.full(len(products), counts.counts[product])])
    return Splits(products, [(product,)] * len(products), columns)


def _check(baskets: Baskets, k: int = 1, min_confidence: float = 0.0, max_length: int = 2) -> None:
    if not baskets.n_items:
        raise InputError("there are no baskets to find rules in: give at least one with a product")
    if k < 1 or max_length < 2 or not 0 <= min_confidence <= 1:
        raise SettingError(
            f"k={k}, min_confidence={min_confidence}, max_length={max_length} leave no rules: "
            "k is 1 or more, min_confidence 0 to 1, max_length 2 or more"
        )
