"""Supplement, section 2: the power law of sales over price, on which value weighting rests.

    h(x) = p · SV(x)^q        ln h(x) = ln p + q · ln SV(x)

fitted as a straight line to the logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress

from omba.model.prices import Prices
from omba.reproduce.experiment import Experiment
from omba.reproduce.fig1a import DEAREST, sales_by_price
from omba.reproduce.result import Claim, Result, Table
from omba.reproduce.style import BLUE, PAPER, RED, draw
from omba.reproduce.workshop import Workshop

INTERCEPT, SLOPE = 15.5, -2.3
"""The paper's line: ln h = 15.5 − 2.3 ln SV, p = 5.4·10⁶."""

Floats = NDArray[np.float64]


def line(sales: NDArray[np.int64], first: int = 1) -> tuple[float, float, float]:
    """Intercept, slope and R² of ln sales over ln price, from `first` dollars on; prices without sales are left out."""
    dollars = np.arange(len(sales))
    some = (sales > 0) & (dollars >= first)
    found = linregress(np.log(dollars[some] + 0.5), np.log(sales[some]))
    return float(found.intercept), float(found.slope), float(found.rvalue**2)


def run(workshop: Workshop) -> Result:
    baskets = workshop.whole()
    sales = sales_by_price(baskets)
    intercept, slope, fit = line(sales)
    beyond = line(sales, first=10)
    prices = Prices()
    prices.learn(baskets.items, baskets.prices, len(baskets.product_vocabulary))
    exponent, clip = prices.fit()

    def paint(axes: Any) -> None:
        some = np.flatnonzero(sales[1:] > 0) + 1
        x = np.log(some + 0.5)
        axes.plot(x, np.log(sales[some]), "o", color=BLUE, label="sales at a price, by dollar")
        axes.plot(x, intercept + slope * x, color=RED, label=f"line fitted here: {intercept:.1f} − {-slope:.2f} ln SV")
        axes.plot(x, INTERCEPT + SLOPE * x, label="the paper's line: 15.5 − 2.3 ln SV", **PAPER)
        axes.set(xlabel="ln of the price SV, dollars", ylabel="ln of the sales h")
        axes.legend()

    return Result(
        claims=[
            Claim(
                "sales follow a power law of the price with exponent −2.3",
                "exponent −2.3, ln p = 15.5",
                f"exponent {slope:.2f}, ln p = {intercept:.1f}, R² = {fit:.2f}",
                "yes" if abs(slope - SLOPE) < 0.3 else "partly",
            ),
        ],
        tables=[
            Table(
                "The fitted line",
                ("from", "ln p", "exponent", "R²"),
                [
                    ("paper", INTERCEPT, SLOPE, None),
                    (f"here, 1 to {DEAREST} dollars", intercept, slope, fit),
                    (f"here, 10 to {DEAREST} dollars", *beyond),
                    (f"here, by likelihood, as value='fit' does (clip {clip:.2f})", None, -exponent, None),
                ],
                digits=2,
            ),
        ],
        pictures=[
            draw("supp2", "Logarithm of sales over logarithm of price with the fitted line and the paper's", paint)
        ],
        differs=(
            "One year instead of two, so the intercept must be lower (by ln 2 at least); the paper does not say how it "
            "groups prices, here it is by dollar from 1 to 50."
        ),
        findings=[
            "The paper's density 1.3·SV^−2.3 is the Pareto density with minimum 1: its integral diverges from 0 on, "
            "as the paper writes it. The 1.3 cancels in the weighted mean, so only the exponent and the clip at 10 "
            "dollars act.",
        ],
        settings="The Complete Journey 2017; no chance involved",
    )


EXPERIMENT = Experiment("supp2", "The power law of price", "Supplement, section 2", run)
