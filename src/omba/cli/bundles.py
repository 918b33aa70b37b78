"""`omba bundles`: what to sell together, what it brings in, and how much discount it bears."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from omba import terminal
from omba.baskets.names import show
from omba.cli.options import Count, Currency, Json, ModelPath
from omba.cli.output import give
from omba.cli.sources import ColumnOptions, read
from omba.errors import InputError
from omba.model import OMBA
from omba.report.figures import count_of, money, number
from omba.rules.bundles import FLOOR, Bundle, find_bundles
from omba.rules.from_model import mining_input
from omba.rules.workbook import write_table
from omba.rules.worth import ANYWAY

COLUMNS = ("bundle", "together", "lift", "expected baskets", "90% interval", "in a basket", "expected revenue")


def bundles(
    model: ModelPath,
    top: Count = 20,
    by: Annotated[str, typer.Option(help="Best first by 'revenue' to expect or by 'lift'.")] = "revenue",
    floor: Annotated[float, typer.Option(min=0, help="Baskets to expect of a bundle in the next period.")] = FLOOR,
    uptake: Annotated[
        float, typer.Option(min=0, help="Extra takers of an offer that the break-even discount is for: 0.2 is 20%.")
    ] = 0.2,
    margin: Annotated[float, typer.Option(min=0.001, max=1, help="Profit as a share of the price.")] = 1.0,
    evidence: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Count over these baskets, exactly, sets of four too.")
    ] = None,
    currency: Currency = "",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write .csv or .xlsx.")] = None,
    json: Json = None,
) -> None:
    """Bundles of products that belong together, of different families, with the baskets and the revenue to expect."""
    if by not in ("revenue", "lift"):
        raise InputError(f"--by {by!r} is not known: give revenue or lift")
    given = mining_input(OMBA.load(model), None if evidence is None else read(evidence, ColumnOptions()))
    found = find_bundles(given, top, by, floor, uptake, margin)  # type: ignore[arg-type]
    if out is not None:
        write_table(pa.Table.from_pylist([record(bundle) for bundle in found]), out, "bundles")
        terminal.say(f"{count_of(len(found), 'bundle')} written to {out}", "dim")
    title = f"{count_of(len(found), 'bundle')}, of a period with a third as many baskets as so far"
    give([bundle.to_dict() for bundle in found], json, title, COLUMNS, [line(one, currency) for one in found])
    if not found:
        terminal.say("No products are likely enough to belong together: lower the floor, or learn more baskets.")
    elif json is None:
        terminal.say(
            f"{ANYWAY} With {uptake:.0%} more takers an offer earns what it costs at a discount of "
            f"{found[0].break_even:.1%}.",
            "dim",
        )


def line(bundle: Bundle, currency: str) -> tuple[str, ...]:
    """One line of the table."""
    products = " + ".join(map(show, bundle.products, bundle.names))
    baskets, low, high = (
        number(math.nan if value is None else value)
        for value in (bundle.expected_baskets, bundle.expected_baskets_low, bundle.expected_baskets_high)
    )
    amounts = [money(amount, currency) for amount in (bundle.price, bundle.expected_revenue)]
    products += f" ({bundle.season} only)" if bundle.season else ""
    return products, f"{bundle.count:,}", number(bundle.lift), baskets, f"{low} to {high}", *amounts


def record(bundle: Bundle) -> dict[str, Any]:
    """A bundle as a line of a file."""
    fields = bundle.to_dict()
    products, names = fields.pop("products"), fields.pop("names")
    return {"products": " + ".join(map(str, products)), "names": " + ".join(name or "" for name in names), **fields}
