"""Reproduce: every table and figure of the paper done again, and what it does not have, one module each."""

from omba.reproduce.experiment import IDS, Experiment, chosen, experiments
from omba.reproduce.report import Report
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.runner import Run, reproduce
from omba.reproduce.workshop import FULL, QUICK, Scale, Workshop

__all__ = [
    "FULL", "IDS", "QUICK", "Claim", "Experiment", "Picture", "Report", "Result", "Run", "Scale", "Table", "Workshop",
    "chosen", "experiments", "reproduce",
]  # fmt: skip
