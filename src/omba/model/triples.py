"""Triples: three products bought together, counted in constant memory while the stream goes by.

While all triples there are fit in the table, each has its exact count. Whenever it is full, a twelfth of them is let
go: those of which the fewest baskets are to be expected. What the pairs of a triple promise, by Kirkwood's
superposition

    P = n · n_ab · n_ac · n_bc / (n_a · n_b · n_c),   and no more than the rarest of them has,

is on groceries 0.6 to 3.4 times what was counted, for 98 of 100 triples that make a rule. With k baskets that it was
met in, P · (k + 2) / (P + 2) are to be expected (the mean of a gamma distribution after k of Poisson's). Once some were
let go, a triple comes in only where its pairs promise twice as many as the best of those. What it missed before it came
in is not made up for. The first time the table is full, triples of best sellers alone get a place each
(`dense_triples.py`), and are never let go while they are it. So a count is never more than the truth, which is never
more than the count of a pair in it; and it is the truth for every triple that has been in the table from the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.model import counting
from omba.model.dense_triples import DenseTriples, choose_products
from omba.model.evidence import FIRST_SLOTS, Evidence, empty_table

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]

ROOM = 4_000_000
"""Triples kept, at most: 105 MB."""
LOAD = 0.65
"""Slots in use, at most: at 0.75 one look-up in seven goes on in the next line, and counting takes a tenth longer."""
LARGEST = (128, 96, 64, 48, 32, 24, 16)
"""Products of one basket of which triples are counted, at most: the first of these with which a window's baskets make
no more than `EACH` triples a product. Of a larger basket those count that have met two others of it most often: drawn
at random, of a wholesaler's rules of three products in 100 baskets or more 0.004 were found instead of 0.45, and of all
of Complete Journey's products 0.52 instead of 0.62 (`benchmarks/triples.py`)."""
LOOKED_AT = 500
"""Products of one basket of which every two are looked up to choose those, at most."""
EACH = 200
"""A basket of n products has about n³/6 triples; of groceries these are 104 a product, of a wholesaler's thousands."""
MOST_ROWS = (1 << 21) - 1
"""Products whose triples can be told apart; those met later are in no triple."""
PROMISE = 2.0
"""How many times what was let go the pairs of a triple must promise for it to come in."""
BLOCK = LARGEST[0] * (LARGEST[0] - 1) // 2
"""Triples with one product of a basket, at most: there must be room for so many at a time."""
FIRST, DENSE, PLACES = 0.4, 0.8, 6.5
"""The part of the room that is used before it is told who the best sellers are, the part that their triples may take
then, and how many of these take as much as one in the table."""
AGAIN, SAME = 2, 0.7
"""Best sellers are told anew when the stream is so many times as long and less than this part of them are still it."""
NO_TRIPLES = DenseTriples(np.empty(0, np.int32))
LEAST = 50_000
"""The smallest room: there is room for a block in a quarter of its table."""
FALLS = 12
"""One in so many is let go at a time: before best sellers had places, with 6, 12 and 24, of the rules with two
antecedents in a year of Complete Journey's types 0.782, 0.802 and 0.809 were found at 5% false discovery."""
RARE = 0.95
"""What was met oftener than this share of the triples that fall in the sample stays, and its pairs are not looked up:
that spares up to half of the look-ups, and as many rules are found."""
FIRST_ROWS = 4_096
"""Products met first of which all pairs have a place of their own while triples are let go: 17 MB then, and a look-up
takes a tenth of the time."""
SAMPLE = 1 << 16
"""Triples by which the bound is chosen."""
NOTHING = 1e-9
"""The lowest bound: below it are only triples of which a pair is not known any more."""
LINE = 64
"""Bytes of a cache line."""
MARKS = 8
"""Bits for each slot that tell whether a triple may be in the table."""


