"""`omba doctor`: whether all that is kept of a model is whole, and what to do where it is not."""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.store import ModelFolder


def doctor(
    model: options.ModelPath,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Go on without the baskets that the journal has lost.")
    ] = False,
    json: options.Json = None,
) -> None:
    """Look through everything that is kept of a model: what is whole, what is not, and what to do."""
    from omba.store.checkup import LEVELS, examine

    folder = ModelFolder(model)
    accepted = folder.accept_losses() if accept_loss else []
    findings = examine(folder)
    worst = max((LEVELS[one.state] for one in findings), default=0)
    facts = {
        "state": worst,
        "accepted": [{"first": one.first, "baskets": one.after - one.first} for one in accepted],
        "findings": [vars(one) for one in findings],
    }
    if not write_json(facts, json):
        for loss in accepted:
            terminal.show(f"given up: {loss}", "yellow")
        rows = [(one.part, one.state, one.text if not one.remedy else f"{one.text}: {one.remedy}") for one in findings]
        terminal.table(str(model), ("part", "state", "what was found"), rows, left=3)
    if worst:
        raise typer.Exit(worst)
