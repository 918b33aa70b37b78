"""`omba families`: products that are variants of one thing or a set sold as one, a line each."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.cli.options import Count, Currency, Json, ModelPath
from omba.cli.output import give
from omba.model import OMBA
from omba.report.figures import count_of, money, number
from omba.rules.family_lines import FamilyLine, family_lines
from omba.rules.from_model import mining_input
from omba.rules.worth import ANYWAY

COLUMNS = (
    "family",
    "products",
    "baskets",
    "revenue",
    "expected revenue",
    "90% interval",
    "lift within",
    "goes with",
    "lift",
)


def families(
    model: ModelPath,
    top: Count = 20,
    text: Annotated[str, typer.Option(metavar="WORDS", help="Families with all these words in their name.")] = "",
    currency: Currency = "",
    json: Json = None,
) -> None:
    """Families of products: how many variants, how regularly they are bought together, and what goes with them."""
    given = mining_input(OMBA.load(model))
    found = family_lines(given, text)
    lines = [row(line, currency) for line in found[:top]]
    give([line.to_dict() for line in found[:top]], json, title(found), COLUMNS, lines, spare=("lift",))
    if json is None and any(line.revenue is not None for line in found[:top]):
        terminal.say(f"{ANYWAY} Expected is a period with a third as many baskets as so far.", "dim")
    if not found:
        terminal.say("No family was found: the names of the products share nothing, and no set is sold as one.")


def title(lines: list[FamilyLine]) -> str:
    return count_of(len(lines), "family").replace("familys", "families")


def row(line: FamilyLine, currency: str = "") -> tuple[str, ...]:
    """One line of the table."""
    within = "–" if line.lift_low is None or line.lift_high is None else _range(line.lift_low, line.lift_high)
    partner = "–" if line.partner is None else line.partner
    lift = "–" if line.partner_lift is None else number(line.partner_lift)
    name = f"{line.name} ({line.season} only)" if line.season else line.name
    revenue = money(line.revenue, currency, 0)
    return name, f"{line.size}", f"{line.sold:,}", revenue, *_expectation(line, currency), within, partner, lift


def _expectation(line: FamilyLine, currency: str) -> tuple[str, str]:
    """What a family should bring in in the next period, or where there are no prices, its baskets; and the interval."""
    worth = line.expected_revenue, line.expected_revenue_low, line.expected_revenue_high
    if line.expected_revenue is None:
        worth, currency = (line.expected_baskets, line.expected_baskets_low, line.expected_baskets_high), ""
    middle, low, high = worth
    if middle is None or low is None or high is None:
        return "–", "–"
    return money(middle, currency, 0), f"{money(low, currency, 0)} to {money(high, currency, 0)}"


def _range(low: float, high: float) -> str:
    return number(low) if number(low) == number(high) else f"{number(low)} to {number(high)}"
