"""Limit: what the machine can do, measured, against what the kernel uses, in one run."""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit

from measure import Table, in_turns
from omba.model import kernels
from omba.model.sampler import sampler
from omba.model.space import PLACES, TOGETHER


@njit(nogil=True)
def hot_rows(table, squares, line, back, pushes, few, keep, other, state, rounds, kind):  # type: ignore[no-untyped-def]
    """Row operations of the kernel on four rows that never leave the nearest cache."""
    total, small = np.float32(0.0), np.float32(0.001)
    table, squares = kernels.strip_owner(table), kernels.strip_owner(squares)
    for i in range(rounds):
        row, sums, other = table[i & 3], squares[i & 3], table[4]
        if kind == 0:
            kernels.step(row, sums, line, small, small, True)
        elif kind == 1:
            kernels.share_out(line, small, small, back, row, sums, small, small, other, small, True)
        elif kind == 2:
            kernels.settle(row, sums, line, small, back, small, True)
        elif kind == 3:
            total += kernels.mix(line, row, small, small, other, small, back)
        elif kind == 4:
            total += kernels.dot(row, line)
        elif kind == 5:
            kernels.lean(few, -1, line, table, pushes, back)
        else:
            total += kernels.sigmoid(row[kernels.draw(keep, other, state)])
    return total


def suite(quick: bool) -> list[Table]:
    """What a product costs, against its row operations in the nearest cache and its bytes at the machine's best pace.

    For each product the kernel mixes its context, takes what three negatives get and give back, shares that out,
    settles the product and passes twice over a working line; the agreement takes one and a half dot products more. Once
    in so many products that are told from the same negatives, those are drawn and take their steps. Each of the dot
    products and the mixed one go through a sigmoid. Product and rivals, vector and AdaGrad sum, are read from and
    written to the tables.
    """
    d, rows, negatives, n, size = 300, 4_000, 3, 200 if quick else 10_000, 8
    rng = np.random.default_rng(0)
    table, users = rng.random((rows, d), np.float32), rng.random((100, d), np.float32)
    squares, user_squares = np.ones_like(table), np.ones_like(users)
    line, back = rng.random(d, np.float32), np.zeros(d, np.float32)
    offsets = np.arange(0, (n + 1) * size, size)
    items = np.concatenate([np.sort(rng.choice(rows, size, replace=False)) for _ in range(n)]).astype(np.int32)
    draw, user_draw = sampler(np.ones(rows, np.int64), 0.75), sampler(np.ones(100, np.int64), 0.75)
    basket_users, ones = rng.integers(0, 100, n).astype(np.int32), np.ones(len(items), np.float32)

    def learn() -> None:
        kernels.learn_baskets(
            np.arange(n), offsets, items, ones, basket_users, table, squares, users, user_squares, *draw, *user_draw,
            negatives, 0.01, 0.1, 0.5, False, True, TOGETHER, PLACES, np.array([1, 2], np.uint64),
        )  # fmt: skip

    big, rounds = np.ones(4_000_000 if quick else 64_000_000, np.float32), 1_000 if quick else 100_000
    copy = np.empty_like(big)
    few, state = sampler(np.ones(d, np.int64), 0.75), np.array([1, 2], np.uint64)
    pushes, own = np.zeros((negatives, d), np.float32), np.arange(negatives)
    kinds = ("step", "share", "settle", "mix", "dot", "lean", "draw")
    lines = table, squares, line, back, pushes, own
    hot = {k: partial(hot_rows, *lines, *few, state, rounds, i) for i, k in enumerate(kinds)}
    found = in_turns({"learn": learn, "copy": lambda: np.copyto(copy, big), **hot}, 1 if quick else 7)
    step, share, settle, mix, dot, lean, draws = (found[k].median / rounds * 1e9 for k in hot)
    actual = found["learn"].median / len(items) * 1e9
    arithmetic = lean + negatives * step / TOGETHER + share + settle + mix + 3.5 * dot + (negatives + 2.5) * draws
    moved = 4 * d * (negatives / TOGETHER + 1) * 4
    pace = 2 * big.nbytes / found["copy"].median
    shares = Table(
        "What a product costs the kernel, 300 dimensions and three negatives", ("what", "ns", "share of its time")
    )
    shares.rows += [
        ("a product, learned", actual, 1.0),
        ("its arithmetic alone, all rows in the nearest cache", arithmetic, arithmetic / actual),
        (
            f"its {moved / 1000:.0f} kB of rows at the pace of main memory",
            moved / pace * 1e9,
            moved / pace * 1e9 / actual,
        ),
        ("three negatives: what they get and give back", lean, lean / actual),
        ("one step of a negative", step, step / actual),
        ("what flows back, shared out", share, share / actual),
        ("one product settled", settle, settle / actual),
        ("one context mixed", mix, mix / actual),
        ("one dot product", dot, dot / actual),
        ("one negative drawn and one sigmoid", draws, draws / actual),
    ]
    binding = max(arithmetic, moved / pace * 1e9)
    shares.bar("share of the limit that binds", binding / actual, "at least", 0.6)
    shares.rows.append((f"main memory copies {pace / 1e9:.1f} GB a second", float("nan"), float("nan")))
    return [shares]
