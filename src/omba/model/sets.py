"""Sets: what is known of three products bought together: by the table of triples, and by a watch list.

The learner counts all triples in a table of bounded size (`triples.py`). Where baskets are spread over machines, a
window's triples are too many to send, and those worth a rule are few: products of which every two are close in the
space and were bought together before. Whenever the stream has grown by a quarter, such triples join a watch list of at
most `ROOM`, and from then on are counted exactly. Either way a count is never more than the truth, which in turn is
never more than the count of a pair in it,

    counted(a, b, c)  ≤  count(a, b, c)  ≤  min(n_ab, n_ac, n_bc).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model.counting import count_sets
from omba.model.evidence import Evidence
from omba.model.likelihood import cosines
from omba.model.triples import Triples

Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

ROOM = 20_000
EDGES = 4_000
"""Nearest pairs among which triples are looked for."""
FEW = 5
"""A pair bought together less often than this gives no triple worth watching."""
FIRST = 1_000
"""Baskets before the first look."""


class Sets:
    """The table of triples, and the watch list: `members` (three rows each, the rarest first), `watched` counts and
    `since` which basket.

    Parameters
    ----------
    pairs
        How many pairs the evidence keeps; the table of triples has room for as many, up to 4 million.
    """

    def __init__(self, pairs: int = 4_000_000) -> None:
        self.triples = Triples(pairs)
        self.members = np.empty((0, 3), np.int32)
        self.watched = np.empty(0, np.int64)
        self.since = np.empty(0, np.int64)
        self.looked = 0
        """Baskets learned when triples were last looked for."""

    def update(self, offsets: Longs, items: Rows, evidence: Evidence) -> None:
        """Count a window, which the evidence has counted already."""
        self.triples.update(offsets, items, evidence)
        products = len(evidence.counts)
        if len(self.members) == 0:
            return
        starts = np.append(0, np.cumsum(np.bincount(self.members[:, 0], minlength=products)))
        marks = np.full(products, -1, np.int64)
        count_sets(offsets, items, starts, self.members, marks, self.watched)

    def look(self, vectors: NDArray[np.float32], evidence: Evidence) -> None:
        """Look for new triples to watch, if the stream has grown by a quarter since the last look."""
        n = evidence.n_baskets
        if n < max(FIRST, self.looked * 5 // 4):
            return
        self.looked = n
        a, b, _ = evidence.observed(FEW)
        near = np.empty(len(a))
        cosines(a, b, vectors, near)
        best = np.argsort(-near, kind="stable")[:EDGES]
        self._join(triangles(a[best], b[best], evidence.counts), n)

    def _join(self, found: Rows, n: int) -> None:
        """Watch the triples not watched yet; where there is no room, those met least often are dropped."""
        if len(found) == 0:
            return
        members = np.concatenate([self.members, found])
        watched = np.append(self.watched, np.zeros(len(found), np.int64))
        since = np.append(self.since, np.full(len(found), n))
        # Which member is the rarest may change with time, the set does not.
        first = first_of_each(np.sort(members, axis=1))
        if len(first) > ROOM:
            worth = np.where(since[first] == n, np.inf, watched[first] / np.maximum(n - since[first], 1))
            first = np.sort(first[np.argsort(-worth, kind="stable")[:ROOM]])
        order = first[np.lexsort(members[first].T[::-1])]
        self.members, self.watched, self.since = members[order], watched[order], since[order]

    def counts(self, sets: NDArray[Any], evidence: Evidence) -> Longs:
        """Baskets known to hold each set of two or three rows; 0 for a triple that was not counted."""
        if sets.shape[1] == 2:
            return evidence.pairs(sets[:, 0], sets[:, 1])
        if sets.shape[1] > 3 or len(sets) == 0:
            return np.zeros(len(sets), np.int64)
        counted = self.triples.counts(sets)
        if len(self.members) == 0:
            return counted
        both = np.sort(np.concatenate([self.members, sets.astype(np.int32)]), axis=1)
        key = np.unique(both, axis=0, return_inverse=True)[1].ravel()
        where = np.full(key.max() + 1, -1)
        where[key[: len(self.members)]] = np.arange(len(self.members))
        place = where[key[len(self.members) :]]
        return np.maximum(counted, np.where(place >= 0, self.watched[place], 0))

    def exact(self, sets: NDArray[Any], evidence: Evidence) -> NDArray[np.bool_]:
        """Whether each count is the true one.

        A triple's is, where one of its pairs was met no oftener, or where it was counted from the first by the table,
        and its pairs were.
        """
        places = list(combinations(range(sets.shape[1]), 2))
        most = np.min([evidence.at_most(sets[:, i], sets[:, j]) for i, j in places], axis=0)
        exact = np.asarray(self.counts(sets, evidence) == most)
        if sets.shape[1] == 3 and len(sets):
            known = [evidence.exact(sets[:, i], sets[:, j]) for i, j in places]
            exact |= self.triples.exact(sets, evidence.n_baskets) & np.all(known, axis=0)
        return exact

    def observed(self, least: int) -> tuple[Rows, Longs]:
        """The triples known to be in so many baskets or more, the lowest row first, and their counts."""
        sets, count = self.triples.observed(least)
        if len(self.members) == 0:
            return sets, count
        often = np.flatnonzero(self.watched >= least)
        sets = np.concatenate([sets, np.sort(self.members[often], axis=1)])
        count = np.append(count, self.watched[often])
        # The higher count of those that stand in both comes first.
        order = np.argsort(-count, kind="stable")
        first = order[first_of_each(sets[order])]
        return sets[first], count[first]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything learned, as arrays."""
        return {
            "members": self.members,
            "watched": self.watched,
            "since": self.since,
            "looked": np.array([self.looked]),
            **self.triples.state(),
        }

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`."""
        self.members, self.watched, self.since = state["members"], state["watched"], state["since"]
        self.looked = int(state["looked"][0])
        self.triples.load(state)


def first_of_each(sets: Rows) -> Longs:
    """Where each distinct line stands first, in the order of the lines; `np.unique` by lines takes ten times as long.

    >>> first_of_each(np.array([[2, 3, 4], [1, 2, 3], [2, 3, 4]], np.int32))
    array([1, 0])
    >>> first_of_each(np.empty((0, 3), np.int32)).size
    0
    """
    order = np.lexsort(sets.T[::-1])
    lines = sets[order]
    new = np.full(len(lines), True)
    new[1:] = (lines[1:] != lines[:-1]).any(axis=1)
    return np.asarray(order[new])


def triangles(left: Rows, right: Rows, counts: Longs) -> Rows:
    """The triples of which every two are joined, at most `ROOM`, each with its rarest member first."""
    friends: dict[int, set[int]] = {}
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        friends.setdefault(a, set()).add(b)
        friends.setdefault(b, set()).add(a)
    found: list[tuple[int, int, int]] = []
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        low, high = min(a, b), max(a, b)
        found += [(low, high, c) for c in sorted(friends[a] & friends[b]) if c > high]
        if len(found) >= ROOM:
            break
    triples = np.array(found[:ROOM], np.int32).reshape(-1, 3)
    rank = np.lexsort((triples, counts[triples]), axis=1)
    return np.take_along_axis(triples, rank, axis=1)
