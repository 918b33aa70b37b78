"""Table 3b: does value weighting help to find dear products?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.evaluation import metrics
from omba.evaluation.metrics import Ranks
from omba.reproduce.contender import Contender
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.scale import CJ
from omba.reproduce.style import BLUE, GREEN, PAPER, RED, picture

PRICES = (0, 2, 4, 6, 8, 10)
WITH = (0.6013, 0.5973, 0.5983, 0.5987, 0.5994, 0.5998)
WITHOUT = (0.5909, 0.5887, 0.5800, 0.5795, 0.5765, 0.5743)
"""The paper's MRR of targets dearer than each price, with and without value weighting."""

Floats = NDArray[np.float64]

NAMES = {"omba-paper": "value weighting", "omba-no-value": "without", "omba": "OMBA, defaults (without)"}


def above(ranks: Ranks, prices: Floats, price: float) -> float:
    """The MRR of targets dearer than a price."""
    return metrics.mrr(ranks[prices > price])


def gain(value: Ranks, plain: Ranks, prices: Floats, price: float) -> tuple[float, float]:
    """By how much value weighting raises the MRR of targets dearer than a price, and its standard error."""
    difference = (metrics.reciprocals(value) - metrics.reciprocals(plain))[prices > price]
    n = len(difference)
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


@dataclass(frozen=True)
class MRRByPrice:
    """Each method's MRR of targets above each price, the gain of value weighting there, and the queries it rests on."""

    mrr: dict[str, list[float]]
    gains: list[tuple[float, float]]
    queries: list[int]


def measure(context: Context) -> MRRByPrice:
    """Hide each product of a basket in turn, with and without value weighting."""
    outcomes = context.retrieve(CJ, map(Contender, NAMES), hide="all")
    prices = context.target_prices(CJ, "all")
    ranks = {method: outcomes[Contender(method)].ranks for method in NAMES}
    return MRRByPrice(
        {method: [above(ranks[method], prices, x) for x in PRICES] for method in NAMES},
        [gain(ranks["omba-paper"], ranks["omba-no-value"], prices, x) for x in PRICES],
        [int((prices > x).sum()) for x in PRICES],
    )


def draw(found: MRRByPrice) -> Picture:
    def paint(axes: Any) -> None:
        for (method, mrr), colour, mark in zip(found.mrr.items(), (BLUE, RED, GREEN), ("o-", "s-", "^-"), strict=True):
            axes.plot(PRICES, mrr, mark, color=colour, label=f"{NAMES[method]}, here")
        axes.plot(PRICES, WITH, marker="o", label="value weighting, paper", **PAPER)
        axes.plot(PRICES, WITHOUT, marker="s", label="without, paper", **PAPER)
        axes.set(xlabel="price of the hidden product above, dollars", ylabel="MRR")
        axes.legend(fontsize=8.5, loc="upper left", bbox_to_anchor=(1, 1))

    alt = "MRR of targets above a price, with and without value weighting, here and in the paper"
    return picture("table3b", alt, paint, width=8.6)


def tell(found: MRRByPrice, context: Context) -> Result:
    holds, finding = verdict(found.gains)
    rows: Rows = [
        [f"> {x}", WITH[k], WITHOUT[k], *(mrr[k] for mrr in found.mrr.values()),
         "{:+.4f} ± {:.4f}".format(*found.gains[k]), found.queries[k]]
        for k, x in enumerate(PRICES)
    ]  # fmt: skip
    columns = ("price, dollars", "paper, with", "paper, without", "here, with", "here, without", "here, defaults")
    return Result(
        claims=[
            Claim(
                "value weighting finds dear products better (targets above 10 dollars)",
                f"{WITH[-1]} with, {WITHOUT[-1]} without",
                f"{found.mrr['omba-paper'][-1]:.4f} with, {found.mrr['omba-no-value'][-1]:.4f} without",
                holds,
            ),
        ],
        tables=[Table("MRR by the price of the hidden product", (*columns, "gain here", "queries"), rows, digits=4)],
        differs=(
            "The paper's settings in both columns, which differ in the weights alone (exponent 2.3, clip 10 dollars), "
            "on one year at the level of product types; each product of a basket is hidden in turn, not one of it, so "
            "that enough of them are dear, and every query is the same in all columns."
        ),
        findings=[finding],
        settings=f"{context.setting}; {context.scale.windows} windows; ± is the standard error over queries",
    )


def verdict(gains: Sequence[tuple[float, float]]) -> tuple[str, str]:
    """Whether value weighting helps as the paper says, helps less, or does not, and in words how much.

    >>> verdict([(0.01, 0.001)] * 5 + [(0.03, 0.005)])[0], verdict([(-0.01, 0.001)] * 6)[0]
    ('yes', 'no')
    """
    paper = [a - b for a, b in zip(WITH, WITHOUT, strict=True)]
    sure = [k for k in range(1, len(gains)) if gains[k][0] > 2 * gains[k][1]]
    dear, everywhere = gains[-1], gains[0]
    change = (
        f"over all targets value weighting changes the MRR by {everywhere[0]:+.4f} ± {everywhere[1]:.4f} (in the paper "
        f"{paper[0]:+.4f}), above 10 dollars by {dear[0]:+.4f} ± {dear[1]:.4f} (in the paper {paper[-1]:+.4f})"
    )
    if sure and everywhere[0] > 0 and dear[0] > paper[-1] / 2:
        return "yes", f"The paper is confirmed: {change}."
    if sure:
        k = max(sure, key=lambda k: gains[k][0])
        return "partly", (
            "Value weighting does help with dear products, but by less than the paper says, and not for nothing: "
            f"{change}; the gain is surest above {PRICES[k]} dollars, {gains[k][0]:+.4f} ± {gains[k][1]:.4f}."
        )
    if dear[0] + 2 * dear[1] < paper[-1]:
        return "no", f"This contradicts the paper: {change}."
    return "partly", f"There are too few queries to tell: {change}."


EXPERIMENT = Experiment(
    "table3b", "MRR against the price of what is hidden", "Table 3b", measure, tell, draw, minutes=1
)
