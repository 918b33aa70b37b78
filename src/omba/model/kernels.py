"""The learner's kernels: free functions of arrays, scalars and random state (paper, Eq. 2–9).

They stand in this one module: a kernel that called a helper in another file would be served stale from numba's
cache after that file changed. `error_model="numpy"` and a fast-math set without `nnan` and `ninf` let the
loops vectorise while NaN guards keep their meaning. `model.oracle` holds the same mathematics in plain NumPy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
State = NDArray[np.uint64]

FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}
HOT = {"nogil": True, "cache": True, "error_model": "numpy", "fastmath": FASTMATH}
HELPER = {**HOT, "forceinline": True}
"""Helpers leave no function of their own to link to: a process that compiles them and one that loads them from the
cache would else link two versions of the same sums, which round differently."""
F32 = np.float32


@intrinsic
def strip_owner(typing: Any, array: Any) -> Any:
    """Strip an array's owner, so that row views skip atomic reference counts (a third of the time went into them).

    The caller must keep the original array alive for as long as the stripped one is used.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(array)(context, builder, arguments[0])
        made.meminfo, made.parent = (ir.Constant(kind.type, None) for kind in (made.meminfo, made.parent))
        return made._getvalue()

    return array(array), generate


@intrinsic
def prefetch(typing: Any, table: Any, row: Any) -> Any:
    """Prefetch a row that will be needed soon, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, i32 = ir.IntType(8).as_pointer(), ir.IntType(32)
        made = context.make_array(table)(context, builder, arguments[0])
        width = builder.extract_value(made.shape, 1)
        place = context.cast(builder, arguments[1], row, types.intp)
        start = builder.bitcast(builder.gep(made.data, [builder.mul(place, width)]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        nothing, line, size = (ir.Constant(width.type, n) for n in (0, 64, 4))
        with cgutils.for_range_slice(builder, nothing, builder.mul(width, size), line, inc=True) as (at, _):
            builder.call(function, [builder.gep(start, [at]), i32(1), i32(3), i32(1)])
        return context.get_dummy_value()

    return types.void(table, row), generate


@njit(inline="always")
def next_random(state: State) -> Any:
    """One step of xorshift128+ (Vigna, 2017): 64 random bits for two shifts and an addition."""
    x, y = state[0], state[1]
    state[0] = y
    x ^= x << np.uint64(23)
    x = x ^ y ^ (x >> np.uint64(17)) ^ (y >> np.uint64(26))
    state[1] = x
    return x + y


@njit(inline="always")
def draw(keep: Floats, other: Ints, state: State) -> Any:
    """A row from an alias table: cell i stands for itself with probability keep[i], else for other[i]."""
    bits = next_random(state)
    cell = np.int64(((bits >> np.uint64(32)) * np.uint64(keep.shape[0])) >> np.uint64(32))
    part = F32(bits & np.uint64(0xFFFFFF)) * F32(1.0 / 16777216.0)
    return cell if part < keep[cell] else np.int64(other[cell])


@njit(inline="always")
def sigmoid(x: Any) -> Any:
    return F32(1.0) / (F32(1.0) + np.exp(-x))


@njit(**HELPER)
def dot(a: Floats, b: Floats) -> Any:
    total = F32(0.0)
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(**HELPER)
def agreement(products: Ints, vectors: Floats, user: int, user_vectors: Floats) -> Any:
    """Intra-agreement Ψ (Eq. 7): mean σ(vᵢ·vⱼ) over a basket's pairs, estimated in O(n·d).

    Product pairs are taken around a ring in row order (exact up to three products), the user's pairs at no more
    than four products; the two means are weighted by how many pairs they stand for.
    """
    vectors, user_vectors = strip_owner(vectors), strip_owner(user_vectors)
    n = products.shape[0]
    ring, visits = F32(0.0), F32(0.0)
    if n > 1:
        for i in range(n):
            j = i + 1 if i + 1 < n else 0
            ring += sigmoid(dot(vectors[products[i]], vectors[products[j]]))
        ring /= F32(n)
    if user < 0:
        return ring
    stops = min(n, 4)
    for i in range(stops):
        visits += sigmoid(dot(vectors[products[i * n // stops]], user_vectors[user]))
    visits /= F32(stops)
    return (F32(n - 1) * ring + F32(2.0) * visits) / F32(n + 1)


@njit(**HELPER)
def three_dots(row: Floats, a: Floats, b: Floats, c: Floats) -> Any:
    """A row's dot products with three others: it is read once instead of three times."""
    first, second, third = F32(0.0), F32(0.0), F32(0.0)
    for i in range(row.shape[0]):
        x = row[i]
        first += x * a[i]
        second += x * b[i]
        third += x * c[i]
    return first, second, third


