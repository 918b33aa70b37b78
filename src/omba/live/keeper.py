"""Keeper: saves a model as it learns, and leaves an entry of its history whenever a span of time has ended."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from os import PathLike
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Every
from omba.errors import InputError, SnapshotError
from omba.live.current_rules import CurrentRules
from omba.live.forked import ForkedWork, has_spare_processor
from omba.model import OMBA
from omba.rules.layout import places
from omba.rules.pair_counts import PairCounts
from omba.rules.rules import Rules
from omba.store import ModelFolder

SHARE = 20
"""A model is saved at the end of a span where learning took so many times as long since it was last saved as saving
did: a twentieth of the time, at most, is spent on what only a crash would need."""


@dataclass(frozen=True)
class Due:
    """Entries of the history that are due around a window, each as the end of its span; None where none is.

    `before` the window is learned, if it begins a later span than the one the model is in; `after` it, if a span ends
    where the window does.
    """

    before: int | None = None
    after: int | None = None


class Keeper:
    """Keeps a model in a folder, with an entry of its history at the end of each span.

    Parameters
    ----------
    folder
        The model's folder.
    every
        The span of time after which an entry is left, such as `month` or `7d`; None leaves none.
    fresh
        Whether the model takes the place of what the folder held. The old one goes once the new one is first saved.
    beside
        Whether a second processor, if there is one, takes its part: it learns too, which changes no bit, and saves the
        model at the end while its rules are mined.
    """

    def __init__(
        self, folder: str | PathLike[str], every: str | None = "month", fresh: bool = False, beside: bool = False
    ) -> None:
        self.folder, self.fresh, self.rules, self.beside = ModelFolder(folder), fresh, CurrentRules(), beside
        self._saved, self._took = -np.inf, 0.0
        self.every = None if every is None else Every.parse(every)
        if self.every is not None and self.every.unit == "baskets":
            raise InputError(f"a history of every {every!r} is not known: give a span of time, such as 'month' or '7d'")

    def due(self, model: OMBA, window: Baskets) -> Due:
        """Which entries are due before and after a window that the model is about to learn."""
        return Due() if self.every is None else Due(self._due_before(model, window), self._due_after(window))

    def learn(self, model: OMBA, window: Baskets) -> None:
        """Have the model learn a window, and keep it first if the window begins another span."""
        due = self.due(model, window)
        if due.before is not None:
            self._keep(model, due.before)
        with both_processors(model) if self.beside else nullcontext():
            model.partial_fit(window)

    def finish(self, model: OMBA) -> None:
        """Keep the model as it is now, with an entry of its own."""
        self._keep(model, model.n_windows if model.clock is Clock.NONE else model.last_time + 1, last=True)

    def record(self, model: OMBA, tick: int, last: bool = False) -> None:
        """Leave an entry of the history, unless nothing was learned since the last one or there are no rules yet.

        Only the `last` entry, after which nothing waits to be learned, has a map, and rare and unseen rules in any
        case; the maps of others are drawn when they are asked for, near it.
        """
        self._write(model, tick, self._mine(model, last))

    def _keep(self, model: OMBA, tick: int, last: bool = False) -> None:
        if last and self.beside and not self.fresh:
            self._save_beside(model, tick)
            return
        begin = monotonic()
        if last or begin - self._saved > SHARE * self._took:
            self.folder.save(model)
            self._saved = monotonic()
            self._took = self._saved - begin
        if self.fresh:
            self.folder.clear_past()
            self.fresh = False
        if self.every is not None:
            self.record(model, tick, last)

    def _save_beside(self, model: OMBA, tick: int) -> None:
        """Save the model while its rules are mined and its map is drawn; its entry is written once it is saved."""
        saving = ForkedWork("the model is saved again")
        saving.begin(lambda: self.folder.save(model))
        made = None if self.every is None else self._mine(model, last=True)
        if not saving.wait():
            self.folder.save(model)
        self._write(model, tick, made)

    def _mine(self, model: OMBA, last: bool) -> tuple[Rules, NDArray[np.floating] | None] | None:
        """The rules and the map of an entry; None where nothing was learned since the last one, or no rules."""
        entries = self.folder.history.entries
        if entries and entries[-1].n_baskets == model.n_baskets:
            return None
        if not last:
            rules = self.rules.on_the_way(model)
            return None if rules is None else (rules, None)
        with ThreadPoolExecutor(1, "omba map") as pool:
            drawn = pool.submit(self._places, model)
            rules = self.rules.of(model)
            return None if rules is None else (rules, drawn.result())

    def _write(self, model: OMBA, tick: int, made: tuple[Rules, NDArray[np.floating] | None] | None) -> None:
        """Write an entry of what was mined."""
        if made is None:
            return
        rules, mapped = made
        prices = model.prices.means if model.prices.known else None
        self.folder.history.record(
            rules, model.products, model.product_vectors, model.product_counts, model.n_baskets, tick, model.clock,
            prices, mapped, PairCounts.of(model.evidence, len(model.products)),
        )  # fmt: skip

    def _span(self, clock: Clock) -> Every:
        """The span on a clock; where days are counted, none is shorter than a day."""
        assert self.every is not None
        return Every(1, "d") if clock is Clock.DAY and self.every.unit in ("h", "m") else self.every.on(clock)

    def _due_before(self, model: OMBA, window: Baskets) -> int | None:
        """The end of the span that the model is in, if the window begins another one."""
        if self.every is None or window.times is None or not len(window) or model.clock is not window.clock:
            return None
        begin = int(window.times[0]) if window.start is None else window.start
        span = self._span(window.clock)
        known, coming = span.keys(np.array([model.last_time, begin]), window.clock).tolist()
        return span.bounds(coming, window.clock)[0] if coming > known else None

    def _due_after(self, window: Baskets) -> int | None:
        """The end of the window, if a span ends with it."""
        if self.every is None or window.start is None or window.stop is None:
            return None
        first, after = self._span(window.clock).keys(np.array([window.start, window.stop]), window.clock).tolist()
        return window.stop if after > first else None

    def _places(self, model: OMBA) -> NDArray[np.floating]:
        """Places on the map, near those of the entry before."""
        before = None
        for entry in reversed(self.folder.history.entries):
            # One that is damaged is no reason to have no map.
            with suppress(SnapshotError):
                before = entry.places
            if before is not None:
                break
        return places(model.product_vectors, model.product_counts, before)


@contextmanager
def both_processors(model: OMBA) -> Iterator[None]:
    """Learn with two threads where there are as many processors, which gives the bits of one; the setting stays."""
    wanted = model.threads
    if wanted == 1 and has_spare_processor():
        model.threads = 2
    try:
        yield
    finally:
        model.threads = wanted
