"""LSH: pairs of products whose vectors share hash buckets (paper, section 4.3).

A table cuts the space by F random planes; a product's code in it is the sequence of sides it lies on. H tables are
built, and products that often share a code are close:

    collisions(x, y) = Σ_h [code_h(x) = code_h(y)]        P(a collision in some table) = p_omba(cos(x, y), F, H)

The preset `paper` is F = 4, H = 11, pairs ranked by collisions. The default takes the tables as a source of
candidates only, ranks them by exact cosine, and chooses F and H for the number of products and the recall wanted.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from omba.errors import SettingError
from omba.rules import kernels
from omba.rules.nearest import MIN_COUNT, Trained, block_rows, cosines, exact_pairs
from omba.rules.search import (
    FEWEST_FUNCTIONS,
    MOST_FUNCTIONS,
    MOST_TABLES,
    WORD,
    Best,
    Found,
    planes,
    search,
    signs,
    threads,
)
from omba.rules.theory import PAPER, fit, p_omba

log = logging.getLogger("omba")

RECALL = 0.997
"""Share of the true nearest pairs to find, as the theory expects it; measured recall stays above 0.99."""

STEP = 64
"""Numbers that a dot product takes at a time; what is left over is taken one by one."""

MANY = 256
"""Where more than one in half as many of all pairs are wanted, looking at all of them costs least."""


@dataclass(frozen=True)
class Pairs:
    """Close pairs, best first.

    Parameters
    ----------
    left
        The lower row of each pair.
    right
        The higher one.
    cosine
        How close their vectors are.
    collisions
        Tables, of `H`, in which the two share a bucket.
    probability
        The chance that they share one at all, `p_omba` of their cosine.
    F
        Planes of a table.
    H
        Tables.
    recall
        The share of the pairs this close that the search expects to have found.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    cosine: NDArray[np.float32]
    collisions: NDArray[np.int32]
    probability: NDArray[np.float64]
    F: int
    H: int
    recall: float

    def __len__(self) -> int:
        return len(self.left)


def nearest_pairs(
    vectors: NDArray[np.floating],
    top: int = 1000,
    *,
    counts: NDArray[np.integer] | None = None,
    min_count: int = MIN_COUNT,
    preset: str = "default",
    F: int | None = None,
    H: int | None = None,
    ties: bool = True,
    recall: float = RECALL,
    seed: int = 0,
) -> Pairs:
    """The `top` closest pairs of trained products.

    With `preset="paper"` pairs are ranked by collisions in 11 tables of 4 planes, and equal numbers by cosine unless
    `ties` is false. F and H can be given in both presets; rows with fewer than `min_count` of `counts` are left out.
    """
    if top < 1:
        raise SettingError(f"top={top} asks for no pairs: give a number of 1 or more")
    check(F, H, preset)
    if not 0.5 <= recall < 1:
        raise SettingError(f"recall={recall} is outside 0.5 to 1 (1 itself left out: no number of tables reaches it)")
    trained = Trained.of(vectors, counts, min_count)
    possible = len(trained) * (len(trained) - 1) // 2
    if top > possible:
        log.warning("top=%d is more than the %d pairs of %d products: all pairs are given", top, possible, len(trained))
    if preset == "paper":
        found = by_collisions(trained, min(top, possible), F or PAPER.F, H or PAPER.H, ties, seed)
    else:
        found = _by_cosine(trained, min(top, possible), recall, F, H, seed)
    return describe(trained, found, seed)


def _by_cosine(trained: Trained, top: int, recall: float, F: int | None, H: int | None, seed: int) -> Found:
    """The nearest pairs by tables, or by looking at all pairs where tables have nothing to skip."""
    if MANY * top > len(trained) ** 2 and not F:
        shape = fit(FEWEST_FUNCTIONS)
        return Found(*exact_pairs(trained, top), shape.F, H or shape.H, 1.0)
    found = search(trained.vectors, trained.scales, top, recall, F, H, seed)
    return found if isinstance(found, Found) else Found(*exact_pairs(trained, top), *found, 1.0)


def check(F: int | None, H: int | None, preset: str) -> None:
    """Whether F and H fit the machine and the preset."""
    if preset not in ("default", "paper"):
        raise SettingError(f"preset {preset!r} is not known: give 'default' or 'paper'")
    if F is not None and not 1 <= F <= MOST_FUNCTIONS:
        raise SettingError(f"F={F} planes a table are outside 1 to {MOST_FUNCTIONS}: 2^F buckets must fit in memory")
    if H is not None and not 1 <= H <= MOST_TABLES:
        raise SettingError(f"H={H} tables are outside 1 to {MOST_TABLES}")
    bits = (F or PAPER.F) * (H or PAPER.H)
    if preset == "paper" and bits > WORD:
        raise SettingError(
            f"F·H = {bits} bits do not fit the {WORD}-bit word in which collisions are counted: "
            f"give F·H of {WORD} or less, or leave the preset 'paper'"
        )