@njit(**HELPER)
def push(total: Floats, slope: float, row: Floats) -> None:
    """Add `slope · row` to a total."""
    for i in range(total.shape[0]):
        total[i] += slope * row[i]


@njit(**HELPER)
def lean(drawn: Longs, target: int, context: Floats, vectors: Floats, pushes: Floats, back: Floats) -> None:
    """What negatives get from a context and give back to it (Eq. 6, second term): their gradients `slope · context` are
    added to `pushes`, a row each, and `slope · row` to `back`. One that is the target itself gets nothing.

    Three are taken at a time, so that context and back are read and written once for them.
    """
    r, n = 0, drawn.shape[0]
    while r + 3 <= n:
        a, b, c = vectors[drawn[r]], vectors[drawn[r + 1]], vectors[drawn[r + 2]]
        first, second, third = three_dots(context, a, b, c)
        first = -sigmoid(first) if drawn[r] != target else F32(0.0)
        second = -sigmoid(second) if drawn[r + 1] != target else F32(0.0)
        third = -sigmoid(third) if drawn[r + 2] != target else F32(0.0)
        # In loops of few arrays each: with more of them the compiler no longer makes sure that none overlap.
        for i in range(back.shape[0]):
            back[i] += first * a[i] + second * b[i] + third * c[i]
        push(pushes[r], first, context)
        push(pushes[r + 1], second, context)
        push(pushes[r + 2], third, context)
        r += 3
    while r < n:
        if drawn[r] != target:
            slope = -sigmoid(dot(vectors[drawn[r]], context))
            push(back, slope, vectors[drawn[r]])
            push(pushes[r], slope, context)
        r += 1


@njit(**HELPER)
def step(row: Floats, squares: Floats, gradient: Floats, part: float, rate: float, adagrad: bool) -> None:
    """A row's step along a gradient, of whose square `part` counts: one that was summed over n alike counts as n.

    AdaGrad (Eq. 9) adds the squared gradient before it divides: read literally, the sum to t − 1 would divide by
    zero on the first step. Plain SGD serves the paper's Cons, Decay and Info variants.
    """
    if adagrad:
        for i in range(row.shape[0]):
            g = gradient[i]
            square = squares[i] + part * g * g
            squares[i] = square
            row[i] += rate * g / np.sqrt(square)
    else:
        for i in range(row.shape[0]):
            row[i] += rate * gradient[i]


@njit(**HELPER)
def mix(total: Floats, row: Floats, g: float, share: float, user_row: Floats, own: float, context: Floats) -> Any:
    """Write the context of a product (Eq. 2), share · (total − g·row) + own · user_row; return its dot with the row."""
    near = F32(0.0)
    for i in range(context.shape[0]):
        x = share * (total[i] - g * row[i]) + own * user_row[i]
        context[i] = x
        near += x * row[i]
    return near


