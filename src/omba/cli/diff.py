"""`omba diff`: what changed in the rules between two moments."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.cli.options import Count, Json, ModelPath
from omba.cli.output import write_json
from omba.report.figures import number
from omba.rules.diff import Change
from omba.store import ModelFolder


def diff(
    model: ModelPath,
    start: Annotated[str, typer.Option("--from", metavar="DATE", help="The earlier moment.", show_default=False)],
    stop: Annotated[str, typer.Option("--to", metavar="DATE", help="The later moment.", show_default=False)],
    top: Count = 10,
    json: Json = None,
) -> None:
    """Rules that emerged, strengthened, faded or vanished between two moments."""
    history = ModelFolder(model).history
    found = history.diff(start, stop)
    if write_json(found.to_dict(), json):
        return
    terminal.show(f"from {history.at(start).shown} to {history.at(stop).shown}", "dim")
    for name, changes in found:
        some = f", the first {top:,}" if len(changes) > top else ""
        rows = [_row(change) for change in changes[:top]]
        if rows:
            columns = ("rule", "lift before", "lift since", "baskets since")
            terminal.table(f"{name} ({len(changes):,}{some})", columns, rows)
        else:
            terminal.show(f"\n{name} (none)", "bold")


def _row(change: Change) -> tuple[str, str, str, str]:
    left, right = (" + ".join(map(str, side)) for side in (change.antecedents, change.consequents))
    before, since = ("–" if lift is None else number(lift) for lift in (change.before, change.since))
    return f"{left} ⇒ {right}", before, since, "–" if change.count_since is None else f"{change.count_since:,}"
