# mypy: disallow_untyped_decorators=False
"""Kernels of the evidence: pairs in a hash table of fixed size, a Bloom filter of those dropped, and watched triples.

The table is one array of 64-bit words, two a slot: the pair packed as `a << 32 | b` with a < b (`EMPTY` where
the slot is free), then `missed << 40 | count`. Collisions go to the next slot. `count` is how often the pair was
seen since it came in, `missed` how often it may have been seen before that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Longs = NDArray[np.int64]
Steps = NDArray[np.uint16]
Near = tuple[Rows, Steps]
Halves = NDArray[np.uint16]
Dense = tuple[Rows, Halves, Rows]
"""The numbers of the best sellers by row, and room for those of baskets and for how many each has."""
Places = tuple[Rows, NDArray[np.uint32]]
"""The same numbers, and a count for each three of them (see `dense_triples.py`)."""

HELPER = {"nogil": True, "cache": True, "error_model": "numpy", "forceinline": True}
"""Helpers that are called in several places are compiled once, and only then inlined: what `inline="always"` copies is
typed and translated anew in each place."""
EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
COUNT = np.uint64((1 << 40) - 1)
MISSED = np.uint64(40)
ONE, TWO, HALF, LOW = np.uint64(1), np.uint64(2), np.uint64(32), np.uint64((1 << 32) - 1)
WORD, LAST_BIT, FEWEST_BITS = np.uint64(6), np.uint64(63), 10
"""A word's bits as a power of two, the place of the last one, and the fewest bits of a filter, as a power of two."""
TRIPLE, LAST = np.uint64(21), np.uint64((1 << 21) - 1)
"""Bits of a row in a packed triple, and all of them set."""
STEP = np.uint64(0x9E3779B97F4A7C15)
FOUR = 4
"""Slots of triples in a cache line."""
OCTAVE, NEAREST = 1024, 48 * 1024
"""Steps of a logarithm in which what is counted doubles, and the step of two products always bought together."""
LOWEST = -16 * OCTAVE
"""The step below which triples are promised nothing."""
POWERS = np.append(0.0, 2.0 ** (np.arange(LOWEST + 1, 32 * OCTAVE) / OCTAVE))
"""What each step from `LOWEST` on stands for."""
SHAPE = 2.0
"""How sure the promise of a triple's pairs is: as if it had been met in so many baskets. With 1 and 2, of the rules
with two antecedents in a year of Complete Journey's types 0.725 and 0.726 are found (tables of 3 million)."""
AT_ONCE = 256
"""Pairs looked up at a time."""
GROUP = 1_024
"""Pairs of baskets, or triples, that are gathered before they are looked up."""
BLOCK = 8
"""Words in a block of the trace: one cache line, so that a pair's four bits cost one access to memory."""


