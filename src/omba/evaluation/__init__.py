"""Evaluation: how well hidden products are found, by which method, at what cost."""

from omba.evaluation.contest import evaluate
from omba.evaluation.evaluation import Evaluation, Row
from omba.evaluation.retrieval import Task, queries
from omba.evaluation.trial import Trial, run

__all__ = ["Evaluation", "Row", "Task", "Trial", "evaluate", "queries", "run"]
