"""Classic: rules by counting alone, in the same table: Apriori and FP-growth by mlxtend, and top-k rules.

`topk` gives the k rules of highest support among those of a minimum confidence, as TopKRules does (Fournier-Viger et
al., 2012); `topk_class` those with a single consequent out of a given list. Both are the miners the paper compares
itself with (section 5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from omba.baskets import Baskets, Label
from omba.baskets.extras import extra
from omba.errors import InputError, SettingError
from omba.rules.catalogue import Catalogue
from omba.rules.counts import Counts
from omba.rules.rules import Rules

MOST_SETS = 2_000_000
"""Itemsets held at a time; beyond, a search asks for a higher confidence or fewer rules."""

Itemset = tuple[int, ...]
FoundRule = tuple[Itemset, Itemset, tuple[int, int, int]]
"""Antecedents, consequents, and the baskets with both, with the first and with the second."""


def apriori(
    baskets: Baskets, min_support: float = 0.01, metric: str = "confidence", min_threshold: float = 0.8, **options: Any
) -> Rules:
    """Rules by Apriori: those of mlxtend's `association_rules` on its `apriori` (to which `options` go)."""
    return _by_mlxtend("apriori", baskets, min_support, metric, min_threshold, options)


def fpgrowth(
    baskets: Baskets, min_support: float = 0.01, metric: str = "confidence", min_threshold: float = 0.8, **options: Any
) -> Rules:
    """Rules by FP-growth: those of mlxtend's `association_rules` on its `fpgrowth` (to which `options` go)."""
    return _by_mlxtend("fpgrowth", baskets, min_support, metric, min_threshold, options)


def _by_mlxtend(
    name: str, baskets: Baskets, min_support: float, metric: str, min_threshold: float, options: dict[str, Any]
) -> Rules:
    patterns = extra("mlxtend.frequent_patterns", name, "omba[classic]")
    pandas = extra("pandas", name, "omba[classic]")
    _check(baskets)
    if not 0 < min_support <= 1:
        raise SettingError(f"min_support={min_support} is a share of the baskets: give a number above 0 and up to 1")
    used, items = np.unique(baskets.items, return_inverse=True)
    matrix = csr_matrix((np.ones(len(items), bool), items, baskets.offsets), shape=(len(baskets), len(used)))
    frame = pandas.DataFrame.sparse.from_spmatrix(matrix)
    sets = getattr(patterns, name)(frame, min_support=min_support, **options)
    labels = baskets.product_vocabulary.take(used.tolist())
    if not len(sets):
        return _table(labels, [], np.empty((0, 3), np.int64), len(baskets))
    found = patterns.association_rules(sets, metric=metric, min_threshold=min_threshold)
    columns = ("support", "antecedent support", "consequent support")
    counts = np.rint(found[list(columns)].to_numpy(np.float64) * len(baskets)).astype(np.int64)
    sides = [(tuple(sorted(a)), tuple(sorted(c))) for a, c in zip(found.antecedents, found.consequents, strict=True)]
    return _table(labels, sides, counts, len(baskets))


def topk(baskets: Baskets, k: int = 100, min_confidence: float = 0.5, max_length: int = 4) -> Rules:
    """The k rules of highest support whose confidence is at least `min_confidence`, of up to `max_length` products."""
    _check(baskets, k, min_confidence, max_length)
    counts = Counts.of(baskets)
    pairs = counts.observed()

    def rules(least: int) -> Iterator[FoundRule]:
        return all_rules(frequent(counts, pairs, least, max_length))

    return _best(baskets, k, min_confidence, kth(pairs[2], k), rules)


def topk_class(
    baskets: Baskets, k: int, min_confidence: float, consequents: Iterable[Label], max_length: int = 4
) -> Rules:
    """As `topk`, of the rules whose one consequent is among `consequents`."""
    _check(baskets, k, min_confidence, max_length)
    catalogue = Catalogue(baskets.products)
    wanted = baskets.product_vocabulary.find([catalogue.find(product) for product in consequents]).tolist()
    if not wanted:
        raise InputError("no consequents were given: name at least one product")
    counts = Counts.of(baskets)
    # What leads to a product is found among its own baskets: a set's count there is that of the whole rule.
    worlds = [(product, world := counts.within(product), world.observed()) for product in dict.fromkeys(wanted)]

    def rules(least: int) -> Iterator[FoundRule]:
        for product, world, pairs in worlds:
            yield from class_rules(counts, frequent(world, pairs, least, max_length - 1), product)

    return _best(baskets, k, min_confidence, kth(np.concatenate([w.counts for _, w, _ in worlds]), k), rules)


