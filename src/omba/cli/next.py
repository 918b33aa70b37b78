"""`omba next`: what customers will buy at their next visit."""

from __future__ import annotations

import csv
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from omba import terminal
from omba.baskets import find_label
from omba.cli.ask import name_of, whose
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import give
from omba.errors import InputError
from omba.model import OMBA
from omba.model.recommend import Kind
from omba.rules import Catalogue
from omba.rules.from_model import catalogue_of

COLUMNS = ("user", "product", "chance", "kind", "count", "last", "due")


def next_basket(
    model: ModelPath,
    user: Annotated[str | None, typer.Option(help="The customer.", show_default=False)] = None,
    users: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Customers, one a line, or the first column of a CSV file.")
    ] = None,
    kind: Annotated[
        str, typer.Option(help="'rebuy' what they bought before, 'discover' what is new to them, or 'all'.")
    ] = "all",
    top: Count = 10,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as CSV.")] = None,
    json: Json = None,
) -> None:
    """What a customer will buy at the next visit, each product with its chance and, if bought before, when last and
    whether it is due."""
    if kind not in get_args(Kind):
        raise InputError(f"--kind is {kind!r}: it takes {', '.join(get_args(Kind))}")
    if (user is None) == (users is None):
        raise InputError("give --user U for one customer, or --users FILE for many")
    learned = OMBA.load(model)
    catalogue = catalogue_of(learned)
    wanted = [user] if users is None else read_users(users)
    records: list[dict[str, Any]] = []
    with terminal.progress("next baskets", len(wanted)) if users else nullcontext(None) as advance:
        for one in wanted:
            records += records_of(learned, catalogue, str(one), kind, top)
            if advance:
                advance(1, str(one))
    if out is not None:
        write_csv(records, out, catalogue.named)
        terminal.say(f"{len(records):,} rows written to {out}")
        if json is None:
            return
    title = f"the next basket{whose(learned, user)}" if users is None else f"the next baskets of {len(wanted):,} users"
    if user is not None and find_label(user, learned.user_rows.vocabulary.codes) is not None:
        title += f" (about {learned.expected_size(user):.1f} products)"
    shown = COLUMNS if users else COLUMNS[1:]
    for_show = [{**record, "product": catalogue.show(record["product"])} for record in records]
    rows = [[cell(record[column]) for column in shown] for record in for_show]
    give(records, json, title, shown, rows, left=len(shown) - 5)


def records_of(learned: OMBA, catalogue: Catalogue, user: str, kind: str, top: int) -> list[dict[str, Any]]:
    """The suggestions for one customer; `kind` is "unknown" where the model does not know them."""
    label = find_label(user, learned.user_rows.vocabulary.codes)
    known = {} if label is None else {one.product: one for one in learned.customer(label).products}
    found = learned.next_basket(user, top, kind)  # type: ignore[arg-type]
    return [
        {
            "user": user if label is None else label,
            "product": product,
            **name_of(catalogue, product),
            "chance": chance,
            "kind": "unknown customer" if label is None else "rebuy" if product in known else "discover",
            "count": known[product].count if product in known else 0,
            "last": known[product].last if product in known else None,
            "due": product in known and known[product].due,
        }
        for product, chance in found
    ]


def read_users(file: Path) -> list[str]:
    """The customers in a file, each once: the first cell of each line; a first line that says "user" is a heading."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as stream:
            cells = [line[0].strip() for line in csv.reader(stream) if line and line[0].strip()]
    except UnicodeDecodeError:
        raise InputError(f"{str(file)!r} is not text in UTF-8: give a file with one customer a line") from None
    except csv.Error as error:
        raise InputError(f"{str(file)!r} is no CSV ({error}): give a file with one customer a line") from None
    if cells and cells[0].lower() in ("user", "user_id", "customer", "customer_id", "household_id"):
        cells = cells[1:]
    if not cells:
        raise InputError(f"{str(file)!r} holds no customer: give a file with one customer a line")
    return list(dict.fromkeys(cells))


def write_csv(records: list[dict[str, Any]], file: Path, named: bool) -> None:
    """The records as a table in a file, with the names of products where they have any."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, (*COLUMNS[:2], "name", *COLUMNS[2:]) if named else COLUMNS)
        writer.writeheader()
        writer.writerows(records)


def cell(value: Any) -> str:
    """A value as a cell of a table."""
    if value is None or value is False:
        return ""
    if value is True:
        return "due"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
