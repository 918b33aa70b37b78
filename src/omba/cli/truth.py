"""`omba truth`: do the rules hold in what comes after?"""

from __future__ import annotations

from typing import Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, read
from omba.model import OMBA


@options.with_columns
def truth(
    source: options.Source,
    until: Annotated[str | None, typer.Option(help="Learn up to this moment; else three quarters.")] = None,
    lift: Annotated[float, typer.Option(help="A rule holds if its lift is above this afterwards.")] = 5.0,
    seed: Annotated[int, typer.Option(help="Start of all random numbers.")] = 0,
    every: options.Every = "1d",
    antecedents: Annotated[
        int | None, typer.Option(min=1, help="Judge each length for itself, rules of up to so many antecedents.")
    ] = None,
    json: options.Json = None,
    *,
    columns: ColumnOptions,
) -> None:
    """Learn the first part of the baskets, and judge the rules by the rest, beside other rankings."""
    from omba.evaluation import split, truth_test
    from omba.evaluation.truth_by_length import TruthByLength, judge_by_length
    from omba.evaluation.truth_result import TruthTest

    baskets = read(source, columns)
    past, _ = split(baskets, until)
    with terminal.progress("learning", len(past)) as advance:
        model = OMBA(seed=seed).fit(past, every, progress=lambda window: advance(len(window), ""))
    found: TruthTest | TruthByLength
    if antecedents is None:
        found = truth_test(baskets, until, model, every, lift=lift, seed=seed)
    else:
        # The model counts sets of up to three products; larger ones are counted in the baskets that it learned.
        found = judge_by_length(baskets, until, model, antecedents, lift=lift, exact=antecedents > 2)
    if not write_json(found.to_dict(), json):
        terminal.show(str(found))
