"""`omba evaluate`: how well each method finds a hidden product of a basket, or a customer's next basket."""

from __future__ import annotations

import json as jsons
from typing import TYPE_CHECKING, Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, read
from omba.datasets import judged_users

if TYPE_CHECKING:
    from omba.evaluation import Evaluation

TITLES = {
    "hidden": "finding a hidden product",
    "complete": "finding a hidden product among all",
    "next": "finding the next basket",
}


@options.with_columns
def evaluate(
    source: options.Source,
    methods: Annotated[str, typer.Option(help="Methods to compare, separated by commas.")] = "omba,lift,sup,pop",
    task: Annotated[
        str,
        typer.Option(
            help="'hidden': a product of a basket among ten others, the paper's test; 'complete': among all products; "
            "'next': a customer's next basket."
        ),
    ] = "hidden",
    windows: Annotated[
        int | None, typer.Option(help="Windows asked about: 20 of the second half (hidden), the last 6 (complete).")
    ] = None,
    negatives: Annotated[int | None, typer.Option(help="Products the hidden one is ranked among: 10 (hidden).")] = None,
    seed: Annotated[int, typer.Option(help="First seed: it settles windows, hidden products and negatives.")] = 0,
    seeds: Annotated[int, typer.Option(help="Runs, each with a seed of its own.")] = 1,
    hide: Annotated[str | None, typer.Option(help="'one' product of a basket, or 'all' in turn (hidden).")] = None,
    draw: Annotated[
        str | None, typer.Option(help="Negatives from the 'window' as bought, or 'uniform' from all (hidden).")
    ] = None,
    above: Annotated[float | None, typer.Option(help="Hide only products dearer than this (hidden).")] = None,
    sample: Annotated[int | None, typer.Option(help="Baskets of a window asked about: 250 (complete).")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How deep a ranking is looked at: 10 (complete, next).")] = None,
    least: Annotated[int | None, typer.Option(help="Earlier baskets a customer must have: 3 (next).")] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Customers judged: the 'test' half, or for tuning 'validation' (next)."),
    ] = None,
    every: options.Every = "1d",
    json: options.Json = None,
    *,
    columns: ColumnOptions,
) -> None:
    """Hide a product of each basket, or a customer's last basket, and have methods find it; nothing is learned before
    it is asked about. A --json file gets each method's figures as it finishes, and spares them in the next run."""
    from omba.evaluation import evaluate as run_evaluation

    names = [name.strip() for name in methods.split(",") if name.strip()]
    baskets = read(source, columns)
    users = judged_users(source, part or "test") if task == "next" else None
    if users is not None and least is None:
        least = 1
    done = dict.fromkeys(names, 0.0)
    with terminal.progress("evaluating", 1000 * len(names)) as advance:

        def tick(name: str, share: float) -> None:
            advance(round(1000 * share) - round(1000 * done[name]), name)
            done[name] = share

        found = run_evaluation(
            names, baskets, windows, negatives, seed, seeds, task=task, every=every, progress=tick,
            keep=None if json is None or str(json) == "-" else json,
            hide=hide, draw=draw, above=above, sample=sample, k=k, least=least, part=part, users=users,  # type: ignore[arg-type]
        )  # fmt: skip
    if not write_json(jsons.loads(found.to_json()), json):
        _show(found)


def _show(found: Evaluation) -> None:
    rows = [[cells[0], cells[-1], *cells[1:-1]] for cells in (row.cells() for row in found.rows)]
    columns = (found.head[0], found.head[-1], *found.head[1:-1])
    terminal.table(TITLES[found.task.name], columns, rows, left=2)
    if found.chance is not None:
        terminal.show(f"guessing has an MRR of {found.chance:.4f}", "dim")
