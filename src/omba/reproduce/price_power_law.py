"""Supplement, section 2: the power law of sales over price, on which value weighting rests.

    h(x) = p · SV(x)^q        ln h(x) = ln p + q · ln SV(x)

fitted as a straight line to the logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import linregress

from omba.model.prices import Prices
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.fig1a import DEAREST, sales_by_price
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.style import BLUE, PAPER, RED, picture

INTERCEPT, SLOPE = 15.5, -2.3
"""The paper's line: ln h = 15.5 − 2.3 ln SV, p = 5.4·10⁶."""

Line = tuple[float, float, float]
"""Intercept, slope and R²."""


def line(sales: NDArray[np.int64], first: int = 1) -> Line:
    """Intercept, slope and R² of ln sales over ln price, from `first` dollars on; prices without sales are left out."""
    dollars = np.arange(len(sales))
    some = (sales > 0) & (dollars >= first)
    found = linregress(np.log(dollars[some] + 0.5), np.log(sales[some]))
    return float(found.intercept), float(found.slope), float(found.rvalue**2)


@dataclass(frozen=True)
class PowerLaw:
    """Sales by dollar, the lines through all of them and from 10 dollars on, and the law that likelihood chooses."""

    sales: NDArray[np.int64]
    line: Line
    beyond: Line
    exponent: float
    clip: float


def measure(context: Context) -> PowerLaw:
    """Fit the law to the whole year."""
    baskets = context.whole()
    sales = sales_by_price(baskets)
    prices = Prices()
    prices.learn(baskets.items, baskets.prices, len(baskets.product_vocabulary))
    return PowerLaw(sales, line(sales), line(sales, first=10), *prices.fit())


def draw(law: PowerLaw) -> Picture:
    intercept, slope, _ = law.line

    def paint(axes: Any) -> None:
        some = np.flatnonzero(law.sales[1:] > 0) + 1
        x = np.log(some + 0.5)
        axes.plot(x, np.log(law.sales[some]), "o", color=BLUE, label="sales at a price, by dollar")
        axes.plot(x, intercept + slope * x, color=RED, label=f"line fitted here: {intercept:.1f} − {-slope:.2f} ln SV")
        axes.plot(x, INTERCEPT + SLOPE * x, label="the paper's line: 15.5 − 2.3 ln SV", **PAPER)
        axes.set(xlabel="ln of the price SV, dollars", ylabel="ln of the sales h")
        axes.legend()

    return picture("supp2", "Logarithm of sales over logarithm of price with the fitted line and the paper's", paint)


def tell(law: PowerLaw, context: Context) -> Result:
    intercept, slope, fit = law.line
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
                    (f"here, 10 to {DEAREST} dollars", *law.beyond),
                    (f"here, by likelihood, as value='fit' does (clip {law.clip:.2f})", None, -law.exponent, None),
                ],
                digits=2,
            ),
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


EXPERIMENT = Experiment("supp2", "The power law of price", "Supplement, section 2", measure, tell, draw)
