"""`omba substitutes` and `omba complements`: what is bought instead of a product, and what with it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from omba import terminal
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import give
from omba.model import OMBA
from omba.rules.from_model import catalogue_of

Product = Annotated[str, typer.Argument(help="A product.", show_default=False)]


def substitutes(product: Product, model: ModelPath, top: Count = 10, json: Json = None) -> None:
    """What is bought instead of a product: customers who buy both hardly ever take both at once."""
    tell(model, product, "substitute", "instead of", top, json)


def complements(product: Product, model: ModelPath, top: Count = 10, json: Json = None) -> None:
    """What belongs to a product: customers who buy both take both at once more often than their habits explain."""
    tell(model, product, "complement", "with", top, json)


def tell(folder: Path, product: str, kind: str, word: str, top: int, json: Path | None) -> None:
    """The products in a relation to one, each with its probability and what that rests on."""
    learned = OMBA.load(folder)
    catalogue, assortment = catalogue_of(learned), learned.assortment
    row = catalogue.row(product)
    found = assortment.partners(row, kind, top)
    rows = np.array([other for other, _ in found], np.int64)
    judged = assortment.relations().judge(np.full(len(rows), row), rows)
    labels = [catalogue.labels[other] for other in rows.tolist()]
    records = [
        {"product": label, "name": catalogue.name(label), "probability": chance, "sentence": judged.sentence(place)}
        for place, (label, (_, chance)) in enumerate(zip(labels, found, strict=True))
    ]
    lines = [
        (catalogue.show(label), one["sentence"], f"{one['probability']:.0%}")
        for label, one in zip(labels, records, strict=True)
    ]
    title = f"bought {word} {catalogue.show(catalogue.labels[row])}"
    give(records, json, title, ("product", "why", "probability"), lines, 2)
    if not found:
        terminal.say(f"Nothing is likely bought {word} it, by what is known of customers so far.")