@njit(**HELPER)
def share_out(
    back: Floats,
    share: float,
    own: float,
    flow: Floats,
    user_row: Floats,
    squares: Floats,
    slope: float,
    g: float,
    context: Floats,
    rate: float,
    adagrad: bool,
) -> None:
    """Split what flows back through a context: `share` goes to the other products, `own` into the user's step. In the
    place of the context stands then what the target itself gets, `slope · context`, less its part in `flow`."""
    less = g * share
    if own == F32(0.0):
        for i in range(back.shape[0]):
            flow[i] += share * back[i]
            context[i] = slope * context[i] - less * back[i]
    elif adagrad:
        for i in range(back.shape[0]):
            flow[i] += share * back[i]
            context[i] = slope * context[i] - less * back[i]
            x = own * back[i]
            square = squares[i] + x * x
            squares[i] = square
            user_row[i] += rate * x / np.sqrt(square)
    else:
        for i in range(back.shape[0]):
            flow[i] += share * back[i]
            context[i] = slope * context[i] - less * back[i]
            user_row[i] += rate * own * back[i]


@njit(**HELPER)
def settle(row: Floats, squares: Floats, target: Floats, g: float, flow: Floats, rate: float, adagrad: bool) -> None:
    """Take a product's one step: what it gets as a target, and `g · flow` as context of others."""
    if adagrad:
        for i in range(row.shape[0]):
            gradient = target[i] + g * flow[i]
            square = squares[i] + gradient * gradient
            squares[i] = square
            row[i] += rate * gradient / np.sqrt(square)
    else:
        for i in range(row.shape[0]):
            row[i] += rate * (target[i] + g * flow[i])


@njit(**HELPER)
def release(
    drawn: Longs, pushes: Floats, uses: int, vectors: Floats, squares: Floats, rate: float, adagrad: bool
) -> None:
    """Let negatives take their steps, after so many uses."""
    part = F32(1.0) / F32(uses)
    for r in range(drawn.shape[0]):
        step(vectors[drawn[r]], squares[drawn[r]], pushes[r], part, rate, adagrad)


@njit(**HELPER)
def draw_ahead(
    keep: Floats, other: Ints, state: State, vectors: Floats, squares: Floats, drawn: Longs, pushes: Floats
) -> None:
    """Draw negatives that will be needed some targets later, and prefetch them."""
    pushes[:] = F32(0.0)
    for r in range(drawn.shape[0]):
        drawn[r] = draw(keep, other, state)
        prefetch(vectors, drawn[r])
        prefetch(squares, drawn[r])


@njit(inline="always")
def learn_basket(
    products: Ints,
    g: Floats,
    user: int,
    vectors: Floats,
    squares: Floats,
    user_vectors: Floats,
    user_squares: Floats,
    keep: Floats,
    other: Ints,
    user_keep: Floats,
    user_other: Ints,
    rate: float,
    user_share: float,
    user_targets: bool,
    adagrad: bool,
    together: int,
    place: int,
    state: State,
    lines: Floats,
    pushes: Floats,
    contexts: Floats,
    drawn: Longs,
    uses: Longs,
) -> int:
    """Learn one basket, every unit of it as a target, in O(n·d).

    With S = Σ g(x)v(x) and G = Σ g(x), the context of product z is (S − g(z)v(z)) / (G − g(z)). The gradient that
    flows back through it, t(z) = share · Σ slope·v, reaches product x as g(x)·(Σ t − t(x)): summed over the basket
    and applied once, together with the product's own gradient as a target. The user steps with every product.

    Negatives stand ready in some places, which targets take in turn, from basket to basket: each is told from those of
    its place. What they get is summed over `together` targets and applied once, then others are drawn for the place.
    So a row is read and written less often, and targets that are told from the same are of different baskets: those
    of one basket have nearly the same context, and a user met a few times must be told from many. Returns the place
    that is next.
    """
    vectors, squares, user_vectors, user_squares = (
        strip_owner(vectors),
        strip_owner(squares),
        strip_owner(user_vectors),
        strip_owner(user_squares),
    )
    lines, contexts, drawn = strip_owner(lines), strip_owner(contexts), strip_owner(drawn)
    pushes = strip_owner(pushes)
    total, flow, zeros, back = lines[0], lines[1], lines[2], lines[3]
    n, width, mass = products.shape[0], vectors.shape[1], F32(0.0)
    total[:] = F32(0.0)
    flow[:] = F32(0.0)
    for z in range(n):
        mass += g[z]
        row = vectors[products[z]]
        for i in range(width):
            total[i] += g[z] * row[i]
    own = F32(0.0)
    user_row, user_sums = zeros, zeros
    if user >= 0:
        own = F32(user_share) if n > 1 else F32(1.0)
        user_row, user_sums = user_vectors[user], user_squares[user]
    for z in range(n):
        row, context = vectors[products[z]], contexts[z]
        share = (F32(1.0) - own) / (mass - g[z]) if n > 1 else F32(0.0)
        slope = F32(1.0) - sigmoid(mix(total, row, g[z], share, user_row, own, context))
        for i in range(width):
            back[i] = slope * row[i]
        prefetch(squares, products[z])
        lean(drawn[place], products[z], context, vectors, pushes[place], back)
        share_out(back, share, own, flow, user_row, user_sums, slope, g[z], context, rate, adagrad)
        uses[place] += 1
        if uses[place] == together:
            release(drawn[place], pushes[place], together, vectors, squares, rate, adagrad)
            draw_ahead(keep, other, state, vectors, squares, drawn[place], pushes[place])
            uses[place] = 0
        place = place + 1 if place + 1 < uses.shape[0] else 0
    if user >= 0 and user_targets:
        context, others, apart = lines[4], drawn[uses.shape[0]], pushes[uses.shape[0]]
        for i in range(width):
            context[i] = total[i] / mass
        slope = F32(1.0) - sigmoid(dot(user_row, context))
        for i in range(width):
            back[i] = slope * user_row[i]
        draw_ahead(user_keep, user_other, state, user_vectors, user_squares, others, apart)
        lean(others, user, context, user_vectors, apart, back)
        release(others, apart, np.int64(1), user_vectors, user_squares, rate, adagrad)
        for i in range(width):
            context[i] *= slope
        step(user_row, user_sums, context, F32(1.0), rate, adagrad)
        for i in range(width):
            flow[i] += back[i] / mass
    for z in range(n):
        settle(vectors[products[z]], squares[products[z]], contexts[z], g[z], flow, rate, adagrad)
    return place


