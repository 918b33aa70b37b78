"""Beyond the paper: quality against seconds, every method."""

from __future__ import annotations

from typing import Any

from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.style import BLUE, SOFT, draw
from omba.reproduce.table2 import NAMES, Trials, is_ours, short
from omba.reproduce.workshop import Workshop


def run(workshop: Workshop) -> Result:
    found = {short(data): workshop.contest(data) for data in workshop.data_sets}

    def paint(*axes: Any) -> None:
        for one, (data, trials) in zip(axes, found.items(), strict=True):
            for contender, trial in trials.items():
                colour = BLUE if is_ours(contender) else SOFT
                at = max(trial.learn_seconds, 0.01), trial.mrr
                one.plot(*at, "o" if trial.online else "s", color=colour)
                one.annotate(
                    NAMES[contender.key].replace(" *", ""),
                    at,
                    (4, 3),
                    textcoords="offset points",
                    fontsize=7.5,
                    color=colour,
                )
            one.set(
                xscale="log",
                xlabel="seconds of learning, all windows",
                title=f"{data}: blue dots online, grey squares anew each window",
            )
            one.margins(x=0.22)
        axes[0].set(ylabel="MRR")

    rows: Rows = []
    for data, trials in found.items():
        edge = frontier(trials)
        for contender, trial in sorted(trials.items(), key=lambda one: -one[1].mrr):
            best = "nothing is both quicker and better" if contender in edge else ""
            rows.append([data, NAMES[contender.key], best, trial.mrr, trial.learn_seconds, trial.score_seconds])
    claims = [
        Claim(f"{data}: no method is both quicker and better than OMBA", "not asked",
              "none is" if any(each.key == "omba" for each in frontier(trials)) else "some are", "beyond")
        for data, trials in found.items()
    ]  # fmt: skip
    return Result(
        claims=claims,
        tables=[Table("Quality and seconds", ("data", "method", "", "MRR", "learn s", "score s"), rows, words=3)],
        pictures=[
            draw("beyond2", "MRR against seconds of learning, by method", paint, len(found), 5.4 * len(found), 5)
        ],
        differs=(
            "Not in the paper. OMBA and its variants go through the stream once; every other method is trained anew "
            f"before each of the {workshop.scale.windows} windows, as the paper has it: a shop that wants fresh "
            "answers every day would pay that for each of its days."
        ),
        settings=f"{workshop.setting}; seconds are the processor's own; the trials of Table 2",
    )


def frontier(trials: Trials) -> list[Any]:
    """The contenders that none is both quicker and better than."""
    return [
        each
        for each, trial in trials.items()
        if not any(other.mrr > trial.mrr and other.learn_seconds < trial.learn_seconds for other in trials.values())
    ]


EXPERIMENT = Experiment("beyond2", "Quality against seconds", "not in the paper", run, minutes=0.1)