def codes(vectors: NDArray[np.floating], F: int, H: int, seed: int = 0) -> NDArray[np.uint64]:
    """The code of each vector in each table: (products, H), F bits each."""
    vectors = np.ascontiguousarray(vectors, np.float32)
    each, mask = WORD // F, np.uint64(2**F - 1)
    words = [signs(vectors, planes(seed, word, vectors.shape[1])) for word in range(-(-H // each))]
    return np.column_stack([(words[h // each] >> np.uint64(h % each * F)) & mask for h in range(H)])


@lru_cache(2)
def normals(seed: int, F: int, H: int, dim: int) -> NDArray[np.float32]:
    """The normals of the planes of all tables, by the place of a plane in its table and by table (F, H, dim). They are
    filled up with zeros to whole steps of a processor."""
    each = WORD // F
    words = [planes(seed, word, dim).T[: each * F] for word in range(-(-H // each))]
    found = fill_up(np.concatenate(words)[: H * F])
    found = np.ascontiguousarray(found.reshape(H, F, -1).swapaxes(0, 1))
    found.flags.writeable = False
    return found


def fill_up(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Vectors with zeros after them, to a length that a dot product takes in whole steps."""
    filled = np.zeros((len(vectors), -(-vectors.shape[1] // STEP) * STEP), np.float32)
    filled[:, : vectors.shape[1]] = vectors
    return filled


def by_collisions(trained: Trained, top: int, F: int, H: int, ties: bool, seed: int) -> Found:
    """All pairs ranked by collisions, counted by one XOR of the words that hold all H codes.

    With 16 buckets a table, every bucket holds a sixteenth of the products: there is no way around all pairs.
    """
    n = len(trained)
    words = signs(trained.vectors, planes(seed, 0, trained.vectors.shape[1]))
    # Equal shares of the triangle of pairs: row i has n − i of them.
    edges = np.round(n * (1.0 - np.sqrt(np.linspace(1.0, 0.0, 4 * threads() + 1)))).astype(np.int64)
    best = Best(n, top, np.float64)

    def share(part: int) -> Best:
        mine, place = Best(n, top, np.float64), edges[part : part + 2].copy()
        room = n + max(2 * top, 1 << 16)
        left, right, score = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float64)
        while place[0] < place[1]:
            found = kernels.scan_collisions(
                words, F, H, ties, trained.vectors, trained.scales, mine.floor, place, left, right, score
            )
            mine.add(left[:found], right[:found], score[:found])
        return mine

    with ThreadPoolExecutor(threads()) as pool:
        for mine in pool.map(share, range(len(edges) - 1)):
            best.add(mine.left, mine.right, mine.score)
    cosine = cosines(trained.vectors, best.left, best.right)
    return Found(best.left, best.right, cosine, F, H, 1.0)


def describe(trained: Trained, found: Found, seed: int) -> Pairs:
    """Found pairs in the rows of the whole, with their collisions and probability."""
    used, place = np.unique(np.concatenate([found.left, found.right]), return_inverse=True)
    code = codes(trained.vectors[used], found.F, found.H, seed)
    left, right = np.split(place, 2)
    return Pairs(
        left=trained.rows[found.left],
        right=trained.rows[found.right],
        cosine=np.clip(found.cosine, -1.0, 1.0),
        collisions=(code[left] == code[right]).sum(axis=1).astype(np.int32),
        probability=p_omba(found.cosine, found.F, found.H),
        F=found.F,
        H=found.H,
        recall=found.recall,
    )


def recall(
    vectors: NDArray[np.floating],
    top: int = 1000,
    *,
    counts: NDArray[np.integer] | None = None,
    min_count: int = MIN_COUNT,
    sample: int | None = None,
    pairs: Pairs | None = None,
    seed: int = 0,
) -> float:
    """The share of the true `top` nearest pairs that LSH finds, measured against all pairs.

    With `sample`, only the pairs of that many products drawn at random are looked at: those closer than the last pair
    found are the truth. `pairs` are those to judge, found anew where they are not given.
    """
    trained = Trained.of(vectors, counts, min_count)
    pairs = pairs or nearest_pairs(vectors, top, counts=counts, min_count=min_count, seed=seed)
    if sample is None:
        _, _, cosine = exact_pairs(trained, len(pairs))
        # Pairs as close as the last true one are as good as it: ties at the end have no order.
        return float(np.mean(np.sort(pairs.cosine)[::-1] >= cosine[-1] - 1e-6))
    return _sampled_recall(trained, pairs, sample, seed)


def _sampled_recall(trained: Trained, pairs: Pairs, sample: int, seed: int) -> float:
    n, last = len(trained), pairs.cosine[-1] + 1e-6
    drawn = np.random.default_rng(seed).choice(n, min(sample, n), replace=False)
    place = np.searchsorted(trained.rows, [pairs.left, pairs.right])
    met = np.sort(place[0] * n + place[1])
    true, found, step = 0, 0, block_rows(n)
    for start in range(0, len(drawn), step):
        rows = drawn[start : start + step]
        block = trained.vectors[rows] @ trained.vectors.T * trained.scales[rows, None] * trained.scales
        block[np.arange(len(rows)), rows] = -3.0
        near = np.nonzero(block > last)
        a, b = rows[near[0]], near[1]
        keys = np.minimum(a, b) * n + np.maximum(a, b)
        true += len(keys)
        found += int(np.isin(keys, met).sum())
    return found / true if true else float("nan")
