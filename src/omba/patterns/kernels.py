# mypy: allow-untyped-defs, allow-untyped-decorators
"""Kernels of the exact miner: baskets projected on a product, and intersections of bitsets.

Arithmetic on arrays and nothing else; what they are for is told by `miner.py`. A product is its rank here, the most
frequent first. `columns` are the baskets both ways: from each product to its baskets (`starts`, `rows`), and from each
basket to its products (`offsets`, `items`). `limits` are the least count, the longest set, the kind, and what a word
costs. Sets are written to `out` as a tree: each has a parent (its place among those written, −1 for none), the one
product that it adds, its count and its length. A count below zero stands for a set that only leads to others. The last
of `out`, the state, holds how many sets are written, and whether room ran out; `stop` is set by another thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

WRITTEN, FULL = 0, 1
FREQUENT, CLOSED, MAXIMAL = 0, 1, 2
DEEP = 256
"""Levels of a search by bitsets, at most: a basket in the data may hold more products, a set of them is not told."""
WORD_COST = 0.3
"""The time to intersect a word of a bitset, where to pass a pair of products of one basket takes 1."""


@intrinsic
def ones(typing: Any, word: Any) -> Any:
    """Ones in a 64-bit word: the machine's own instruction."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), build


@njit(nogil=True, cache=True, error_model="numpy")
def transpose(offsets, columns, starts, rows):
    """For each column (below 0: passed over) the rows that hold it, in rising order."""
    starts[:] = 0
    for p in range(len(columns)):
        if columns[p] >= 0:
            starts[columns[p] + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    place = starts[:-1].copy()
    for row in range(len(offsets) - 1):
        for p in range(offsets[row], offsets[row + 1]):
            c = columns[p]
            if c >= 0:
                rows[place[c]] = row
                place[c] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def ones_of_dense(values, offsets, columns):
    """The columns that are true in each row of a table of bytes; `columns` has room for all of them."""
    found = 0
    for row in range(values.shape[0]):
        for c in range(values.shape[1]):
            if values[row, c]:
                columns[found] = c
                found += 1
        offsets[row + 1] = found


@njit(nogil=True, cache=True, error_model="numpy")
def intersect(words, a, b, out, width):
    """Write the intersection of two bitsets, and count its ones."""
    total = np.uint64(0)
    for w in range(np.uint64(width)):
        both = words[np.uint64(a) + w] & words[np.uint64(b) + w]
        words[np.uint64(out) + w] = both
        total += ones(both)
    return np.int64(total)


@njit(nogil=True, cache=True, error_model="numpy")
def count_both(words, a, others, b, width):
    """Ones in the intersection of two bitsets."""
    total = np.uint64(0)
    for w in range(np.uint64(width)):
        total += ones(words[np.uint64(a) + w] & others[np.uint64(b) + w])
    return np.int64(total)


@njit(nogil=True, cache=True, error_model="numpy")
def is_inside(words, a, others, b, width):
    """Whether one bitset holds another."""
    for w in range(np.uint64(width)):  # noqa: SIM110 - a generator is no loop to the compiler
        if words[np.uint64(a) + w] & ~others[np.uint64(b) + w]:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def write(out, of, product, baskets, size):
    """Write a set; where there is no room, only say so."""
    parent, item, count, length, state = out
    at = state[WRITTEN]
    if at >= len(parent):
        state[FULL] = 1
        return
    parent[at], item[at], count[at], length[at] = of, product, baskets, size
    state[WRITTEN] = at + 1


@njit(nogil=True, cache=True, error_model="numpy")
def write_all(out, of, product, baskets, size, sure, n_sure, longest):
    """Write a set, and it together with every choice of the products that are in all its baskets."""
    length, state = out[3], out[4]
    first = state[WRITTEN]
    write(out, of, product, baskets, size)
    for s in range(n_sure):
        after = state[WRITTEN]
        for at in range(first, after):
            if length[at] < longest:
                write(out, at, sure[s], baskets, length[at] + 1)
        if state[FULL]:
            return


@njit(nogil=True, cache=True, error_model="numpy")
def sort_class(members, counts, places, begin, end):
    """Sort the members of a class by their counts, the rarest first."""
    for i in range(begin + 1, end):
        m, c, p = members[i], counts[i], places[i]
        j = i - 1
        while j >= begin and counts[j] > c:
            members[j + 1], counts[j + 1], places[j + 1] = members[j], counts[j], places[j]
            j -= 1
        members[j + 1], counts[j + 1], places[j + 1] = m, c, p


@njit(nogil=True, cache=True, error_model="numpy")
def larger(array, room):
    """The array with more room."""
    new = np.empty(max(room, 2 * len(array)), array.dtype)
    new[: len(array)] = array
    return new


@njit(nogil=True, cache=True, error_model="numpy")
def search_frequent(words, width, ids, counts, of, size, baskets, limits, out, stop):
    """All frequent sets that add products to one set (written already), by intersecting bitsets, depth first.

    `words` holds a bitset for each of the products `ids`, over the baskets of that set, `size` products in `baskets`.
    A product that is in all baskets of a set makes no class of its own: it goes with every set from there on.
    """
    least, longest, _, _ = limits
    length, state = out[3], out[4]
    k = len(ids)
    words = larger(words, (k + 8) * width)
    top = k * width
    members, totals, places = (
        np.empty(4 * k + 64, np.int32),
        np.empty(4 * k + 64, np.int64),
        np.empty(4 * k + 64, np.int64),
    )
    sure = np.empty(k + 1, np.int32)
    ends, cursors, nodes = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    tops, sures = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    end, n_sure = 0, 0
    for j in range(k):
        if counts[j] == baskets:
            sure[n_sure] = ids[j]
            n_sure += 1
        else:
            members[end], totals[end], places[end] = ids[j], counts[j], j * width
            end += 1
    first = state[WRITTEN]
    for s in range(n_sure):
        after = state[WRITTEN]
        if size < longest:
            write(out, of, sure[s], baskets, size + 1)
        for at in range(first, after):
            if length[at] < longest:
                write(out, at, sure[s], baskets, length[at] + 1)
        if state[FULL]:
            return
    sort_class(members, totals, places, 0, end)
    d = 0
    ends[0], cursors[0], nodes[0], tops[0], sures[0] = end, 0, of, top, n_sure
    while d >= 0:
        if state[FULL] or stop[0]:
            return
        i = cursors[d]
        if i == ends[d]:
            d -= 1
            continue
        cursors[d] = i + 1
        together, n_sure, top = totals[i], sures[d], tops[d]
        begin = end = ends[d]
        long = size + d + 1 >= longest or d + 1 == DEEP
        if not long:
            for j in range(i + 1, ends[d]):
                if top + width > len(words):
                    words = larger(words, top + width)
                both = intersect(words, places[i], places[j], top, width)
                if both == together:
                    sure[n_sure] = members[j]
                    n_sure += 1
                elif both >= least:
                    if end == len(members):
                        members, totals, places = larger(members, 0), larger(totals, 0), larger(places, 0)
                    members[end], totals[end], places[end] = members[j], both, top
                    end += 1
                    top += width
        here = state[WRITTEN]
        write_all(out, nodes[d], members[i], together, size + d + 1, sure, n_sure, longest)
        if end - begin == 1:
            write_all(out, here, members[begin], totals[begin], size + d + 2, sure, n_sure, longest)
        elif end > begin:
            sort_class(members, totals, places, begin, end)
            d += 1
            ends[d], cursors[d], nodes[d], tops[d], sures[d] = end, begin, here, top, n_sure


@njit(nogil=True, cache=True, error_model="numpy")
def search_closed(words, width, ids, counts, earlier, of, size, baskets, limits, out, stop):
    """The closed (or maximal) sets that hold a product, written already as one that only leads to others.

    The last `earlier` of `ids` were searched before: a set that lies in all baskets of one of them was found there, and
    everything beyond it too (as in DCI-Closed: C. Lucchese, S. Orlando and R. Perego, 2006).
    """
    least, longest, kind, _ = limits
    count, state, maximal = out[2], out[4], kind == MAXIMAL
    k = len(ids)
    sets, original = larger(words, (k + 8) * width), words
    top, own = k * width, k - earlier
    members, totals, places = (
        np.empty(4 * k + 64, np.int32),
        np.empty(4 * k + 64, np.int64),
        np.empty(4 * k + 64, np.int64),
    )
    before = np.empty(k + 1, np.int64)
    ends, cursors, nodes = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    tops, befores, sizes = np.empty(DEEP, np.int64), np.empty(DEEP, np.int64), np.empty(DEEP, np.int64)
    begins = np.empty(DEEP, np.int64)
    n_before, end, here, reach = 0, 0, of, size
    for j in range(own, k):
        if counts[j] == baskets:
            return
        before[n_before] = j * width
        n_before += 1
    for j in range(own):
        if counts[j] == baskets:
            reach += 1
            write(out, here, ids[j], -baskets, reach)
            here = state[WRITTEN] - 1
        else:
            members[end], totals[end], places[end] = j, counts[j], j * width
            end += 1
    if reach <= longest and (not maximal or (end == 0 and n_before == 0)) and not state[FULL]:
        count[here] = baskets
    if end == 0 or reach >= longest:
        return
    sort_class(members, totals, places, 0, end)
    d = 0
    begins[0], ends[0], cursors[0], nodes[0], tops[0], befores[0], sizes[0] = 0, end, 0, here, top, n_before, reach
    while d >= 0:
        if state[FULL] or stop[0]:
            return
        i = cursors[d]
        if i == ends[d]:
            d -= 1
            continue
        cursors[d] = i + 1
        if i > begins[d]:
            # What was searched last comes before from now on; its own search has used the places behind.
            before[befores[d]] = members[i - 1] * width
            befores[d] += 1
        together, n_before, top, reach = totals[i], befores[d], tops[d], sizes[d] + 1
        found = False
        for x in range(n_before):
            if is_inside(sets, places[i], original, before[x], width):
                found = True
                break
        if found:
            continue
        begin = end = ends[d]
        write(out, nodes[d], ids[members[i]], -together, reach)
        here = state[WRITTEN] - 1
        for j in range(i + 1, ends[d]):
            if top + width > len(sets):
                sets = larger(sets, top + width)
            both = intersect(sets, places[i], places[j], top, width)
            if both == together:
                reach += 1
                write(out, here, ids[members[j]], -together, reach)
                here = state[WRITTEN] - 1
            elif both >= least:
                if end == len(members):
                    members, totals, places = larger(members, 0), larger(totals, 0), larger(places, 0)
                members[end], totals[end], places[end] = members[j], both, top
                end += 1
                top += width
        if reach > longest or state[FULL]:
            continue
        told = True
        if maximal:
            told = end == begin
            x = 0
            while told and x < n_before:
                told = count_both(sets, places[i], original, before[x], width) < least
                x += 1
        if told:
            count[here] = together
        if end > begin and reach < longest and d + 1 < DEEP:
            sort_class(members, totals, places, begin, end)
            d += 1
            begins[d], ends[d], cursors[d], nodes[d] = begin, end, begin, here
            tops[d], befores[d], sizes[d] = top, n_before, reach


@njit(nogil=True, cache=True, error_model="numpy")
def project(starts, rows, offsets, items, of, least, both_sides, tally, local):
    """What is bought with a product often enough: (products, counts, how many are rarer than it, baskets with any).

    Products are those before it (of lower rank), and with `both_sides` those behind it as well, last. `local` then
    holds 1 + the place of each, and 0 for all others; `tally` is left empty.
    """
    met, found = np.empty(64, np.int32), 0
    for r in range(starts[of], starts[of + 1]):
        for p in range(offsets[rows[r]], offsets[rows[r] + 1]):
            c = items[p]
            if c == of:
                if not both_sides:
                    break
                continue
            if tally[c] == 0:
                if found == len(met):
                    met = larger(met, 0)
                met[found] = c
                found += 1
            tally[c] += 1
    kept = 0
    for m in range(found):
        c = met[m]
        if tally[c] >= least:
            met[kept] = c
            kept += 1
        else:
            tally[c] = 0
    ids = np.sort(met[:kept])
    counts = np.empty(kept, np.int64)
    earlier = 0
    for j in range(kept):
        counts[j] = tally[ids[j]]
        tally[ids[j]] = 0
        local[ids[j]] = j + 1
        earlier += ids[j] > of
    return ids, counts, earlier


@njit(nogil=True, cache=True, error_model="numpy")
def fill_bitsets(starts, rows, offsets, items, of, local, words, width):
    """A bitset for each product with a place, over the baskets of one product."""
    words[:] = 0
    for r in range(starts[of], starts[of + 1]):
        at = r - starts[of]
        word, bit = at >> 6, np.uint64(1) << np.uint64(at & 63)
        for p in range(offsets[rows[r]], offsets[rows[r] + 1]):
            j = local[items[p]]
            if j:
                words[(j - 1) * width + word] |= bit


@njit(nogil=True, cache=True, error_model="numpy")
def shrink(starts, rows, offsets, items, of, local, counts):
    """The baskets of one product, with the products that have a place alone; also from the products to the baskets."""
    n, total = starts[of + 1] - starts[of], 0
    for j in range(len(counts)):
        total += counts[j]
    few, where = np.empty(n + 1, np.int64), np.empty(total, np.int32)
    at = 0
    for r in range(n):
        few[r] = at
        row = rows[starts[of] + r]
        for p in range(offsets[row], offsets[row + 1]):
            if items[p] == of:
                break
            j = local[items[p]]
            if j:
                where[at] = j - 1
                at += 1
    few[n] = at
    begins, holders = np.empty(len(counts) + 1, np.int64), np.empty(total, np.int32)
    transpose(few, where, begins, holders)
    return begins, holders, few, where


@njit(nogil=True, cache=True, error_model="numpy")
def mine_branch(e, columns, limits, tally, local, out, stop):
    """All sets whose rarest product is `e`.

    The baskets of `e` are taken alone. Where they are dense, bitsets over them are intersected; where they are sparse,
    each product in them is taken alone in turn, which passes only the pairs that there are.
    """
    starts, rows, offsets, items = columns
    least, longest, kind, word_cost = limits
    state = out[4]
    baskets = starts[e + 1] - starts[e]
    root = state[WRITTEN]
    write(out, -1, e, baskets if kind == FREQUENT else -baskets, 1)
    if kind == FREQUENT and longest == 1:
        return
    ids, counts, earlier = project(starts, rows, offsets, items, e, least, kind != FREQUENT, tally, local)
    k, width = len(ids), (baskets + 63) >> 6
    if kind == FREQUENT and (longest == 2 or k == 1):
        for j in range(k):
            write(out, root, ids[j], counts[j], 2)
    elif kind == FREQUENT and k:
        steps = counts.sum() * counts.sum() / max(1, baskets)
        if 0.5 * k * k * width * word_cost <= steps:
            words = np.empty(k * width, np.uint64)
            fill_bitsets(starts, rows, offsets, items, e, local, words, width)
            search_frequent(words, width, ids, counts, root, 1, baskets, limits, out, stop)
        else:
            fewer = shrink(starts, rows, offsets, items, e, local, counts)
            inner, places = np.zeros(k, np.int32), np.zeros(k, np.int32)
            for f in range(k):
                node = state[WRITTEN]
                write(out, root, ids[f], counts[f], 2)
                if state[FULL] or stop[0]:
                    break
                mine_inner(f, node, fewer, ids, limits, inner, places, out, stop)
    elif kind != FREQUENT:
        words = np.empty(k * width, np.uint64)
        fill_bitsets(starts, rows, offsets, items, e, local, words, width)
        search_closed(words, width, ids, counts, earlier, root, 1, baskets, limits, out, stop)
    for j in range(k):
        local[ids[j]] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def mine_inner(f, node, columns, names, limits, inner, places, out, stop):
    """All sets of two products, the rarer of which was taken alone before, and more."""
    begins, holders, few, where = columns
    least, longest, _, _ = limits
    close, totals, _ = project(begins, holders, few, where, f, least, False, inner, places)
    baskets, n = begins[f + 1] - begins[f], len(close)
    if n == 1 or longest == 3:
        for j in range(n):
            write(out, node, names[close[j]], totals[j], 3)
    elif n:
        span = (baskets + 63) >> 6
        sets = np.empty(n * span, np.uint64)
        fill_bitsets(begins, holders, few, where, f, places, sets, span)
        search_frequent(sets, span, names[close], totals, node, 2, baskets, limits, out, stop)
    for j in range(n):
        places[close[j]] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def mine_branches(first, after, columns, limits, out, stop):
    """The sets of branches `first` up to `after`; where room runs out, the branch that needs more, else `after`."""
    products, state = len(columns[0]) - 1, out[4]
    tally, local = np.zeros(products, np.int32), np.zeros(products, np.int32)
    for e in range(first, after):
        if stop[0]:
            return e
        begun = state[WRITTEN]
        mine_branch(e, columns, limits, tally, local, out, stop)
        if state[FULL]:
            state[WRITTEN], state[FULL] = begun, 0
            return e
    return after
