"""Learner: the one that owns the weights. It reads the journal, learns the windows that are over, and publishes.

A snapshot holds the weights and the position in the journal together, so whatever was learned after the last one is
learned again, from the same weights and the same baskets, to the same bits (with one thread). An entry of the history
is recorded before the snapshot that has it; should a crash come between, the same entry is recorded again.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from omba.baskets import Baskets, Clock
from omba.errors import OmbaError
from omba.live.attributes import Attributes
from omba.live.inbox import JOURNAL
from omba.live.spans import Spans
from omba.live.status import Status
from omba.live.windows import Windows
from omba.model import OMBA
from omba.model.durable import step
from omba.model.snapshot import CURRENT, save
from omba.rules.diff import rules_table
from omba.settings import Value
from omba.store.journal import Tail, forget
from omba.store.keeper import MAPPED, Keeper, mined
from omba.store.lock import Lock

log = logging.getLogger("omba")

KEPT = 2
"""Snapshots that stay: the current one, and the one a reader may just be loading."""
PUBLISH = 5.0
SHARE = 4.0
"""While there is more to learn, publish every so many seconds, or this many times as long as publishing takes."""
PAUSE = 0.05
"""Seconds between two looks at the journal."""
RETRY = 5.0
"""Seconds until another try, after the disk was full."""


class Learner:
    """Learns what the journal of a folder holds. One a folder."""

    def __init__(
        self,
        folder: str | Path,
        every: str | int = "1d",
        lateness: str | int = "0",
        history: str | None = "1d",
        settings: Mapping[str, Value] | None = None,
    ) -> None:
        self.folder = Path(folder)
        self.spans = Spans.parse(every, lateness)
        self.keeper = Keeper(self.folder, history)
        self.lock = Lock(self.folder / "lock", "learns into")
        try:
            there = (self.folder / CURRENT).exists()
            self.model = OMBA.load(self.folder) if there else OMBA(**(settings or {}))  # type: ignore[arg-type]
        except BaseException:
            self.lock.release()
            raise
        self.windows = Windows(self.spans, self.model.position, self.model.clock, self.model.last_time)
        self.attributes = Attributes(self.model.attributes)
        self.tail = Tail(self.folder / JOURNAL, self.windows.begin)
        self.sources: dict[str, Any] = dict(self.model.position.get("sources", {}))
        self.published, self.took, self.changed = monotonic(), 0.0, False
        self.status = Status(self.folder)
        self._tell()

    def run(self, stop: threading.Event) -> None:
        """Learn what comes, until told to stop; what cannot be written now is tried again later."""
        while not stop.is_set():
            try:
                idle = self.drain(stop) == 0
                pause = PAUSE if idle else 0.0
            except OmbaError as error:
                self._tell(error=str(error))
                log.warning("%s", error)
                pause = RETRY
            stop.wait(pause)

    def drain(self, stop: threading.Event | None = None) -> int:
        """Learn all that is there, publish, and return; how many baskets were read."""
        read = 0
        while not (stop and stop.is_set()):
            frames = self.tail.read()
            for frame in frames:
                *lines, state = frame.lines
                for number, line in enumerate(lines, frame.first):
                    if number >= self.windows.read:
                        self._take(number, json.loads(line))
                        read += 1
                self._state(json.loads(state) if state else {})
            if not frames:
                break
        for window in self.windows.move(self.windows.latest) if self.windows.latest is not None else ():
            self._learn(window)
        if self.changed:
            self.publish()
        elif read:
            self._tell()
        return read

    def publish(self) -> None:
        """Save the state for readers, with its rules and its position, and let go of what the journal held of it."""
        begin = monotonic()
        self._tell(learning=True)
        rules = mined(self.model)
        save(self.model, self.folder, KEPT, {} if rules is None else {"rules": rules_table(rules)})
        forget(self.folder / JOURNAL, int(self.model.position.get("from", 0)))
        self.published, self.took, self.changed = monotonic(), monotonic() - begin, False
        self._tell()

    def close(self) -> None:
        """Let go of the folder."""
        self.status.clear()
        self.lock.release()

    def _take(self, number: int, basket: dict[str, Any]) -> None:
        self.attributes.add(basket)
        for window in self.windows.add(number, basket):
            self._learn(window)

    def _state(self, state: Mapping[str, Any]) -> None:
        """What the writer said after a frame: how far sources were read, and that time has moved on."""
        self.sources = state.get("sources", self.sources)
        if state.get("latest") is not None:
            for window in self.windows.move(state["latest"]):
                self._learn(window)

    def _learn(self, window: Baskets) -> None:
        self._tell(learning=True)
        if len(window):
            ended = self.keeper.ended(self.model, window)
            if ended is not None:
                self._record(ended)
            self.model.partial_fit(self.attributes.on(window), allow_late=True)
        self.model.position = {**self.windows.position(), "sources": self.sources}
        self.changed = True
        step("window learned")
        if (ends := self.keeper.ends(window)) is not None:
            self._record(ends)
            step("history recorded")
        if monotonic() - self.published > max(PUBLISH, SHARE * self.took):
            self.publish()

    def _record(self, tick: int) -> None:
        """Leave an entry of the history; many products get places on the map only when no more baskets wait."""
        rules = mined(self.model)
        if rules is None:
            return
        few = len(self.model.product_counts) <= MAPPED
        self.keeper.record(self.model, tick, rules, self.keeper.placed(self.model) if few or self.tail.ended else None)

    def _tell(self, learning: bool = False, error: str | None = None) -> None:
        windows, clock = self.windows, self.model.clock
        last = windows.last_window
        self.status.tell(
            baskets_learned=windows.learned,
            baskets_late=windows.late,
            windows_closed=windows.closed_windows,
            last_window=last and {**last, "start": shown(clock, last["start"]), "stop": shown(clock, last["stop"])},
            learning=learning,
            error=error,
        )


def shown(clock: Clock, tick: int | None) -> str | int | None:
    """A moment as it goes into JSON."""
    if tick is None:
        return None
    moment = clock.show(tick)
    return moment if isinstance(moment, int) else moment.isoformat()
