"""Beyond the paper: quality against seconds, every method."""

from __future__ import annotations

import math
from typing import Any

from omba.reproduce.contender import Contender
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.outcome import Outcomes
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.style import BLUE, SOFT, picture
from omba.reproduce.table2 import NAMES, is_ours, short


def measure(context: Context) -> dict[str, Outcomes]:
    """Every method's outcome, by data set."""
    return {short(data): context.contest(data) for data in context.data_sets}


def draw(found: dict[str, Outcomes]) -> Picture:
    def paint(*axes: Any) -> None:
        for one, (data, outcomes) in zip(axes, found.items(), strict=True):
            points = {each: (max(outcome.learn_seconds, 0.01), outcome.mrr) for each, outcome in outcomes.items()}
            names = {each: NAMES[each.key].replace(" *", "") for each in points}
            for each, height in apart(points, names).items():
                colour = BLUE if is_ours(each) else SOFT
                one.plot(*points[each], "o" if outcomes[each].online else "s", color=colour)
                at = points[each][0] * 1.15, height
                one.annotate(names[each], points[each], at, fontsize=7.5, color=colour, va="center")
            one.set(
                xscale="log",
                xlabel="seconds of learning, all windows",
                title=f"{data}: blue dots online, grey squares anew each window",
            )
            one.margins(x=0.22)
        axes[0].set(ylabel="MRR")

    return picture("beyond2", "MRR against seconds of learning, by method", paint, len(found), 5.4 * len(found), 5)


def tell(found: dict[str, Outcomes], context: Context) -> Result:
    rows: Rows = []
    for data, outcomes in found.items():
        edge = frontier(outcomes)
        for contender, outcome in sorted(outcomes.items(), key=lambda one: -one[1].mrr):
            best = "nothing is both quicker and better" if contender in edge else ""
            rows.append([data, NAMES[contender.key], best, outcome.mrr, outcome.learn_seconds, outcome.score_seconds])
    claims = [
        Claim(f"{data}: no method is both quicker and better than OMBA", "not asked",
              "none is" if any(each.key == "omba" for each in frontier(outcomes)) else "some are", "beyond")
        for data, outcomes in found.items()
    ]  # fmt: skip
    return Result(
        claims=claims,
        tables=[Table("Quality and seconds", ("data", "method", "", "MRR", "learn s", "score s"), rows, words=3)],
        differs=(
            "Not in the paper. OMBA and its variants go through the stream once; every other method is trained anew "
            f"before each of the {context.scale.windows} windows, as the paper has it: a shop that wants fresh "
            "answers every day would pay that for each of its days."
        ),
        settings=f"{context.setting}; seconds are the processor's own; the trials of Table 2",
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


def frontier(outcomes: Outcomes) -> list[Contender]:
    """The contenders that none is both quicker and better than."""
    return [
        each
        for each, mine in outcomes.items()
        if not any(one.mrr > mine.mrr and one.learn_seconds < mine.learn_seconds for one in outcomes.values())
    ]


EXPERIMENT = Experiment("beyond2", "Quality against seconds", "not in the paper", measure, tell, draw)
