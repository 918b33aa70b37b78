"""Supplement, section 1: users repeat themselves.

Each basket is a TF-IDF vector over products. The cosine of two baskets of one user is compared with that of two baskets
of different users, over k pairs each, by a one-tailed t-test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import ttest_ind

from omba.baselines.base import matrix
from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.scale import CJ, PRODUCTS, TF
from omba.reproduce.style import BLUE, RED, picture

PAPER = {"same": 0.0575, "different": 0.0043, "t": 82.4665, "p": 0.0}
"""Mean cosines and the test, for 100,000 pairs of Complete Journey at its finest level."""

LEVELS = {"Complete Journey, products": PRODUCTS, "Complete Journey, product types": CJ, "Ta-Feng": TF}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Likeness:
    """Cosines of pairs of baskets, of one user and of two, and the test of their difference."""

    same: Floats
    different: Floats
    t: float
    p: float


def tfidf(baskets: Baskets) -> sparse.csr_array:
    """Baskets by products: log(n / baskets with the product), rows scaled to length 1."""
    holds = matrix(baskets, len(baskets.product_vocabulary)).astype(np.float64)
    often = np.maximum(np.bincount(baskets.items, minlength=holds.shape[1]), 1)
    weighed = sparse.csr_array(holds.multiply(np.log(len(baskets) / often)[None, :]))
    lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    return sparse.csr_array(weighed.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def pairs(users: NDArray[np.int32], k: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two times k pairs of baskets, (k, 2) each: of a user drawn at random with two or more, and of two users."""
    order = np.argsort(users, kind="stable")
    ordered = users[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(starts, len(ordered)))
    able = (counts > 1) & (ordered[starts] >= 0)
    starts, counts = starts[able], counts[able]
    who = rng.integers(0, len(starts), k)
    first = rng.integers(0, counts[who])
    second = rng.integers(0, counts[who] - 1)
    second += second >= first
    same = np.column_stack([order[starts[who] + first], order[starts[who] + second]])
    one = rng.integers(0, len(starts), k)
    other = rng.integers(0, len(starts) - 1, k)
    other += other >= one
    different = np.column_stack([order[starts[w] + rng.integers(0, counts[w])] for w in (one, other)])
    return same, different


def cosines(vectors: sparse.csr_array, drawn: NDArray[np.int64]) -> Floats:
    return np.asarray(vectors[drawn[:, 0]].multiply(vectors[drawn[:, 1]]).sum(axis=1)).ravel()


def probability(p: float) -> str:
    """A p-value in a few letters.

    >>> probability(0.0), probability(3e-12)
    ('below 1e-300', '3e-12')
    """
    return f"{p:.0e}" if p > 1e-300 else "below 1e-300"


def measure(context: Context) -> dict[str, Likeness]:
    """The likeness of baskets on each data set by its title."""
    return {title: likeness(context.whole(name), context) for title, name in LEVELS.items()}


def likeness(baskets: Baskets, context: Context) -> Likeness:
    """How alike the baskets of one user are, against those of two."""
    assert baskets.user_codes is not None
    vectors = tfidf(baskets)
    drawn = pairs(baskets.user_codes, context.scale.pairs, np.random.default_rng(context.seed))
    same, different = (cosines(vectors, two) for two in drawn)
    test = ttest_ind(same, different, equal_var=False, alternative="greater")
    return Likeness(same, different, float(test.statistic), float(test.pvalue))


def draw(found: dict[str, Likeness]) -> Picture:
    finest = next(iter(found.values()))
    curves = ((finest.same, BLUE, "same user", "-"), (finest.different, RED, "different users", "--"))

    def paint(axes: Any) -> None:
        edges = np.linspace(0, 0.5, 51)
        for cosine, colour, name, dash in curves:
            above = [(cosine > edge).mean() for edge in edges]
            axes.plot(edges, np.maximum(above, 1e-5), dash, color=colour, label=name)
        axes.set(
            xlabel="cosine of two baskets",
            ylabel="share of pairs above it",
            yscale="log",
            xlim=(0, 0.5),
            ylim=(1e-4, 1),
        )
        axes.legend()

    return picture("supp1", "Share of pairs of baskets above a cosine: far higher for the same user", paint)


def tell(found: dict[str, Likeness], context: Context) -> Result:
    rows: Rows = [["Complete Journey, paper", PAPER["same"], PAPER["different"], PAPER["t"], "0.0"]]
    rows += [
        [title, float(one.same.mean()), float(one.different.mean()), one.t, probability(one.p)]
        for title, one in found.items()
    ]
    finest = next(iter(found.values()))
    return Result(
        claims=[
            Claim(
                "baskets of one user are more alike than those of two",
                f"{PAPER['same']} against {PAPER['different']}, t = {PAPER['t']}",
                f"{finest.same.mean():.4f} against {finest.different.mean():.4f}, t = {finest.t:.1f}",
                "yes" if finest.t > 3 else "no",
            ),
        ],
        tables=[
            Table("Mean cosine of two baskets", ("data", "same user", "different users", "t", "p"), rows, digits=4)
        ],
        differs=(
            f"{context.scale.pairs:,} pairs of each kind (the paper: 100,000), from one year instead of two; the "
            "paper does not say which TF-IDF it takes, here it is log(n / n_product), and Welch's form of the test."
        ),
        settings=f"seed {context.seed}; {context.scale.pairs:,} pairs of each kind",
    )


EXPERIMENT = Experiment("supp1", "Users repeat themselves", "Supplement, section 1", measure, tell, draw, minutes=0.3)
