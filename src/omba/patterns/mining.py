"""Mining: exact itemsets by a threshold, or the best so many, in memory that is known.

What a search may hold is bounded before it starts. A threshold below which sets do not fit is told with the one at
which they do; `top` finds the threshold by itself.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from omba.baskets import Label
from omba.errors import InputError, SettingError
from omba.patterns.itemsets import Itemsets, frame_bytes, lay_out
from omba.patterns.miner import KINDS, SET_BYTES, Miner, Progress, TooMany, Tree
from omba.patterns.transactions import Codes, Longs, Transactions
from omba.sources.reading import ReadOptions

SHARE = 0.5
"""The share of the free memory that sets may take, where nothing else is said."""
SEARCH_BYTES = 3 * SET_BYTES
"""Bytes of a set while it is searched and laid out in order, beyond its frame."""


class SearchOptions(TypedDict, total=False):
    """What else a search of itemsets can be told, by name."""

    include: Sequence[Label]
    exclude: Sequence[Label]
    min_len: int
    memory: int | None
    threads: int | None
    progress: Progress | None


@dataclass(frozen=True)
class Threshold:
    """How often a set must occur: one of a share of baskets, a number of them, or a number of sets.

    Parameters
    ----------
    min_support
        The share of all baskets that a set is in, at least.
    min_count
        The baskets that it is in, at least.
    top
        How many sets there are to be: the most frequent.
    """

    min_support: float | None = None
    min_count: int | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        given = [name for name, value in vars(self).items() if value is not None]
        if len(given) > 1:
            raise SettingError(f"{' and '.join(given)} say different things: give one of min_support, min_count, top")
        if self.min_support is not None and not 0 < self.min_support <= 1:
            raise SettingError(
                f"min_support={self.min_support} is a share of the baskets: give a number above 0 and up to 1"
            )
        for name, value in (("min_count", self.min_count), ("top", self.top)):
            if value is not None and value < 1:
                raise SettingError(f"{name}={value} is none at all: give 1 or more")

    def least(self, baskets: int) -> int:
        """The baskets that a set must be in, so that its support as a number is no less than asked."""
        if self.min_count is not None:
            return self.min_count
        share = 0.5 if self.min_support is None else self.min_support
        count = max(1, int(np.floor(share * baskets)) - 1)
        while count / max(1, baskets) < share:
            count += 1
        return count


def itemsets(
    source: Any,
    min_support: float | None = None,
    use_colnames: bool | None = None,
    max_len: int | None = None,
    *,
    min_count: int | None = None,
    top: int | None = None,
    kind: str = "frequent",
    read: ReadOptions | None = None,
    **options: Unpack[SearchOptions],
) -> Any:
    """The itemsets of any source as a pandas frame with the columns of mlxtend, `support` and `itemsets`.

    Give one of `min_support` (a share; 0.5 where nothing is said, as in mlxtend), `min_count` and `top`. `kind` is
    "frequent", "closed" (no larger set is in the same baskets) or "maximal" (no larger set is frequent). Sets hold
    labels; of a one-hot pandas frame column numbers, as in mlxtend, unless `use_colnames` is true. `read` has the
    options of `read_baskets` where the source is a file or a frame of rows.

    Further by name: `include` and `exclude`, products that each set must and must not have; `min_len`; `memory`, bytes
    that may be taken; `threads`; `progress(share, sets)`, which ends the search where it gives False. A search that is
    ended, or interrupted by Ctrl-C, gives what is proven so far, and `attrs["complete"]` of the frame is False.

    Parameters
    ----------
    source
        A one-hot frame, lists, or whatever `read_baskets` takes.
    min_support
        The least share of baskets, above 0 and up to 1.
    use_colnames
        Whether sets of a one-hot pandas frame hold names; None for as in mlxtend.
    max_len
        Products in a set, at most; 1 or more.
    min_count
        The least number of baskets, 1 or more.
    top
        So many of the most frequent sets; 1 or more.
    kind
        "frequent", "closed" or "maximal".
    read
        Options of `read_baskets`.
    options
        `include`, `exclude`, `min_len`, `memory`, `threads` and `progress`.

    >>> itemsets([["tea", "milk"], ["tea", "milk"], ["tea"]], min_count=2).itemsets.map(sorted).tolist()
    [['tea'], ['milk'], ['milk', 'tea']]
    """
    threshold = Threshold(min_support, min_count, top)
    found = search(Transactions.of(source, **(read or {})), threshold, kind, max_len, frame=True, **options)
    names = not found.transactions.one_hot if use_colnames is None else use_colnames
    return found.to_pandas(names)


def find_itemsets(
    source: Any,
    min_support: float | None = None,
    max_len: int | None = None,
    *,
    min_count: int | None = None,
    top: int | None = None,
    kind: str = "frequent",
    read: ReadOptions | None = None,
    **options: Unpack[SearchOptions],
) -> Itemsets:
    """As `itemsets`, in columns that take a tenth of the memory and need no pandas."""
    transactions = Transactions.of(source, **(read or {}))
    return search(transactions, Threshold(min_support, min_count, top), kind, max_len, **options)


def search(
    transactions: Transactions,
    threshold: Threshold,
    kind: str = "frequent",
    max_len: int | None = None,
    *,
    frame: bool = False,
    **options: Unpack[SearchOptions],
) -> Itemsets:
    """The itemsets of transactions. With `frame`, what a frame of them will take counts as well."""
    min_len, memory, progress = options.get("min_len", 1), options.get("memory"), options.get("progress")
    _check(transactions, kind, max_len, min_len, threshold)
    asked = np.array(sorted(set(transactions.find(options.get("include", ())))), np.int32)
    left_out = transactions.find(options.get("exclude", ()))
    inside = transactions.without(left_out) if left_out else transactions
    inside = inside.that_hold(asked.tolist()) if len(asked) else inside
    rest = None if max_len is None else max_len - len(asked)
    miner = Miner(inside, kind, rest, options.get("threads") or os.cpu_count() or 1)
    budget = Budget(free_memory() if memory is None else memory, frame)
    if threshold.top is not None:
        least, tree = best(miner, threshold.top, min_len - len(asked), budget, progress)
    else:
        least = threshold.least(len(transactions))
        tree = within(miner, least, budget, progress, len(transactions), len(asked))
    groups = lay_out(tree, asked, min_len)
    root = _root(inside, tree, asked, kind, least)
    if root and min_len <= len(asked) <= (max_len or len(asked)):
        groups.insert(0, root)
    found = Itemsets(transactions, groups, least, tree.complete)
    if threshold.top is not None:
        found = replace(found, by_count=np.argsort(-found.count, kind="stable")[: threshold.top])
    return found


def _check(transactions: Transactions, kind: str, max_len: int | None, min_len: int, threshold: Threshold) -> None:
    if not len(transactions.items):
        raise InputError("there are no baskets to find sets in: give at least one with a product")
    if kind not in KINDS:
        raise SettingError(f"kind={kind!r} is not known: give one of {', '.join(KINDS)}")
    if min_len < 1 or (max_len is not None and max_len < min_len):
        raise SettingError(f"sets of {min_len} to {max_len} products are none: give 1 or more, and max_len no less")
    if threshold.top is not None and kind == "maximal":
        raise SettingError(
            "the most frequent of the maximal sets depend on a threshold: give min_support or min_count, "
            'or kind="closed" with top'
        )


def _root(inside: Transactions, tree: Tree, asked: Codes, kind: str, least: int) -> tuple[Codes, Longs] | None:
    """The set of all products that must be in, where it is one of those asked for itself."""
    n, counts = len(inside), inside.counts
    if not len(asked) or n < least:
        return None
    more = {"frequent": False, "closed": bool((counts == n).any()), "maximal": bool((counts >= least).any())}[kind]
    return None if more else (asked[None, :], np.array([n], np.int64))


@dataclass(frozen=True)
class Budget:
    """The memory that sets may take.

    Parameters
    ----------
    memory
        Bytes.
    frame
        Whether there will be a frame of frozensets.
    """

    memory: int
    frame: bool

    @property
    def most(self) -> int:
        """Sets that can be searched, at most."""
        each = SEARCH_BYTES + (frame_bytes(1) if self.frame else 0)
        return int(min(max(self.memory // each, 1), 2**31 - 2))

    def least_that_fits(self, tree: Tree, least: int, always: int = 0) -> int:
        """The least count at which the sets of a tree (and `always` products more each) fit in a frame."""
        if not self.frame:
            return least
        told = np.flatnonzero(tree.count > 0)
        counts, lengths = tree.count[told], tree.length[told]
        each = np.array(
            [frame_bytes(length + always) + SEARCH_BYTES for length in range(int(lengths.max(initial=0)) + 1)]
        )
        size = each[lengths]
        if size.sum() <= self.memory:
            return least
        order = np.argsort(-counts, kind="stable")
        fits = int(np.searchsorted(np.cumsum(size[order]), self.memory, "right"))
        return int(counts[order[fits]]) + 1


def within(miner: Miner, least: int, budget: Budget, progress: Progress | None, baskets: int, always: int = 0) -> Tree:
    """The sets in `least` baskets or more; where they do not fit, a sentence with the threshold at which they do."""
    try:
        tree = miner.search(least, budget.most, progress)
    except TooMany:
        low, high, sets = least, int(miner.counts.max()), f"more than {budget.most:,} sets"
    else:
        low, high, sets = least, least, f"{int((tree.count > 0).sum()):,} sets"
    while high - low > max(1, low // 20):
        # Thresholds are tried in steps of the same ratio: sets grow by a power of it.
        middle = min(high - 1, max(low + 1, round((low * high) ** 0.5) if high > 2 * low else (low + high) // 2))
        try:
            tree, high = miner.search(middle, budget.most), middle
        except TooMany:
            low = middle
    if high == int(miner.counts.max()):
        tree = miner.search(high, budget.most)
    high = budget.least_that_fits(tree, high, always)
    if high > least:
        raise InputError(
            f"{sets} in {least:,} baskets or more do not fit in {budget.memory / 1e9:.2g} GB: min_count={high} "
            f"(min_support={high / baskets:.3g}) would, or give top=, max_len=, kind='closed' or more memory="
        )
    return tree


def best(miner: Miner, top: int, min_len: int, budget: Budget, progress: Progress | None) -> tuple[int, Tree]:
    """The threshold at which there are `top` sets or more (of `min_len` products or more), and the sets there.

    It falls by halves, since a search at a high threshold costs little. Where there are far too many sets at one, the
    next lies between; where those of one count alone would not fit, fewer than `top` are told.
    """
    known = np.sort(miner.counts[miner.counts > 0])[::-1]
    least = int(known[top - 1]) if len(known) >= top else max(1, int(known[0]) // 2)
    room = min(budget.most, max(16 * top, 1 << 20))
    too_many, few, fewer = 0, int(known[0]) + 1, None
    while True:
        try:
            tree = miner.search(least, room, progress)
        except TooMany as error:
            counts = np.sort(error.counts[error.counts > 0])[::-1]
            too_many = max(least, int(counts[top - 1]) - 1 if len(counts) >= top else 0)
        else:
            if int(((tree.count > 0) & (tree.length >= min_len)).sum()) >= top or least == 1 or not tree.complete:
                return least, tree
            few, fewer = least, tree
        if few - too_many <= 1:
            return few, miner.search(few, room, progress) if fewer is None else fewer
        least = (few + too_many) // 2 if too_many else max(1, few // 2)


def free_memory() -> int:
    """Half the memory that is free now."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        free = 4 << 30
    return int(SHARE * free)
