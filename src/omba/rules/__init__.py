"""Rules: what the vectors and the counts tell together. Pairs by hashing, proof by counting, one table."""

from omba.rules.catalogue import Catalogue
from omba.rules.counts import Counts
from omba.rules.filter import Filter
from omba.rules.lsh import Pairs, nearest_pairs, recall
from omba.rules.measures import MEASURES, measure
from omba.rules.mine import mine
from omba.rules.nearest import neighbours
from omba.rules.rule import Rule
from omba.rules.rules import Rules
from omba.rules.space import Space
from omba.rules.standing import Standing

__all__ = [
    "MEASURES", "Catalogue", "Counts", "Filter", "Pairs", "Rule", "Rules", "Space", "Standing",
    "measure", "mine", "nearest_pairs", "neighbours", "recall",
]  # fmt: skip
