"""The clues' kernels: queries from baskets, their candidates, and what speaks for each of them.

They stand in this one module with their helpers, of which the learner has the same (`model.kernels`): a kernel that
called a helper in another file would be served stale from numba's cache after that file changed. `model.oracle` holds
the same mathematics in plain NumPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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
F32 = np.float32
CONTEXT, USER, NEAREST, HABIT, POPULARITY, TREND = range(6)
SLOW, BOUGHT, VISIT_SHARE, SINCE_VISITS, SINCE_DAYS, ONCE, VISITS, REPEATS = range(6, 14)
RHYTHM, BETWEEN, COMPANY = range(14, 17)
"""The columns that `describe` writes; `model.clues` says what stands in each."""
CLUES = 17
E0, E1, E2, E3, E4, E5, E6, E7, E8 = np.polynomial.chebyshev.cheb2poly(
    np.polynomial.chebyshev.chebinterpolate(np.exp, 8)
).tolist()
"""exp(x) for x from −1 to 1 as a polynomial."""
FEW = 16
"""Up to so many candidates of a query, each is looked for in the customer's memory; more are worth a table of it."""


class Habits(NamedTuple):
    """What users remember, as `model.memory` keeps it: its arrays by their names there."""

    rows: Ints
    strength: Floats
    mass: Floats
    counts: Ints
    last_visit: Ints
    first_day: Ints
    last_day: Ints
    totals: Ints


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


@njit(**HELPER)
def dot(a: Floats, b: Floats) -> Any:
    total = F32(0.0)
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit(**HELPER)
def count_places(rows: Ints, user: int) -> int:
    """How many places of a user's memory are taken: those that are come first."""
    known = 0
    while known < rows.shape[1] and rows[user, known] >= 0:
        known += 1
    return known


@njit(**HELPER)
def find_place(rows: Ints, user: int, known: int, product: int) -> Any:
    """The place where a user remembers a product, −1 for nowhere."""
    place = np.int32(-1)
    for s in range(known):
        place = max(place, np.int32(s) if rows[user, s] == product else np.int32(-1))
    return place


@njit(**HELPER)
def describe_habit(user: int, place: int, share: float, habits: Habits, now: int, prior: float, out: Floats) -> None:
    """The clues of a product that a customer remembers in that place."""
    visits, bought, repeated = habits.totals[user, 0], habits.totals[user, 1], habits.totals[user, 2]
    count = F32(habits.counts[user, place])
    out[HABIT] = np.log((habits.strength[user, place] / share + F32(prior)) / (habits.mass[user] + F32(prior)))
    out[SLOW] = np.log((count / share + F32(prior)) / (F32(bought) + F32(prior)))
    out[BOUGHT] = F32(1.0)
    out[VISIT_SHARE] = np.log(count / F32(visits))
    out[SINCE_VISITS] = -np.log(F32(visits - habits.last_visit[user, place] + 1))
    out[SINCE_DAYS] = -np.log(F32(1 + max(now - habits.last_day[user, place], 0)))
    out[ONCE] = F32(1.0) if count == F32(1.0) else F32(0.0)
    out[VISITS] = np.log(F32(visits))
    out[REPEATS] = np.log(F32(repeated + 1) / F32(bought - repeated + 1))
    if habits.counts[user, place] > 1:
        last = habits.last_day[user, place]
        between = F32(max(last - habits.first_day[user, place], 0)) / (count - F32(1.0))
        out[RHYTHM] = np.log((F32(max(now - last, 0)) + F32(0.5)) / (between + F32(0.5)))
        out[BETWEEN] = np.log(between + F32(1.0))


@njit(**HELPER)
def four_dots(row: Floats, a: Floats, b: Floats, c: Floats, d: Floats) -> Any:
    """A row's dot products with four others: it is read once instead of four times."""
    first, second, third, fourth = F32(0.0), F32(0.0), F32(0.0), F32(0.0)
    for i in range(row.shape[0]):
        x = row[i]
        first += x * a[i]
        second += x * b[i]
        third += x * c[i]
        fourth += x * d[i]
    return first, second, third, fourth


