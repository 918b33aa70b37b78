"""`omba coming-up`: what belonged together at this time last year, and is about to again."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.baskets.names import show
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import give
from omba.model import OMBA
from omba.report.figures import count_of, number
from omba.rules.coming_up import UNKNOWN, WEEKS, ComingRule, find_coming_up
from omba.rules.from_model import mining_input

COLUMNS = ("coming up", "from", "times the usual", "expected baskets", "90% interval", "lift", "season")


def coming_up(
    model: ModelPath,
    weeks: Annotated[int, typer.Option(min=1, max=26, help="Weeks to come.")] = WEEKS,
    top: Count = 20,
    json: Json = None,
) -> None:
    """What belonged together at this time last year and is about to again, with the baskets to expect."""
    found = find_coming_up(mining_input(OMBA.load(model)), weeks, top)
    title = f"{count_of(len(found.rules), 'rule')} from {found.first} to {found.last}" if found.known else "coming up"
    give([rule.to_dict() for rule in found.rules], json, title, COLUMNS, map(line, found.rules), spare=("lift",))
    if not found.known:
        terminal.say(UNKNOWN)
    elif found.rules and json is None:
        terminal.say(
            f"Baskets to expect if it comes again: of what was sold at this time last year, {found.returns:.0%} is.",
            "dim",
        )
    elif not found.rules:
        terminal.say(
            "Nothing is about to be bought together more than usual, by what the same weeks brought last year."
        )


def line(rule: ComingRule) -> tuple[str, ...]:
    """One line of the table."""
    interval = f"{number(rule.expected_baskets_low)} to {number(rule.expected_baskets_high)}"
    figures = f"{rule.times:.1f}", number(rule.expected_baskets), interval, number(rule.lift)
    return " + ".join(map(show, rule.products, rule.names)), rule.begins, *figures, rule.season