@njit(**HOT)
def learn_baskets(
    order: Longs,
    offsets: Longs,
    items: Ints,
    weights: Floats,
    users: Ints,
    vectors: Floats,
    squares: Floats,
    user_vectors: Floats,
    user_squares: Floats,
    keep: Floats,
    other: Ints,
    user_keep: Floats,
    user_other: Ints,
    negatives: int,
    rate: float,
    tau: float,
    user_share: float,
    user_targets: bool,
    adagrad: bool,
    together: int,
    places: int,
    state: State,
) -> None:
    """One pass over the baskets in `order`, each at its own rate exp(−τΨ)·η (Eq. 8)."""
    longest = 1
    for b in order:
        longest = max(longest, offsets[b + 1] - offsets[b])
    width = vectors.shape[1]
    lines, contexts = np.zeros((5, width), F32), np.empty((longest, width), F32)
    # One place more, for a user's rivals.
    drawn, pushes = np.empty((places + 1, negatives), np.int64), np.empty((places + 1, negatives, width), F32)
    # Numbers of one type, or helpers would be compiled once more for a number that is known.
    uses, place = np.zeros(places, np.int64), np.int64(0)
    for k in range(places):
        draw_ahead(keep, other, state, vectors, squares, drawn[k], pushes[k])
    for b in order:
        products = items[offsets[b] : offsets[b + 1]]
        user = users[b]
        if products.shape[0] == 0 or (products.shape[0] == 1 and user < 0):
            continue
        pace = F32(rate)
        if tau > 0.0:
            pace = F32(rate * math.exp(-tau * agreement(products, vectors, user, user_vectors)))
        place = learn_basket(
            products, weights[offsets[b] : offsets[b + 1]], user, vectors, squares, user_vectors, user_squares,
            keep, other, user_keep, user_other, pace, user_share, user_targets, adagrad, together, place, state,
            lines, pushes, contexts, drawn, uses,
        )  # fmt: skip
    for k in range(places):
        if uses[k] > 0:
            release(drawn[k], pushes[k], uses[k], vectors, squares, F32(rate), adagrad)
