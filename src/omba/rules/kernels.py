# mypy: allow-untyped-defs, allow-untyped-decorators
"""Kernels of the read-out: codes grouped into buckets, pairs filtered by popcount, cosines, posting lists.

Arithmetic on arrays and nothing else; what they are for is told by `lsh.py` and `counts.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

LONG_WORDS = 16
"""Words of a long sketch."""
FASTMATH = {"reassoc", "contract", "arcp", "nsz", "afn"}


@intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """Ones in a 64-bit word: the machine's own instruction."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@njit(nogil=True, cache=True, error_model="numpy")
def pack_signs(projections, words):
    """Bit j of a word is 1 where projection j is not negative."""
    for i in range(projections.shape[0]):
        word = np.uint64(0)
        for j in range(projections.shape[1]):
            word |= np.uint64(projections[i, j] >= 0) << np.uint64(j)
        words[i] = word


@njit(nogil=True, cache=True, error_model="numpy")
def group(words, shift, bits, sketches, starts, order, ordered):
    """Counting sort of products by `bits` bits of their words: bucket b is order[starts[b]:starts[b + 1]].

    `ordered` gets the sketches in the same order.
    """
    mask = np.uint64((1 << bits) - 1)
    starts[:] = 0
    for i in range(len(words)):
        starts[((words[i] >> np.uint64(shift)) & mask) + np.uint64(1)] += 1
    for b in range(len(starts) - 1):
        starts[b + 1] += starts[b]
    for i in range(len(words) - 1, -1, -1):
        bucket = ((words[i] >> np.uint64(shift)) & mask) + np.uint64(1)
        starts[bucket] -= 1
        order[starts[bucket]] = i
        for w in range(sketches.shape[1]):
            ordered[starts[bucket], w] = sketches[i, w]
    # each bucket's end has become its start, so the whole array stands one place too far right
    for b in range(len(starts) - 1):
        starts[b] = starts[b + 1]
    starts[len(starts) - 1] = len(words)


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH, forceinline=True)
def dot(x, y):
    total = np.float32(0)
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def differ_little(sketches, i, j, limits):
    """Whether two sketches differ in few bits, by the limits for half a sketch and a whole one.

    Half a short one is compared first, and most pairs end there. A long one is made where that would tell nothing: all
    of it is compared at once, by whole registers.
    """
    apart = np.uint64(0)
    if sketches.shape[1] == LONG_WORDS:
        for word in range(LONG_WORDS):
            apart += popcount(sketches[i, word] ^ sketches[j, word])
        return apart <= limits[1]
    apart = popcount(sketches[i, 0] ^ sketches[j, 0]) + popcount(sketches[i, 1] ^ sketches[j, 1])
    if apart > limits[0]:
        return False
    apart += popcount(sketches[i, 2] ^ sketches[j, 2]) + popcount(sketches[i, 3] ^ sketches[j, 3])
    return apart <= limits[1]


@njit(nogil=True, cache=True, error_model="numpy")
def scan_buckets(starts, order, sketches, limits, vectors, scales, floor, place, left, right, cosine):
    """Pairs that share a bucket, whose sketches differ in few bits and whose cosine is above `floor`.

    `sketches` stand in bucket order. `place` is the (bucket, position) to go on from, so that a full buffer can be
    emptied in between. Returns the pairs found.
    """
    found, bucket, i = 0, place[0], place[1]
    while bucket < len(starts) - 1:
        i, end = max(i, starts[bucket]), starts[bucket + 1]
        while i < end - 1:
            if found + end - i > len(left):
                place[0], place[1] = bucket, i
                return found
            a = order[i]
            # an unsigned index spares the check for a negative one: a third of the time of this loop
            for j in range(np.uint64(i + 1), np.uint64(end)):
                if differ_little(sketches, i, j, limits):
                    b = order[j]
                    c = dot(vectors[a], vectors[b]) * scales[a] * scales[b]
                    if c > floor:
                        left[found], right[found], cosine[found] = min(a, b), max(a, b), c
                        found += 1
            i += 1
        bucket += 1
    place[0] = bucket
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def find_scales(rows, vectors, scales):
    """One over the lengths of some vectors, where `scales` are still 0, as they stay for a vector of no length."""
    for row in rows:
        if scales[row] == 0:
            square = dot(vectors[row], vectors[row])
            if square > 0:
                scales[row] = np.float32(1.0) / np.sqrt(square)