@njit(**HELPER)
def eighth_power_of_exp(x: Any) -> Any:
    """exp(8x) for x from −1 to 1, to 2 parts in a million: a polynomial, which the compiler takes eight at a time where
    a call of the library's exp waits for each."""
    y = F32(E0) + x * (F32(E1) + x * (F32(E2) + x * (F32(E3) + x * F32(E4))))
    fourth = x * x * x * x
    y += x * fourth * (F32(E5) + x * (F32(E6) + x * (F32(E7) + x * F32(E8))))
    y *= y
    y *= y
    return y * y


@njit(**HELPER)
def compare(row: Floats, seen: Ints, vectors: Floats, dots: Floats) -> Any:
    """Write a row's dot products with those of a basket, and return their sum."""
    near, j = F32(0.0), 0
    while j + 4 <= seen.shape[0]:
        a, b, c, d = four_dots(row, vectors[seen[j]], vectors[seen[j + 1]], vectors[seen[j + 2]], vectors[seen[j + 3]])
        dots[j], dots[j + 1], dots[j + 2], dots[j + 3] = a, b, c, d
        near += a + b + c + d
        j += 4
    while j < seen.shape[0]:
        dots[j] = dot(row, vectors[seen[j]])
        near += dots[j]
        j += 1
    return near


@njit(**HELPER)
def nearness(dots: Floats, inverse: Floats, length: float, sharpness: float) -> Any:
    """1/s · log of the mean of exp(s · cosine) to the products of a basket, by dot products and inverse lengths."""
    total, pace = F32(0.0), F32(sharpness) / (F32(8.0) * length)
    for j in range(inverse.shape[0]):
        total += eighth_power_of_exp(pace * dots[j] * inverse[j])
    return np.log(total / F32(inverse.shape[0])) / F32(sharpness)


@njit(**HELPER)
def length_of(row: int, vectors: Floats, norms: Floats) -> Any:
    """The length of a product's vector, worked out once a call: best sellers are met in nearly every query."""
    if norms[row] == F32(0.0):
        norms[row] = np.sqrt(dot(vectors[row], vectors[row])) + F32(1e-12)
    return norms[row]


@njit(**HELPER)
def add_up(seen: Ints, vectors: Floats, norms: Floats, inverse: Floats, middle: Floats) -> Any:
    """Write the inverse lengths of a basket's rows and their sum; return the length of that."""
    middle[:] = F32(0.0)
    for j in range(seen.shape[0]):
        row = vectors[seen[j]]
        for i in range(middle.shape[0]):
            middle[i] += row[i]
        inverse[j] = F32(1.0) / length_of(seen[j], vectors, norms)
    return np.sqrt(dot(middle, middle))


