"""Reproduce: every table and figure of the paper done again, and what it does not have, one module each."""

from omba.reproduce.context import Context
from omba.reproduce.experiment import IDS, Experiment, choose, experiments
from omba.reproduce.reproduction import Reproduction
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.runner import Run, reproduce
from omba.reproduce.scale import FULL, QUICK, Scale

__all__ = [
    "FULL", "IDS", "QUICK", "Claim", "Context", "Experiment", "Picture", "Reproduction", "Result", "Run", "Scale",
    "Table", "choose", "experiments", "reproduce",
]  # fmt: skip