@njit(nogil=True, cache=True, error_model="numpy")
def pair_cosines(left, right, vectors, scales, cosine):
    """The cosine of each given pair, those with near right rows one after another: vectors stay in the cache."""
    starts, order = np.zeros((len(vectors) >> 12) + 2, np.int64), np.empty(len(left), np.int64)
    for k in range(len(left)):
        starts[(right[k] >> 12) + 1] += 1
    for tile in range(len(starts) - 1):
        starts[tile + 1] += starts[tile]
    for k in range(len(left)):
        tile = right[k] >> 12
        order[starts[tile]] = k
        starts[tile] += 1
    for place in order:
        a, b = left[place], right[place]
        cosine[place] = dot(vectors[a], vectors[b]) * scales[a] * scales[b]


@njit(nogil=True, cache=True, error_model="numpy")
def scan_collisions(words, F, H, ties, vectors, scales, floor, place, left, right, score):
    """Pairs by the tables in which they share a bucket: H codes of F bits, side by side in one word.

    Equal codes leave zeros in the XOR of two words. The score is the collisions, plus (1 + cosine) / 4 where `ties`
    are broken by cosine; only scores above `floor` are kept. Rows place[0] to place[1] are left to look at.
    """
    lowest = np.uint64(0)
    for table in range(H):
        lowest |= np.uint64(1) << np.uint64(table * F)
    found = 0
    for i in range(place[0], place[1]):
        if found + len(words) - i > len(left):
            place[0] = i
            return found
        for j in range(np.uint64(i + 1), np.uint64(len(words))):
            apart = words[i] ^ words[j]
            folded = apart
            for k in range(1, F):
                folded |= apart >> np.uint64(k)
            collisions = float(H) - float(popcount(folded & lowest))
            if collisions + 0.5 > floor:
                if ties:
                    collisions += 0.25 * (1.0 + dot(vectors[i], vectors[j]) * scales[i] * scales[j])
                if collisions > floor:
                    left[found], right[found], score[found] = i, j, collisions
                    found += 1
    place[0] = place[1]
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def shared_buckets(places, vectors, normals, first, table, sides, counts):
    """In how many tables all products of each line share a bucket, from a table on.

    `normals` are planes by their place in a table and by table, and `first` what the vectors are along the first planes
    of some tables. Most lines differ there already, and no further side of theirs is worked out; `sides` has room for
    those of one table.
    """
    tables = first.shape[2]
    for h in range(tables):
        sides[:] = -1
        for line in range(len(places)):
            same, f = True, 0
            while same and f < len(normals):
                met = np.int8(-1)
                for item in places[line]:
                    if f < first.shape[1]:
                        side = np.int8(first[item, f, h] >= 0)
                    else:
                        side = sides[item, f]
                        if side < 0:
                            side = np.int8(dot(vectors[item], normals[f, table + h]) >= 0)
                            sides[item, f] = side
                    if met < 0:
                        met = side
                    elif side != met:
                        same = False
                        break
                f += 1
            counts[line] += same


@njit(nogil=True, cache=True, error_model="numpy")
def transpose(offsets, items, starts, postings):
    """Rows of items turned into columns: the rows that hold item p, ascending, are postings[starts[p]:starts[p + 1]].

    Items below 0 are passed over.
    """
    starts[:] = 0
    for k in range(offsets[0], offsets[-1]):
        if items[k] >= 0:
            starts[items[k] + 1] += 1
    for p in range(len(starts) - 1):
        starts[p + 1] += starts[p]
    for row in range(len(offsets) - 1):
        for k in range(offsets[row], offsets[row + 1]):
            if items[k] >= 0:
                postings[starts[items[k]]] = row
                starts[items[k]] += 1
    for p in range(len(starts) - 1, 0, -1):
        starts[p] = starts[p - 1]
    starts[0] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def meetings(starts, postings, offsets, items, out):
    """How often each product meets one of a higher row: no product has more partners above it than this."""
    for p in range(len(starts) - 1):
        total = 0
        for k in range(starts[p], starts[p + 1]):
            j = offsets[postings[k] + 1] - 1
            while items[j] > p:
                total += 1
                j -= 1
        out[p] = total