def kth(counts: NDArray[np.integer], k: int) -> int:
    """The k-th highest count, at least 1: a support to begin with."""
    return max(1, int(np.sort(counts)[-min(k, len(counts))])) if len(counts) else 1


def _best(
    baskets: Baskets, k: int, min_confidence: float, least: int, rules: Callable[[int], Iterator[FoundRule]]
) -> Rules:
    """Search at falling support: once k rules are found at one, no rule below it can be among the k best."""
    while True:
        found = [rule for rule in rules(least) if rule[2][0] >= min_confidence * rule[2][1]]
        if len(found) >= k or least == 1:
            break
        least = max(1, least // 2)
    # Highest support first, then confidence; what is still equal stands in the order of the products.
    found.sort(key=lambda rule: (-rule[2][0], rule[2][1], len(rule[0]) + len(rule[1]), rule[0], rule[1]))
    best = found[:k]
    sides = [(antecedents, consequents) for antecedents, consequents, _ in best]
    numbers = np.array([numbers for _, _, numbers in best], np.int64).reshape(len(best), 3)
    return _table(list(baskets.product_vocabulary), sides, numbers, len(baskets))


def frequent(
    counts: Counts, pairs: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]], least: int, max_length: int
) -> dict[Itemset, int]:
    """All itemsets of up to `max_length` products in `least` baskets or more, with their counts, size by size."""
    single = counts.counts
    sets: dict[Itemset, int] = {(p,): int(single[p]) for p in np.flatnonzero(single >= least).tolist()}
    often = (column[pairs[2] >= least].tolist() for column in pairs)
    level: dict[Itemset, int] = {(a, b): n for a, b, n in zip(*often, strict=True)}
    while level:
        sets.update(level)
        size = len(next(iter(level))) + 1
        if size > max_length:
            break
        larger = list(_larger(level))
        if len(sets) + len(larger) > MOST_SETS:
            raise InputError(
                f"{len(sets) + len(larger):,} itemsets in {least} baskets or more are too many to hold: "
                "ask for fewer rules, a lower min_confidence or a smaller max_length"
            )
        numbers = counts.itemsets(np.array(larger, np.int64).reshape(len(larger), size))
        level = {items: int(n) for items, n in zip(larger, numbers.tolist(), strict=True) if n >= least}
    return sets


def _larger(level: dict[Itemset, int]) -> Iterator[Itemset]:
    """Sets one larger all of whose parts are in the level (Agrawal and Srikant, 1994)."""
    heads: dict[Itemset, list[int]] = {}
    for items in level:
        heads.setdefault(items[:-1], []).append(items[-1])
    for head, tails in heads.items():
        for a, b in combinations(sorted(tails), 2):
            items = (*head, a, b)
            if all(part in level for part in combinations(items, len(items) - 1)):
                yield items


def all_rules(sets: dict[Itemset, int]) -> Iterator[FoundRule]:
    """Every split of every set into antecedents and consequents."""
    for items, count in sets.items():
        for size in range(1, len(items)):
            for antecedents in combinations(items, size):
                consequents = tuple(item for item in items if item not in antecedents)
                yield antecedents, consequents, (count, sets[antecedents], sets[consequents])


def class_rules(counts: Counts, sets: dict[Itemset, int], product: int) -> Iterator[FoundRule]:
    """Every set found in a product's baskets, as the antecedents of that product."""
    by_size: dict[int, list[Itemset]] = {}
    for items in sets:
        by_size.setdefault(len(items), []).append(items)
    n_b = int(counts.counts[product])
    for group in by_size.values():
        for items, n_a in zip(group, counts.itemsets(np.array(group)).tolist(), strict=True):
            yield items, (product,), (sets[items], n_a, n_b)


def _check(baskets: Baskets, k: int = 1, min_confidence: float = 0.0, max_length: int = 2) -> None:
    if not baskets.n_items:
        raise InputError("there are no baskets to find rules in: give at least one with a product")
    if k < 1 or max_length < 2 or not 0 <= min_confidence <= 1:
        raise SettingError(
            f"k={k}, min_confidence={min_confidence}, max_length={max_length} leave no rules: "
            "k is 1 or more, min_confidence 0 to 1, max_length 2 or more"
        )


def _table(labels: list[Label], sides: list[tuple[Itemset, Itemset]], counts: NDArray[np.int64], n: int) -> Rules:
    return Rules(
        antecedents=[tuple(labels[row] for row in antecedents) for antecedents, _ in sides],
        consequents=[tuple(labels[row] for row in consequents) for _, consequents in sides],
        count=counts[:, 0],
        n_a=counts[:, 1],
        n_b=counts[:, 2],
        n=n,
        catalogue=Catalogue(labels),
    )
