"""Published: the view that requests are answered from, replaced whole when the learner has saved a new state."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from omba.errors import OmbaError, SnapshotError
from omba.live.current_rules import look_over
from omba.model import OMBA
from omba.rules.rules_table import read_rules
from omba.service.views.history_view import HistoryEntry, HistoryView
from omba.service.views.summary import Summary
from omba.service.views.view import View
from omba.store import ModelFolder
from omba.store.folder import Stamp

log = logging.getLogger("omba")

PAUSE = 0.5
"""Seconds between two looks at the folder."""
THEN = 8
"""Kept windows held whole in memory, those asked for last."""


class Published:
    """Reads a model folder and keeps an eye on it. `view` and `past` are always whole.

    The first view is there at once, though some of it is worked out when it is first asked for; all that follow are
    made ready in the background before they take its place.

    Parameters
    ----------
    folder
        The model's folder, which may be empty or missing.
    """

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = ModelFolder(folder)
        self.past = HistoryView([], [])
        self.view = View.now(OMBA(), None)
        self.error: str | None = None
        self._stamp = Stamp()
        self._then: OrderedDict[Path, View] = OrderedDict()
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self.look(ready=False)

    def start(self) -> None:
        """Keep an eye on the folder from now on."""
        self._thread = threading.Thread(target=self._watch, name="published", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    @asynccontextmanager
    async def watch_folder(self) -> AsyncIterator[None]:
        """Keep an eye on the folder until this ends."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    @property
    def pids(self) -> list[int]:
        """Processes beside this one that answer from it: none."""
        return []

    @property
    def summary(self) -> Summary:
        """The present state in figures."""
        return Summary.of(self.view, self.past)

    def at(self, moment: str | None) -> View:
        """The view of a moment: the present, or the last window kept at or before it."""
        view, past = self.view, self.past
        if moment is None:
            return view
        kept = past.at(moment)
        if kept.entry.n_baskets == view.n_baskets:
            return view
        with self._lock:
            found = self._then.get(kept.entry.folder)
            if found is None or found.history_entry is not kept:
                found = self._then[kept.entry.folder] = self._back(kept, past, view)
            self._then.move_to_end(kept.entry.folder)
            while len(self._then) > THEN:
                self._then.popitem(last=False)
        return found

    def _back(self, kept: HistoryEntry, past: HistoryView, view: View) -> View:
        model = view.model
        if model is None:
            return View.of_entry(kept, past.labels, {}, None)
        return View.of_entry(kept, past.labels, model.product_rows.vocabulary.codes, model.attributes, model.identity)

    def complete(self) -> bool:
        """Work out what the first view still lacks; whether it is another one now."""
        before, self.view = self.view, self._complete(self.view)
        return bool(self._stamp.snapshot) or self.view is not before

    def _watch(self) -> None:
        self.complete()
        while not self._stop.wait(PAUSE):
            self.look()

    def look(self, ready: bool = True) -> bool:
        """Take in what is new in the folder, and tell whether anything is. What cannot be read leaves all as it was."""
        stamp = self.folder.stamp
        if stamp == self._stamp:
            return False
        try:
            past, view = HistoryView.of(self.folder.history, self.past), self.view
            if stamp.snapshot and stamp.snapshot != self._stamp.snapshot:
                view = self._load(past)
                view = self._complete(view) if ready else view
        except OmbaError as error:
            if str(error) != self.error:
                log.warning("%s", error)
            self.error = str(error)
            return False
        self.past, self.view, self._stamp, self.error = past, view, stamp, None
        return True

    def _load(self, past: HistoryView) -> View:
        """The present, with the rules that were saved or kept with it; else those of the last kept window."""
        model, table = self.folder.load_with_rules()
        if table is None and len(past):
            # Damage to the history is no reason not to answer.
            with suppress(SnapshotError):
                table = past.entries[-1].entry.rules
        rules = None if table is None else read_rules(table)
        return View.now(model, rules, places_of(model, past))

    def _complete(self, view: View) -> View:
        """The view with everything worked out that a request may need, and, if its rules are of before, mined anew."""
        model = view.model
        if (
            model is not None
            and len(view.product_index)
            and (not len(view.rule_index) or view.rule_index.rules.n != view.n_baskets)
        ):
            view = view.with_rules(look_over(model))
        return view.ready()


def places_of(model: OMBA, past: HistoryView) -> NDArray[np.float32] | None:
    """Places on the map as last kept; products that came later have none yet."""
    for one in reversed(past.entries):
        places = None
        with suppress(SnapshotError):
            places = one.entry.places
        if places is not None:
            out = np.full((len(model.product_rows.vocabulary), 2), np.nan, np.float32)
            out[: len(places)] = places[: len(out)]
            return out
    return None
