"""`omba rules` and `omba explain`: the rules in a model, and what a single pair rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omba import terminal
from omba.cli.options import Currency, Json, ModelPath
from omba.cli.output import give, write_json
from omba.cli.sources import ColumnOptions, read
from omba.errors import InputError
from omba.model import OMBA
from omba.report.figures import STRONG, count_of, money, number, say_bound, strong_rows
from omba.rules import Filter, Rules
from omba.rules.export import records
from omba.rules.from_model import mine_rules, mining_input
from omba.rules.mining_input import UNJUDGED
from omba.rules.worth import ANYWAY, ENDS, WORTH

MANY = 10_000
"""Rules from which on a word is said before they are looked for."""
SHOWN = {
    "count": "together",
    "expected_lift": "expected lift",
    "expected_lift_low": "90% interval",
    "similarity": "cosine",
}
"""Columns of a table of rules that the printed one has under another name."""


def rules(
    model: ModelPath,
    top: Annotated[int, typer.Option("-n", "--top", min=1, help="How many rules.")] = 20,
    product: Annotated[str | None, typer.Option(help="Rules with this product on either side.")] = None,
    antecedent: Annotated[str | None, typer.Option(help="Rules that start from this product.")] = None,
    consequent: Annotated[str | None, typer.Option(help="Rules that lead to this product.")] = None,
    category: Annotated[str | None, typer.Option(help="Rules with a product of this category.")] = None,
    text: Annotated[str, typer.Option(metavar="WORDS", help="Rules with all these words in names or labels.")] = "",
    status: Annotated[str | None, typer.Option(help="observed, rare or unseen.")] = None,
    min_price: Annotated[float | None, typer.Option(help="Rules whose products all cost this or more.")] = None,
    max_price: Annotated[float | None, typer.Option(help="Rules whose products all cost this or less.")] = None,
    season: Annotated[
        str | None, typer.Option(help="'any' for rules of a season, 'none' for all year, or a month: Dec.")
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(help="complement, substitute, variant, 'same customers', 'different customers' or unclear."),
    ] = None,
    length: Annotated[int | None, typer.Option(min=2, help="Rules of so many products on both sides.")] = None,
    minimum: Annotated[
        list[str] | None, typer.Option("--min", metavar="COLUMN=NUMBER", help="A bound on any column: lift=5.")
    ] = None,
    maximum: Annotated[
        list[str] | None, typer.Option("--max", metavar="COLUMN=NUMBER", help="The same from above.")
    ] = None,
    evidence: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Count over these baskets, exactly, not as kept by the model.")
    ] = None,
    within: Annotated[
        bool, typer.Option("--within", help="Rules between variants of one thing, which are left out otherwise.")
    ] = False,
    families: Annotated[
        bool, typer.Option("--families/--all", help="One line a family, or all rules whatever the families.")
    ] = True,
    sort: Annotated[str | None, typer.Option(metavar="COLUMN", help="Best first by this column.")] = None,
    currency: Currency = "",
    preset: Annotated[str, typer.Option(help="'default', or 'paper' for its F = 4 and H = 11.")] = "default",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write .csv, .xlsx, .json, .jsonl, .parquet, .graphml or .pmml.")
    ] = None,
    json: Json = None,
) -> None:
    """The best rules of a model: strong ones, rare ones, and pairs never seen that should be."""
    where = Filter(
        product, antecedent, consequent, category, min_price, max_price, status, length,
        minimum=bounds(minimum), maximum=bounds(maximum), text=text, season=season,
        families="within" if within else None, relation=relation,
    )  # fmt: skip
    if top > MANY:
        terminal.say(f"up to {top:,} rules are looked for: of a large shop that takes minutes", "dim")
    baskets = None if evidence is None else read(evidence, ColumnOptions())
    loaded = OMBA.load(model)
    found = mine_rules(
        loaded, top, baskets, preset=preset, sort=sort, where=where, antecedents=max(2, (length or 2) - 1),
        within_families=not families,
    )  # fmt: skip
    if out is not None:
        found.write(out)
        terminal.say(f"{count_of(len(found), 'rule')} written to {out}", "dim")
    _show(found, sort, currency, json)
    _add_notes(loaded, found, sort, json is None)


def _show(found: Rules, sort: str | None, currency: str, json: Path | None) -> None:
    """The table on the terminal, or as JSON."""
    columns, rows = table(found, sort, currency)
    title = f"{count_of(len(found), 'rule')} from {count_of(found.n, 'basket')}"
    give(list(records(found)), json, title, columns, rows, spare=("90% interval", "cosine", "confidence", "status"))


def _add_notes(model: OMBA, found: Rules, sort: str | None, shown: bool) -> None:
    """What a reader of the table has to know beside it."""
    if not model.forecast.judged:
        terminal.say(UNJUDGED, "dim")
    if shown and (note := say_bound(found)):
        terminal.show(note, "dim")
    if shown and (warning := warn_of_seasons(found)):
        terminal.show(warning, "dim")
    if shown and sort in (*WORTH, "value"):
        terminal.say(ANYWAY, "dim")
    if not len(found):
        terminal.say("No rule passes all the filters: leave one out, or ask for less.")


def warn_of_seasons(found: Rules) -> str:
    """A warning where rules hold for a few weeks of the year alone, and whether the forecast knows; else nothing."""
    seasonal = [season for season in found.seasons if season]
    if not seasonal:
        return ""
    outlook = found.catalogue.outlook
    told = (
        "What is expected goes by the same weeks a year ago."
        if outlook is not None and outlook.known
        else "Less than a year is known, so whether their season comes again cannot be told."
    )
    months = max(set(seasonal), key=seasonal.count)
    return (
        f"{len(seasonal)} of these {count_of(len(found), 'rule')} are of a season only, such as {months}: "
        f"--season none leaves them out. {told}"
    )


def table(found: Rules, sort: str | None, currency: str = "") -> tuple[list[str], list[list[str]]]:
    """The printed table: the usual columns, and the one that was sorted by."""
    columns = [*STRONG, "status"]
    rows = [[*row, status] for row, status in zip(strong_rows(found), found["status"], strict=True)]
    if any(found["relation"]):
        columns.append("relation")
        rows = [[*row, relation] for row, relation in zip(rows, found["relation"].tolist(), strict=True)]
    if any(found.seasons):
        columns.append("season")
        rows = [[*row, season] for row, season in zip(rows, found.seasons, strict=True)]
    if sort is not None and SHOWN.get(sort, sort) not in columns:
        columns.append(sort)
        for row, text in zip(rows, written(found, sort, currency), strict=True):
            row.append(text)
    if f"{sort}_low" in ENDS:
        columns.append(f"{sort}, 90%")
        ends = (written(found, f"{sort}_{end}", currency) for end in ("low", "high"))
        for row, low, high in zip(rows, *ends, strict=True):
            row.append(f"{low} to {high}")
    return columns, rows


def written(found: Rules, column: str, currency: str) -> list[str]:
    """The values of a column as they are printed: money in its currency."""
    if column == "value" or column.removeprefix("expected_").startswith("revenue"):
        return [money(value, currency, 2 if abs(value) < 10 else 0) for value in found[column].tolist()]
    return [number(value) if isinstance(value, float) else str(value) for value in found[column].tolist()]


def explain(
    a: Annotated[str, typer.Argument(help="A product.", show_default=False)],
    b: Annotated[str, typer.Argument(help="Another product.", show_default=False)],
    model: ModelPath,
    json: Json = None,
) -> None:
    """What speaks for two products belonging together, even where no basket ever held both."""
    found = mining_input(OMBA.load(model)).explainer.explain(a, b)
    if not write_json(found.to_dict(), json):
        terminal.show(str(found))


def bounds(given: list[str] | None) -> dict[str, float]:
    """Bounds on columns.

    >>> bounds(["lift=5", "count=10"])
    {'lift': 5.0, 'count': 10.0}
    """
    found = {}
    for text in given or ():
        name, _, figure = text.partition("=")
        try:
            found[name.strip()] = float(figure)
        except ValueError:
            raise InputError(f"{text!r} is no bound on a column: write it as in lift=5") from None
    return found
