"""Workshop: what experiments share: baskets, models and trials, each made once and kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.errors import SnapshotError
from omba.evaluation.retrieval import Hide
from omba.model import OMBA
from omba.reproduce import trials
from omba.reproduce.shelf import Shelf
from omba.reproduce.trials import Contender, Source, Trial

CJ, PRODUCTS, TF = "complete-journey", "complete-journey:product_id", "ta-feng"

METHODS = (
    "pop", "sup", "lift", "nmf", "item2vec", "prod2vec", "triple2vec", "ease", "als", "history",
    "omba-no-user", "omba-cons", "omba-decay", "omba-info", "omba-no-value", "omba-paper", "omba",
)  # fmt: skip
AT_SIZE = ("pop", "sup", "lift", "nmf", "als", "history", "triple2vec", "omba-paper", "omba")
"""Methods that can be trained anew on the largest catalogues within the time there is."""
LARGE = 5_000_000
"""Products over all baskets from which on a data set is large."""
NO_CATEGORIES = Contender("omba", (("categories", False),))
"""OMBA with no more to go by than the others have."""

PROCESSES = min(2, os.cpu_count() or 1)


@dataclass(frozen=True)
class Scale:
    """How much of the data is looked at. Methods and their settings are the same at every scale."""

    name: str
    windows: int = 20
    few: int = 5
    """Windows where a method is trained anew on large data."""
    until: tuple[tuple[str, str], ...] = ()
    """Data sets that are not read to their end, and the day they stop before."""
    split: str = "2017-10-01"
    """Rules are mined before this day, and judged from it on."""
    dates: tuple[str, str] = ("2017-03-01", "2017-08-01")
    """The two days whose associations are compared."""
    sweeps: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("dim", (50, 100, 200, 300, 400, 500)),
        ("negatives", (1, 2, 3, 4, 5)),
        ("tau", (0.001, 0.01, 0.1, 1.0, 10.0)),
    )
    pairs: int = 100_000
    methods: tuple[str, ...] = METHODS

    @property
    def words(self) -> str:
        """What a reader must know of figures at this scale; nothing where they are in full."""
        if self.name == FULL.name:
            return ""
        cut = ", ".join(f"{name} before {until}" for name, until in self.until)
        return f"Quick run: {self.windows} windows in place of {FULL.windows}, and only {cut}. Figures are rough."


FULL = Scale("full")
QUICK = Scale(
    "quick",
    windows=2,
    few=2,
    until=((CJ, "2017-03-12"), (PRODUCTS, "2017-02-12"), (TF, "2000-11-27")),
    split="2017-03-01",
    dates=("2017-02-20", "2017-03-10"),
    sweeps=(("dim", (50, 300)), ("negatives", (1, 3)), ("tau", (0.01, 0.1))),
)


def nothing(share: float, note: str) -> None:
    """Nobody is watching."""


@dataclass
class Workshop:
    """The shared things of a run. What takes long is kept on the shelf, and taken from there the next time."""

    shelf: Shelf
    scale: Scale = FULL
    seed: int = 0
    instacart: Path | None = None
    processes: int = PROCESSES
    tell: Callable[[float, str], None] = nothing
    """Told how far the experiment at hand has come, and where it stands."""
    skipped: dict[str, str] = field(default_factory=dict)
    """Methods that could not take part, and why."""

    def source(self, name: str) -> Source:
        return Source(name, dict(self.scale.until).get(name))

    def baskets(self, name: str = CJ) -> Baskets:
        """A data set, as far as this scale reads it."""
        return trials.load(self.source(name))

    def whole(self, name: str = CJ) -> Baskets:
        """A data set, all of it, whatever the scale: where that costs nothing."""
        return trials.load(Source(name))

    @cached_property
    def data_sets(self) -> list[str]:
        """The data sets of the retrieval task."""
        return [CJ, TF, *([f"instacart:{self.instacart}"] if self.instacart else [])]

    def retrieve(
        self,
        name: str,
        contenders: Iterable[Contender],
        only: Sequence[int] | None = None,
        hide: Hide = "one",
    ) -> dict[Contender, Trial]:
        """The trial of each contender that can take part; trials held before are not held again."""
        found, skipped = trials.hold(
            self.source(name),
            list(contenders),
            self.windows(name),
            self.seed,
            self.shelf,
            self.processes,
            lambda share, note: self.tell(share, note),
            only,
            hide,
        )
        self.skipped.update({contender.method: why for contender, why in skipped.items()})
        return found

    def large(self, name: str) -> bool:
        """Whether only some methods can be held on a data set, and on few windows."""
        return name == PRODUCTS or (name not in (CJ, TF) and self.baskets(name).n_items > LARGE)

    def windows(self, name: str) -> int:
        return self.scale.few if self.large(name) else self.scale.windows

    def contest(self, name: str) -> dict[Contender, Trial]:
        """Every method on a data set: what Table 2, the recall curves and the costs are made of."""
        methods = [method for method in self.scale.methods if not self.large(name) or method in AT_SIZE]
        return self.retrieve(name, [*map(Contender, methods), NO_CATEGORIES])

    def target_prices(self, name: str, hide: Hide = "one") -> NDArray[np.float64]:
        return trials.target_prices(self.source(name), self.windows(name), self.seed, hide)

    def models(self, kind: str, dates: Sequence[str | None]) -> list[OMBA]:
        """OMBA as it was before each of the dates (None: at the end), learned in one go: `default` or `paper`."""
        folders = [self.shelf.folder / f"model-{kind}-{date or 'end'}" for date in dates]
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
                self.tell(first / len(baskets), f"learning, {kind} settings")
            model.save(folder)
            found.append(OMBA.load(folder))
        return found

    def learned(self, kind: str = "default", date: str | None = None) -> OMBA:
        """OMBA before one of the dates of this scale, or at the end."""
        dates: list[str | None] = [*sorted({*self.scale.dates, self.scale.split}), None]
        if kind == "paper":
            dates = [self.scale.split]
        return self.models(kind, dates)[dates.index(date)]

    @property
    def setting(self) -> str:
        """What it takes to get the same figures again."""
        return f"seed {self.seed}"
