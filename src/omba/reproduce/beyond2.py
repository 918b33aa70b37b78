"""Beyond the paper: quality against seconds, every method."""

from __future__ import annotations

import math
from typing import Any

from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.style import BLUE, SOFT, draw
from omba.reproduce.table2 import NAMES, Trials, is_ours, short
from omba.reproduce.trials import Contender
from omba.reproduce.workshop import Workshop


def run(workshop: Workshop) -> Result:
    found = {short(data): workshop.contest(data) for data in workshop.data_sets}

    def paint(*axes: Any) -> None:
        for one, (data, trials) in zip(axes, found.items(), strict=True):
            points = {each: (max(trial.learn_seconds, 0.01), trial.mrr) for each, trial in trials.items()}
            names = {each: NAMES[each.key].replace(" *", "") for each in points}
            for each, height in apart(points, names).items():
                colour = BLUE if is_ours(each) else SOFT
                one.plot(*points[each], "o" if trials[each].online else "s", color=colour)
                at = points[each][0] * 1.15, height
                one.annotate(names[each], points[each], at, fontsize=7.5, color=colour, va="center")
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


def apart(points: dict[Contender, tuple[float, float]], names: dict[Contender, str]) -> dict[Contender, float]:
    """A height for the name of each point, from the highest down, so that no name is written over another."""
    heights = [mrr for _, mrr in points.values()]
    line = 0.034 * (max(heights) - min(heights))
    placed: dict[Contender, float] = {}
    for each in sorted(points, key=lambda one: -points[one][1]):
        start, height = math.log10(points[each][0]), points[each][1]
        beside = [
            placed[other]
            for other in placed
            if -0.08 * len(names[other]) < math.log10(points[other][0]) - start < 0.08 * len(names[each])
        ]
        while any(abs(height - taken) < line for taken in beside):
            height -= line / 4
        placed[each] = height
    return placed


def frontier(trials: Trials) -> list[Any]:
    """The contenders that none is both quicker and better than."""
    return [
        each
        for each, trial in trials.items()
        if not any(other.mrr > trial.mrr and other.learn_seconds < trial.learn_seconds for other in trials.values())
    ]


EXPERIMENT = Experiment("beyond2", "Quality against seconds", "not in the paper", run, minutes=0.1)
