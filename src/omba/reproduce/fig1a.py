"""Figure 1a: the dearer a product, the fewer of it are sold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from omba.baskets import Baskets
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Table
from omba.reproduce.style import BLUE, draw
from omba.reproduce.workshop import Workshop

DEAREST = 50
"""Dollars up to which the paper draws."""
PLATEAU = 10
"""Dollars from which on the paper sees a plateau, and clips its weights."""


def sales_by_price(baskets: Baskets, dearest: int = DEAREST) -> NDArray[np.int64]:
    """Sales at a price from k to k + 1 dollars, for k from 0 on."""
    assert baskets.prices is not None
    prices = baskets.prices[np.isfinite(baskets.prices) & (baskets.prices > 0)]
    return np.bincount(prices[prices < dearest].astype(np.int64), minlength=dearest)


def run(workshop: Workshop) -> Result:
    baskets = workshop.whole()
    sales = sales_by_price(baskets)
    dollars = np.arange(len(sales))
    rank = float(spearmanr(dollars, sales).statistic)
    beyond = float(sales[PLATEAU:].sum() / sales.sum())

    def paint(axes: Any) -> None:
        axes.plot(dollars + 0.5, sales, color=BLUE)
        axes.set(xlabel="price of a piece, dollars", ylabel="sales", yscale="log", xlim=(0, DEAREST))
        axes.axvline(PLATEAU, color="#b9b5ab", linewidth=0.8)
        axes.annotate(f"{beyond:.1%} of sales are dearer", (PLATEAU + 0.6, sales.max()), va="top", fontsize=9)

    some = [0, 1, 2, 5, 10, 20, 30, 40, 49]
    return Result(
        claims=[
            Claim(
                "sales fall with the price, as a power law, to a plateau from 10 dollars on",
                "a curve, no figures",
                f"rank correlation {rank:.2f}; {beyond:.1%} of sales above {PLATEAU} dollars",
                "yes" if rank < -0.8 else "no",
            ),
        ],
        tables=[Table("Sales by price", ("dollars", "sales"), [(f"{k} to {k + 1}", int(sales[k])) for k in some])],
        pictures=[draw("fig1a", "Sales against price: the count falls by four powers of ten up to 50 dollars", paint)],
        differs=(
            "The paper draws this on a plain axis without figures, from two years; here it is one year, by dollar, "
            "with sales on a logarithmic axis, on which a plateau would be flat: sales go on falling beyond 10 "
            "dollars."
        ),
        settings="The Complete Journey 2017; price is what was paid divided by the pieces; no chance involved",
    )


EXPERIMENT = Experiment("fig1a", "Price against sales", "Figure 1a", run)
