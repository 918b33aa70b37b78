"""Experiment: one table or figure, by its id, and the list of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

from omba.errors import UnknownError, nearest
from omba.reproduce.result import Result
from omba.reproduce.workshop import Workshop


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, or one it might have had; `run` does it again."""

    id: str
    title: str
    place: str
    """Where it stands in the paper."""
    run: Callable[[Workshop], Result]
    minutes: float = 0.1
    """Of a full run on two quiet cores, roughly, for the bar; what is shared counts where it is first needed."""


IDS = (
    "table1", "fig1a", "fig1b", "fig1c", "table2", "table3a", "table3b", "fig4a", "fig4b", "table4",
    "supp1", "supp2", "supp3", "supp4", "supp5", "beyond1", "beyond2", "beyond3",
)  # fmt: skip


def experiments() -> list[Experiment]:
    """All of them, in the order of the paper. Each is the `EXPERIMENT` of the module that has its id for a name."""
    return [import_module(f"omba.reproduce.{id}").EXPERIMENT for id in IDS]


def chosen(ids: Iterable[str]) -> list[Experiment]:
    """The experiments with these ids, in the order of the paper; all where none is named."""
    wanted = list(ids)
    for id in wanted:
        if id not in IDS:
            raise UnknownError(
                f"there is nothing called {id!r} to reproduce{nearest(id, IDS)} (known: {', '.join(IDS)})"
            )
    return [experiment for experiment in experiments() if not wanted or experiment.id in wanted]
