"""`omba demo`: see for yourself, in a minute or two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omba import demo as demonstration
from omba import terminal
from omba.cli.options import Json, Until
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, read
from omba.rules.export import records


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the model and the report go.")] = Path("omba-demo"),
    until: Until = None,
    serve: Annotated[bool, typer.Option("--serve", help="Open the dashboard on it when it is done.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the dashboard; 0 takes a free one.")] = 8000,
    json: Json = None,
) -> None:
    """Learn a real year of groceries day by day, print its rules, and write a report."""
    if serve:
        import omba.service  # noqa: F401  (what is missing is told before the year is learned)
    baskets = read("complete-journey", ColumnOptions()).between(None, until)
    found = demonstration.run(baskets, out)
    tables = {"strongest": list(records(found.strongest)), "unseen": list(records(found.unseen))}
    if not write_json(tables, json):
        demonstration.show(found)
    if serve:
        from omba.service.server import ServerPlan
        from omba.service.server import serve as run

        plan = ServerPlan(found.model_folder, port=port)
        run(plan, lambda address: terminal.show(f"\nThe dashboard is at {address} (Ctrl-C stops)"))
