"""Search: the nearest pairs among all products, by hash tables, without looking at all pairs (paper, section 4.3).

Tables of F random planes are built one after another. Pairs that share a bucket are sifted by a sketch of 256 bits, or
of 1,024 where those do not tell (the share of differing bits estimates the angle); those that pass get their exact
cosine, and the best `top` are kept. By the theory a pair of cosine c has been met with probability
p = p_omba(c, F, H), so the pairs found stand for Σ 1/p pairs that exist; tables are added until found / Σ 1/p reaches
the recall asked for.
"""

from __future__ import annotations

import logging
import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, repeat

import numpy as np
from numpy.typing import NDArray

from omba.rules import kernels
from omba.rules.theory import p_omba, p_same_sign

log = logging.getLogger("omba")

WORD = 64
SKETCH_WORDS = 4
VAGUE = 0.05
"""The share of pairs from which on a short sketch lets too many through, and a long one is made: where vectors have
learned little, all of them lie about one direction, and 256 bits do not tell who is nearer."""
FEWEST_FUNCTIONS = 4
MOST_FUNCTIONS = 22
MOST_TABLES = 2048

# Costs in nanoseconds, for choosing F: a sign of one product and dimension, a product grouped, a pair sifted.
SIGN, GROUPED, SIFTED = 0.03, 50.0, 6.0

FEW, USELESS = 8192, 0.8
"""Beyond so many products a sieve that lets such a share of pairs through is given up: no pair is much closer than the
others there, and looking at all of them costs less."""

Words = NDArray[np.uint64]
Rows = NDArray[np.int32]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Found:
    """Pairs of rows with left < right, nearest first, and what is known of the search.

    Parameters
    ----------
    left
        The row of one product of each pair.
    right
        The row of the other.
    cosine
        Their cosine.
    F
        Planes of a table.
    H
        Tables that it took.
    recall
        The share of the pairs this close that the search expects to have found.
    """

    left: Rows
    right: Rows
    cosine: Floats
    F: int
    H: int
    recall: float


@lru_cache(256)
def planes(seed: int, word: int, dim: int) -> Floats:
    """The Gaussian normals of the 64 random planes of a word: always the same for the same seed and word."""
    normals = np.random.default_rng((seed, word)).standard_normal((dim, WORD), dtype=np.float32)
    normals.flags.writeable = False
    return normals


def signs(vectors: Floats, normals: Floats) -> Words:
    """On which side of each plane each vector lies, 64 planes to a word."""
    words = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), 1 << 15):
        part = slice(start, start + (1 << 15))
        kernels.pack_signs(vectors[part] @ normals, words[part])
    return words


class Best:
    """The best pairs met so far, each once, best first; equal scores stand in the order of their rows.

    Parameters
    ----------
    products
        How many products there are.
    top
        How many pairs to hold.
    kind
        The type of the scores.
    """

    def __init__(self, products: int, top: int, kind: type[np.floating] = np.float32) -> None:
        self.products, self.top = products, top
        self.left, self.right = np.empty(0, np.int32), np.empty(0, np.int32)
        self.score: NDArray[np.floating] = np.empty(0, kind)

    @property
    def floor(self) -> float:
        """A pair below this score cannot come in any more."""
        return -2.0 if len(self.score) < self.top else float(self.score[-1])

    def add(self, left: Rows, right: Rows, score: NDArray[np.floating]) -> None:
        able = np.flatnonzero(score >= self.floor)
        left, right = np.concatenate([self.left, left[able]]), np.concatenate([self.right, right[able]])
        score = np.concatenate([self.score, score[able]])
        _, first = np.unique(left.astype(np.int64) * self.products + right, return_index=True)
        keep = first[np.argsort(-score[first], kind="stable")[: self.top]]
        self.left, self.right, self.score = left[keep], right[keep], score[keep]


