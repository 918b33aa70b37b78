"""`omba itemsets`: the exact itemsets of a source, or the rules between them, with no model at all."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer

from omba import terminal
from omba.cli import options
from omba.cli.output import give
from omba.cli.sources import ColumnOptions, read
from omba.errors import InputError
from omba.patterns import Itemsets, Transactions
from omba.patterns.mining import Threshold, search
from omba.report.figures import count_of, number
from omba.rules import classic
from omba.rules.export import JOIN, cell, records

SHOWN = 20
"""Rows that are printed, and sets that are looked for where nothing else is said."""
RULE_COLUMNS = ("support", "confidence", "lift", "leverage", "conviction", "zhangs_metric")

Items = list[str] | None


@options.with_columns
def itemsets(
    source: options.Source,
    min_support: Annotated[float | None, typer.Option(help="Share of baskets that a set is in, at least.")] = None,
    min_count: Annotated[int | None, typer.Option(help="Baskets that it is in, at least.")] = None,
    top: Annotated[int | None, typer.Option("-n", "--top", help="So many, the most frequent; 20 by default.")] = None,
    max_len: Annotated[int | None, typer.Option(help="Products of a set, at most.")] = None,
    min_len: Annotated[int, typer.Option(help="Products of a set, at least.")] = 1,
    kind: Annotated[str, typer.Option(help="frequent, closed or maximal.")] = "frequent",
    include: Annotated[Items, typer.Option("--with", metavar="PRODUCT", help="Sets with it; may be repeated.")] = None,
    without: Annotated[Items, typer.Option(metavar="PRODUCT", help="Sets without it; may be repeated.")] = None,
    rules: Annotated[bool, typer.Option("--rules", help="The rules between the sets instead.")] = False,
    metric: Annotated[str, typer.Option(help="The measure that bounds and orders the rules.")] = "confidence",
    min_threshold: Annotated[float, typer.Option(help="Its least value.")] = 0.5,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all of them: .csv or .parquet.")] = None,
    json: options.Json = None,
    *,
    columns: ColumnOptions,
) -> None:
    """The exact itemsets of a source, by counting alone; with --rules, the rules between them."""
    baskets = read(source, columns)
    if rules:
        support = min_support if min_count is None else min_count / max(1, len(baskets))
        if support is None:
            raise InputError("rules are found above a threshold: give --min-support or --min-count")
        found = classic.fpgrowth(baskets, support, metric, min_threshold, max_len).sort(metric)
        if out is not None:
            found.write(out)
            terminal.say(f"{count_of(len(found), 'rule')} written to {out}", "dim")
        shown = found.head(top or SHOWN)
        rows = [[str(rule), *(number(rule.measure(name)) for name in RULE_COLUMNS)] for rule in shown]
        title = f"{count_of(len(found), 'rule')} from {count_of(len(baskets), 'basket')}"
        give(list(records(shown)), json, title, ("rule", *RULE_COLUMNS), rows)
        return
    given = {"min_support": min_support, "min_count": min_count, "top": top}
    threshold = Threshold(**(given if any(given.values()) else {"top": SHOWN}))
    transactions = Transactions.of(baskets)
    with terminal.progress("searching", 100) as advance:
        sets = search(
            transactions, threshold, kind, max_len, min_len=min_len, include=include or (), exclude=without or (),
            progress=Watch(advance),
        )  # fmt: skip
    if not sets.complete:
        terminal.say("stopped: these are the sets proven so far, and there are more", "yellow")
    if out is not None:
        write(sets, out)
    told = sorted(sets, key=lambda one: -one[1])[: top or SHOWN]
    title = f"{count_of(len(sets), 'set')} in {count_of(sets.min_count, 'basket')} or more of {len(baskets):,}"
    rows = [[JOIN.join(map(str, items)), f"{count:,}", number(count / len(baskets))] for items, count in told]
    found_sets = [{"items": list(items), "count": count, "support": count / len(baskets)} for items, count in told]
    give(found_sets, json, title, ("set", "baskets", "support"), rows)


class Watch:
    """Tells a bar how far a search has come.

    Parameters
    ----------
    advance
        Moves the bar, of 100 steps.
    """

    def __init__(self, advance: terminal.Advance) -> None:
        self.advance, self.done = advance, 0

    def __call__(self, share: float, sets: int) -> None:
        reached = int(100 * share)
        if reached > self.done:
            self.advance(reached - self.done, f"{sets:,} sets")
            self.done = reached


def write(sets: Itemsets, path: Path) -> None:
    """Write sets as CSV or Parquet."""
    table = sets.to_arrow()
    if path.suffix.lower() == ".parquet":
        pq.write_table(table, path)
    elif path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(table.column_names)
            rows: list[tuple[Any, ...]] = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
            writer.writerows([cell(value) for value in row] for row in rows)
    else:
        raise InputError(f"{path.name!r} names no format for itemsets: end it in .csv or .parquet")
    terminal.say(f"{count_of(len(sets), 'set')} written to {path}", "dim")