@intrinsic
def prefetch(context: Any, array: Any, place: Any) -> Any:
    """Have the line of memory that holds a place fetched into the cache, and go on without waiting for it.

    Asking for all places of a block before the first is looked at lets the processor fetch them at the same time.
    """

    def generate(target: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = target.make_array(signature.args[0])(target, builder, given[0]).data
        pointer = builder.bitcast(builder.gep(data, [given[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, number, number, number])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        # To read, to keep in all caches, data.
        builder.call(fetch, [pointer, number(0), number(3), number(1)])
        return target.get_dummy_value()

    return types.void(array, place), generate


@njit(**HELPER)
def pack(a, b):  # type: ignore[no-untyped-def]
    """The key of a pair, in whatever order its products are given."""
    if a > b:
        a, b = b, a
    return (np.uint64(a) << HALF) | np.uint64(b)


@njit(**HELPER)
def mix(key):  # type: ignore[no-untyped-def]
    """Bits of the key spread evenly over the word (the finaliser of MurmurHash3, A. Appleby)."""
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xFF51AFD7ED558CCD)
    key ^= key >> np.uint64(33)
    key *= np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ (key >> np.uint64(33))


@njit(**HELPER)
def home(slots, key):  # type: ignore[no-untyped-def]
    """Where the search for a key begins; places count words, two a slot."""
    return (((mix(key) >> HALF) * np.uint64(slots)) >> HALF) << ONE


@njit(**HELPER)
def locate(table, place, key):  # type: ignore[no-untyped-def]
    """From its home on, the place that holds the key, or the free one where it belongs."""
    while table[place] != key and table[place] != EMPTY:
        place += TWO
        if place == np.uint64(len(table)):
            place = np.uint64(0)
    return place


@njit(**HELPER)
def check_trace(trace, key, mark):  # type: ignore[no-untyped-def]
    """Whether the key's four bits are set in its block; `mark` sets them."""
    if len(trace) == 0:
        return False
    bits = mix(key ^ np.uint64(0x9E3779B97F4A7C15))
    block = (((bits >> HALF) * np.uint64(len(trace) // BLOCK)) >> HALF) * np.uint64(BLOCK)
    known = True
    for shift in range(0, 36, 9):
        nine = bits >> np.uint64(shift) & np.uint64(511)
        bit = ONE << (nine & np.uint64(63))
        word = block + (nine >> np.uint64(6))
        if trace[word] & bit == 0:
            known = False
            if mark:
                trace[word] |= bit
    return known


@njit(nogil=True, cache=True, error_model="numpy")
def count_products(items: Rows, counts: Longs) -> None:
    """Add one to the count of each item."""
    for item in items:
        counts[item] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_pairs(
    offsets: Longs,
    items: Rows,
    largest: int,
    first: int,
    table: Words,
    free: int,
    trace: Words,
    error: int,
    place: Longs,
) -> int:
    """Count the pairs of baskets from `place` = (basket, product) on; stop where `free` slots are used up.

    Of a basket with more than `largest` products only `largest`, drawn at random, are paired; `place[2]` counts
    such baskets. Returns the slots used; `place[0]` is the number of baskets once all is counted.
    """
    used, waiting, drawn = 0, 0, np.empty(largest, np.int32)
    keys, homes = np.empty(AT_ONCE + largest, np.uint64), np.empty(AT_ONCE + largest, np.uint64)
    slots = len(table) // 2
    while place[0] < len(offsets) - 1:
        start, stop = offsets[place[0]], offsets[place[0] + 1]
        basket = items[start:stop]
        if stop - start > largest:
            draw(basket, drawn, np.uint64(first + place[0]))
            basket = drawn
        for i in range(place[1], len(basket) - 1):
            # What waits may be new, and be met again in this row: only once it is counted the room is known.
            more = len(basket) - 1 - i
            if waiting >= AT_ONCE or used + waiting + more > free:
                used += count_waiting(keys[:waiting], homes, table, trace, error)
                waiting = 0
                if used + more > free:
                    place[1] = i
                    return int(used)
            for j in range(i + 1, len(basket)):
                keys[waiting] = pack(basket[i], basket[j])
                homes[waiting] = home(slots, keys[waiting])
                prefetch(table, homes[waiting])
                waiting += 1
        place[2] += stop - start > largest
        place[0], place[1] = place[0] + 1, 0
    return int(used + count_waiting(keys[:waiting], homes, table, trace, error))


@njit(nogil=True, cache=True, error_model="numpy")
def count_waiting(keys: Words, homes: Words, table: Words, trace: Words, error: int) -> int:
    """Add one to each of some pairs, the search for which begins at their homes; how many were new."""
    used = 0
    for i in range(len(keys)):
        slot = locate(table, homes[i], keys[i])
        if table[slot] == EMPTY:
            table[slot] = keys[i]
            missed = np.uint64(error) if check_trace(trace, keys[i], False) else np.uint64(0)
            table[slot + ONE] = missed << MISSED
            used += 1
        table[slot + ONE] += ONE
    return used


@njit(nogil=True, cache=True, error_model="numpy")
def draw(basket: Rows, drawn: Rows, number: np.uint64) -> None:
    """Products of a basket drawn without repetition, in order; the same for the same number of the basket."""
    state, left, n = mix(number + ONE), len(drawn), 0
    for i in range(len(basket)):
        state = mix(state + np.uint64(0x9E3779B97F4A7C15))
        # A product is taken with probability (places left) / (products left).
        if ((state >> HALF) * np.uint64(len(basket) - i)) >> HALF < np.uint64(left):
            drawn[n] = basket[i]
            n, left = n + 1, left - 1


@njit(nogil=True, cache=True, error_model="numpy")
def insert(keys: Words, values: Words, table: Words) -> None:
    """Put distinct keys with their values into a table that has room for them."""
    slots = len(table) // 2
    for i in range(len(keys)):
        slot = locate(table, home(slots, keys[i]), keys[i])
        table[slot], table[slot + ONE] = keys[i], values[i]


@njit(nogil=True, cache=True, error_model="numpy")
def count_most(table: Words, numbers: Longs) -> None:
    """How many pairs can have been seen once, twice and so on at most; in the last place those seen oftener too."""
    last = np.uint64(len(numbers) - 1)
    for slot in range(0, len(table), 2):
        if table[slot] != EMPTY:
            numbers[min((table[slot + 1] & COUNT) + (table[slot + 1] >> MISSED), last)] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def move(table: Words, bound: int, trace: Words, other: Words) -> int:
    """Move pairs that can have been seen more than `bound` times to an empty table; of the others a trace is left.

    Both tables are in the order of the keys' hashes, so neither is read or written here and there. Returns how many
    were moved.
    """
    slots, moved, least = len(other) // 2, 0, np.uint64(bound)
    for at in range(0, len(table), 2):
        key, value = table[at], table[at + 1]
        if key == EMPTY:
            continue
        if (value & COUNT) + (value >> MISSED) > least:
            slot = locate(other, home(slots, key), key)
            other[slot], other[slot + ONE] = key, value
            moved += 1
        else:
            check_trace(trace, key, True)
    return moved


@njit(nogil=True, cache=True, error_model="numpy")
def number_pairs(table: Words, minimum: int, bits: int, width: int, numbers: Words) -> int:
    """Write each pair counted often enough as one number, so that they sort as pairs do; how many there are.

    Its two rows have so many bits each, and the place of its slot the last ones.
    """
    n, least, low = 0, np.uint64(minimum), np.uint64(0xFFFFFFFF)
    for slot in range(0, len(table), 2):
        key = table[slot]
        if key != EMPTY and (table[slot + 1] & COUNT) >= least:
            rows = ((key >> HALF) << np.uint64(bits)) | (key & low)
            numbers[n] = (rows << np.uint64(width)) | np.uint64(slot >> 1)
            n += 1
    return n


@njit(nogil=True, cache=True, error_model="numpy")
def add(keys: Words, counts: Longs, table: Words, free: int, trace: Words, error: int, place: Longs) -> int:
    """Add counts to keys from `place[0]` on, as `count_pairs` would; stop where `free` slots are used up."""
    slots, used = len(table) // 2, 0
    while place[0] < len(keys):
        key = keys[place[0]]
        slot = locate(table, home(slots, key), key)
        if table[slot] == EMPTY:
            if used == free:
                return used
            table[slot] = key
            missed = np.uint64(error) if check_trace(trace, key, False) else np.uint64(0)
            table[slot + ONE] = missed << MISSED
            used += 1
        table[slot + ONE] += np.uint64(counts[place[0]])
        place[0] += 1
    return used


@njit(nogil=True, cache=True, error_model="numpy")
def look_up(a: Rows, b: Rows, table: Words, counts: Longs) -> None:
    """The count of each pair, 0 where it is not in the table."""
    slots = len(table) // 2
    for first in range(0, len(a), AT_ONCE):
        block = range(first, min(first + AT_ONCE, len(a)))
        for i in block:
            prefetch(table, home(slots, pack(a[i], b[i])))
        for i in block:
            key = pack(a[i], b[i])
            slot = locate(table, home(slots, key), key)
            counts[i] = 0 if table[slot] == EMPTY else table[slot + ONE] & COUNT


@njit(nogil=True, cache=True, error_model="numpy")
def find_highest_lifts(
    offsets: Longs,
    context: Rows,
    candidates: Rows,
    table: Words,
    sold: Longs,
    baskets: float,
    prior: float,
    lifts: NDArray[np.float32],
) -> None:
    """The highest log lift of each candidate with a product of its basket, (queries, candidates), both sides shrunk by
    `prior` pairs; 0 for a candidate or a basket that is not known."""
    slots = len(table) // 2
    for q in range(candidates.shape[0]):
        seen = context[offsets[q] : offsets[q + 1]]
        width = max(AT_ONCE // max(len(seen), 1), 1)
        homes = np.empty(width * len(seen), np.uint64)
        lifts[q] = 0.0
        for first in range(0, candidates.shape[1] if len(seen) else 0, width):
            block = range(first, min(first + width, candidates.shape[1]))
            at = 0
            for c in block:
                if candidates[q, c] >= 0:
                    for other in seen:
                        homes[at] = home(slots, pack(candidates[q, c], other))
                        prefetch(table, homes[at])
                        at += 1
            at = 0
            for c in block:
                product, highest = candidates[q, c], 0.0
                if product >= 0:
                    for other in seen:
                        slot = locate(table, homes[at], pack(product, other))
                        pairs = 0.0 if table[slot] == EMPTY else float(table[slot + ONE] & COUNT)
                        expected = sold[product] * (sold[other] / baskets)
                        highest = max(highest, (pairs + prior) / (expected + prior))
                        at += 1
                    lifts[q, c] = np.log(highest)


@njit(nogil=True, cache=True, error_model="numpy")
def look_up_most(a: Rows, b: Rows, table: Words, trace: Words, error: int, counts: Longs) -> None:
    """The count of each pair with what may have been missed: `error` where it is not in the table but left a trace."""
    slots = len(table) // 2
    for i in range(len(a)):
        key = pack(a[i], b[i])
        slot = locate(table, home(slots, key), key)
        if table[slot] == EMPTY:
            counts[i] = error if check_trace(trace, key, False) else 0
        else:
            counts[i] = (table[slot + ONE] & COUNT) + (table[slot + ONE] >> MISSED)


@njit(nogil=True, cache=True, error_model="numpy")
def look_for(a: Rows, b: Rows, table: Words, trace: Words, seen: NDArray[np.bool_]) -> None:
    """Whether each pair is in the table or left a trace."""
    slots = len(table) // 2
    for i in range(len(a)):
        key = pack(a[i], b[i])
        seen[i] = table[locate(table, home(slots, key), key)] != EMPTY or check_trace(trace, key, False)


@njit(nogil=True, cache=True, error_model="numpy")
def count_held(offsets: Longs, items: Rows, largest: int, table: Words, later: Longs, sold: Longs) -> int:
    """Count the pairs that are in the table, and the products up to the last row of `sold`; baskets counted.

    A table's value is the place of the pair in `later`. Baskets of more than `largest` products are passed over.
    """
    slots, counted = len(table) // 2, 0
    # Few of the pairs of a basket are held: a bit for each that is, by a hash of its own, fits the nearest cache.
    width = FEWEST_BITS
    while (1 << width) < 4 * len(table):
        width += 1
    marks, shift = np.zeros(1 << (width - 6), np.uint64), np.uint64(64 - width)
    for slot in range(0, len(table), 2):
        if table[slot] != EMPTY:
            bit = (table[slot] * STEP) >> shift
            marks[bit >> WORD] |= ONE << (bit & LAST_BIT)
    for b in range(len(offsets) - 1):
        basket = items[offsets[b] : offsets[b + 1]]
        if len(basket) > largest:
            continue
        counted += 1
        for i in range(len(basket)):
            if basket[i] >= len(sold):
                continue
            sold[basket[i]] += 1
            for j in range(i + 1, len(basket)):
                key = pack(basket[i], basket[j])
                bit = (key * STEP) >> shift
                if (marks[bit >> WORD] >> (bit & LAST_BIT)) & ONE:
                    place = locate(table, home(slots, key), key)
                    if table[place] != EMPTY:
                        later[table[place + ONE]] += 1
    return counted


@njit(nogil=True, cache=True, error_model="numpy")
def draw_pairs(
    table: Words, share: float, seed: np.uint64, often: int, sold: Longs
) -> tuple[Words, Words, Words, Words, NDArray[np.float64]]:
    """A share of the keys, and all that were counted `often` times or more, with how high their lift surely is.

    With both come numbers that put them into random order; they follow from key and seed alone, so that it does not
    matter where in the table a key stands. The last is the least count that chance leaves, over what chance alone would
    make it; `sold` are baskets with each product.
    """
    bound, least = np.uint64(share * 4294967296.0), np.uint64(often)
    some, order, n = np.empty(len(table) // 2, np.uint64), np.empty(len(table) // 2, np.uint64), 0
    many, many_order, m = np.empty(len(table) // 2, np.uint64), np.empty(len(table) // 2, np.uint64), 0
    sure = np.empty(len(table) // 2)
    for i in range(0, len(table), 2):
        key = table[i]
        if key == EMPTY:
            continue
        number, count = mix(key ^ seed), table[i + 1] & COUNT
        if number >> HALF < bound:
            some[n], order[n] = key, number
            n += 1
        if count >= least:
            met = float(count)
            by_chance = float(sold[key >> HALF]) * float(sold[key & LOW])
            many[m], many_order[m], sure[m] = key, mix(number), (met - 2.0 * math.sqrt(met)) / by_chance
            m += 1
    return some[:n], order[:n], many[:m], many_order[:m], sure[:m]


@njit(nogil=True, cache=True, error_model="numpy")
def pack_pairs(a: Rows, b: Rows) -> Words:
    """The key of each pair."""
    keys = np.empty(len(a), np.uint64)
    for i in range(len(a)):
        keys[i] = pack(a[i], b[i])
    return keys


def left_of(keys: Words) -> Rows:
    """The lower product of each packed pair."""
    return (keys >> HALF).astype(np.int32)


def right_of(keys: Words) -> Rows:
    """The higher product of each packed pair."""
    return (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)


@njit(nogil=True, cache=True)
def count_sets(offsets: Longs, items: Rows, starts: Longs, sets: Rows, marks: Longs, counts: Longs) -> None:
    """Add the baskets that hold each set; sets stand in the order of their first member, from `starts` of it on."""
    for b in range(offsets.shape[0] - 1):
        for i in range(offsets[b], offsets[b + 1]):
            marks[items[i]] = b
        for i in range(offsets[b], offsets[b + 1]):
            for s in range(starts[items[i]], starts[items[i] + 1]):
                if marks[sets[s, 1]] == b and marks[sets[s, 2]] == b:
                    counts[s] += 1


@njit(**HELPER)
def pack_triple(a, b, c):  # type: ignore[no-untyped-def]
    """The key of a triple of rows below 2²¹, the lowest first."""
    return (np.uint64(a) << np.uint64(42)) | (np.uint64(b) << TRIPLE) | np.uint64(c)


@njit(**HELPER)
def spread(two, step):  # type: ignore[no-untyped-def]
    """The hash of a triple: its lower two rows, packed and mixed, and `STEP` for each of the third.

    The multiples of `STEP` lie evenly (D. Knuth's Fibonacci hashing), so mixing once a pair is enough.
    """
    return mix(two) + step


@njit(**HELPER)
def home_of(slots, hashed):  # type: ignore[no-untyped-def]
    """Where the search for a triple begins, by its hash: at the first of four slots that make a cache line."""
    return (((hashed >> HALF) * np.uint64(slots // FOUR)) >> HALF) << np.uint64(3)


@njit(**HELPER)
def word_of(marks, hashed):  # type: ignore[no-untyped-def]
    """Where the marks of a triple stand, by its hash."""
    return ((hashed >> HALF) * np.uint64(len(marks))) >> HALF


@njit(**HELPER)
def check_mark(marks, hashed, mark):  # type: ignore[no-untyped-def]
    """Whether a triple may be in the table, by two bits of a word: far less memory than the table; `mark` sets them."""
    word = word_of(marks, hashed)
    bits = (ONE << (hashed & np.uint64(63))) | (ONE << ((hashed >> np.uint64(6)) & np.uint64(63)))
    known = marks[word] & bits == bits
    if mark:
        marks[word] |= bits
    return known


@njit(nogil=True, cache=True, error_model="numpy")
def find_closeness(pairs: Words, counts: Longs, own: Rows, close: Steps) -> None:
    """How close every two of the first products are, n_ab / √(n_a·n_b), as steps of a logarithm: 0 where not known.

    All with product 1 come first, then those with product 2, each with the products before it. `own` gets the steps of
    each product's own baskets.
    """
    rows, low = len(own), np.uint64(0xFFFFFFFF)
    logs = OCTAVE * np.log2(np.arange(1 << 12).astype(np.float64))
    for i in range(rows):
        own[i] = OCTAVE * np.log2(max(counts[i], 1))
    close[:] = 0
    for slot in range(0, len(pairs), 2):
        a, b = np.int64(pairs[slot] >> HALF), np.int64(pairs[slot] & low)
        if a < b < rows:
            met = pairs[slot + 1] & COUNT
            both = logs[met] if met < np.uint64(len(logs)) else OCTAVE * np.log2(np.float64(met))
            close[b * (b - 1) // 2 + a] = NEAREST + np.int64(both - 0.5 * (own[a] + own[b]))


@njit(**HELPER)
def worth_of(promise, met, times):  # type: ignore[no-untyped-def]
    """The baskets to expect of a triple, by what its pairs promise and by what was met."""
    return max(promise * (met + SHAPE) / (promise + SHAPE), promise / times)


@njit(nogil=True, cache=True, error_model="numpy")
def find_worth(
    table: Words,
    slots: Longs,
    times: float,
    most: np.uint64,
    pairs: Words,
    counts: Longs,
    n: int,
    near: Near,
    worth: NDArray[np.float64],
) -> None:
    """What each of some triples is worth: the baskets to expect of it, by its pairs and by what was met. `slots` are
    where they stand.

    Its pairs promise n·n_ab·n_ac·n_bc / (n_a·n_b·n_c) (Kirkwood's superposition), and no more than the rarest of them
    has. That is the mean of a gamma distribution of the shape `SHAPE`, and what was met is Poisson. It is no less than
    the promise by `times`, with which a triple comes in. How close the first products are is looked up in `near`; of
    those met oftener than `most` with others no pair is looked up, and what they are worth has no end.
    """
    held, homes = len(pairs) // 2, np.empty((len(slots), 3), np.uint64)
    asked, some, (own, close) = np.empty(len(slots), np.int64), 0, near
    total, rows = np.int64(OCTAVE * np.log2(n)), len(own)
    for i in range(len(slots)):
        key, value = table[slots[i]], table[slots[i] + 1]
        met = (value & COUNT) + (value >> MISSED)
        a, b, c = np.int64(key >> np.uint64(42)), np.int64((key >> TRIPLE) & LAST), np.int64(key & LAST)
        if not a < b < c < rows:
            worth[i] = 0.0 if met <= most else np.inf
            asked[some] = i
            some += met <= most
            continue
        before = c * (c - 1) // 2
        ab, ac, bc = np.int64(close[b * (b - 1) // 2 + a]), np.int64(close[before + a]), np.int64(close[before + b])
        rarest = min(2 * ab + own[a] + own[b], 2 * ac + own[a] + own[c], 2 * bc + own[b] + own[c]) // 2
        step = min(ab + ac + bc - 3 * NEAREST + total, rarest - NEAREST) - LOWEST
        worth[i] = worth_of(POWERS[min(max(step, 0), len(POWERS) - 1)], met, times)
    for i in range(some):
        key = table[slots[asked[i]]]
        a, b, c = key >> np.uint64(42), (key >> TRIPLE) & LAST, key & LAST
        homes[i, 0], homes[i, 1], homes[i, 2] = home(held, pack(a, b)), home(held, pack(a, c)), home(held, pack(b, c))
        for side in range(3):
            prefetch(pairs, homes[i, side])
    for i in range(some):
        key, value = table[slots[asked[i]]], table[slots[asked[i]] + 1]
        a, b, c = key >> np.uint64(42), (key >> TRIPLE) & LAST, key & LAST
        x, y = locate(pairs, homes[i, 0], pack(a, b)), locate(pairs, homes[i, 1], pack(a, c))
        z = locate(pairs, homes[i, 2], pack(b, c))
        if pairs[x] == EMPTY or pairs[y] == EMPTY or pairs[z] == EMPTY:
            continue
        n_ab, n_ac = np.float64(pairs[x + ONE] & COUNT), np.float64(pairs[y + ONE] & COUNT)
        n_bc = np.float64(pairs[z + ONE] & COUNT)
        alone = np.float64(counts[a]) * np.float64(counts[b]) * np.float64(counts[c])
        promise = min(n * n_ab * n_ac * n_bc / alone, min(n_ab, n_ac, n_bc))
        met = np.float64((value & COUNT) + (value >> MISSED))
        worth[asked[i]] = worth_of(promise, met, times)


@njit(inline="always")
def look_together(basket, roots, pairs, let_go, least, homes, close, at):  # type: ignore[no-untyped-def]
    """Of every two products of a basket, (0, 1), (0, 2) and so on, from `at` on: the baskets with both by the geometric
    mean of their own, of which `roots` has 1 / √n. It is no number where both were met `let_go` times at most, and 0
    where fewer than `least` times.

    The search for each begins at its home, where memory was asked for. Returns where those of the next basket begin.
    """
    for i in range(len(basket)):
        for j in range(i + 1, len(basket)):
            slot = locate(pairs, homes[at], pack(basket[i], basket[j]))
            both = 0 if pairs[slot] == EMPTY else np.int64(pairs[slot + ONE] & COUNT)
            close[at] = both * roots[i] * roots[j]
            if both < least:
                close[at] = np.nan if both <= let_go else 0.0
            at += 1
    return at


@njit(inline="always")
def put_in_order(values, first, after, value):  # type: ignore[no-untyped-def]
    """Put a value where it belongs among those that stand in order from `first` up to `after`.

    Of the few products of a basket that is quicker than a sort, which besides takes a second to compile.
    """
    while after > first and values[after - 1] > value:
        values[after] = values[after - 1]
        after -= 1
    values[after] = value


@njit(nogil=True, cache=True, error_model="numpy")
def choose_partnered(
    offsets: Longs, items: Rows, largest: int, most: int, number: int, pairs: Words, sizes: Longs,
    kept: NDArray[np.bool_],
) -> int:  # fmt: skip
    """Mark the products of each basket of which triples are counted: all, or of a larger one than `largest` those that
    have met two others of it most often; how many baskets were larger. `sizes` gets how many of each are counted.

    A triple takes two partners, so it is the second most frequent one that tells. Of a basket of more than `most`
    products so many are looked at, drawn at random by the basket's number, of which `number` is the first one's.
    """
    oversized, slots, width = 0, len(pairs) // 2, max(most, largest)
    first, second = np.empty(width, np.uint64), np.empty(width, np.uint64)
    homes, drawn = np.empty(width, np.uint64), np.empty(width, np.int32)
    kept[:] = True
    for b in range(len(offsets) - 1):
        start, n = offsets[b], offsets[b + 1] - offsets[b]
        sizes[b] = min(n, largest)
        if n <= largest:
            continue
        oversized += 1
        basket = items[start : start + n]
        if n > width:
            draw(basket, drawn, np.uint64(number + b))
            basket, n = drawn, width
        for i in range(n):
            first[i] = second[i] = 0
        for i in range(n - 1):
            for j in range(i + 1, n):
                homes[j] = home(slots, pack(basket[i], basket[j]))
                prefetch(pairs, homes[j])
            for j in range(i + 1, n):
                slot = locate(pairs, homes[j], pack(basket[i], basket[j]))
                met = np.uint64(0) if pairs[slot] == EMPTY else pairs[slot + ONE] & COUNT
                for x in (i, j):
                    second[x] = max(second[x], min(first[x], met))
                    first[x] = max(first[x], met)
        # The most frequent partners are told by now.
        for i in range(n):
            put_in_order(first, 0, i, second[i])
        enough, equal = first[n - largest], largest
        for i in range(n):
            equal -= second[i] > enough
        # Of those that are equal the first: they were met earlier, and are met more often.
        i = 0
        for at in range(start, offsets[b + 1]):
            kept[at] = i < n and items[at] == basket[i]
            if kept[at]:
                kept[at] = second[i] > enough or (second[i] == enough and equal > 0)
                equal -= second[i] == enough
                i += 1
    return oversized


@njit(nogil=True, cache=True, error_model="numpy")
def count_triples(
    offsets: Longs,
    items: Rows,
    largest: int,
    pairs: Words,
    counts: Longs,
    table: Words,
    marks: Words,
    free: int,
    gate: tuple[float, float, int],
    dense: Dense,
    whole: bool,
    place: Longs,
) -> int:
    """Count the triples of baskets, of `largest` products each at most, from `place` = (basket, product) on; stop where
    `free` slots are used up, before a basket that may take more if it is to be counted `whole`.

    `pairs` and `counts` are those of the evidence, this window in it. With a `gate` (let go, least, baskets): a triple
    of which two were bought together `let go` times at most cannot be in the table, and is passed over; one that is not
    in it comes in only where its pairs promise `least` baskets or more (`find_worth`). A third of all triples promise
    too little, and nearly none of those is in the table, which mostly `marks` tell. Three best sellers are not counted
    here: with `dense` (the numbers of the best sellers by row, room for as many numbers as there are products, and for
    as many sizes as there are baskets) a basket's best sellers are written down in order, and `place[2]` and `place[3]`
    tell how many were, in how many baskets.

    Neither pairs nor triples are looked up a basket at a time, but together with those of the baskets that follow:
    so memory is asked for many of them at once, where most baskets are small.
    """
    used, (numbers, told, sizes), (let_go, least, n) = 0, dense, gate
    # On average a triple has missed half of what was let go.
    enough, missed = least / n, np.uint64(np.ceil(let_go / 2.0))
    held = len(pairs) // 2
    # Baskets whose pairs are looked up together, each in order; those of best sellers alone need none.
    group, ends = np.empty(GROUP + largest, np.int32), np.empty(GROUP + 1, np.int64)
    paired = np.empty(GROUP, np.bool_)
    width = GROUP + largest * (largest - 1) // 2
    homes, close = np.empty(width, np.uint64), np.ones(width)
    # Of a basket: the numbers of its best sellers, and the places of other products.
    sellers, seller = np.empty(largest, np.int64), np.empty(largest, np.bool_)
    steps, roots = np.empty(largest, np.uint64), np.empty(largest)
    # Of one product of it: the products behind it that it was met with often enough, how close, and those among them
    # that are no best sellers.
    partners, others, behind = np.empty(largest, np.int64), np.empty(largest, np.int64), np.empty(largest, np.int64)
    block = GROUP + largest * largest // 2
    keys, hashed = np.empty(block, np.uint64), np.empty(block, np.uint64)
    # Numbers of one type, or what counts them would be compiled once more for a 0 that is known.
    doubt_keys, doubts, met, doubtful = np.empty(block, np.uint64), np.empty(block, np.uint64), np.int64(0), np.int64(0)
    while place[0] < len(offsets) - 1:
        taken, pairs_taken, ends[0] = 0, 0, 0
        while place[0] + taken < len(offsets) - 1 and pairs_taken < GROUP and ends[taken] < GROUP and taken < GROUP:
            basket = items[offsets[place[0] + taken] : offsets[place[0] + taken + 1]]
            size, begin = len(basket), ends[taken]
            ends[taken + 1] = begin + size
            for i in range(size):
                put_in_order(group, begin, begin + i, basket[i])
            taken += 1
            rest = size
            for i in range(begin, begin + size):
                rest -= group[i] < len(numbers) and numbers[group[i]] >= 0
            paired[taken - 1] = size > 2 and rest > 0
            if let_go and paired[taken - 1]:
                for i in range(begin, begin + size):
                    for j in range(i + 1, begin + size):
                        homes[pairs_taken] = home(held, pack(group[i], group[j]))
                        prefetch(pairs, homes[pairs_taken])
                        pairs_taken += 1
        if let_go:
            at = 0
            for b in range(taken):
                basket = group[ends[b] : ends[b + 1]]
                if paired[b]:
                    for i in range(len(basket)):
                        roots[i] = 1.0 / np.sqrt(np.float64(counts[basket[i]]))
                    at = look_together(basket, roots, pairs, let_go, least, homes, close, at)
        at = 0
        for b in range(taken):
            basket = group[ends[b] : ends[b + 1]]
            size, some, rest = len(basket), 0, 0
            # Where nothing was let go, all are as close as can be.
            near = at if let_go else 0
            at += size * (size - 1) // 2 * paired[b]
            possible = size * (size - 1) * (size - 2) // 6
            if whole and used + met + doubtful + possible > free:
                used += count_noted(keys, hashed, met, doubt_keys, doubts, doubtful, table, marks, missed)
                met = doubtful = np.int64(0)
                if used + possible > free:
                    return int(used)
            for i in range(size):
                number = numbers[basket[i]] if basket[i] < len(numbers) else -1
                seller[i] = number >= 0
                sellers[some] = number
                some, rest = some + seller[i], rest + (not seller[i])
                steps[i] = np.uint64(basket[i]) * STEP
            for i in range(place[1], size - 2 if rest else 0):
                possible = (size - 1 - i) * (size - 2 - i) // 2
                if met + doubtful >= GROUP or used + met + doubtful + possible > free:
                    used += count_noted(keys, hashed, met, doubt_keys, doubts, doubtful, table, marks, missed)
                    met = doubtful = np.int64(0)
                    if used + possible > free:
                        place[1] = i
                        return int(used)
                row = near + i * (2 * size - i - 1) // 2 - i - 1
                n_partners = n_others = 0
                for j in range(i + 1, size):
                    partners[n_partners] = others[n_others] = j
                    behind[n_partners] = n_others + (not seller[j])
                    known = not np.isnan(close[row + j])
                    n_partners, n_others = n_partners + known, n_others + (known and not seller[j])
                for p in range(n_partners - 1):
                    j = partners[p]
                    two = (np.uint64(basket[i]) << TRIPLE) | np.uint64(basket[j])
                    begin, two = spread(two, np.uint64(0)), two << TRIPLE
                    row_j, close_ij = near + j * (2 * size - j - 1) // 2 - j - 1, close[row + j]
                    # What is met is written down in any case and kept or not: a branch would be guessed wrong too
                    # often. Neither is so of what is no number. With two best sellers only others are met here.
                    two_sellers = seller[i] and seller[j]
                    begun, end = (behind[p], n_others) if two_sellers else (p + 1, n_partners)
                    for x in range(begun, end):
                        k = others[x] if two_sellers else partners[x]
                        promise = close_ij * close[row + k] * close[row_j + k]
                        hashed[met] = doubts[doubtful] = begin + steps[k]
                        keys[met] = doubt_keys[doubtful] = two | np.uint64(basket[k])
                        met += promise >= enough
                        doubtful += promise < enough
            if some > 2:
                for i in range(some):
                    put_in_order(told, place[2], place[2] + i, sellers[i])
                sizes[place[3]] = some
                place[2], place[3] = place[2] + some, place[3] + 1
            place[0], place[1] = place[0] + 1, 0
    return int(used + count_noted(keys, hashed, met, doubt_keys, doubts, doubtful, table, marks, missed))


@njit(nogil=True, cache=True, error_model="numpy")
def count_noted(
    keys: Words, hashed: Words, met: int, doubt_keys: Words, doubts: Words, doubtful: int, table: Words, marks: Words,
    missed: np.uint64,
) -> int:  # fmt: skip
    """Count triples that may come in (`met` keys and their hashes), and of those that may not the ones that are there;
    how many came in. There is room behind the former for the latter."""
    slots, used, sure = len(table) // 2, 0, met
    for m in range(doubtful):
        prefetch(marks, word_of(marks, doubts[m]))
    for m in range(doubtful):
        hashed[met], keys[met] = doubts[m], doubt_keys[m]
        met += check_mark(marks, doubts[m], False)
    for begin in range(0, met, AT_ONCE):
        end, left, promised = min(begin + AT_ONCE, met), 0, 0
        for m in range(begin, end):
            prefetch(table, home_of(slots, hashed[m]))
        for m in range(begin, end):
            key, slot = keys[m], home_of(slots, hashed[m])
            second, third, fourth = slot + TWO, slot + np.uint64(4), slot + np.uint64(6)
            nth = (table[second] == key) + 2 * (table[third] == key) + 3 * (table[fourth] == key)
            at = slot + np.uint64(2 * nth)
            if table[at] == key:
                table[at + ONE] += ONE
                continue
            # Slots are taken in turn: where the last of the four is free, the search ends in them. Else it goes on
            # in the next line, which is fetched from memory while others are looked at.
            if table[fourth] != EMPTY:
                slot = fourth + TWO
                if slot == np.uint64(len(table)):
                    slot = np.uint64(0)
                prefetch(table, slot)
            doubt_keys[left], hashed[begin + left], doubts[left] = key, hashed[m], slot
            left += 1
            promised += m < sure
        for m in range(left):
            slot = locate(table, doubts[m], doubt_keys[m])
            if table[slot] == EMPTY:
                if m >= promised:
                    continue
                table[slot] = doubt_keys[m]
                table[slot + ONE] = missed << MISSED
                check_mark(marks, hashed[begin + m], True)
                used += 1
            table[slot + ONE] += ONE
    return used


@njit(nogil=True, cache=True, error_model="numpy")
def list_dense(tally: NDArray[np.uint32], rows: Rows, least: int, keys: Words, counts: Words) -> None:
    """Write the packed triples of best sellers that were counted so many times or more, and their counts."""
    n, place = 0, 0
    for c in range(len(rows)):
        for b in range(c):
            for a in range(b):
                if tally[place] >= least:
                    low, high = min(rows[a], rows[b], rows[c]), max(rows[a], rows[b], rows[c])
                    keys[n] = pack_triple(low, rows[a] + rows[b] + rows[c] - low - high, high)
                    counts[n] = tally[place]
                    n += 1
                place += 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_ranks(keys: Words, rank: Longs, met: Longs) -> None:
    """How many packed triples there are whose highest rank of a product is 0, 1 and so on."""
    for key in keys:
        a, b, c = key >> np.uint64(42), (key >> TRIPLE) & LAST, key & LAST
        if max(a, b, c) < np.uint64(len(rank)):
            met[max(rank[a], rank[b], rank[c])] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def part_triples(keys: Words, values: Words, dense: Places, table: Words, marks: Words) -> int:
    """Put distinct triples with their values where they belong: those of best sellers to their places, others into a
    table that has room for them; how many these are."""
    (numbers, tally), kept, most = dense, 0, np.uint64(len(dense[0]))
    for i in range(len(keys)):
        a, b, c = keys[i] >> np.uint64(42), (keys[i] >> TRIPLE) & LAST, keys[i] & LAST
        if max(a, b, c) < most and min(numbers[a], numbers[b], numbers[c]) >= 0:
            x, y, z = np.int64(numbers[a]), np.int64(numbers[b]), np.int64(numbers[c])
            low, high = min(x, y, z), max(x, y, z)
            middle = x + y + z - low - high
            place = high * (high - 1) * (high - 2) // 6 + middle * (middle - 1) // 2 + low
            if low < middle < high:
                tally[place] += np.uint32(values[i] & COUNT)
        else:
            put_triple(keys[i], values[i], table, marks)
            kept += 1
    return kept


@njit(nogil=True, cache=True, error_model="numpy")
def move_triples(table: Words, other: Words, marks: Words) -> None:
    """Move all triples to an empty table.

    Both tables are in the order of the hashes, so neither is read or written here and there.
    """
    for slot in range(0, len(table), 2):
        if table[slot] != EMPTY:
            put_triple(table[slot], table[slot + 1], other, marks)


@njit(nogil=True, cache=True, error_model="numpy")
def drop_triples(
    table: Words,
    bound: float,
    most: np.uint64,
    times: float,
    pairs: Words,
    counts: Longs,
    n: int,
    near: Near,
    marks: Words,
) -> int:
    """Let the triples go that are worth `bound` at most (`find_worth`), and mark the others anew; how many those are.

    From behind a free slot on: one that is let go leaves its slot to those after it, which are taken out and put back
    up to the next free slot, so none ever comes to stand further from where its search begins.
    """
    kept, begin, passed, last, gap = 0, 0, 0, -2, False
    slots, worth = np.empty(AT_ONCE, np.int64), np.empty(AT_ONCE)
    marks[:] = 0
    while table[begin] != EMPTY:
        begin += 2
    while passed < len(table):
        some = 0
        while passed < len(table) and some < AT_ONCE:
            # A remainder would take a division a slot.
            slot = begin + passed
            slots[some] = slot if slot < len(table) else slot - len(table)
            some += table[slots[some]] != EMPTY
            passed += 2
        find_worth(table, slots[:some], times, most, pairs, counts, n, near, worth)
        for i in range(some):
            slot, key, value = slots[i], table[slots[i]], table[slots[i] + 1]
            gap &= slot in (last + 2, 0)
            last, stays = slot, worth[i] > bound
            kept += stays
            if stays and not gap:
                check_mark(marks, hash_of(key), True)
                continue
            gap = True
            table[slot], table[slot + 1] = EMPTY, 0
            if stays:
                put_triple(key, value, table, marks)
    return kept


@njit(**HELPER)
def hash_of(key):  # type: ignore[no-untyped-def]
    """The hash of a packed triple."""
    return spread(key >> TRIPLE, (key & LAST) * STEP)


@njit(**HELPER)
def put_triple(key, value, table, marks):  # type: ignore[no-untyped-def]
    """Put a triple that is not there yet into a table with room for it."""
    hashed = hash_of(key)
    slot = locate(table, home_of(len(table) // 2, hashed), key)
    table[slot], table[slot + ONE] = key, value
    check_mark(marks, hashed, True)


@njit(nogil=True, cache=True, error_model="numpy")
def insert_triples(keys: Words, values: Words, table: Words, marks: Words) -> None:
    """Put distinct triples with their values into a table that has room for them."""
    for i in range(len(keys)):
        put_triple(keys[i], values[i], table, marks)


@njit(nogil=True, cache=True, error_model="numpy")
def look_up_triples(sets: Rows, table: Words, values: Words) -> None:
    """What the table holds of each triple (a line of three rows, the lowest first), 0 where it is not there."""
    slots = len(table) // 2
    for i in range(len(sets)):
        key = pack_triple(sets[i, 0], sets[i, 1], sets[i, 2])
        slot = locate(table, home_of(slots, hash_of(key)), key)
        values[i] = np.uint64(0) if table[slot] == EMPTY else table[slot + ONE]
