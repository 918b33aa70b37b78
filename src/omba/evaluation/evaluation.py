"""Evaluation: how each method did, as a table for people, frames and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.errors import MissingExtraError, UnknownError
from omba.evaluation import metrics
from omba.evaluation.retrieval import Task
from omba.evaluation.trial import Trial

CUTS = range(1, 11)
"""The k of Recall@k."""

HEAD = ["method", "MRR", "R@1", "R@5", "DCG", "learn s", "score s", "peak MB", "learning"]


@dataclass(frozen=True)
class Row:
    """One method: its trials, one a seed.

    Parameters
    ----------
    method
        The title of the method.
    trials
        What it got right and what it cost, one trial a seed.
    """

    method: str
    trials: Sequence[Trial]

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank, the mean over seeds."""
        return float(np.mean(self.by_seed(metrics.mrr)))

    def by_seed(self, metric: Callable[[metrics.Ranks], float]) -> list[float]:
        return [metric(trial.ranks) for trial in self.trials]

    def to_dict(self) -> dict[str, Any]:
        """All figures: means over seeds, each with its spread (standard deviation over seeds, None for one)."""
        measures: dict[str, Callable[[metrics.Ranks], float]] = {"mrr": metrics.mrr}
        measures |= {f"recall@{k}": partial(metrics.recall, k=k) for k in CUTS}
        measures["dcg"] = metrics.dcg
        figures: dict[str, Any] = {
            "method": self.method,
            "learning": "online" if self.trials[0].online else "retrained",
            "seeds": len(self.trials),
            "queries": sum(len(trial.ranks) for trial in self.trials),
        }
        for name, metric in measures.items():
            values = self.by_seed(metric)
            figures[name] = float(np.mean(values))
            figures[f"{name}_spread"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        figures["learn_seconds"] = float(np.mean([trial.learn_seconds for trial in self.trials]))
        figures["score_seconds"] = float(np.mean([trial.score_seconds for trial in self.trials]))
        peaks = [trial.peak_memory for trial in self.trials if trial.peak_memory is not None]
        figures["peak_bytes"] = max(peaks) if peaks else None
        return figures


@dataclass(frozen=True, repr=False)
class Evaluation:
    """How each method did: a table that prints itself, and goes into frames and files.

    Parameters
    ----------
    rows
        The methods, best first.
    task
        What was asked.
    seeds
        The seeds the test was run for.
    target_prices
        Prices of the hidden products by seed, in the order of each trial's ranks; None without prices.
    skipped
        Methods that were left out, and the reason.
    notes
        How the test had to adapt to the baskets, in words.
    """

    rows: list[Row]
    task: Task
    seeds: list[int]
    target_prices: list[NDArray[np.float32]] | None
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, method: str) -> Row:
        for row in self.rows:
            if row.method == method:
                return row
        raise UnknownError(f"{method!r} is not among the methods evaluated: {', '.join(self.methods)}")

    @property
    def methods(self) -> list[str]:
        return [row.method for row in self.rows]

    def to_dicts(self) -> list[dict[str, Any]]:
        return [row.to_dict() for row in self.rows]

    def to_pandas(self) -> Any:
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise MissingExtraError("pandas is not installed: pip install pandas, or take to_dicts()") from None
        return pandas.DataFrame(self.to_dicts())

    def to_json(self, path: str | Path | None = None) -> str:
        """The figures, the task, and all notes, as JSON."""
        whole = {"task": vars(self.task), "seeds": self.seeds, "chance": self.chance, "rows": self.to_dicts()}
        return _write(json.dumps(whole | {"skipped": self.skipped, "notes": self.notes}, indent=2), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The figures, one line a method."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.to_dicts()[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.to_dicts())
        return _write(text.getvalue(), path)

    @property
    def chance(self) -> float:
        """The MRR of guessing."""
        return metrics.chance(1 + self.task.negatives)

    def __repr__(self) -> str:
        lines = [HEAD] + [_cells(row.to_dict()) for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:-1], widths[1:-1]), line[-1]]).rstrip()
            for line in lines
        ]
        guess = f"guessing has an MRR of {self.chance:.4f}"
        left_out = [f"{name} is left out: {why}" for name, why in self.skipped.items()]
        return "\n".join([*table, guess, *self.notes, *left_out])


def _cells(figures: dict[str, Any]) -> list[str]:
    spread = figures["mrr_spread"]
    peak = figures["peak_bytes"]
    return [
        figures["method"],
        f"{figures['mrr']:.4f}" + ("" if spread is None else f" ±{spread:.4f}"),
        *(f"{figures[name]:.4f}" for name in ("recall@1", "recall@5", "dcg")),
        *(f"{figures[name]:.2f}" for name in ("learn_seconds", "score_seconds")),
        "–" if peak is None else f"{peak / 1e6:.0f}",
        figures["learning"],
    ]


def _write(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