@njit(**HOT)
def describe(
    offsets: Longs,
    context: Ints,
    users: Ints,
    candidates: Ints,
    vectors: Floats,
    user_vectors: Floats,
    share: Floats,
    trend: Floats,
    company: Floats,
    log_share: Floats,
    habits: Habits,
    now: int,
    sharpness: float,
    prior: float,
    at: int,
    features: Floats,
) -> None:
    """The clues of every candidate of every query, (queries, candidates, clues), from column `at` on: see
    `model.clues`."""
    vectors, user_vectors = strip_owner(vectors), strip_owner(user_vectors)
    features, rows, context = strip_owner(features), habits.rows, strip_owner(context)
    width, size, longest = vectors.shape[1], candidates.shape[1], np.int64(0)
    for q in range(candidates.shape[0]):
        longest = max(longest, offsets[q + 1] - offsets[q])
    middle, inverses, dots = np.empty(width, F32), np.empty(longest, F32), np.empty(longest, F32)
    places, norms = np.full(vectors.shape[0], -1, np.int32), np.zeros(vectors.shape[0], F32)
    # Many products of a query have one category.
    described = np.full(vectors.shape[0], -1, np.int64)
    rarest = log_share.min() if log_share.shape[0] > 0 else F32(0.0)
    for q in range(candidates.shape[0]):
        seen, span = context[offsets[q] : offsets[q + 1]], F32(0.0)
        inverse = inverses[: seen.shape[0]]
        if seen.shape[0] > 0:
            span = add_up(seen, vectors, norms, inverse, middle)
        user, known, reach, habit, slow = users[q], 0, F32(0.0), F32(0.0), F32(0.0)
        if user >= 0:
            reach = np.sqrt(dot(user_vectors[user], user_vectors[user]))
            habit = np.log(F32(prior) / (habits.mass[user] + F32(prior)))
            slow = np.log(F32(prior) / (F32(habits.totals[user, 1]) + F32(prior)))
            known = count_places(rows, user)
            if size > FEW:
                for s in range(known):
                    places[rows[user, s]] = s
        first = q * size
        for c in range(size):
            p = candidates[q, c]
            out = features[q, c, at : at + CLUES]
            if p >= 0 and described[p] >= first:
                for k in range(CLUES):
                    out[k] = features[q, described[p] - first, at + k]
                continue
            for k in range(CLUES):
                out[k] = F32(0.0)
            out[HABIT], out[SLOW] = habit, slow
            if p < 0:
                out[POPULARITY] = rarest
                continue
            if c + 2 < size and candidates[q, c + 2] >= 0:
                prefetch(vectors, candidates[q, c + 2])
            described[p] = first + c
            row = vectors[p]
            if span > 0.0:
                out[CONTEXT] = compare(row, seen, vectors, dots) / (length_of(p, vectors, norms) * span)
                out[NEAREST] = nearness(dots, inverse, norms[p], sharpness)
            out[POPULARITY], out[TREND], out[COMPANY] = log_share[p], trend[p], company[p]
            if user < 0:
                continue
            if reach > 0.0:
                out[USER] = dot(row, user_vectors[user]) / (length_of(p, vectors, norms) * reach)
            place = places[p] if size > FEW else find_place(rows, user, known, p)
            if place >= 0:
                describe_habit(user, place, share[p], habits, now, prior, out)
        if size > FEW:
            for s in range(known):
                places[rows[user, s]] = -1


@njit(**HOT)
def find_cosines(rows: Ints, vectors: Floats, pull: Floats, scores: Floats) -> None:
    """The dot products of some vectors, each of length 1, with those in `pull`, (pull, rows)."""
    vectors, pull = strip_owner(vectors), strip_owner(pull)
    for r in range(rows.shape[0]):
        if r + 2 < rows.shape[0]:
            prefetch(vectors, rows[r + 2])
        row, q = vectors[rows[r]], 0
        inverse = F32(1.0) / (np.sqrt(dot(row, row)) + F32(1e-12))
        while q + 4 <= pull.shape[0]:
            a, b, c, d = four_dots(row, pull[q], pull[q + 1], pull[q + 2], pull[q + 3])
            scores[q, r], scores[q + 1, r], scores[q + 2, r], scores[q + 3, r] = a, b, c, d
            q += 4
        while q < pull.shape[0]:
            scores[q, r] = dot(row, pull[q])
            q += 1
        for k in range(pull.shape[0]):
            scores[k, r] *= inverse


