"""Event windows: baskets of the journal gathered by event time, and handed over when their window is over.

All that decides is in the journal and in the position, so reading a journal again gives the same windows in the same
order, wherever it was broken off. A basket that comes after its window was learned is late: it is counted, and joins
the next window that is learned.

The position is that of the moment right after a window was handed over. At that moment nothing late is waiting, so the
baskets that remain are those from `from` to `next` that are not before `closed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omba.baskets import Baskets, Clock
from omba.live.open_window import OpenWindow, Vocabularies
from omba.live.records import tick_of
from omba.live.spans import Spans


class Windows:
    """The open windows of a stream, from a position on."""

    def __init__(self, spans: Spans, position: Mapping[str, Any], clock: Clock, last_time: int) -> None:
        self.spans, self.clock, self.vocabularies = spans, clock, Vocabularies()
        self.next = int(position.get("next", 0))
        """The number of the next basket that has not been looked at."""
        self.begin = int(position.get("from", self.next))
        """Where reading must begin, to have the open windows again."""
        self.read = self.begin
        """How far it has come."""
        self.latest: int | None = position.get("latest")
        self.closed: int | None = position.get("closed")
        """Windows that end here or before have been learned."""
        if self.closed is None and clock is not Clock.NONE and spans.by_time():
            self.closed = spans.start(last_time, clock)
        self.late = int(position.get("late", 0))
        self.learned = int(position.get("learned", self.begin))
        """Baskets that were handed over."""
        self.returns = int(position.get("returns", 0))
        """Baskets of returns only among those: nothing of them is learned."""
        self.closed_windows = int(position.get("windows", 0))
        self.last_window: dict[str, Any] | None = position.get("last_window")
        self.handed_over: Sequence[int] = ()
        """The numbers of the baskets in the window that was handed over last."""
        self.open: dict[int, OpenWindow] = {}
        """The open windows by their beginning."""
        self.latecomers = OpenWindow(self.vocabularies)
        """Baskets whose window has been learned."""

    def add(self, number: int, basket: Mapping[str, Any]) -> Iterator[Baskets]:
        """Take in basket `number`; the windows that are over with it, each once its learner has asked for it.

        Baskets before `next` are those that are read again: only the ones still open are taken.
        """
        tick = tick_of(basket["time"])
        if self.clock is Clock.NONE:
            self.clock = Clock.DAY if isinstance(basket["time"], int) else Clock.DATETIME
        self.read = number + 1
        if number < self.next:
            if self.closed is None or tick >= self.closed:
                self._window_of(tick).add(number, tick, basket)
            return
        yield from self.move(tick)
        if self.spans.by_time() and self.closed is not None and tick < self.closed:
            self.late += 1
            self.latecomers.add(number, tick, basket)
        else:
            self._window_of(tick).add(number, tick, basket)
        self.next = number + 1
        if not self.spans.by_time() and len(self._window_of(tick)) >= self.spans.every.count:
            yield self._hand_over(0)

    def skip(self, number: int) -> None:
        """Pass over basket `number`."""
        self.read = number + 1
        self.next = max(self.next, number + 1)

    @property
    def gathered(self) -> int:
        """Baskets that wait for the end of their window."""
        return len(self.latecomers) + sum(map(len, self.open.values()))

    @property
    def returns_met(self) -> int:
        """Baskets of returns only so far, with those that wait for the end of their window."""
        return self.returns + self.latecomers.returns + sum(one.returns for one in self.open.values())

    def move(self, tick: int) -> Iterator[Baskets]:
        """Time has moved on to a moment: the windows that are over, in order of time."""
        if self.read < self.next:
            return
        self.latest = tick if self.latest is None else max(self.latest, tick)
        if not self.spans.by_time() or self.clock is Clock.NONE:
            return
        open_from = self.spans.open_from(self.latest, self.clock)
        for start in sorted(start for start in self.open if start < open_from):
            yield self._hand_over(start)
        self.closed = open_from if self.closed is None else max(self.closed, open_from)

    def position(self) -> dict[str, Any]:
        """Where to go on after a restart, given that the windows handed over so far have been learned."""
        firsts = [one.first for one in (*self.open.values(), self.latecomers) if one.first is not None]
        return {
            "next": self.next,
            "from": min(firsts, default=self.next),
            "closed": self.closed,
            "latest": self.latest,
            "learned": self.learned,
            "late": self.late,
            "returns": self.returns,
            "windows": self.closed_windows,
            "last_window": self.last_window,
        }

    def _window_of(self, tick: int) -> OpenWindow:
        start = self.spans.start(tick, self.clock) if self.spans.by_time() else 0
        if start not in self.open:
            self.open[start] = OpenWindow(self.vocabularies)
        return self.open[start]

    def _hand_over(self, start: int) -> Baskets:
        ended = self.open.pop(start)
        ended.extend(self.latecomers)
        bounds: tuple[int | None, int | None] = (None, None)
        if self.spans.by_time():
            bounds = self.spans.bounds(start, self.clock)
            self.closed = bounds[1]
        self.closed_windows += 1
        self.learned += len(ended)
        self.returns += ended.returns
        self.handed_over = ended.numbers
        window = ended.window(self.clock, *bounds)
        self.last_window = {"start": bounds[0], "stop": bounds[1], "baskets": len(ended)}
        return window
