"""The oracle of the exact miner: itemsets by their definition, in plain Python."""

from __future__ import annotations

from itertools import combinations
from typing import Any


def frequent(baskets: list[list[Any]], least: int, longest: int | None = None) -> dict[frozenset[Any], int]:
    """Every set of products in `least` baskets or more, with the baskets that hold it."""
    rows = [frozenset(basket) for basket in baskets]
    products = sorted(set().union(*rows)) if rows else []
    found: dict[frozenset[Any], int] = {}
    for size in range(1, min(len(products), longest or len(products)) + 1):
        level = {}
        for items in combinations(products, size):
            chosen = frozenset(items)
            count = sum(chosen <= row for row in rows)
            if count >= least:
                level[chosen] = count
        if not level:
            break
        found |= level
    return found


def closed(sets: dict[frozenset[Any], int]) -> dict[frozenset[Any], int]:
    """Those of which no larger set is in the same baskets."""
    return {a: n for a, n in sets.items() if not any(a < b and n == m for b, m in sets.items())}


def maximal(sets: dict[frozenset[Any], int]) -> dict[frozenset[Any], int]:
    """Those of which no larger set is frequent."""
    return {a: n for a, n in sets.items() if not any(a < b for b in sets)}
