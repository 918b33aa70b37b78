"""Learner: the one that owns the weights. It reads the journal, learns the windows that are over, and publishes.

A snapshot holds the weights and the position in the journal together, so whatever was learned after the last one is
learned again, from the same weights and the same baskets, to the same bits (with one thread). An entry of the history
is recorded before the snapshot that has it; should a crash come between, the same entry is recorded again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from functools import partial
from os import PathLike
from time import monotonic
from typing import Any, Protocol

from omba.baskets import Baskets, Clock
from omba.disk import step
from omba.errors import OmbaError, SnapshotError, StoreError
from omba.live.event_windows import Windows
from omba.live.failing import WindowTrial, find_failing
from omba.live.item_attributes import Attributes
from omba.live.keeper import Keeper
from omba.live.process import STEADY
from omba.live.quarantine import Quarantine
from omba.live.spans import Spans
from omba.live.status import LearnerStatus
from omba.model import OMBA
from omba.settings import Value
from omba.store import ModelFolder
from omba.store.frame import JournalFrame

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


class WindowFailed(OmbaError):
    """A window that the model could not learn; the learner begins again from its last snapshot."""


class Stop(Protocol):
    """What tells that it is time to stop: a `threading.Event`, or something like it."""

    def is_set(self) -> bool: ...
    def wait(self, timeout: float) -> bool: ...


class Learner:
    """Learns what the journal of a folder holds. One a folder.

    Parameters
    ----------
    folder
        The model's folder; where there is no model yet, one begins.
    every
        The length of a window: `1d`, `1h`, or a number of baskets.
    lateness
        How long after its end a window waits for baskets that come late.
    history
        The span of time after which an entry of the history is left; None leaves none.
    settings
        Those of a new model; of a model that is there only the threads are taken.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        every: str | int = "1d",
        lateness: str | int = "0",
        history: str | None = "1d",
        settings: Mapping[str, Value] | None = None,
    ) -> None:
        self.folder = ModelFolder(folder)
        self.spans = Spans.parse(every, lateness)
        self.keeper = Keeper(self.folder, history)
        self.lock = self.folder.lock()
        try:
            self.folder.mend_current()
            self.settings = dict(settings or {})
            self.model = self._load()
            self.folder.refuse_losses()
            self.spans.check(self.model.clock)
        except BaseException:
            self.lock.release()
            raise
        self.windows = Windows(self.spans, self.model.position, self.model.clock, self.model.last_time)
        self.attributes = Attributes()
        self.tail = self.folder.read_journal(self.windows.begin)
        self.sources: dict[str, Any] = dict(self.model.position.get("sources", {}))
        self.safe = self.windows.begin
        """Baskets before this one are learned, and in a snapshot."""
        self.published, self.took, self.changed = monotonic(), 0.0, False
        self.stop: Stop | None = None
        self.quarantine = Quarantine(self.folder)
        self.status = LearnerStatus(self.folder)
        self._tell()

    def run(self, stop: Stop) -> None:
        """Learn what comes, until told to stop."""
        begun = monotonic()
        while not stop.is_set():
            if self.drain(stop) == 0:
                stop.wait(PAUSE)
            if monotonic() - begun > STEADY:
                self.status.tell(failures=0)

    def drain(self, stop: Stop | None = None) -> int:
        """Learn all that is there, publish, and return; how many baskets were read.

        With `stop`, what cannot be written now is tried again until it can, and a stop comes between two baskets; the
        learner is not to be used after it.
        """
        self.stop, read = stop, 0
        while frames := self.tail.read():
            for frame in frames:
                read += self._frame(frame)
                if stop is not None and stop.is_set():
                    break
        if stop is None or not stop.is_set():
            # Further than the last basket, where those after it were given up.
            self.windows.read = max(self.windows.read, self.tail.number)
        if self.windows.latest is not None:
            self._move(self.windows.latest)
        if self.changed:
            self.publish()
        elif read:
            self._tell()
        return read

    def publish(self) -> None:
        """Save the state for readers, with its rules and its position, and let go of what the journal held of it."""
        begin = monotonic()
        self._tell(learning=True)
        rules = self.keeper.rules.of(self.model)
        self._persist(lambda: self.folder.save(self.model, rules, KEPT))
        self.safe = int(self.model.position.get("from", 0))
        self.folder.forget_baskets(self.safe)
        self.published, self.took, self.changed = monotonic(), monotonic() - begin, False
        self._tell()

    def close(self) -> None:
        """Let go of the folder."""
        self.status.clear()
        self.lock.release()

    def _frame(self, frame: JournalFrame) -> int:
        """Take in the baskets of a frame, and what the writer said after it; how many were new."""
        *lines, state = frame.lines
        read = 0
        for number, line in enumerate(lines, frame.first):
            if number >= self.windows.read:
                if self.stop is not None and self.stop.is_set():
                    return read
                self._take(number, line)
                read += 1
        said = json.loads(state) if state else {}
        self.sources = said.get("sources", self.sources)
        if said.get("latest") is not None:
            self._move(said["latest"])
        return read

    def _take(self, number: int, line: bytes) -> None:
        """Take in a basket; one that cannot be, on a second try neither, goes into quarantine."""
        if number in self.quarantine.numbers:
            self.windows.skip(number)
            return
        for last in (False, True):
            try:
                basket = self.model.identity.basket(json.loads(line))
                self.attributes.add(basket)
                for window in self.windows.add(number, basket):
                    self._learn(window)
            except (StoreError, SnapshotError, WindowFailed, MemoryError):
                raise
            except Exception as error:
                if last:
                    self._persist(partial(self.quarantine.add, [(number, line)], _sentence(error)))
                    self.windows.skip(number)
                continue
            return

    def _load(self) -> OMBA:
        """The model of the last snapshot; a new one where there is none."""
        model = self.folder.load() if self.folder.exists else OMBA(**self.settings)  # type: ignore[arg-type]
        model.threads = int(self.settings.get("threads", model.threads))  # type: ignore[arg-type]
        return model

    def _fit(self, window: Baskets) -> None:
        """Have the model learn a window. If it fails at it for a second time, the baskets to blame go into quarantine.

        What it leaves behind is of no use, so the learner ends each time, and begins again from the last snapshot.
        """
        try:
            self.model.partial_fit(self.attributes.on(window), allow_late=True)
        except MemoryError:
            raise
        except Exception as error:
            numbers = sorted(self.windows.handed_over)
            if self.quarantine.suspect(numbers):
                lines = self._lines(numbers)
                trial = WindowTrial(lines, self.windows.clock, window.start, window.stop, self._load)
                failing = find_failing(sorted(lines), trial.fails)
                self.quarantine.add([(number, lines[number]) for number in failing], _sentence(error))
            raise WindowFailed(
                f"a window of {len(numbers):,} baskets could not be learned: {_sentence(error)}"
            ) from error

    def _lines(self, numbers: list[int]) -> dict[int, bytes]:
        """Baskets as they stand in the journal, by number."""
        wanted = set(numbers)
        tail = self.folder.read_journal(numbers[0])
        frames = (frame for some in iter(tail.read, []) for frame in some)
        lines = (pair for frame in frames for pair in enumerate(frame.lines[:-1], frame.first))
        return {number: line for number, line in lines if number in wanted}

    def _move(self, tick: int) -> None:
        """Time has moved on to a moment."""
        for window in self.windows.move(tick):
            self._learn(window)

    def _learn(self, window: Baskets) -> None:
        # Its baskets are not among those learned before they are.
        self.status.tell(learning=True, error=None)
        due = self.keeper.due(self.model, window)
        if len(window):
            if due.before is not None:
                self._record(due.before)
            self._fit(window)
            self.keeper.rules.note(self.model, window)
        self.model.position = {**self.windows.position(), "sources": self.sources}
        self.changed = True
        self._tell(learning=True)
        step("window learned")
        if due.after is not None:
            self._record(due.after)
            step("history recorded")
        if monotonic() - self.published > max(PUBLISH, SHARE * self.took):
            self.publish()

    def _record(self, tick: int) -> None:
        """Leave an entry of the history; many products get places on the map only when no more baskets wait."""
        self._persist(lambda: self.keeper.record(self.model, tick, last=self.tail.ended))

    def _persist(self, write: Callable[[], None]) -> None:
        """Write, and while the disk is full or may not be written to, tell so and try again."""
        while True:
            try:
                return write()
            except SnapshotError as error:
                self._tell(error=str(error))
                log.warning("%s", error)
                if self.stop is None or self.stop.wait(RETRY):
                    raise

    def _tell(self, learning: bool = False, error: str | None = None) -> None:
        # The clock of the baskets that came: the model has none before it has learned one of them.
        windows, clock = self.windows, self.windows.clock
        last = windows.last_window
        quarantined = self.quarantine.count(windows.next)
        lost = windows.next - windows.learned - windows.gathered - quarantined if windows.read >= windows.next else None
        self.status.tell(
            **({} if lost is None else {"baskets_lost": max(0, lost)}),
            baskets_read=windows.next,
            baskets_quarantined=quarantined,
            baskets_of_returns=windows.returns_met,
            baskets_learned=windows.learned,
            baskets_late=windows.late,
            windows_closed=windows.closed_windows,
            last_window=last
            and {**last, "start": show_tick(clock, last["start"]), "stop": show_tick(clock, last["stop"])},
            learning=learning,
            error=error,
        )


def _sentence(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def show_tick(clock: Clock, tick: int | None) -> str | int | None:
    """A moment as it goes into JSON."""
    if tick is None:
        return None
    moment = clock.show(tick)
    return moment if isinstance(moment, int) else moment.isoformat()
