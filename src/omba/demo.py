"""The demo: a real year of groceries learned day by day, its rules printed, a report and a model left behind."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from omba import report, terminal
from omba.baskets import Baskets
from omba.live.keeper import Keeper
from omba.model import OMBA
from omba.report.figures import STRONG, UNSEEN, say_bound, strong_rows, unseen_rows
from omba.rules import Rules
from omba.store import ModelFolder

TITLE = "The Complete Journey"
MODEL = "model"
THREADS = 2
PRINTED = 12
"""Rules and unseen pairs that are printed; the report has more."""
SPARE = ("cosine", "90% interval")


@dataclass(frozen=True)
class Demo:
    """What a demo leaves behind."""

    model: OMBA
    strongest: Rules
    unseen: Rules
    folder: Path

    @property
    def model_folder(self) -> Path:
        return self.folder / MODEL

    @property
    def report(self) -> Path:
        return self.folder / "report.html"


def run(baskets: Baskets, folder: Path) -> Demo:
    """Learn the baskets day by day, read out the rules, and write model and report into the folder."""
    model = OMBA(threads=min(THREADS, os.cpu_count() or 1))
    keeper = Keeper(folder / MODEL, fresh=True, beside=True)
    with terminal.progress("learning day by day", len(baskets)) as advance:
        for window in baskets.windows("1d"):
            keeper.learn(model, window)
            advance(len(window), f"{report.period(window).split(' to ')[0]}")
    found = report.of_model(model, TITLE, baskets)
    demo = Demo(model, found.strongest, found.unseen, folder)
    keeper.finish(model)
    report.write(found, demo.report)
    return demo


def show(demo: Demo) -> None:
    """Print the rules, and how to go on."""
    rules, pairs = demo.strongest[:PRINTED], demo.unseen[:PRINTED]
    terminal.table("The strongest rules", STRONG, strong_rows(rules), spare=SPARE)
    if note := say_bound(rules):
        terminal.show(note, "dim")
    if len(pairs):
        terminal.table("Never bought together, and yet expected to be", UNSEEN, unseen_rows(pairs), spare=SPARE)
    first = next((rule for rule in [*pairs, *rules] if len(rule.antecedents) == 1), demo.strongest[0])
    a, b = (f"'{side[0]}'" for side in (first.antecedents, first.consequents))
    terminal.show(f"\nThe report is in {demo.report}: open it in a browser. To go on:\n")
    asks = ["rules --status rare", f"explain {a} {b}", f"similar {a}", f"rank --basket {b}", *_diff_command(demo)]
    for ask in asks:
        command, _, rest = ask.partition(" ")
        terminal.show(f"    omba {command} --model {demo.model_folder} {rest}", "cyan")
    terminal.show("\nTo look around in a browser, with what became of the rules month by month:\n")
    terminal.show(f"    omba serve --model {demo.model_folder}", "cyan")


def _diff_command(demo: Demo) -> list[str]:
    """A look at what changed over the last quarter, where there was one."""
    dates = [entry.shown[:10] for entry in ModelFolder(demo.model_folder).history.entries]
    return [f"diff --from {dates[-5]} --to {dates[-2]}"] if len(dates) > 4 else []
