"""Keeper: saves a model as it learns, and leaves an entry of its rules whenever a span of time has ended."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets, Clock, Every
from omba.errors import InputError
from omba.model import OMBA
from omba.rules.filter import Filter
from omba.rules.from_model import mine_rules
from omba.rules.layout import places
from omba.rules.nearest import MIN_COUNT
from omba.rules.rules import Rules, joined
from omba.store.history import History
from omba.store.journal import JOURNAL

HISTORY = "history"
"""The folder beside a model's snapshots."""
RULES = 1_000
"""Rules in an entry: enough to tell one that has gone from one that slipped a few places."""
SELDOM = 10
"""One of so many is a rare rule, and another an unseen one."""
KNOWN = 1_000
"""Both products of an unseen pair were in a basket of so many: of rarer ones, that they never met says little."""
MAPPED = 20_000
"""Products up to which every entry has a map of its own; of more, only the last, since one takes half a minute."""


def history_of(folder: Path) -> History:
    """The history of the model in a folder."""
    return History(folder / HISTORY)


class Keeper:
    """Keeps a model in a folder, with an entry of its history at the end of each span; None keeps none.

    A `fresh` model takes the place of what the folder held, once it has learned enough to be kept.
    """

    def __init__(self, folder: Path, every: str | None = "month", fresh: bool = False) -> None:
        self.folder, self.fresh = folder, fresh
        self.every = None if every is None else Every.parse(every)
        if self.every is not None and self.every.unit == "baskets":
            raise InputError(f"a history of every {every!r} is not known: give a span of time, such as 'month' or '7d'")

    def before(self, model: OMBA, window: Baskets) -> None:
        """Keep the model as it is, if the window it is about to learn begins another span."""
        tick = self.ended(model, window)
        if tick is not None:
            self._keep(model, tick)

    def end(self, model: OMBA) -> None:
        """Keep the model as it is now."""
        self._keep(model, model.n_windows if model.clock is Clock.NONE else model.last_time + 1, last=True)

    def ended(self, model: OMBA, window: Baskets) -> int | None:
        """The end of the span that the model is in, if the window it is about to learn begins another one."""
        if self.every is None or window.times is None or not len(window) or model.clock is not window.clock:
            return None
        begin = int(window.times[0]) if window.start is None else window.start
        span = self.every.on(window.clock)
        known, coming = span.keys(np.array([model.last_time, begin]), window.clock).tolist()
        return span.bounds(coming, window.clock)[0] if coming > known else None

    def ends(self, window: Baskets) -> int | None:
        """The end of a window, if a span ends with it."""
        if self.every is None or window.start is None or window.stop is None:
            return None
        first, after = self.every.on(window.clock).keys(np.array([window.start, window.stop]), window.clock).tolist()
        return window.stop if after > first else None

    def record(self, model: OMBA, tick: int, rules: Rules | None, places: NDArray[np.floating] | None = None) -> None:
        """Leave an entry of the history, unless nothing was learned since the last one or there are no rules yet."""
        history = history_of(self.folder)
        entries = history.entries
        if rules is None or (entries and entries[-1].n_baskets == model.n_baskets):
            return
        prices = model.prices.means if model.prices.known else None
        history.record(
            rules, model.products, model.product_vectors, model.product_counts, model.n_baskets, tick, model.clock,
            prices, places,
        )  # fmt: skip

    def _keep(self, model: OMBA, tick: int, last: bool = False) -> None:
        model.save(self.folder)
        if self.fresh:
            for old in (HISTORY, JOURNAL):
                shutil.rmtree(self.folder / old, ignore_errors=True)
            self.fresh = False
        if self.every is not None and (rules := mined(model)) is not None:
            few = len(model.product_counts) <= MAPPED
            self.record(model, tick, rules, self.placed(model) if few or last else None)

    def placed(self, model: OMBA) -> NDArray[np.floating]:
        """Places on the map, near those of the entry before."""
        entries = reversed(history_of(self.folder).entries)
        before = next((known for entry in entries if (known := entry.places) is not None), None)
        return places(model.product_vectors, model.product_counts, before)


def mined(model: OMBA) -> Rules | None:
    """The rules of an entry: the best, and after them the best of the rare and of the unseen, which hardly ever are
    among those; None where a model has hardly begun."""
    with suppress(InputError), quietly():
        each = RULES // SELDOM
        tables = [mine_rules(model, top=RULES - 2 * each)]
        for status, least in (("rare", MIN_COUNT), ("unseen", max(MIN_COUNT, model.n_baskets // KNOWN))):
            with suppress(InputError):
                tables.append(mine_rules(model, top=each, where=Filter(status=status), min_count=least))
        return joined(tables)
    return None


@contextmanager
def quietly() -> Iterator[None]:
    """Leave out notes on how many rules there are: nobody has asked for them here."""
    logger = logging.getLogger("omba")
    logger.addFilter(hush)
    try:
        yield
    finally:
        logger.removeFilter(hush)


def hush(record: logging.LogRecord) -> bool:
    return False
