# mypy: allow-untyped-defs, allow-untyped-decorators
"""Kernels of tables of sets: the sets of a tree in order, an index from a set to its place, and the splits of a set.

What they are for is told by `itemsets.py` and `splits.py`. A set is looked up by its hash, the exclusive or of the keys
of its products: that of a part follows from that of the whole.
"""

from __future__ import annotations

import numpy as np
from numba import njit

DEEP = 256
"""Products of a set, at most: one more than a search tells."""


@njit(nogil=True, cache=True, error_model="numpy")
def unfold(parent, item, nodes, names, out):
    """The products of each set, by their names (numbers) in rising order: a line a set, all of one length."""
    size = out.shape[1]
    for n in range(len(nodes)):
        at = nodes[n]
        for s in range(size):
            name = names[item[at]]
            at = parent[at]
            j = s - 1
            while j >= 0 and out[n, j] > name:
                out[n, j + 1] = out[n, j]
                j -= 1
            out[n, j + 1] = name


@njit(nogil=True, cache=True, error_model="numpy")
def pack(sets, bits, out):
    """Sets as words that sort as the sets do, so many bits a product."""
    each = 64 // bits
    for n in range(sets.shape[0]):
        for w in range(out.shape[0]):
            word = np.uint64(0)
            for s in range(w * each, min((w + 1) * each, sets.shape[1])):
                word |= np.uint64(sets[n, s]) << np.uint64(64 - bits * (s - w * each + 1))
            out[w, n] = word


@njit(nogil=True, cache=True, error_model="numpy")
def build_index(hashes, slots):
    """A table from hashes to places, slots −1 before; False where two are the same."""
    mask = len(slots) - 1
    for n in range(len(hashes)):
        at = np.int64(hashes[n] >> np.uint64(20)) & mask
        while slots[at] >= 0:
            if hashes[slots[at]] == hashes[n]:
                return False
            at = (at + 1) & mask
        slots[at] = n
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def look_up(hashes, slots, key):
    """The place of a hash, −1 where it is not there."""
    mask = len(slots) - 1
    at = np.int64(key >> np.uint64(20)) & mask
    while slots[at] >= 0:
        if hashes[slots[at]] == key:
            return slots[at]
        at = (at + 1) & mask
    return -1


@njit(nogil=True, cache=True, error_model="numpy")
def hash_sets(offsets, items, keys, out):
    """The hash of each set: the exclusive or of the keys of its products."""
    for n in range(len(offsets) - 1):
        word = np.uint64(0)
        for p in range(offsets[n], offsets[n + 1]):
            word ^= keys[items[p]]
        out[n] = word


@njit(nogil=True, cache=True, error_model="numpy")
def split(first, after, sets, index, confidence, sides, chosen, needed, places, missing):
    """The splits of sets `first` up to `after` into two sides: the places of the whole and of both sides.

    `sides` bounds the products of each: least and most antecedents, least and most consequents; `chosen` has 1 for a
    product that must be an antecedent, 2 for a consequent, `needed` of them in all, and 3 for one that may be neither.
    Consequents grow one by one, and a branch ends where the confidence falls below its floor: with more it only falls.
    Returns (the set at which room ran out or `after`, splits written).
    """
    offsets, items, support = sets
    hashes, keys, slots = index
    whole, left, right = places
    stack, words = np.empty(DEEP, np.int64), np.empty(DEEP + 1, np.uint64)
    written = 0
    for n in range(first, after):
        begin, size = offsets[n], offsets[n + 1] - offsets[n]
        begun = written
        if needed:
            there = 0
            for p in range(begin, begin + size):
                there += chosen[items[p]] == 1 or chosen[items[p]] == 2
            if there < needed:
                continue
        d, i = 0, 0
        words[0] = np.uint64(0)
        while True:
            if i < size and d < sides[3] and d < size - sides[0]:
                code = chosen[items[begin + i]]
                if code == 1 or code == 3:
                    i += 1
                    continue
                stack[d] = i
                words[d + 1] = words[d] ^ keys[items[begin + i]]
                rest = look_up(hashes, slots, hashes[n] ^ words[d + 1])
                if rest < 0:
                    missing[0] = n
                    return n, begun
                if support[n] < confidence * support[rest]:
                    i += 1
                    continue
                d += 1
                if d >= sides[2] and size - d <= sides[1] and fits(stack, d, begin, size, items, chosen):
                    if written == len(whole):
                        return n, begun
                    other = look_up(hashes, slots, words[d])
                    if other < 0:
                        missing[0] = n
                        return n, begun
                    whole[written], left[written], right[written] = n, rest, other
                    written += 1
                i += 1
                continue
            if d == 0:
                break
            d -= 1
            i = stack[d] + 1
    return after, written


@njit(nogil=True, cache=True, error_model="numpy")
def fits(stack, d, begin, size, items, chosen):
    """Whether the products that are no consequents may all be antecedents."""
    c = 0
    for s in range(size):
        if c < d and stack[c] == s:
            c += 1
        elif chosen[items[begin + s]] in (2, 3):
            return False
    return True
