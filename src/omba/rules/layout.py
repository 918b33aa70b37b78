"""Layout: products in two dimensions, near where they are near in the space; the map of the dashboard.

Each product holds on to its nearest neighbours by cosine, with weights that fall off at its own pace. Then points are
moved, pair by pair: neighbours i, j pull each other, and i pushes away points drawn at random, down the gradient of

    −Σ w_ij log q(i, j) − Σ_drawn log(1 − q(i, drawn)),        q(i, j) = 1 / (1 + A |y_i − y_j|^2B)

which is the layout of UMAP (L. McInnes, J. Healy and J. Melville, arXiv 1802.03426). It starts from the two main
directions of the vectors, or from an earlier layout, so that a map drawn every day does not jump.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.rules import kernels
from omba.rules.nearest import MIN_COUNT, Trained

Floats = NDArray[np.float32]

NEIGHBOURS = 15
A, B = 1.577, 0.895
"""q falls to a half at a distance of about 0.8: points of a group lie apart, but touch (UMAP's min_dist of 0.1)."""
NEGATIVES = 4
PASSES, PASSES_LARGE, PASSES_WARM = 300, 150, 30
LARGE = 20_000
RATE, RATE_WARM = 1.0, 0.05
EXACT = 6_000
"""Up to so many products all pairs are looked at; beyond, those of the nearest cells."""
CELLS, ROUNDS = 40, 4
"""Cells searched for the neighbours of a product, its own among them, and rounds of finding the middles of cells.
Of the neighbours of 44,115 products of Complete Journey this finds 79 in 100, and others nearly as close (mean cosine
0.486, of 0.493) for the rest."""


def places(
    vectors: NDArray[np.floating],
    counts: NDArray[np.integer] | None = None,
    start: NDArray[np.floating] | None = None,
    seed: int = 0,
) -> Floats:
    """A place (x, y) for each product; NaN for those met in fewer than two baskets, which have none yet.

    `start` are earlier places of the first rows (NaN where there was none): products known there move little.
    """
    out = np.full((len(vectors), 2), np.nan, np.float32)
    if len(vectors) < 3:
        return out
    keep = np.linalg.norm(np.asarray(vectors, np.float32), axis=1) > 0
    if counts is not None:
        keep &= np.asarray(counts) >= MIN_COUNT
    if keep.sum() < 3:
        return out
    trained = Trained.of(vectors, counts)
    unit = trained.vectors * trained.scales[:, None]
    near, cosine = nearest(unit, min(NEIGHBOURS, len(unit) - 1), seed)
    earlier = np.full((len(vectors), 2), np.nan, np.float32)
    if start is not None:
        known = min(len(start), len(vectors))
        earlier[:known] = start[:known]
    first = begin(unit, near, earlier[trained.rows])
    # A few points alone are no map to go on from.
    warm = np.isfinite(earlier[trained.rows, 0]).mean() > 0.5
    out[trained.rows] = _settle(first, *edges(near, cosine), warm, seed)
    return out


def nearest(unit: Floats, n: int, seed: int = 0) -> tuple[NDArray[np.int64], Floats]:
    """The n nearest rows of each row and their cosines, nearest first: exact for a few, by cells for many."""
    rows = np.arange(len(unit))
    near, cosine = np.empty((len(unit), n), np.int64), np.empty((len(unit), n), np.float32)
    for mine, others in _exact_blocks(rows) if len(unit) <= EXACT else _cell_blocks(unit, n, seed):
        scores = unit[mine] @ unit[others].T
        scores[mine[:, None] == others[None, :]] = -3.0
        best, score = np.empty((len(mine), n), np.int64), np.empty((len(mine), n), np.float32)
        kernels.best_of_rows(scores, best, score)
        near[mine], cosine[mine] = others[best], score
    return near, cosine


def _exact_blocks(rows: NDArray[np.int64]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    return [(rows[start : start + 1024], rows) for start in range(0, len(rows), 1024)]


def _cell_blocks(unit: Floats, n: int, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows in cells by k-means on the sphere, each with the rows of the cells nearest to its own."""
    middles = unit[np.random.default_rng(seed).choice(len(unit), int(np.sqrt(len(unit))), replace=False)]
    for _ in range(ROUNDS):
        cell = np.argmax(unit @ middles.T, axis=1)
        sums = np.zeros_like(middles)
        np.add.at(sums, cell, unit)
        middles = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    cell = np.argmax(unit @ middles.T, axis=1)
    order = np.argsort(cell, kind="stable")
    members = np.split(order, np.searchsorted(cell[order], np.arange(1, len(middles))))
    around = np.argsort(-(middles @ middles.T), axis=1)[:, :CELLS]
    blocks = []
    for own, cells in zip(members, around, strict=True):
        if len(own):
            # An empty cell's middle is no direction; its nearest may leave out the cell itself.
            others = np.concatenate([own, *(members[other] for other in cells if members[other] is not own)])
            blocks.append((own, others if len(others) > n else order))
    return blocks


def edges(near: NDArray[np.int64], cosine: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Pairs of neighbours with their weights, w_ij + w_ji − w_ij·w_ji: either's hold on the other is enough."""
    n, width = near.shape
    weight = np.empty((n, width), np.float64)
    kernels.closeness(cosine.astype(np.float64), weight)
    # Slow to import, and whoever only reads maps does without.
    from scipy.sparse import coo_matrix

    one = coo_matrix((weight.ravel(), (np.repeat(np.arange(n), width), near.ravel())), shape=(n, n)).tocsr()
    other = one.T.tocsr()
    both = (one + other - one.multiply(other)).tocoo()
    return both.row.astype(np.int64), both.col.astype(np.int64), both.data


def begin(unit: Floats, near: NDArray[np.int64], earlier: Floats) -> NDArray[np.float64]:
    """Where points begin: at their earlier place, else amid their neighbours', else by the two main directions."""
    known = np.isfinite(earlier[:, 0])
    if not known.any():
        centred = unit - unit.mean(axis=0)
        _, directions = np.linalg.eigh(centred.T @ centred)
        main = directions[:, :-3:-1]
        main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(2)])
        flat: NDArray[np.float64] = (centred @ main).astype(np.float64)
        flat *= 10.0 / max(float(np.abs(flat).max()), 1e-9)
        return flat + _jitter(len(unit))
    out = np.where(known[:, None], earlier, 0.0).astype(np.float64)
    for row in np.flatnonzero(~known):
        friends = near[row][known[near[row]]]
        out[row] = out[friends].mean(axis=0) if len(friends) else np.nanmean(earlier, axis=0)
    return out + np.where(known[:, None], 0.0, _jitter(len(unit)))


def _jitter(n: int) -> NDArray[np.float64]:
    """Points in one place would never part."""
    return np.random.default_rng(0).normal(0.0, 0.05, (n, 2))


def _settle(
    first: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    weight: NDArray[np.float64],
    warm: bool,
    seed: int,
) -> Floats:
    """The layout after its passes; an edge acts as often as its weight, next to the heaviest, says."""
    passes = PASSES_WARM if warm else PASSES if len(first) < LARGE else PASSES_LARGE
    every = weight.max() / weight
    acts = every <= passes
    left, right, every = left[acts], right[acts], every[acts]
    state = np.array([seed + 0x9E3779B97F4A7C15], np.uint64)
    out, due = first.copy(), every.copy()
    kernels.settle(out, left, right, every, due, passes, RATE_WARM if warm else RATE, A, B, NEGATIVES, state)
    return out.astype(np.float32)
