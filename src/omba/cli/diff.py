"""`omba diff`: what happened to pairs of products between two moments."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import write_json
from omba.report.figures import number
from omba.rules import Catalogue
from omba.rules.diff import Change, show_bounds
from omba.rules.from_model import catalogue_of
from omba.store import ModelFolder

COLUMNS = ("pair", "together before", "together since", "sales explain", "lift before", "lift since")
MEANING = {
    "emerged": "never together before, and now beyond chance",
    "strengthened": "together more often than their own sales explain",
    "faded": "together less often than their own sales explain",
    "vanished": "together before, and no more",
}


def diff(
    model: ModelPath,
    start: Annotated[str, typer.Option("--from", metavar="DATE", help="The earlier moment.", show_default=False)],
    stop: Annotated[str, typer.Option("--to", metavar="DATE", help="The later moment.", show_default=False)],
    top: Count = 10,
    json: Json = None,
) -> None:
    """Pairs that are new, together more or less often than sales explain, or no more, between two moments."""
    folder = ModelFolder(model)
    history = folder.history
    found = history.diff(start, stop)
    if found.note:
        terminal.say(found.note[:1].upper() + found.note[1:] + ".")
    if write_json(found.to_dict(), json):
        return
    catalogue = catalogue_of(folder.load()) if folder.exists else Catalogue()
    first, last = history.at(start), history.at(stop)
    terminal.show(
        f"before {first.shown} ({first.n_baskets:,} baskets), and since, until {last.shown} "
        f"({last.n_baskets - first.n_baskets:,} baskets)",
        "dim",
    )
    for name, changes in found:
        some = f", the first {top:,}" if len(changes) > top else ""
        rows = [_row(change, catalogue) for change in changes[:top]]
        if rows:
            terminal.table(f"{name} ({len(changes):,}{some}): {MEANING[name]}", COLUMNS, rows)
        else:
            terminal.show(f"\n{name} (none): {MEANING[name]}", "bold")


def _row(change: Change, catalogue: Catalogue) -> tuple[str, ...]:
    left, right = (" + ".join(map(catalogue.show, side)) for side in (change.antecedents, change.consequents))
    note = f" ({change.note})" if change.note else ""
    return (
        f"{left} and {right}{note}",
        show_bounds(change.count_before, change.count_before_most),
        show_bounds(change.count_since, change.count_since_most),
        *("–" if value is None else number(value) for value in (change.explained, change.before, change.since)),
    )