def search(
    vectors: Floats, scales: Floats, top: int, recall: float, F: int | None, H: int | None, seed: int
) -> Found | tuple[int, int]:
    """The `top` nearest pairs by tables of F planes; F and H are chosen where they are not given.

    Where looking at all pairs costs less, only the F and H that it would have taken are given.
    """
    dim = vectors.shape[1]
    # The planes of the first tables serve as the sketch too: what shares a bucket there is alike there anyway.
    sketches = np.column_stack([signs(vectors, planes(seed, word, dim)) for word in range(SKETCH_WORDS)])
    sieve, best, most = Sieve(vectors, scales, sketches, top), Best(len(vectors), top), H or MOST_TABLES
    F = F or sieve.choose_functions(best, recall)
    short = sieve
    if short.pass_share(F, best.floor) > VAGUE:
        longer = [signs(vectors, planes(seed, word, dim)) for word in range(SKETCH_WORDS, kernels.LONG_WORDS)]
        sketches = np.column_stack([sketches, *longer])
        sieve = replace(sieve, sketches=sketches)
    tables, reached = 0, 0.0
    with ThreadPoolExecutor(threads()) as pool:
        for word in count():
            words = sketches[:, word] if word < sketches.shape[1] else signs(vectors, planes(seed, word, dim))
            batch = range(min(WORD // F, most - tables))
            for pairs in pool.map(
                sieve.sift, [words] * len(batch), [F * t for t in batch], repeat(F), repeat(best.floor)
            ):
                best.add(*pairs)
            tables += len(batch)
            reached = estimated_recall(best.score, F, tables)
            if tables >= most or (not H and len(best.score) == top and reached >= recall):
                break
            if word == 0 and not H and len(vectors) > FEW and short.pass_share(F, best.floor) > USELESS:
                return F, tables_needed(best.floor, F, recall)
    if not H and reached < recall:
        log.warning("%d tables of %d planes find about %.0f%% of the nearest pairs", tables, F, 100 * reached)
    return Found(best.left, best.right, best.score, F, tables, reached)


def threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def estimated_recall(cosine: Floats, F: int, H: int) -> float:
    """Pairs found ÷ pairs they stand for, each found pair standing for 1 / p_omba of its cosine."""
    return len(cosine) / float(np.sum(1.0 / p_omba(cosine, F, H))) if len(cosine) else 0.0


def tables_needed(cosine: float, F: int, recall: float) -> int:
    """The H that makes p_omba(cosine, F, H) the recall."""
    met = min(float(p_same_sign(max(cosine, 0.0))) ** F, 0.999)
    return min(MOST_TABLES, max(1, math.ceil(math.log(1 - recall) / math.log1p(-met))))


@dataclass(frozen=True)
class Sieve:
    """One table's work: group products into buckets, and sift the pairs in each.

    Parameters
    ----------
    vectors
        One vector a product.
    scales
        One over their lengths.
    sketches
        256 signs of each product, or 1,024, of which the share that differs estimates an angle.
    top
        How many pairs are looked for.
    """

    vectors: Floats
    scales: Floats
    sketches: Words
    top: int

    def sift(self, words: Words, shift: int, F: int, floor: float) -> tuple[Rows, Rows, Floats]:
        """The best pairs above `floor` that share a bucket of F bits."""
        n = len(words)
        starts, order = np.empty(2**F + 1, np.int64), np.empty(n, np.int32)
        sketches, room = np.empty_like(self.sketches), n + max(2 * self.top, 1 << 16)
        kernels.group(words, shift, F, self.sketches, starts, order, sketches)
        left, right, cosine = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.float32)
        best, place = Best(n, self.top), np.zeros(2, np.int64)
        while place[0] < len(starts) - 1:
            floor = max(floor, best.floor)
            found = kernels.scan_buckets(
                starts,
                order,
                sketches,
                limits(floor, sketches.shape[1]),
                self.vectors,
                self.scales,
                np.float32(floor),
                place,
                left,
                right,
                cosine,
            )
            best.add(left[:found], right[:found], cosine[:found])
        return best.left, best.right, best.score

    def choose_functions(self, best: Best, recall: float) -> int:
        """The F whose tables cost least in all, from the spread of the products and a first look at the nearest.

        A table of F planes costs its signs, the grouping and the pairs that share a bucket; H such tables give the
        recall at the cosine where the best pairs end. That cosine comes from one table of each word of the sketch,
        whose pairs are kept.
        """
        n, dim = self.vectors.shape
        choices = np.arange(FEWEST_FUNCTIONS, min(MOST_FUNCTIONS, max(FEWEST_FUNCTIONS, n.bit_length() + 2)) + 1)
        pairs = np.array([self.bucket_pairs(F) for F in choices])
        first = int(choices[min(np.searchsorted(-pairs, -32.0 * n), len(choices) - 1)])
        for word in range(SKETCH_WORDS):
            best.add(*self.sift(self.sketches[:, word], 0, first, best.floor))
        tables = np.array([tables_needed(best.floor, int(F), recall) for F in choices])
        return int(choices[np.argmin(tables * (n * (GROUPED + SIGN * dim * choices) + SIFTED * pairs))])

    def pass_share(self, F: int, floor: float) -> float:
        """The share of pairs in one bucket of F bits that pass the sieve at a cosine, from neighbours in that order."""
        codes = self.sketches[:, 0] & np.uint64(2**F - 1)
        order = np.argsort(codes, kind="stable")
        together = np.flatnonzero(codes[order[1:]] == codes[order[:-1]])
        ordered = self.sketches[order]
        apart = np.bitwise_count(ordered[1:][together] ^ ordered[:-1][together]).sum(axis=1)
        return float(np.mean(apart <= limits(floor, ordered.shape[1])[1])) if len(apart) else 0.0

    def bucket_pairs(self, F: np.int64) -> float:
        """Pairs that share a bucket of F planes, the mean of two tables."""
        sizes = [np.bincount((self.sketches[:, w] & np.uint64(2 ** int(F) - 1)).astype(np.int64)) for w in range(2)]
        return float(np.mean([(s * (s - 1.0)).sum() / 2 for s in sizes]))


def limits(floor: float, words: int = SKETCH_WORDS) -> Words:
    """How many bits of half a sketch and of a whole one of so many words may differ: four deviations beyond what the
    cosine expects, three of a long sketch, which leaves out one pair in a thousand."""
    apart, bits = 1.0 - p_same_sign(floor), WORD * np.array([words // 2, words])
    deviations = 4.0 if words == SKETCH_WORDS else 3.0
    return (bits * apart + deviations * np.sqrt(bits * apart * (1.0 - apart))).astype(np.uint64)
