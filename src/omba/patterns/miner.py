"""Miner: all frequent, closed or maximal sets of products, exactly, on several threads (Zaki, 2000; Uno et al., 2004).

Every set belongs to the branch of its rarest product, and branches are searched apart from each other: the baskets of
that product are taken alone, then bitsets over them are intersected depth first. Where these baskets are sparse the
next product is taken alone too, before bitsets are made. What is found is a tree in flat arrays, 13 bytes a set.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from omba.patterns import kernels
from omba.patterns.transactions import Codes, Longs, Transactions

Progress = Callable[[float, int], object]
"""Called with the share that is done and the sets found so far; where it gives False, the search ends."""

KINDS = {"frequent": kernels.FREQUENT, "closed": kernels.CLOSED, "maximal": kernels.MAXIMAL}
SET_BYTES = 13
"""Bytes of a set in the tree."""
ROOM = 1 << 18
"""Sets for which a thread has room to begin with."""
BLOCKS, WORTH = 128, 5e5
"""Blocks of branches, at most, and what one must cost to be worth handing to a thread: about a millisecond. Where
somebody watches, there are as many blocks as can be, to tell how far it is."""
LONGEST = 255


class TooMany(Exception):
    """There are more sets than there is room for; `counts` are those of the sets found until then."""

    def __init__(self, counts: Longs) -> None:
        super().__init__(f"more than {len(counts):,} sets")
        self.counts = counts


@dataclass(frozen=True, eq=False)
class Tree:
    """Sets as a tree: each adds one product to its parent.

    Parameters
    ----------
    parent
        The place of the set that each extends, −1 for none.
    item
        The rank of the product that it adds.
    count
        Its baskets; below zero for sets that only lead to others.
    length
        Its products.
    names
        The number of the product of each rank.
    complete
        Whether the search came to its end.
    """

    parent: Codes
    item: Codes
    count: Codes
    length: NDArray[np.uint8]
    names: Codes
    complete: bool = True


class Miner:
    """Searches one run of transactions, as often as asked.

    Parameters
    ----------
    transactions
        The baskets.
    kind
        `frequent`, `closed` or `maximal`.
    max_len
        Products of a set, at most.
    threads
        How many search at the same time.
    """

    def __init__(self, transactions: Transactions, kind: str, max_len: int | None, threads: int) -> None:
        self.transactions, self.kind, self.threads = transactions, KINDS[kind], threads
        self.longest = LONGEST if max_len is None else min(max_len, LONGEST)
        self.counts = transactions.counts

    def search(self, least: int, most: int, progress: Progress | None = None) -> Tree:
        """All sets in `least` baskets or more; beyond `most` of them, `TooMany` is raised.

        An interrupt, or a `progress` that gives False, ends it with what is proven so far.
        """
        frequent = np.flatnonzero(self.counts >= least)
        names = frequent[np.argsort(-self.counts[frequent], kind="stable")].astype(np.int32)
        starts, rows, offsets, items = self._rank(names)
        search = _Search(self, (starts, rows, offsets, items), least, most)
        size = np.diff(starts).astype(np.float64) * np.arange(1, len(names) + 1)
        parts, complete = search.run(_blocks(size, progress is not None), progress)
        base = 0
        for parent, *_ in parts:
            parent[parent >= 0] += base
            base += len(parent)
        parent, item, count, length = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Tree(parent, item, count, length, names, complete)

    def _rank(self, names: Codes) -> tuple[Longs, Codes, Longs, Codes]:
        """The frequent products as ranks: from each to its baskets, and from each basket to its ranks in order."""
        rank = np.full(len(self.transactions.labels), -1, np.int32)
        rank[names] = np.arange(len(names), dtype=np.int32)
        ranked = rank[self.transactions.items]
        starts, rows = np.empty(len(names) + 1, np.int64), np.empty(int(self.counts[names].sum()), np.int32)
        kernels.transpose(self.transactions.offsets, ranked, starts, rows)
        offsets, items = np.empty(len(self.transactions) + 1, np.int64), np.empty(len(rows), np.int32)
        kernels.transpose(starts, rows, offsets, items)
        return starts, rows, offsets, items


Part = tuple[Codes, Codes, Codes, NDArray[np.uint8]]
Columns = tuple[Longs, Codes, Longs, Codes]


class _Search:
    """One search: blocks of branches on a pool, what they found, and how far it came."""

    def __init__(self, miner: Miner, columns: Columns, least: int, most: int) -> None:
        self.miner, self.columns, self.least, self.most = miner, columns, least, most
        self.stop = np.zeros(1, np.uint8)
        self.found, self.over = 0, False
        self.spare: list[Part] = []

    def run(self, blocks: list[tuple[int, int, float]], progress: Progress | None) -> tuple[list[Part], bool]:
        """What all blocks found, and whether none was left out."""
        parts: list[Part] = []
        if len(blocks) == 1 and progress is None:
            parts, complete = self._block(*blocks[0][:2]), True
        else:
            with ThreadPoolExecutor(self.miner.threads) as pool:
                complete = self._watch(pool, blocks, progress, parts)
        if self.over:
            raise TooMany(np.concatenate([part[2] for part in parts] or [np.empty(0, np.int32)]).astype(np.int64))
        return parts or [_arrays(0)], complete

    def _watch(
        self,
        pool: ThreadPoolExecutor,
        blocks: list[tuple[int, int, float]],
        progress: Progress | None,
        parts: list[Part],
    ) -> bool:
        """Search block by block and tell how far it came; False where it was ended before.

        Only a few blocks are under way at a time, so that little is left to wait for when somebody ends the search.
        """
        waiting, done = iter(blocks), 0.0
        under_way: dict[Future[list[Part]], float] = {}
        total = sum(weight for *_, weight in blocks)
        try:
            while not self.stop[0]:
                for first, after, weight in islice(waiting, 2 * self.miner.threads - len(under_way)):
                    under_way[pool.submit(self._block, first, after)] = weight
                if not under_way:
                    return True
                for task in wait(under_way, return_when=FIRST_COMPLETED).done:
                    done += under_way.pop(task)
                    parts += task.result()
                if progress is not None and progress(done / total, self.found) is False:
                    break
        except KeyboardInterrupt:
            pass
        self.stop[0] = 1
        for task in wait(under_way).done:
            parts += task.result()
        return False

    def _block(self, first: int, after: int) -> list[Part]:
        """What the branches of a block found: the arrays are written until they are full, and copied."""
        parts: list[Part] = []
        arrays = self.spare.pop() if self.spare else _arrays(min(ROOM, self.most + 1))
        while first < after and not self.stop[0]:
            state = np.zeros(2, np.int64)
            limits = self.least, self.miner.longest, self.miner.kind, kernels.WORD_COST
            reached = kernels.mine_branches(first, after, self.columns, limits, (*arrays, state), self.stop)
            written = int(state[0])
            if written:
                parts.append(_copy(arrays, written))
                self.found += written
            elif reached < after and not self.stop[0]:
                arrays = _arrays(min(4 * len(arrays[0]), self.most + 1))
            if self.found > self.most or (not written and reached < after and len(arrays[0]) > self.most):
                self.over = True
                self.stop[0] = 1
            first = reached
        self.spare.append(arrays)
        return parts


def _copy(arrays: Part, written: int) -> Part:
    parent, item, count, length = arrays
    return parent[:written].copy(), item[:written].copy(), count[:written].copy(), length[:written].copy()


def _arrays(room: int) -> Part:
    return np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.uint8)


def _blocks(cost: NDArray[np.float64], watched: bool) -> list[tuple[int, int, float]]:
    """Runs of branches of about the same cost, the last first: the rarest products have most to be searched with."""
    if not len(cost):
        return []
    total = np.cumsum(cost)
    blocks = BLOCKS if watched else min(BLOCKS, max(1, int(total[-1] / WORTH)))
    edges = np.unique(np.searchsorted(total, total[-1] * np.arange(1, blocks) / blocks))
    edges = np.unique(np.concatenate([[0], edges, [len(cost)]]))
    return [(int(first), int(after), float(cost[first:after].sum())) for first, after in pairwise(edges)][::-1]
