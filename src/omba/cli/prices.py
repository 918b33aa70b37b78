"""`omba prices`: what sales of a product and of its partners did in the weeks when it was cheaper."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.assortment.price_effects import CHEAPER, PriceEffect
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import give
from omba.model import OMBA
from omba.rules.from_model import catalogue_of

COLUMNS = ("product", "relation", "sales", "90% interval", "weeks", "against")


def prices(
    product: Annotated[str, typer.Argument(help="The product whose price moved.", show_default=False)],
    model: ModelPath,
    partner: Annotated[list[str] | None, typer.Option(help="A product to look at; otherwise its partners.")] = None,
    cheaper: Annotated[
        float, typer.Option(min=0.01, max=0.9, help="Weeks count as cheaper from this share below the usual price on.")
    ] = CHEAPER,
    top: Count = 10,
    json: Json = None,
) -> None:
    """What a price did: how sales of a product and of its partners changed in the weeks when it was cheaper."""
    learned = OMBA.load(model)
    catalogue = catalogue_of(learned)
    found = learned.price_effects(product, partner or None, top, cheaper)
    title = f"weeks when {catalogue.show(catalogue.labels[catalogue.row(product)])} was cheaper"
    if found:
        title += f", at {found[0].price:.0%} of its usual price"
    lines = [(catalogue.show(effect.product), *line(effect)) for effect in found]
    give([effect.to_dict() for effect in found], json, title, COLUMNS, lines, 2)
    if not found:
        terminal.say("Its price moved in too few weeks to tell what that did, or too few baskets held its partners.")
    elif json is None:
        terminal.say("This is what sales did in those weeks, whatever else the shop did in them.", "dim")


def line(effect: PriceEffect) -> tuple[str, ...]:
    """One line of the table, after the product."""
    interval = f"{effect.low:+.0%} to {effect.high:+.0%}"
    return effect.relation, f"{effect.change:+.0%}", interval, f"{effect.weeks}", f"{effect.usual_weeks} usual"
