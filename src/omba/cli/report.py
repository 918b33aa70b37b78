"""`omba report`: the one-page report of one's own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from omba import report as reporting
from omba import terminal
from omba.cli.options import ModelPath
from omba.cli.sources import ColumnOptions, read
from omba.model import OMBA


def report(
    model: ModelPath,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the page goes.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Its title; the name of the model's folder unless given.")] = None,
    evidence: Annotated[
        str | None, typer.Option(metavar="SOURCE", help="Count over these baskets, exactly, and draw their weeks.")
    ] = None,
) -> None:
    """Write what a model has learned as one HTML page: its strongest rules, unseen pairs, and charts."""
    learned = OMBA.load(model)
    baskets = None if evidence is None else read(evidence, ColumnOptions())
    found = reporting.of_model(learned, title or model.resolve().name, baskets)
    terminal.say(f"The report is in {reporting.write(found, out)}: open it in a browser", "dim")
