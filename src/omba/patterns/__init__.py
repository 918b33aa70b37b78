"""Patterns: exact itemsets by counting alone, as mlxtend tells them, and the splits of them into rules."""

from omba.patterns.itemsets import Itemsets
from omba.patterns.mining import find_itemsets, itemsets
from omba.patterns.transactions import Transactions

__all__ = ["Itemsets", "Transactions", "find_itemsets", "itemsets"]
