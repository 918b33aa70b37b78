"""`omba evaluate`: how well each method finds a hidden product of a basket (paper, section 5)."""

from __future__ import annotations

import json as jsons
from typing import TYPE_CHECKING, Annotated

import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, read

if TYPE_CHECKING:
    from omba.evaluation import Evaluation


@options.with_columns
def evaluate(
    source: options.Source,
    methods: Annotated[str, typer.Option(help="Methods to compare, separated by commas.")] = "omba,lift,sup,pop",
    windows: Annotated[int, typer.Option(help="Windows of the second half that are asked about.")] = 20,
    negatives: Annotated[int, typer.Option(help="Products the hidden one is ranked among.")] = 10,
    seed: Annotated[int, typer.Option(help="First seed: it settles windows, hidden products and negatives.")] = 0,
    seeds: Annotated[int, typer.Option(help="Runs, each with a seed of its own.")] = 1,
    hide: Annotated[str, typer.Option(help="'one' product of a basket, or 'all' in turn.")] = "one",
    draw: Annotated[str, typer.Option(help="Negatives from the 'window' as bought, or 'uniform' from all.")] = "window",
    above: Annotated[float | None, typer.Option(help="Hide only products dearer than this.")] = None,
    every: options.Every = "1d",
    json: options.Json = None,
    *,
    columns: ColumnOptions,
) -> None:
    """Hide a product of each basket and have methods find it; each window is asked about before it is learned."""
    from omba.evaluation import evaluate as run_evaluation

    names = [name.strip() for name in methods.split(",") if name.strip()]
    baskets = read(source, columns)
    done = dict.fromkeys(names, 0.0)
    with terminal.progress("evaluating", 1000 * len(names)) as advance:

        def tick(name: str, share: float) -> None:
            advance(round(1000 * share) - round(1000 * done[name]), name)
            done[name] = share

        found = run_evaluation(
            names, baskets, windows, negatives, seed, seeds, every=every, hide=hide, draw=draw, above=above,  # type: ignore[arg-type]
            progress=tick,
        )  # fmt: skip
    if not write_json(jsons.loads(found.to_json()), json):
        _show(found)


def _show(found: Evaluation) -> None:
    rows = []
    for figures in found.to_dicts():
        spread, peak = figures["mrr_spread"], figures["peak_bytes"]
        rows.append(
            [
                figures["method"],
                figures["learning"],
                f"{figures['mrr']:.4f}" + ("" if spread is None else f" ±{spread:.4f}"),
                *(f"{figures[name]:.4f}" for name in ("recall@1", "recall@5", "dcg")),
                *(f"{figures[name]:.1f}" for name in ("learn_seconds", "score_seconds")),
                "–" if peak is None else f"{peak / 1e6:.0f}",
            ]
        )
    columns = ("method", "learning", "MRR", "R@1", "R@5", "DCG", "learn s", "score s", "peak MB")
    terminal.table("finding a hidden product", columns, rows, left=2)
    terminal.show(f"guessing has an MRR of {found.chance:.4f}", "dim")