@njit(nogil=True, cache=True, error_model="numpy")
def count_pairs(first, after, starts, postings, offsets, items, least, tally, met, left, right, count):
    """Pairs (p, q) with p < q that share `least` baskets or more, for p from `first` to before `after`.

    `tally` is all zeros, and is left so. Returns how many pairs were written.
    """
    found = 0
    for p in range(first, after):
        partners = 0
        for k in range(starts[p], starts[p + 1]):
            j = offsets[postings[k] + 1] - 1
            while items[j] > p:
                q = items[j]
                if tally[q] == 0:
                    met[partners] = q
                    partners += 1
                tally[q] += 1
                j -= 1
        for k in range(partners):
            q = met[k]
            if tally[q] >= least:
                left[found], right[found], count[found] = p, q, tally[q]
                found += 1
            tally[q] = 0
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def count_itemsets(itemsets, starts, postings, places, out):
    """Baskets that hold all products of each itemset: the shortest posting list, looked up in the others."""
    for i in range(len(itemsets)):
        width = itemsets.shape[1]
        shortest = itemsets[i, 0]
        for k in range(width):
            p = itemsets[i, k]
            places[k] = starts[p]
            if starts[p + 1] - starts[p] < starts[shortest + 1] - starts[shortest]:
                shortest = p
        total = 0
        for at in range(starts[shortest], starts[shortest + 1]):
            basket, held = postings[at], 0
            for k in range(width):
                end = starts[itemsets[i, k] + 1]
                # gallop ahead from where the last basket was found, then halve
                low, step = places[k], 1
                while low + step < end and postings[low + step] < basket:
                    low += step
                    step *= 2
                high = min(low + step, end)
                while low < high:
                    middle = (low + high) // 2
                    if postings[middle] < basket:
                        low = middle + 1
                    else:
                        high = middle
                places[k] = low
                if low == end or postings[low] != basket:
                    break
                held += 1
            total += held == width
        out[i] = total


@njit(nogil=True, cache=True, error_model="numpy")
def best_of_rows(scores, best, score):
    """The columns of the highest scores of each row, highest first: a short sorted list, pushed into from below."""
    n = best.shape[1]
    for i in range(scores.shape[0]):
        score[i, :] = -3.0
        best[i, :] = -1
        for j in range(scores.shape[1]):
            s = scores[i, j]
            if s > score[i, n - 1]:
                k = n - 1
                while k > 0 and score[i, k - 1] < s:
                    score[i, k], best[i, k] = score[i, k - 1], best[i, k - 1]
                    k -= 1
                score[i, k], best[i, k] = s, j


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def closeness(cosine, out):
    """How strongly each row holds on to its neighbours (nearest first): 1 to the nearest, log2(n) in all.

    The weight falls as exp(−(d − d_nearest) / width) with distance d = 1 − cosine; the width is found by halving.
    """
    n = cosine.shape[1]
    wanted = np.log2(np.float64(n))
    for i in range(cosine.shape[0]):
        low, high, width = 0.0, 8.0, 0.1
        for _ in range(40):
            total = 0.0
            for j in range(n):
                total += np.exp(-(cosine[i, 0] - cosine[i, j]) / width)
            if total > wanted:
                high = width
            else:
                low = width
            width = 0.5 * (low + high)
        for j in range(n):
            out[i, j] = np.exp(-(cosine[i, 0] - cosine[i, j]) / max(width, 1e-4))