@njit(nogil=True, cache=True, error_model="numpy")
def gather(
    offsets: Longs,
    context: Ints,
    users: Ints,
    target_offsets: Longs,
    targets: Ints,
    rows: Ints,
    most: int,
    best_sellers: Ints,
    found: Ints,
    drawn: Ints,
    chance: NDArray[np.float64],
    candidates: Ints,
    log_weights: NDArray[np.float64],
    shares: NDArray[np.float64],
) -> None:
    """The candidates of each query: its targets, what the customer remembers, best sellers, those found for it, and
    products drawn.

    Each comes once, and none that is in the basket. Those certain to be there stand for themselves (log weight 0), a
    drawn one for as many as it is one of; places left over have a log weight of −∞. Targets share one query's worth. Of
    what a customer remembers, every second or third and so on is taken where there are more than `most`.
    """
    stamp = np.full(chance.shape[0], -1, np.int64)
    for q in range(users.shape[0]):
        candidates[q], log_weights[q], shares[q] = -1, -np.inf, 0.0
        for j in range(offsets[q], offsets[q + 1]):
            stamp[context[j]] = q
        at = 0
        first, after = target_offsets[q], target_offsets[q + 1]
        for j in range(first, after):
            if stamp[targets[j]] != q:
                candidates[q, at], log_weights[q, at], shares[q, at] = targets[j], 0.0, 1.0 / (after - first)
                stamp[targets[j]] = q
                at += 1
        if users[q] >= 0:
            own = rows[users[q]]
            known = 0
            while known < own.shape[0] and own[known] >= 0:
                known += 1
            step = max(1, -(-known // most))
            for s in range(known):
                if stamp[own[s]] != q:
                    stamp[own[s]] = q
                    if s % step == q % step:
                        candidates[q, at], log_weights[q, at] = own[s], np.log(step)
                        at += 1
        for some in (best_sellers, found[q]):
            for p in some:
                if stamp[p] != q:
                    candidates[q, at], log_weights[q, at] = p, 0.0
                    stamp[p] = q
                    at += 1
        for j in range(drawn.shape[1]):
            # One drawn twice stands for twice as many.
            p = drawn[q, j]
            if stamp[p] != q:
                candidates[q, at], log_weights[q, at] = p, -np.log(drawn.shape[1] * chance[p])
                at += 1


@njit(nogil=True, cache=True)
def find_among(rows: Ints, offsets: Longs, items: Ints, products: int) -> NDArray[np.bool_]:
    """Which of the rows of each query are among its items; −1 is not."""
    stamp, found = np.full(products, -1, np.int64), np.zeros(rows.shape, np.bool_)
    for q in range(rows.shape[0]):
        for j in range(offsets[q], offsets[q + 1]):
            stamp[items[j]] = q
        for c in range(rows.shape[1]):
            found[q, c] = rows[q, c] >= 0 and stamp[rows[q, c]] == q
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def hide(
    offsets: Longs, items: Ints, chosen: Longs, negatives: int, state: State
) -> tuple[Longs, Ints, NDArray[np.int32]]:
    """Queries from baskets: one product hidden, the others its context, negatives drawn from the window's purchases.

    Returns the offsets and rows of the contexts, and the candidates with the hidden product in column 0. A negative
    that is in the basket is drawn again, at most ten times over.
    """
    starts = np.zeros(chosen.shape[0] + 1, np.int64)
    for q in range(chosen.shape[0]):
        starts[q + 1] = starts[q] + offsets[chosen[q] + 1] - offsets[chosen[q]] - 1
    context = np.empty(starts[-1], np.int32)
    candidates = np.empty((chosen.shape[0], negatives + 1), np.int32)
    for q in range(chosen.shape[0]):
        first, after = offsets[chosen[q]], offsets[chosen[q] + 1]
        hidden = first + np.int64(next_random(state) % np.uint64(after - first))
        candidates[q, 0] = items[hidden]
        at = starts[q]
        for i in range(first, after):
            if i != hidden:
                context[at] = items[i]
                at += 1
        for r in range(negatives):
            for _ in range(10):
                negative = items[np.int64(next_random(state) % np.uint64(items.shape[0]))]
                inside = False
                for i in range(first, after):
                    inside = inside or items[i] == negative
                if not inside:
                    break
            candidates[q, r + 1] = negative
    return starts, context, candidates
