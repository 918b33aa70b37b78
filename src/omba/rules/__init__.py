"""Rules: what the vectors and the counts tell together. Pairs by hashing, proof by counting, one table."""

from omba.rules.catalogue import Catalogue
from omba.rules.counts import Counts
from omba.rules.evidence import Evidence
from omba.rules.filter import Filter
from omba.rules.hashing import Hashing
from omba.rules.lsh import Pairs, nearest_pairs, recall
from omba.rules.measures import MEASURES, measure
from omba.rules.mine import mine
from omba.rules.mining_input import MiningInput
from omba.rules.nearest import neighbours
from omba.rules.rule import Rule
from omba.rules.rules import Rules
from omba.rules.standing import Standing

__all__ = [
    "MEASURES", "Catalogue", "Counts", "Evidence", "Filter", "Hashing", "MiningInput", "Pairs", "Rule", "Rules",
    "Standing", "measure", "mine", "nearest_pairs", "neighbours", "recall",
]  # fmt: skip
