"""History view: the kept windows of a model, with the few columns in memory that a question about all of them needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Clock, Label
from omba.errors import InputError, SnapshotError
from omba.rules import Rules
from omba.rules.rules_table import read_rules
from omba.store import Entry, History
from omba.store.history import read

Moment = str


@dataclass(frozen=True, eq=False)
class HistoryEntry:
    """One kept window. A few columns stay in memory once read, and no file open; the rest is read as it is needed."""

    entry: Entry

    @property
    def at(self) -> str:
        return show_tick(self.entry.clock, self.entry.tick)

    @cached_property
    def counts(self) -> NDArray[np.int32]:
        return self.entry.counts.astype(np.int32)

    @cached_property
    def prices(self) -> NDArray[np.float32] | None:
        return self.entry.prices

    @property
    def vectors(self) -> NDArray[np.float16]:
        """As they lie on the disk; the file is open only as long as they are looked at."""
        return self.entry.map_vectors().view(np.ndarray)

    @property
    def rules(self) -> Rules:
        return read_rules(self.entry.rules)

    @cached_property
    def _trace(self) -> tuple[NDArray[np.int64], NDArray[np.int64], dict[str, NDArray[Any]]]:
        """What is asked of the rules of all windows at once, as a few arrays: their products as sorted hashes, where
        each stands, whichever way round it points, and its columns."""
        rules = self.rules
        sides = [hash(frozenset((*antecedents, *consequents))) for antecedents, consequents in rules.sides]
        hashes = np.array(sides, np.int64)
        order = np.argsort(hashes, kind="stable")
        return hashes[order], order, {name: np.array(rules.column(name)) for name in TRACED}

    def of_rule(self, products: frozenset[Label]) -> dict[str, Any]:
        """How a rule stood at that window; nothing but the time where it was not among the best."""
        hashes, order, columns = self._trace
        found = int(np.searchsorted(hashes, hash(products)))
        if found == len(hashes) or hashes[found] != hash(products):
            return {"at": self.at, "rank": None} | dict.fromkeys(TRACED)
        place = int(order[found])
        values = {name: float(columns[name][place]) for name in TRACED if name != "count"}
        return {
            "at": self.at,
            "rank": place + 1,
            "count": int(columns["count"][place]),
            **{name: value if np.isfinite(value) else None for name, value in values.items()},
        }


TRACED = ("count", "support", "lift", "expected_lift", "expected_lift_low", "expected_lift_high")
"""The columns of a rule that are followed through time."""


class HistoryView:
    """All kept windows of a moment, oldest first. A new one is made when the folder has changed."""

    def __init__(self, entries: Sequence[HistoryEntry], labels: Sequence[Label]) -> None:
        self.entries, self.labels = tuple(entries), labels

    @classmethod
    def of(cls, history: History, before: HistoryView | None = None) -> HistoryView:
        """What the history holds now; windows that `before` has read already are taken over."""
        known = {} if before is None else {one.entry: one for one in before.entries}
        for _ in range(5):
            try:
                return cls([known.get(entry) or HistoryEntry(entry) for entry in history.entries], history.labels)
            except (SnapshotError, OSError):
                # An entry went while the list was read: the learner thins them. The list is read anew.
                continue
        return cls([], [])

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def clock(self) -> Clock:
        return self.entries[-1].entry.clock if self.entries else Clock.NONE

    def at(self, moment: Moment) -> HistoryEntry:
        """The last kept window at or before a moment."""
        if not self.entries:
            raise InputError(f"{moment!r} leads nowhere: no window has been kept yet")
        tick = read(moment, self.clock)
        earlier = [one for one in self.entries if one.entry.tick <= tick]
        if not earlier:
            raise InputError(
                f"{moment!r} is before the history, which begins at {self.entries[0].at}: give that or a later moment"
            )
        return earlier[-1]

    def until(self, tick: int | None) -> tuple[HistoryEntry, ...]:
        """The kept windows up to a tick; all of them where it is None."""
        return self.entries if tick is None else tuple(one for one in self.entries if one.entry.tick <= tick)

    def of_product(self, row: int, near: Sequence[int], until: int | None) -> list[dict[str, Any]]:
        """A product through time: baskets, sales since the window before, price, and its cosines with others."""
        out: list[dict[str, Any]] = []
        count = 0
        for one in self.until(until):
            if row >= one.entry.n_labels:
                continue
            there = [other for other in near if other < one.entry.n_labels]
            sold, count = int(one.counts[row]) - count, int(one.counts[row])
            price = float("nan") if one.prices is None else float(one.prices[row])
            out.append(
                {
                    "at": one.at,
                    "sold": sold,
                    "price": round(price, 4) if np.isfinite(price) else None,
                    "count": count,
                    "top": self._cosines(one, row, there),
                }
            )
        return out

    def _cosines(self, one: HistoryEntry, row: int, others: Sequence[int]) -> list[dict[str, Any]]:
        if not others:
            return []
        try:
            mine, *theirs = one.vectors[[row, *others]].astype(np.float32)
        except SnapshotError:
            # Thinned since the list was made: the point comes without them.
            return []
        cosines = np.stack(theirs) @ mine
        return [
            {"id": self.labels[other], "similarity": round(float(cosine), 4)}
            for other, cosine in zip(others, cosines, strict=True)
        ]


def show_tick(clock: Clock, tick: int) -> str:
    """A tick as text that `at=` takes back: a date and time, a day, or the number of a window.

    >>> show_tick(Clock.DATETIME, 86_400_000_000), show_tick(Clock.DAY, 12)
    ('1970-01-02T00:00:00', '12')
    """
    moment = clock.show(tick)
    return str(moment) if isinstance(moment, int) else moment.isoformat()
