"""`omba reproduce`: every table and figure of the paper beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.learn import INTERRUPTED
from omba.cli.output import write_json

if TYPE_CHECKING:
    from omba.reproduce import Run


def reproduce(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="What to reproduce; all unless named.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name all there is, and stop.")] = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where report and parts go.")] = Path("omba-reproduction"),
    quick: Annotated[bool, typer.Option("--quick", help="Shorter data and fewer windows, in minutes.")] = False,
    seed: Annotated[int, typer.Option(help="Start of all random numbers.")] = 0,
    instacart: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The Kaggle files, if you have them.")
    ] = None,
    json: options.Json = None,
) -> None:
    """Do every table and figure of the paper again, and write a report; a run that was stopped goes on."""
    from omba.reproduce import experiments
    from omba.reproduce import reproduce as run_experiments

    if list_:
        rows = [(one.id, one.place, one.title) for one in experiments()]
        records = [dict(zip(("id", "place", "title"), row, strict=True)) for row in rows]
        if not write_json(records, json):
            terminal.table("to reproduce", ("id", "in the paper", "what"), rows, left=3)
        return
    try:
        found = run_experiments(ids or (), out, quick=quick, seed=seed, instacart=instacart)
    except KeyboardInterrupt:
        terminal.say(f"stopped; what is finished is kept in {out}, and the same command goes on from there")
        raise typer.Exit(INTERRUPTED) from None
    if not write_json(found.report.to_dict(), json):
        _show(found)


def _show(found: Run) -> None:
    if found.report.scale.words:
        terminal.show(found.report.scale.words, "yellow")
    rows = [
        (experiment.id, claim.says, claim.paper, claim.ours, claim.holds)
        for experiment, claim in found.report.claims
        if experiment.id in found.asked
    ]
    terminal.table("the paper, done again", ("", "claim", "paper", "here", "holds"), rows, left=5)
    terminal.show(f"\n{found.report.tally()}. The report is in {found.page}: open it in a browser.")
