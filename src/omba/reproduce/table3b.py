"""Table 3b: does value weighting help to find dear products?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.evaluation import metrics
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.style import BLUE, GREEN, PAPER, RED, draw
from omba.reproduce.trials import Contender
from omba.reproduce.workshop import CJ, Workshop

PRICES = (0, 2, 4, 6, 8, 10)
WITH = (0.6013, 0.5973, 0.5983, 0.5987, 0.5994, 0.5998)
WITHOUT = (0.5909, 0.5887, 0.5800, 0.5795, 0.5765, 0.5743)
"""The paper's MRR of targets dearer than each price, with and without value weighting."""

NAMES = {"omba-paper": "value weighting", "omba-no-value": "without", "omba": "OMBA, defaults (without)"}


def above(ranks: NDArray[np.float64], prices: NDArray[np.float64], price: float) -> float:
    """The MRR of targets dearer than a price."""
    return metrics.mrr(ranks[prices > price])


def run(workshop: Workshop) -> Result:
    trials = workshop.retrieve(CJ, map(Contender, NAMES), hide="all")
    prices = workshop.target_prices(CJ, "all")
    ours = {method: [above(trials[Contender(method)].ranks, prices, x) for x in PRICES] for method in NAMES}
    value, plain = (trials[Contender(method)] for method in ("omba-paper", "omba-no-value"))
    dear = prices > PRICES[-1]
    difference = (1 / value.ranks - 1 / plain.ranks)[dear]
    gain, error = float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))

    def paint(axes: Any) -> None:
        for (method, mrr), colour, mark in zip(ours.items(), (BLUE, RED, GREEN), ("o-", "s-", "^-"), strict=True):
            axes.plot(PRICES, mrr, mark, color=colour, label=f"{NAMES[method]}, here")
        axes.plot(PRICES, WITH, marker="o", label="value weighting, paper", **PAPER)
        axes.plot(PRICES, WITHOUT, marker="s", label="without, paper", **PAPER)
        axes.set(xlabel="price of the hidden product above, dollars", ylabel="MRR")
        axes.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(1, 1))

    counts = [int((prices > x).sum()) for x in PRICES]
    rows: Rows = [
        [f"> {x}", WITH[k], WITHOUT[k], *(mrr[k] for mrr in ours.values()), counts[k]] for k, x in enumerate(PRICES)
    ]
    holds, said = verdict(gain, error)
    return Result(
        claims=[
            Claim(
                "value weighting finds dear products better (targets above 10 dollars)",
                f"{WITH[-1]} with, {WITHOUT[-1]} without",
                f"{ours['omba-paper'][-1]:.4f} with, {ours['omba-no-value'][-1]:.4f} without",
                holds,
            ),
        ],
        tables=[
            Table(
                "MRR by the price of the hidden product",
                (
                    "price, dollars",
                    "paper, with",
                    "paper, without",
                    "here, with",
                    "here, without",
                    "here, defaults",
                    "queries",
                ),
                rows,
                digits=4,
            )
        ],
        pictures=[
            draw(
                "table3b",
                "MRR of targets above a price, with and without value weighting, here and in the paper",
                paint,
            )
        ],
        differs=(
            "The paper's settings in both columns, which differ in the weights alone (exponent 2.3, clip 10 "
            "dollars), on one year at the level of product types; each product of a basket is hidden in turn, not "
            "one of it, so that enough of them are dear, and every query is the same in all columns."
        ),
        findings=[
            f"{said}: above 10 dollars value weighting changes the MRR by {gain:+.4f} ± {error:.4f} (standard error "
            f"over {counts[-1]:,} queries; in the paper {WITH[-1] - WITHOUT[-1]:+.4f}), over all targets by "
            f"{ours['omba-paper'][0] - ours['omba-no-value'][0]:+.4f} (in the paper {WITH[0] - WITHOUT[0]:+.4f}).",
        ],
        settings=f"{workshop.setting}; {workshop.scale.windows} windows",
    )


def verdict(gain: float, error: float) -> tuple[str, str]:
    """Whether a gain is there, is not what the paper says, or cannot be told from so few queries.

    >>> verdict(0.03, 0.005)[0], verdict(-0.01, 0.005)[0], verdict(0.01, 0.05)[0]
    ('yes', 'no', 'partly')
    """
    if gain > 2 * error:
        return "yes", "The paper is confirmed"
    if gain + 2 * error < WITH[-1] - WITHOUT[-1]:
        return "no", "This contradicts the paper"
    return "partly", "There are too few queries to tell"


EXPERIMENT = Experiment("table3b", "MRR against the price of what is hidden", "Table 3b", run, minutes=1)
