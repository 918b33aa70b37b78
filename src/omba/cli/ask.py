"""`omba similar` and `omba rank`: what lies near a product, and what goes with a basket."""

from __future__ import annotations

import csv
from typing import Annotated

import typer

from omba.baskets import Label, find_label
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import give
from omba.errors import InputError
from omba.model import OMBA
from omba.rules import Catalogue
from omba.rules.from_model import catalogue_of
from omba.store import ModelFolder


def similar(
    product: Annotated[str, typer.Argument(help="A product.", show_default=False)],
    model: ModelPath,
    at: Annotated[str | None, typer.Option(metavar="DATE", help="As it was at this moment.")] = None,
    top: Count = 10,
    json: Json = None,
) -> None:
    """The products nearest to one, by the cosine of their vectors."""
    learned = OMBA.load(model)
    catalogue = catalogue_of(learned)
    label = catalogue.find(product)
    if at is None:
        found = learned.similar(label, top)
    else:
        history = ModelFolder(model).history
        found = history.similar_at(label, at, top)
    give(
        [{"product": label, **name_of(catalogue, label), "similarity": cosine} for label, cosine in found],
        json,
        f"nearest to {catalogue.show(label)}" + ("" if at is None else f" at {history.at(at).shown}"),
        ("product", "similarity"),
        [(catalogue.show(label), f"{cosine:.3f}") for label, cosine in found],
    )


def name_of(catalogue: Catalogue, label: Label) -> dict[str, str | None]:
    """The name of a product for JSON, where products have names."""
    return {"name": catalogue.name(label)} if catalogue.named else {}


def rank(
    model: ModelPath,
    basket: Annotated[str | None, typer.Option(help="Products in the basket: 'A,B'.", show_default=False)] = None,
    user: Annotated[str | None, typer.Option(help="Whose basket it is.")] = None,
    top: Count = 10,
    json: Json = None,
) -> None:
    """The products likeliest to go into a basket too, each with the chance that it is bought on this visit.

    Without a basket, it is what the user will buy next; without a user either, the best sellers.
    """
    learned = OMBA.load(model)
    catalogue = catalogue_of(learned)
    products = [] if basket is None else names(basket)
    found = learned.rank(products, user, top)
    rows = [(product, catalogue.row_in_basket(product)) for product in products]
    shown = [catalogue.show(catalogue.labels[row]) for _, row in rows if row is not None]
    unknown = [repr(product) for product, row in rows if row is None]
    what = f"goes with {', '.join(shown)}" if shown else "the next basket"
    if unknown:
        what += f" (left out, not known to the model: {', '.join(unknown)})"
    chance = "chance" if learned.clues else "score"
    asked = {} if user is None else {"user": find_label(user, learned.user_rows.vocabulary.codes)}
    give(
        [{**asked, "product": label, **name_of(catalogue, label), chance: number} for label, number in found],
        json,
        what + whose(learned, user),
        ("product", chance),
        [(catalogue.show(label), f"{number:.3f}") for label, number in found],
    )


def whose(learned: OMBA, user: str | None) -> str:
    """For whom an answer is, at the end of its title; an unknown user is told as such."""
    if user is None:
        return ""
    if find_label(user, learned.user_rows.vocabulary.codes) is None:
        return f", for anybody: user {user!r} is not known to the model"
    return f", for {user}"


def names(basket: str) -> list[str]:
    """The products of a basket on the command line; one with a comma in it is put in double quotes.

    >>> names('pasta, "salt, coarse"')
    ['pasta', 'salt, coarse']
    """
    try:
        found = [name.strip() for name in next(csv.reader([basket], skipinitialspace=True), []) if name.strip()]
    except csv.Error as error:
        raise InputError(f"--basket {basket[:80]!r} is no list of products ({error}): write them in a line") from None
    if not found:
        raise InputError("--basket holds no product: give some as in --basket 'pasta,sauce'")
    return found
