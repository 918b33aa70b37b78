"""Experiment: one table or figure, by its id, and the list of them all.

Each has a module of its own with three functions: `measure` finds the figures, `draw` makes a picture of them, and
`tell` puts them into claims, tables and sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Generic, TypeVar

from omba.errors import UnknownError, nearest
from omba.reproduce.context import Context
from omba.reproduce.result import Picture, Result

Figures = TypeVar("Figures")


@dataclass(frozen=True)
class Experiment(Generic[Figures]):
    """A table or figure of the paper, or one it might have had.

    Parameters
    ----------
    id
        What it is called on the command line and in the report.
    title
        What it shows, in a few words.
    place
        Where it stands in the paper.
    measure
        Finds the figures.
    tell
        Puts the figures into claims, tables and sentences.
    draw
        Makes a picture of the figures, where one helps.
    minutes
        Of a full run on two quiet cores, roughly, for the bar; what is shared counts where it is first needed.
    """

    id: str
    title: str
    place: str
    measure: Callable[[Context], Figures]
    tell: Callable[[Figures, Context], Result]
    draw: Callable[[Figures], Picture] | None = None
    minutes: float = 0.1

    def run(self, context: Context) -> Result:
        """Do it again: measure, draw and tell."""
        figures = self.measure(context)
        pictures = [self.draw(figures)] if self.draw else []
        return replace(self.tell(figures, context), pictures=pictures)


PRINTED = ("table1", "fig1a", "fig1b", "fig1c", "table2", "table3a", "table3b", "fig4a", "fig4b", "table4")
"""The paper's own tables and figures, each in the module of its name."""
MODULES = dict(zip(PRINTED, PRINTED, strict=True)) | {
    "supp1": "repeat_purchases",
    "supp2": "price_power_law",
    "supp3": "collision_curves",
    "supp4": "sensitivity",
    "supp5": "recall_at_k",
    "beyond1": "rules_hold",
    "beyond2": "quality_and_seconds",
    "beyond3": "online_or_anew",
}
"""The module of each experiment by its id, in the order of the paper."""

IDS = tuple(MODULES)


def experiments() -> list[Experiment[Any]]:
    """All of them, in the order of the paper; each is the `EXPERIMENT` of its module."""
    return [import_module(f"omba.reproduce.{module}").EXPERIMENT for module in MODULES.values()]


def choose(ids: Iterable[str]) -> list[Experiment[Any]]:
    """The experiments with these ids, in the order of the paper; all where none is named."""
    wanted = list(ids)
    for id in wanted:
        if id not in IDS:
            raise UnknownError(
                f"there is nothing called {id!r} to reproduce{nearest(id, IDS)} (known: {', '.join(IDS)})"
            )
    return [experiment for experiment in experiments() if not wanted or experiment.id in wanted]
