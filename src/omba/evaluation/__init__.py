"""Evaluation: how well hidden products and next baskets are found, by which method, at what cost."""

from omba.evaluation.completion import Completion
from omba.evaluation.contest import evaluate
from omba.evaluation.evaluation import Evaluation, Row
from omba.evaluation.next_basket import NextBasket
from omba.evaluation.retrieval import Task, queries
from omba.evaluation.trial import Trial, run
from omba.evaluation.truth import split, truth_test
from omba.evaluation.truth_result import TruthTest

__all__ = [
    "Completion",
    "Evaluation",
    "NextBasket",
    "Row",
    "Task",
    "Trial",
    "TruthTest",
    "evaluate",
    "queries",
    "run",
    "split",
    "truth_test",
]
