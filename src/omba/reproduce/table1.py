"""Table 1: the data sets in numbers."""

from __future__ import annotations

from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Cell, Claim, Result, Table
from omba.reproduce.scale import CJ, PRODUCTS, TF

Sizes = tuple[int, int, int, int]
"""Users, items, transactions (rows of the data) and baskets."""

PAPER: dict[str, Sizes] = {
    "Complete Journey (CJ)": (2_500, 92_339, 2_595_733, 276_483),
    "Ta-Feng (TF)": (9_238, 7_973, 464_118, 77_202),
    "Instacart (IC)": (206_209, 49_688, 33_819_306, 3_421_083),
}

COLUMNS = ("data set", "users", "items", "rows", "baskets")


def sizes(baskets: Baskets) -> Sizes:
    """Users, products, products over all baskets and baskets."""
    return len(baskets.users), len(baskets.products), baskets.n_items, len(baskets)


def measure(context: Context) -> dict[str, Sizes]:
    """The sizes of each data set by its title."""
    ours = {
        "Complete Journey 2017, by product": sizes(context.whole(PRODUCTS)),
        "Complete Journey 2017, by product type": sizes(context.whole(CJ)),
        "Ta-Feng": sizes(context.whole(TF)),
    }
    if context.instacart:
        ours["Instacart, the files given"] = sizes(context.whole(f"instacart:{context.instacart}"))
    return ours


def tell(ours: dict[str, Sizes], context: Context) -> Result:
    rows: list[tuple[Cell, ...]] = [(f"{name}, paper", *found) for name, found in PAPER.items()]
    rows += [(f"{name}, here", *found) for name, found in ours.items()]
    same = ours["Ta-Feng"] == PAPER["Ta-Feng (TF)"]
    year = ours["Complete Journey 2017, by product"]
    return Result(
        claims=[
            Claim(
                "Ta-Feng: users, items, rows, baskets",
                _words(PAPER["Ta-Feng (TF)"]),
                _words(ours["Ta-Feng"]),
                "yes" if same else "no",
            ),
            Claim(
                "Complete Journey: users, items, rows, baskets",
                _words(PAPER["Complete Journey (CJ)"]),
                _words(year),
                "partly",
            ),
        ],
        tables=[Table("Data sets", COLUMNS, rows)],
        differs=(
            "The public Complete Journey is one year (2017) of the paper's two, and a row here is a product of a "
            "basket, so that a product bought twice on one receipt is one row and rows with nothing paid are left "
            "out; Ta-Feng is filtered until every product has more than 10 rows, every customer at least 4 baskets "
            "and more than 10 different products, which gives the paper's four figures exactly."
        ),
        settings="no chance involved",
    )


def _words(found: Sizes) -> str:
    return " · ".join(f"{figure:,}" for figure in found)


EXPERIMENT = Experiment("table1", "The data sets", "Table 1", measure, tell)
