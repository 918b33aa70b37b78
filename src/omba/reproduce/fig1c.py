"""Figure 1c: what is bought changes with the season."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.style import BLUE, RED, picture

PRODUCTS = {"Valentine Gifts and Decorations": "VALENTINE GIFTWARE/DECOR", "Rainier Cherries": "CHERRIES RANIER"}
"""The paper's names, and those in the public data."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def supports(baskets: Baskets, product: str) -> NDArray[np.float64]:
    """The share of each month's baskets that hold a product."""
    (code,) = baskets.product_vocabulary.find([product]).tolist()
    return np.array([(month.items == code).sum() / len(month) for month in baskets.windows("month")])


Supports = dict[str, NDArray[np.float64]]
"""By product, its support in each month."""


def measure(context: Context) -> Supports:
    """The supports of both products over the year."""
    baskets = context.whole().between("2017-01-01", "2018-01-01")
    return {name: supports(baskets, label) for name, label in PRODUCTS.items()}


def draw(found: Supports) -> Picture:
    def paint(axes: Any) -> None:
        for (name, support), colour, mark in zip(found.items(), (BLUE, RED), ("o-", "s--"), strict=True):
            axes.plot(MONTHS[: len(support)], 100 * support, mark, color=colour, label=name)
        axes.set(ylabel="support, % of baskets")
        axes.legend()

    alt = "Support by month of Valentine gifts, peaking in February, and of Rainier cherries, in summer"
    return picture("fig1c", alt, paint)


def tell(found: Supports, context: Context) -> Result:
    months = MONTHS[: len(next(iter(found.values())))]
    peaks = {name: int(support.argmax()) for name, support in found.items()}
    ours = "; ".join(f"{name}: peak in {months[peak]}, {found[name][peak]:.4f}" for name, peak in peaks.items())
    rows: Rows = [[month, *(float(support[k]) for support in found.values())] for k, month in enumerate(months)]
    return Result(
        claims=[
            Claim(
                "support of seasonal products varies strongly over the months",
                "two curves up to about 0.011, no figures",
                ours,
                "yes" if all(s.max() > 5 * np.median(s) for s in found.values()) else "no",
            ),
        ],
        tables=[Table("Support by month", ("month", *found), rows, digits=5)],
        differs=(
            "The paper draws 24 months without figures on the points; the public data have twelve, with calendar dates."
        ),
        settings="The Complete Journey 2017; no chance involved",
    )


EXPERIMENT = Experiment("fig1c", "Two products' support by month", "Figure 1c", measure, tell, draw)
