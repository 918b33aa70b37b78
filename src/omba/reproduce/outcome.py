"""Outcome: how a contender did in the retrieval task over all its windows, and by how much it beat another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from omba.evaluation import metrics
from omba.evaluation.metrics import Ranks
from omba.reproduce.contender import Contender


@dataclass(frozen=True)
class Outcome:
    """What the jobs of one contender found, put together.

    Parameters
    ----------
    by_window
        The ranks that every hidden product may have, window by window.
    learn_seconds
        Seconds of one processor that learning took.
    score_seconds
        Seconds of one processor that answering took.
    peak
        The most memory it held, in bytes, where the system tells.
    online
        Whether it went through the stream once.
    """

    by_window: Sequence[Ranks]
    learn_seconds: float
    score_seconds: float
    peak: int | None
    online: bool

    @property
    def ranks(self) -> Ranks:
        return np.concatenate(self.by_window)

    @property
    def mrr(self) -> float:
        return metrics.mrr(self.ranks)

    def recall(self, k: int) -> float:
        """The share of queries whose hidden product is among the first k."""
        return metrics.recall(self.ranks, k)

    @property
    def dcg(self) -> float:
        return metrics.dcg(self.ranks)

    def at(self, windows: Sequence[int]) -> Outcome:
        """The same outcome, asked about these windows only; the costs stay those of all."""
        return replace(self, by_window=[self.by_window[window] for window in windows])

    def margin(self, other: Outcome) -> tuple[float, float]:
        """By how much the MRR is above another's, as a share of that, and the standard error over windows.

        Both were asked the same, so the error is that of the differences, by leaving out a window at a time.
        """
        mine, theirs = ([metrics.reciprocals(ranks) for ranks in one.by_window] for one in (self, other))
        n = len(mine)
        whole = np.concatenate(mine).mean() / np.concatenate(theirs).mean() - 1
        without = [
            np.concatenate(mine[:k] + mine[k + 1 :]).mean() / np.concatenate(theirs[:k] + theirs[k + 1 :]).mean() - 1
            for k in range(n if n > 1 else 0)
        ]
        error = np.sqrt((n - 1) / n * np.sum((np.array(without) - np.mean(without)) ** 2)) if n > 1 else np.nan
        return float(whole), float(error)

    @classmethod
    def join(cls, found: Sequence[dict[str, Any]]) -> Outcome:
        """The outcome made of the jobs of a contender, in the order of their windows."""
        peaks = [one["peak"] for one in found if one["peak"] is not None]
        return cls(
            [np.array(ranks, np.int64) for one in found for ranks in one["ranks"]],
            sum(one["learn"] for one in found),
            sum(one["score"] for one in found),
            max(peaks) if peaks else None,
            found[0]["online"],
        )


Outcomes = Mapping[Contender, Outcome]
