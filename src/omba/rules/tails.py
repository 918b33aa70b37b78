# mypy: allow-untyped-defs, allow-untyped-decorators
"""Tails: how likely so many baskets are by chance, of pairs, of rules against a part of them, and of three products.

Fisher's exact test, one-sided, compiled: `measures.py` asks it of rules, `productive.py` of larger sets.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy")
def log_choose(n, k):
    """The logarithm of n over k."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def tail_of(k, a, b, whole):
    """P(at least k baskets with both), were a and b of all baskets picked independently.

    P(k) = (a over k)·(n − a over b − k) / (n over b). The tail away from the mean is summed term by term, the next from
    the last, until the terms no longer count.
    """
    least, most = max(0.0, a + b - whole), min(a, b)
    if not (a <= whole and b <= whole):
        return np.nan
    if k <= least or k > most:
        return 1.0 if k <= least else 0.0
    up = k > a * b / whole
    x = k if up else k - 1.0
    term = math.exp(log_choose(a, x) + log_choose(whole - a, b - x) - log_choose(whole, b))
    total = 0.0
    while least <= x <= most and term > total * 1e-17:
        total += term
        if up:
            term *= (a - x) / (x + 1.0) * (b - x) / (whole - a - b + x + 1.0)
            x += 1.0
        else:
            term *= x / (a - x + 1.0) * (whole - a - b + x) / (b - x + 1.0)
            x -= 1.0
    return min(1.0, total) if up else max(0.0, 1.0 - total)


@njit(nogil=True, cache=True, error_model="numpy")
def hypergeometric_tail(n_ab, n_a, n_b, n, out):
    """P(at least n_ab baskets with both) of each rule, were n_a and n_b of n baskets picked independently."""
    for i in range(len(out)):
        out[i] = tail_of(n_ab[i], n_a[i], n_b[i], n[i])


@njit(nogil=True, cache=True, error_model="numpy")
def far_from_chance(k, a, b, whole):
    """Whether k baskets with both are so many more than by chance that their tail may be small: 1.8 standard
    deviations."""
    mean = a * b / whole
    return k > mean + 1.8 * math.sqrt(mean * (1.0 - a / whole) * (1.0 - b / whole))


@njit(nogil=True, cache=True, error_model="numpy")
def raise_p(count, n_a, with_part, n_p, out):
    """The higher of each p so far and that of the rule against one of its parts; 1 where it is far from small.

    Of `n_p` baskets with the part, `n_a` hold all antecedents, `with_part` the consequent, and `count` both.
    """
    for i in range(len(out)):
        if out[i] >= 1.0:
            continue
        k, a, b, whole = float(count[i]), float(n_a[i]), float(with_part[i]), float(n_p[i])
        out[i] = max(out[i], tail_of(k, a, b, whole)) if far_from_chance(k, a, b, whole) else 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def triple_p(count, one, two, most, out):
    """The p of the three directions of each set of three products; 1 where it is above `most`.

    `one` has the baskets with each product, `two` those with the two others of each. A rule ab ⇒ c against its part a,
    and ac ⇒ b against it, ask the same: whether b and c meet oftener than by chance among the baskets with a. So there
    are three tails rather than six, and where two of them are not small, no direction is.
    """
    p = np.empty(3)
    for i in range(len(count)):
        k, small = float(count[i]), 0
        for m in range(3):
            p[m] = 1.0
            if far_from_chance(k, float(two[(m + 1) % 3, i]), float(two[(m + 2) % 3, i]), float(one[m, i])):
                p[m], small = 0.0, small + 1
        for m in range(3):
            if small > 1 and p[m] == 0.0:
                a, b = two[(m + 1) % 3, i], two[(m + 2) % 3, i]
                p[m] = tail_of(k, float(max(a, b)), float(min(a, b)), float(one[m, i]))
                if p[m] > most:
                    p[m], small = 1.0, small - 1
        for c in range(3):
            out[c, i] = 1.0 if small < 2 else max(p[(c + 1) % 3], p[(c + 2) % 3])
