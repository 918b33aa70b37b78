"""Context: what experiments share: baskets, models and outcomes of the retrieval task, each made once and kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.errors import SnapshotError
from omba.evaluation.retrieval import Hide
from omba.model import OMBA
from omba.reproduce import contender, jobs
from omba.reproduce.contender import Contender, DataSet
from omba.reproduce.outcome import Outcome
from omba.reproduce.result_cache import ResultCache
from omba.reproduce.scale import CJ, FULL, PRODUCTS, TF, Scale

AT_SIZE = ("pop", "sup", "lift", "nmf", "als", "history", "triple2vec", "omba-paper", "omba")
"""Methods that can be trained anew on the largest catalogues within the time there is."""
LARGE = 5_000_000
"""Products over all baskets from which on a data set is large."""
NO_CATEGORIES = Contender("omba", (("categories", False),))
"""OMBA with no more to go by than the others have."""
SLOW = tuple(Contender(method, (("learning_rate", 0.005),)) for method in ("omba-decay", "omba-info"))
"""The variants that replay past baskets by plain SGD, at a tenth of the paper's rate: what they find hangs on it."""

PROCESSES = min(2, os.cpu_count() or 1)


def ignore(share: float, note: str) -> None:
    """Nobody is watching."""


@dataclass
class Context:
    """The shared things of a run. What takes long is kept in the cache, and taken from there the next time.

    Parameters
    ----------
    results
        Where finished parts are kept.
    scale
        How much of the data is looked at.
    seed
        Start of all random numbers.
    instacart
        The folder of the Kaggle files, where they are at hand.
    processes
        How many contenders are at work at a time.
    progress
        Called with how far the experiment at hand has come, and where it stands.
    skipped
        Methods that could not take part, and the reason.
    """

    results: ResultCache
    scale: Scale = FULL
    seed: int = 0
    instacart: Path | None = None
    processes: int = PROCESSES
    progress: jobs.Progress = ignore
    skipped: dict[str, str] = field(default_factory=dict)

    def data_set(self, name: str) -> DataSet:
        """A data set by its name, cut where this scale cuts it."""
        return DataSet(name, dict(self.scale.until).get(name))

    def baskets(self, name: str = CJ) -> Baskets:
        """A data set, as far as this scale reads it."""
        return contender.load(self.data_set(name))

    def whole(self, name: str = CJ) -> Baskets:
        """A data set, all of it, whatever the scale: where that costs nothing."""
        return contender.load(DataSet(name))

    @cached_property
    def data_sets(self) -> list[str]:
        """The data sets of the retrieval task."""
        return [CJ, TF, *([f"instacart:{self.instacart}"] if self.instacart else [])]

    def questions(self, name: str, hide: Hide = "one") -> jobs.ContestQueries:
        """What contenders are asked on a data set."""
        return jobs.ContestQueries(self.data_set(name), self.windows(name), self.seed, hide)

    def retrieve(
        self,
        name: str,
        contenders: Iterable[Contender],
        only: Sequence[int] | None = None,
        hide: Hide = "one",
    ) -> dict[Contender, Outcome]:
        """The outcome of each contender that can take part; what was found before is not done again."""
        found, skipped = jobs.compete(
            self.questions(name, hide),
            list(contenders),
            self.results,
            self.processes,
            lambda share, note: self.progress(share, note),
            only,
        )
        self.skipped.update({contender.method: reason for contender, reason in skipped.items()})
        return found

    def large(self, name: str) -> bool:
        """Whether only some methods can be trained on a data set, and for few windows."""
        return name == PRODUCTS or (name not in (CJ, TF) and self.baskets(name).n_items > LARGE)

    def windows(self, name: str) -> int:
        """How many windows of a data set are asked about."""
        return self.scale.few if self.large(name) else self.scale.windows

    def contest(self, name: str) -> dict[Contender, Outcome]:
        """Every method on a data set: what Table 2, the recall curves and the costs are made of."""
        methods = [method for method in self.scale.methods if not self.large(name) or method in AT_SIZE]
        slow = [each for each in SLOW if each.method in methods]
        return self.retrieve(name, [*map(Contender, methods), NO_CATEGORIES, *slow])

    def target_prices(self, name: str, hide: Hide = "one") -> NDArray[np.float64]:
        """Prices of the hidden products, in the order of an outcome's ranks."""
        return self.questions(name, hide).target_prices()

    def models(self, kind: str, dates: Sequence[str | None]) -> list[OMBA]:
        """OMBA as it was before each of the dates (None: at the end), learned in one go: `default` or `paper`."""
        folders = [self.results.folder / f"model-{kind}-{date or 'end'}" for date in dates]
        try:
            return [OMBA.load(folder) for folder in folders]
        except SnapshotError:
            pass
        model = OMBA.paper(seed=self.seed) if kind == "paper" else OMBA(seed=self.seed)
        baskets, first, found = self.baskets(), 0, []
        for folder, date in zip(folders, dates, strict=True):
            after = len(baskets) if date is None else len(baskets.between(None, date))
            for window in baskets.slice(first, after).windows("1d"):
                model.partial_fit(window)
                first += len(window)
                self.progress(first / len(baskets), f"learning, {kind} settings")
            model.save(folder)
            found.append(OMBA.load(folder))
        return found

    def model(self, kind: str = "default", date: str | None = None) -> OMBA:
        """OMBA before one of the dates of this scale, or at the end."""
        dates: list[str | None] = [*sorted({*self.scale.dates, self.scale.split}), None]
        if kind == "paper":
            dates = [self.scale.split]
        return self.models(kind, dates)[dates.index(date)]

    @property
    def setting(self) -> str:
        """What it takes to get the same figures again."""
        return f"seed {self.seed}"