class Triples:
    """Counts of triples, in memory set by `room`.

    Parameters
    ----------
    room
        How many are kept, at most.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.room = min(max(room, LEAST), ROOM)
        self.n_triples = 0
        """Triples in the table."""
        self.let_go = 0.0
        """The most baskets that were to be expected of a triple when it was let go."""
        self.n_baskets = 0
        """Baskets counted: fewer than there were, where a model was learned elsewhere before."""
        self.oversized = 0
        """Baskets that were too large, of which only a part was counted."""
        self._dense: DenseTriples | None = None
        """The triples of best sellers; None as long as it was not told who they are."""
        self.told = 0
        """Baskets learned when it was."""
        self._loaded: tuple[Rows, Words] | None = None
        """Rows and values of a saved table: it is filled when it is first asked, which a suggestion never does."""
        self._set_table(FIRST_SLOTS)

    @property
    def _table(self) -> Words:
        return self._fill()[0]

    @property
    def _marks(self) -> Words:
        return self._fill()[1]

    @property
    def nbytes(self) -> int:
        """Memory held, which the length of the stream does not change."""
        return self._table.nbytes + self._marks.nbytes + (0 if self._dense is None else self._dense.nbytes)

    @property
    def _table_room(self) -> int:
        """Triples that the table may hold: those that fit beside the best sellers', or until these are told, a part."""
        return int(self.room * FIRST if self._dense is None else self.room - self._dense.places / PLACES)

    def update(self, offsets: Longs, items: Rows, evidence: Evidence) -> None:
        """Count one window, which the evidence has counted already."""
        offsets, items = offsets - offsets[0], items[offsets[0] : offsets[-1]]
        if len(items) and int(items.max()) >= MOST_ROWS:
            known = items < MOST_ROWS
            offsets, items = np.append(0, np.cumsum(known))[offsets], items[known]
        largest, few = choose_largest(np.diff(offsets)), np.empty(len(offsets) - 1, np.int64)
        kept, number = np.empty(len(items), np.bool_), evidence.n_baskets - len(few)
        if oversized := counting.choose_partnered(
            offsets, items, largest, LOOKED_AT, number, evidence.table, few, kept
        ):
            self.oversized += oversized
            offsets, items = np.append(0, np.cumsum(few)), items[kept]
        place = np.zeros(4, np.int64)
        numbers, sizes = np.empty(len(items), np.uint16), np.empty(len(offsets), np.int32)
        while True:
            gate, dense = (self.let_go, PROMISE * self.let_go, evidence.n_baskets), self._dense or NO_TRIPLES
            free = min(self._table_room, int(LOAD * len(self._table) / 2)) - self.n_triples
            # Which are the best sellers is told between two baskets, so that none is counted in both ways.
            whole = self._full and self._tells_anew(evidence)
            self.n_triples += counting.count_triples(
                offsets, items, largest, evidence.table, evidence.counts, self._table, self._marks, free, gate,
                (dense.numbers, numbers, sizes), whole, place,
            )  # fmt: skip
            dense.add(numbers[: place[2]], sizes[: place[3]])
            place[2:] = 0
            if place[0] == len(offsets) - 1:
                break
            self._make_room(evidence)
        self.n_baskets += len(offsets) - 1

    def counts(self, sets: NDArray[Any]) -> Longs:
        """Baskets known to hold each triple, a line of three rows in any order."""
        return (self._values(sets) & counting.COUNT).astype(np.int64)

    def exact(self, sets: NDArray[Any], n_baskets: int) -> NDArray[np.bool_]:
        """Whether each count is known to be the true one, of so many baskets."""
        if self.oversized or self.n_baskets < n_baskets:
            return np.zeros(len(sets), bool)
        if not self.let_go:
            return np.ones(len(sets), bool)
        values, dense = self._values(sets), self._dense or NO_TRIPLES
        known = (values != 0) & (values >> counting.MISSED == 0) & ~dense.holds(sets)
        return np.asarray(known | dense.holds_exactly(sets))

    def observed(self, least: int = 1) -> tuple[Rows, Longs]:
        """The triples counted at least so many times, three rows a line, in their order."""
        keys, values = self._entries()
        often = np.flatnonzero((values & counting.COUNT) >= least)
        others = (self._dense or NO_TRIPLES).observed(least)
        keys = np.append(keys[often], others[0])
        counts = np.append(values[often] & counting.COUNT, others[1]).astype(np.int64)
        order = np.argsort(keys)
        return unpack(keys[order]), counts[order]

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything, as plain arrays."""
        keys, values = self._entries()
        order = np.argsort(keys)
        return {
            "triples": unpack(keys[order]),
            "values": values[order],
            "sizes": np.array([np.ceil(self.let_go), self.oversized, self.n_baskets], np.int64),
            "let_go": np.array([self.let_go]),
            **({} if self._dense is None else {**self._dense.state(), "told": np.array([self.told], np.int64)}),
        }

    def load(self, state: dict[str, NDArray[Any]]) -> None:
        """The reverse of `state`; nothing where a model was saved that counted none."""
        if "triples" in state:
            let_go, self.oversized, self.n_baskets = state["sizes"].tolist()
            # Models saved before bounds had fractions have whole ones alone.
            self.let_go = float(state["let_go"][0]) if "let_go" in state else float(let_go)
            if self.let_go < 0:
                raise ValueError(f"sets.let_go is {self.let_go}, less than 0")
            rows = state["triples"]
            if len(rows) > self.room:
                raise ValueError(f"sets.triples holds {len(rows)} triples, more than the {self.room} there is room for")
            self._loaded, self.n_triples = (rows, state["values"]), len(rows)
            self._dense = DenseTriples.from_state(state)
            self.told = 0 if self._dense is None else int(state["told"][0])
            if self._table_room < 0:
                raise ValueError(f"sets.sellers holds more products than there is room for in {self.room} triples")

    def _values(self, sets: NDArray[Any]) -> Words:
        values = np.empty(len(sets), np.uint64)
        counting.look_up_triples(np.sort(sets, axis=1).astype(np.int32), self._table, values)
        if self._dense is not None:
            held = np.flatnonzero(self._dense.holds(sets))
            values[held] = self._dense.look_up(sets[held])
        return values

    def _entries(self) -> tuple[Words, Words]:
        taken = np.flatnonzero(self._table[::2] != counting.EMPTY)
        return self._table[2 * taken], self._table[2 * taken + 1]

    @property
    def _full(self) -> bool:
        """Whether the table has its full size."""
        return len(self._table) // 2 > self._table_room / LOAD

    def _make_room(self, evidence: Evidence) -> None:
        """Let the table grow; or, the first time it has its full size, give best sellers' triples a place of their own;
        or let triples go."""
        if not self._full:
            before, slots = self._table, len(self._table) // 2
            self._set_table(min(max(2 * slots, int(BLOCK / LOAD) + slots), int(self._table_room / LOAD) + 1))
            counting.move_triples(before, self._table, self._marks)
        elif self._tells_anew(evidence):
            self._part_best_sellers(evidence)
        else:
            self._drop(evidence)

    def _tells_anew(self, evidence: Evidence) -> bool:
        """Whether it is to be told who the best sellers are: for the first time, or since the stream has doubled and
        many others are it now."""
        if self._dense is None:
            return True
        if evidence.n_baskets < AGAIN * self.told:
            return False
        best = np.argsort(-evidence.counts, kind="stable")[: len(self._dense.rows)]
        if np.isin(best, self._dense.rows).sum() < SAME * len(best):
            return True
        self.told = evidence.n_baskets
        return False

    def _part_best_sellers(self, evidence: Evidence) -> None:
        """Tell who the best sellers are, and give their triples places of their own; those of products that were it
        before go back to the table."""
        keys, values = self._entries()
        before = self._dense or NO_TRIPLES
        others, counts = before.observed(1)
        # Of a model saved before there were such places, some triples may have been let go.
        missed = np.uint64(0 if before.exact.all() else 1) << counting.MISSED
        keys, values = np.append(keys, others), np.append(values, counts | missed)
        rows = choose_products(keys, evidence.counts, int(DENSE * self.room * PLACES))
        exact = before.was_exact(rows) if self._dense else np.full(len(rows), self.let_go == 0)
        self._dense, self.told = DenseTriples(rows, exact=exact), evidence.n_baskets
        held = self._dense.numbers, self._dense.counts
        self._set_table(max(int((len(keys) + BLOCK) / LOAD), int(self._table_room / LOAD)) + 1)
        self.n_triples = counting.part_triples(keys, values, held, self._table, self._marks)
        while self.n_triples > self._table_room:
            self._drop(evidence)
        if len(self._table) // 2 > self._table_room / LOAD + counting.FOUR:
            whole = self._table
            self._set_table(int(self._table_room / LOAD) + 1)
            counting.move_triples(whole, self._table, self._marks)

    def _drop(self, evidence: Evidence) -> None:
        """Let the triples go that promise least: those below a bound, the lowest under which enough of them fall, by a
        sample."""
        known = evidence.table, evidence.counts, evidence.n_baskets
        # Any part of the table is a fair sample.
        some = 2 * np.flatnonzero(self._table[: 4 * SAMPLE : 2] != counting.EMPTY)
        falls, near = np.empty(len(some)), find_near(evidence)
        counting.find_worth(self._table, some, PROMISE, counting.EMPTY, *known, near, falls)
        # Where best sellers' triples have just taken a part of the room, all that are too many fall at once.
        share = max(1 / FALLS, min(1 / 3, BLOCK / self.room))
        share = max(share, 1 - (1 - share) * self._table_room / self.n_triples)
        fall = min(int(share * len(falls)), len(falls) - 1)
        # Where the evidence let pairs go, triples promise nothing: a bound of 0 would let none of them go.
        self.let_go = max(self.let_go, float(np.partition(falls, fall)[fall]), NOTHING)
        values = self._table[some[falls <= self.let_go] + 1]
        met = np.sort((values & counting.COUNT) + (values >> counting.MISSED))
        most = met[int(RARE * (len(met) - 1))]
        self.n_triples = counting.drop_triples(self._table, self.let_go, most, PROMISE, *known, near, self._marks)

    def _fill(self) -> tuple[Words, Words]:
        """The table and its marks; two threads that ask first at once may both fill it, with the same."""
        loaded = self._loaded
        if loaded is not None:
            wanted = int((2 * len(loaded[0]) + BLOCK) / LOAD) + 1
            both = empty_tables(min(max(FIRST_SLOTS, wanted), int(self.room / LOAD) + 1))
            rows = loaded[0].astype(np.uint64)
            keys = (rows[:, 0] << np.uint64(42)) | (rows[:, 1] << np.uint64(21)) | rows[:, 2]
            counting.insert_triples(keys, loaded[1].astype(np.uint64), *both)
            self._tables, self._loaded = both, None
        return self._tables

    def _set_table(self, slots: int) -> None:
        """Go on with an empty table of so many slots."""
        self._tables = empty_tables(slots)


def empty_tables(slots: int) -> tuple[Words, Words]:
    """An empty table of so many slots or a few more, and its marks."""
    return aligned_table(-(-slots // counting.FOUR) * counting.FOUR), np.zeros(slots * MARKS // 64 + 1, np.uint64)


def choose_largest(sizes: Longs) -> int:
    """Products of a basket of which triples are counted, for a window of baskets with so many each.

    >>> choose_largest(np.array([10, 20, 30])), choose_largest(np.full(9, 100))
    (128, 48)
    """
    for largest in LARGEST:
        n = np.minimum(sizes, largest).astype(np.float64)
        if (n * (n - 1) * (n - 2) / 6).sum() <= EACH * sizes.sum():
            return largest
    return LARGEST[-1]


def find_near(evidence: Evidence) -> counting.Near:
    """The baskets of each of the first products, and how close every two of them are, as steps of a logarithm."""
    rows = min(len(evidence.counts), FIRST_ROWS)
    own, close = np.empty(rows, np.int32), np.empty(rows * (rows - 1) // 2, np.uint16)
    counting.find_closeness(evidence.table, evidence.counts, own, close)
    return own, close


def unpack(keys: Words) -> Rows:
    """The three rows of each packed triple."""
    low = np.uint64(MOST_ROWS)
    return np.column_stack([keys >> np.uint64(42), (keys >> np.uint64(21)) & low, keys & low]).astype(np.int32)


def aligned_table(slots: int) -> Words:
    """An empty table whose first slot begins a cache line."""
    wider = empty_table(slots + counting.FOUR)
    first = -wider.ctypes.data % LINE // wider.itemsize
    # Memory is given in steps of a slot, so the first word is one of a key.
    return wider[first : first + 2 * slots]
