"""One miner of the field on one data set, in this process: `python benchmarks/peers.py MINER DATA COUNT OUT`.

DATA holds the baskets as codes (NumPy, compressed rows). Each miner gets them in the form it wants, made beforehand;
what is timed is what a user waits for: the pairs in COUNT baskets or more, and the 1,000 of highest lift among them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from measure import tell

TOP = 1_000
Counted = Iterable[tuple[tuple[int, int], int]]


def lists(offsets: Any, items: Any) -> list[list[int]]:
    return [items[first:after].tolist() for first, after in pairwise(offsets.tolist())]


def frame(offsets: Any, items: Any) -> Any:
    """The table of truth values that mlxtend wants, sparse: dense, it would have a byte for each product and basket."""
    import pandas as pd
    from scipy.sparse import csr_matrix

    shape = len(offsets) - 1, int(items.max()) + 1
    matrix = csr_matrix((np.ones(len(items), bool), items, offsets), shape)
    return pd.DataFrame.sparse.from_spmatrix(matrix)


def mlxtend(name: str) -> Callable[[Any, int, int], Counted]:
    def mine(table: Any, n: int, count: int) -> Counted:
        from mlxtend import frequent_patterns

        more = {"low_memory": True} if name == "apriori" else {}
        found = getattr(frequent_patterns, name)(table, min_support=(count - 0.5) / n, max_len=2, **more)
        pairs = found[found.itemsets.map(len) == 2]
        return [
            (tuple(sorted(s)), round(support * n)) for s, support in zip(pairs.itemsets, pairs.support, strict=True)
        ]

    return mine


def efficient(baskets: list[list[int]], n: int, count: int) -> Counted:
    from efficient_apriori import itemsets_from_transactions

    found, _ = itemsets_from_transactions(baskets, min_support=(count - 0.5) / n, max_length=2)
    return found.get(2, {}).items()


def pyfim(baskets: list[list[int]], n: int, count: int) -> Counted:
    import fim

    return ((tuple(sorted(pair)), together) for pair, together in fim.eclat(baskets, supp=-count, zmin=2, zmax=2))


def rusket(baskets: Any, n: int, count: int) -> Counted:
    import rusket as library

    found = library.eclat(baskets, min_support=(count - 0.5) / n, max_len=2)
    found = found[found["itemsets"].map(len) == 2]
    return [
        (tuple(sorted(map(int, s))), round(x * n)) for s, x in zip(found["itemsets"], found["support"], strict=True)
    ]


def matrix(table: Any, n: int, count: int) -> Counted:
    """What a data scientist with SciPy would write: the matrix of baskets times itself."""
    from scipy.sparse import triu

    together = triu((table.T @ table).tocsr(), 1).tocoo()
    kept = together.data >= count
    rows, columns, found = together.row[kept], together.col[kept], together.data[kept]
    return zip(zip(rows.tolist(), columns.tolist(), strict=True), found.tolist(), strict=True)


def sparse(offsets: Any, items: Any) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(len(items), np.int32), items, offsets), (len(offsets) - 1, int(items.max()) + 1))


MINERS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, int, int], Counted]]] = {
    "mlxtend apriori": (frame, mlxtend("apriori")),
    "mlxtend fpgrowth": (frame, mlxtend("fpgrowth")),
    "efficient-apriori": (lists, efficient),
    "PyFIM eclat": (lists, pyfim),
    "rusket eclat": (frame, rusket),
    "SciPy matrix product": (sparse, matrix),
}


def strongest(found: Counted, counts: Any, n: int) -> list[list[int]]:
    """The pairs of highest lift, of those found."""
    pairs, together = [], []
    for pair, number in found:
        pairs.append(pair)
        together.append(number)
    if not pairs:
        return []
    left, right = np.array(pairs).T
    lift = np.array(together) * n / (counts[left] * counts[right])
    best = np.argsort(-lift, kind="stable")[:TOP]
    return np.column_stack([left[best], right[best]]).tolist()


def main(name: str, data: str, count: str, out: str) -> None:
    with np.load(data) as file:
        offsets, items = file["offsets"], file["items"]
    n, counts = len(offsets) - 1, np.bincount(items)
    prepare, mine = MINERS[name]
    given = prepare(offsets, items)
    start = time.perf_counter()
    best = strongest(mine(given, n, int(count)), counts, n)
    tell(out, time.perf_counter() - start, pairs=best)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(*sys.argv[1:])