@njit(nogil=True, cache=True, error_model="numpy")
def draw(state):
    """The next number of xorshift64*, 32 bits of it."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.int64((x * np.uint64(2685821657736338717)) >> np.uint64(32))


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FASTMATH)
def settle(places, left, right, every, due, passes, rate, a, b, negatives, state):
    """Passes of a layout: neighbours pull each other nearer, and push away points drawn at random.

    Edge k acts in every `every[k]`-th pass and is next due at `due[k]`; a step is at most 4 long, and the rate falls to
    nothing with the passes.
    """
    n = len(places)
    for step in range(passes):
        alpha = rate * (1.0 - step / passes)
        for k in range(len(left)):
            if due[k] > step:
                continue
            due[k] += every[k]
            i, j = left[k], right[k]
            x, y = places[i, 0], places[i, 1]
            dx, dy = x - places[j, 0], y - places[j, 1]
            apart, along, across = dx * dx + dy * dy, 0.0, 0.0
            if apart > 0.0:
                pull = -2.0 * a * b * apart ** (b - 1.0) / (a * apart**b + 1.0)
                along, across = alpha * min(4.0, max(-4.0, pull * dx)), alpha * min(4.0, max(-4.0, pull * dy))
                places[j, 0] -= along
                places[j, 1] -= across
            # All from the place where the point was: none has to wait for the one before.
            for _ in range(negatives):
                other = (draw(state) * n) >> 32
                dx, dy = x - places[other, 0], y - places[other, 1]
                apart = dx * dx + dy * dy
                push = 2.0 * b / ((0.001 + apart) * (a * apart**b + 1.0))
                along += alpha * min(4.0, max(-4.0, push * dx))
                across += alpha * min(4.0, max(-4.0, push * dy))
            places[i, 0], places[i, 1] = x + along, y + across


@njit(nogil=True, cache=True, error_model="numpy")
def count_triangles(starts, ends, mark):
    """Triples of nodes of which every two are joined; the neighbours of node v are `ends[starts[v]:starts[v + 1]]`.

    Every edge is there once, from either of its ends, and never in a circle. `mark` is −1 for each node.
    """
    found = 0
    for u in range(len(starts) - 1):
        for e in range(starts[u], starts[u + 1]):
            mark[ends[e]] = u
        for e in range(starts[u], starts[u + 1]):
            v = ends[e]
            for f in range(starts[v], starts[v + 1]):
                found += mark[ends[f]] == u
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def count_dense_triangles(left, right, joined):
    """The same of few nodes with many edges, each given once by its ends: 64 nodes at a time in the words of `joined`.

    A node's word list is of its neighbours of lower number, and all bits are 0.
    """
    for e in range(len(left)):
        a, b = min(left[e], right[e]), max(left[e], right[e])
        joined[b, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
    found = np.uint64(0)
    for e in range(len(left)):
        a, b = min(left[e], right[e]), max(left[e], right[e])
        for w in range((a >> 6) + 1):
            found += popcount(joined[a, w] & joined[b, w])
    return found


@njit(inline="always")
def enlist(key, slots, out, n):
    """Write a key to the list of n, unless it is there; how many there are then. The slots are a power of two."""
    place = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    while True:
        place &= np.uint64(len(slots) - 1)
        if slots[place] == key:
            return n
        if slots[place] < 0:
            slots[place] = out[n] = key
            return n + 1
        place += np.uint64(1)


@njit(nogil=True, cache=True, error_model="numpy")
def list_pairs(keys, offsets, rows, slots, out):
    """Write each key once, and each pair of the baskets' rows packed as one, the lower first; rows below 0 are none.

    Slots are free where they are negative, and at least one is to stay so. Returns how many were written.
    """
    n = 0
    for key in keys:
        n = enlist(key, slots, out, n)
    for b in range(len(offsets) - 1):
        for i in range(offsets[b], offsets[b + 1]):
            for j in range(i + 1, offsets[b + 1]):
                low, high = min(rows[i], rows[j]), max(rows[i], rows[j])
                if low >= 0 and low != high:
                    n = enlist((np.int64(low) << 32) | np.int64(high), slots, out, n)
    return n
