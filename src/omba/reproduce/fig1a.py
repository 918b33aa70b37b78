"""Figure 1a: the dearer a product, the fewer of it are sold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Table
from omba.reproduce.style import BLUE, picture

DEAREST = 50
"""Dollars up to which the paper draws."""
PLATEAU = 10
"""Dollars from which on the paper sees a plateau, and clips its weights."""


def sales_by_price(baskets: Baskets, dearest: int = DEAREST) -> NDArray[np.int64]:
    """Sales at a price from k to k + 1 dollars, for k from 0 on."""
    assert baskets.prices is not None
    prices = baskets.prices[np.isfinite(baskets.prices) & (baskets.prices > 0)]
    return np.bincount(prices[prices < dearest].astype(np.int64), minlength=dearest)


@dataclass(frozen=True)
class PriceCurve:
    """Sales by price: the curve, its rank correlation with the price, and the share of sales beyond the plateau."""

    sales: NDArray[np.int64]
    rank: float
    beyond: float


def measure(context: Context) -> PriceCurve:
    """Sales of the whole year, dollar by dollar."""
    sales = sales_by_price(context.whole())
    rank = float(spearmanr(np.arange(len(sales)), sales).statistic)
    return PriceCurve(sales, rank, float(sales[PLATEAU:].sum() / sales.sum()))


def draw(curve: PriceCurve) -> Picture:
    def paint(axes: Any) -> None:
        axes.plot(np.arange(len(curve.sales)) + 0.5, curve.sales, color=BLUE)
        axes.set(xlabel="price of a piece, dollars", ylabel="sales", yscale="log", xlim=(0, DEAREST))
        axes.axvline(PLATEAU, color="#b9b5ab", linewidth=0.8)
        at = PLATEAU + 0.6, curve.sales.max()
        axes.annotate(f"{curve.beyond:.1%} of sales are dearer", at, va="top", fontsize=9)

    return picture("fig1a", "Sales against price: the count falls by four powers of ten up to 50 dollars", paint)


def tell(curve: PriceCurve, context: Context) -> Result:
    some = [0, 1, 2, 5, 10, 20, 30, 40, 49]
    rows = [(f"{k} to {k + 1}", int(curve.sales[k])) for k in some]
    return Result(
        claims=[
            Claim(
                "sales fall with the price, as a power law, to a plateau from 10 dollars on",
                "a curve, no figures",
                f"rank correlation {curve.rank:.2f}; {curve.beyond:.1%} of sales above {PLATEAU} dollars",
                "yes" if curve.rank < -0.8 else "no",
            ),
        ],
        tables=[Table("Sales by price", ("dollars", "sales"), rows)],
        differs=(
            "The paper draws this on a plain axis without figures, from two years; here it is one year, by dollar, "
            "with sales on a logarithmic axis, on which a plateau would be flat: sales go on falling beyond 10 "
            "dollars."
        ),
        settings="The Complete Journey 2017; price is what was paid divided by the pieces; no chance involved",
    )


EXPERIMENT = Experiment("fig1a", "Price against sales", "Figure 1a", measure, tell, draw)
