"""`omba check`: what is in a source and what is odd about it, before it is learned."""

from __future__ import annotations

from html import escape
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions
from omba.datasets import is_built_in, load
from omba.report.page import style
from omba.sources.check import Check, find_misleading
from omba.sources.check import check as check_source
from omba.sources.sorting import SortedStream

PATIENCE = 2.0
"""Seconds after which a person is told what is looked at."""
LARGE = 5_000_000
"""Rows from which on `omba learn` does not look for what is odd by itself."""


@options.with_columns
def check(
    source: options.Source,
    page: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the same as a page of HTML.")] = None,
    json: options.Json = None,
    *,
    columns: ColumnOptions,
) -> None:
    """Tell what is in a source and what is odd about it, and which option deals with each."""
    begin = monotonic()

    def step(what: str) -> None:
        if monotonic() - begin > PATIENCE:
            terminal.say(f"looking at {what}", "dim")

    baskets = load(source).to_arrow() if is_built_in(source) else source
    found = check_source(baskets, step, **columns.names(), **columns.cleaning())
    if page is not None:
        page.write_text(render(found), encoding="utf-8")
    if write_json(found.to_dict(), json):
        return
    terminal.show(found.title, "bold")
    for name, fact in found.facts.items():
        terminal.show(f"  {name}: {fact}")
    terminal.table(
        "What is odd about it" if found.findings else "Nothing is odd about it.",
        ("what", "found", "example", "what deals with it"),
        [(one.kind, one.sentence, one.example, one.remedy) for one in found],
        left=4,
    )


def say_findings(stream: SortedStream) -> None:
    """Say in a few lines what bears on the rules, while a file is learned."""
    if stream.n_rows > LARGE:
        return
    for one in find_misleading(stream):
        terminal.say(f"{one.kind}: {one.sentence}, as {one.example}; {one.remedy}", "yellow")


def render(found: Check) -> str:
    """The findings as one HTML file."""
    facts = "".join(f"<tr><td>{escape(name)}</td><td>{escape(fact)}</td></tr>" for name, fact in found.facts.items())
    rows = "".join(
        f"<tr><td>{escape(one.kind)}</td><td>{escape(one.sentence)}</td><td>{escape(one.example)}</td>"
        f"<td>{escape(one.remedy)}</td></tr>"
        for one in found
    )
    odd = (
        "<h2>What is odd about it</h2><table><thead><tr><th>what</th><th>found</th><th>example</th>"
        f"<th>what deals with it</th></tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else "<p>Nothing is odd about it.</p>"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(found.title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n"
        f'<header><p class="kicker">Before learning</p><h1>{escape(found.title)}</h1></header>'
        f"<section><h2>What is in it</h2><table><tbody>{facts}</tbody></table></section><section>{odd}</section>"
        "\n</body>\n</html>\n"
    )
