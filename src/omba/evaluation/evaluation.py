"""Evaluation: how each method did, as a table for people, frames and files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.errors import MissingExtraError, UnknownError
from omba.evaluation import metrics
from omba.evaluation.retrieval import Task
from omba.evaluation.tasks import AnyTask
from omba.evaluation.trial import Trial

COSTS = ["learn s", "score s", "peak MB"]


@dataclass(frozen=True)
class Row:
    """One method: its trials, one a seed.

    Parameters
    ----------
    method
        The title of the method.
    trials
        What it got right and what it cost, one trial a seed.
    task
        What was asked.
    kept
        Its figures, where an earlier run found them; there are no trials then.
    """

    method: str
    trials: Sequence[Trial]
    task: AnyTask = field(default_factory=Task)
    kept: dict[str, Any] | None = None

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank, the mean over seeds."""
        return float(self.to_dict()["mrr"])

    @property
    def score(self) -> float:
        """The first figure of the task, by which methods are sorted."""
        return float(self.to_dict()[next(iter(self.task.columns))])

    def to_dict(self) -> dict[str, Any]:
        """All figures: means over seeds, each with its spread (standard deviation over seeds, None for one)."""
        if self.kept is not None:
            return dict(self.kept)
        figures: dict[str, Any] = {
            "method": self.method,
            "learning": "online" if self.trials[0].online else "retrained",
            "seeds": len(self.trials),
            "queries": sum(len(trial.ranks) for trial in self.trials),
        }
        by_trial = [self._figures(trial) for trial in self.trials]
        for name in by_trial[0]:
            values = [found[name] for found in by_trial]
            figures[name] = float(np.mean(values))
            figures[f"{name}_spread"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
        figures["learn_seconds"] = float(np.mean([trial.learn_seconds for trial in self.trials]))
        figures["score_seconds"] = float(np.mean([trial.score_seconds for trial in self.trials]))
        peaks = [trial.peak_memory for trial in self.trials if trial.peak_memory is not None]
        figures["peak_bytes"] = max(peaks) if peaks else None
        return figures

    def _figures(self, trial: Trial) -> dict[str, float]:
        """What was measured of one trial; of hidden products, from their ranks."""
        return Task().measure(trial.ranks, []) if trial.figures is None else trial.figures

    def tell(self) -> str:
        """The figures of the task in a line."""
        figures = self.to_dict()
        told = [f"{title} {_figure(figures[name])}" for name, title in self.task.columns.items()]
        return f"{self.method}: {', '.join(told)}"

    def cells(self) -> list[str]:
        """The row of a table: the method, the figures of the task, and what they cost."""
        figures = self.to_dict()
        first, *others = self.task.columns
        spread, peak = figures[f"{first}_spread"], figures["peak_bytes"]
        return [
            figures["method"],
            _figure(figures[first]) + ("" if spread is None else f" ±{spread:.4f}"),
            *(_figure(figures[name]) for name in others),
            *(f"{figures[name]:.2f}" for name in ("learn_seconds", "score_seconds")),
            "–" if peak is None else f"{peak / 1e6:.0f}",
            figures["learning"],
        ]


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
    key
        What the figures depend on beside the method; see `kept_results`.
    """

    rows: list[Row]
    task: AnyTask
    seeds: list[int]
    target_prices: list[NDArray[np.float32]] | None
    skipped: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    key: dict[str, Any] = field(default_factory=dict)

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
        task = {"name": self.task.name, **{name: value for name, value in vars(self.task).items() if name != "users"}}
        whole = {"key": self.key, "task": task, "seeds": self.seeds, "chance": self.chance, "rows": self.to_dicts()}
        return _write(json.dumps(whole | {"skipped": self.skipped, "notes": self.notes}, indent=2), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The figures, one line a method."""
        text = io.StringIO()
        writer = csv.DictWriter(text, list(self.to_dicts()[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.to_dicts())
        return _write(text.getvalue(), path)

    @property
    def chance(self) -> float | None:
        """The MRR of guessing; None over a whole catalogue, where it is next to nothing."""
        return metrics.chance(1 + self.task.negatives) if isinstance(self.task, Task) else None

    @property
    def head(self) -> list[str]:
        """The heads of a table's columns."""
        return ["method", *self.task.columns.values(), *COSTS, "learning"]

    def __repr__(self) -> str:
        lines = [self.head] + [row.cells() for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:-1], widths[1:-1]), line[-1]]).rstrip()
            for line in lines
        ]
        guess = [] if self.chance is None else [f"guessing has an MRR of {self.chance:.4f}"]
        left_out = [f"{name} is left out: {why}" for name, why in self.skipped.items()]
        return "\n".join([*table, *guess, *self.notes, *left_out])


def _figure(value: float | None) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.4f}"


def _write(text: str, path: str | Path | None) -> str:
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text
