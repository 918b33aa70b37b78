"""Spread: where the ends of an interval lie, by what came true."""

from __future__ import annotations

import numpy as np

from omba.model.likelihood import BINS, KINDS, UNSURE
from omba.model.spread import EDGES, Spread

MIDDLES = (EDGES[1:] + EDGES[:-1]) / 2


def scored(deviation: float, mean: float = 0.0, pairs: float = 1_000.0) -> np.ndarray:
    counts = np.exp(-(((MIDDLES - mean) / deviation) ** 2) / 2)
    return pairs * counts / counts.sum()


def test_a_kind_of_few_pairs_has_the_ends_of_the_weaker_kind() -> None:
    spread = Spread()
    spread.scored[:, UNSURE + 2] = scored(2.0)
    low, high, _ = spread.scores()[UNSURE + 3]
    assert low < -2.5
    assert high > 2.5
    assert np.allclose(spread.scores()[UNSURE + 1], Spread().scores()[UNSURE + 1]), "and a weaker kind has its own"
    spread.scored[:, UNSURE + 3] = scored(1.0, pairs=5_000.0)
    assert spread.scores()[UNSURE + 3, 1] < 2


def test_the_swing_of_weak_pairs_is_in_part_foretold_so_its_mirror_counts_for_less() -> None:
    spread = Spread()
    for kind in range(KINDS):
        spread.scored[:, kind] = scored(1.0, -1.0), scored(1.0, 1.0)
    scores = spread.scores()
    weak, strong = scores[: UNSURE + 1, 1], scores[UNSURE + 1 :, 1]
    assert weak.max() < strong.min()
    assert (scores[:, 0] < -2).all()
    assert spread.scored.shape == (2, KINDS, BINS)
