"""Supplement, section 4: how much d, |N_z| and τ matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omba.evaluation import metrics
from omba.reproduce.contender import Contender
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.outcome import Outcome
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.scale import CJ
from omba.reproduce.style import BLUE, PAPER, picture
from omba.settings import PAPER as SETTINGS

CURVES: dict[str, dict[float, float]] = {
    "dim": {50: 0.4992, 100: 0.5321, 200: 0.58872, 300: 0.6011, 400: 0.6013, 500: 0.6012},
    "negatives": {1: 0.5986, 2: 0.6002, 3: 0.6013, 4: 0.6011, 5: 0.6015},
    "tau": {0.001: 0.5934, 0.01: 0.5976, 0.1: 0.6011, 1.0: 0.6013, 10.0: 0.6001},
}
"""The paper's MRR on Complete Journey."""
NAMES = {"dim": "d", "negatives": "|N_z|", "tau": "τ"}


@dataclass(frozen=True)
class Sweeps:
    """The MRR by setting and value, and the standard error that all of them share."""

    mrr: dict[str, dict[float, float]]
    error: float


def measure(context: Context) -> Sweeps:
    """Vary one setting at a time, and ask all the same."""
    sweeps = {name: list(values) for name, values in context.scale.sweeps}
    contenders = {(name, value): contender(name, value) for name, values in sweeps.items() for value in values}
    outcomes = context.retrieve(CJ, dict.fromkeys(contenders.values()))
    return Sweeps(
        {name: {value: outcomes[contenders[name, value]].mrr for value in values} for name, values in sweeps.items()},
        spread(outcomes[Contender("omba-paper")]),
    )


def draw(sweeps: Sweeps) -> Picture:
    every = [mrr for curves in (sweeps.mrr, CURVES) for found in curves.values() for mrr in found.values()]
    low, high = min(every), max(every)

    def paint(*axes: Any) -> None:
        for one, (name, mrr) in zip(axes, sweeps.mrr.items(), strict=True):
            one.plot(list(CURVES[name]), list(CURVES[name].values()), marker="s", label="paper", **PAPER)
            one.plot(list(mrr), list(mrr.values()), "o-", color=BLUE, label="here")
            one.set(xlabel=NAMES[name], ylim=(low - 0.02, high + 0.02), xscale="log" if name == "tau" else "linear")
        axes[0].set(ylabel="MRR")
        axes[0].legend(loc="lower right")

    alt = "MRR against d, the number of negatives and tau, here and in the paper"
    return picture("supp4", alt, paint, 3, 9.6, 3.2)


def tell(sweeps: Sweeps, context: Context) -> Result:
    rows: Rows = [
        [NAMES[name], f"{value:g}", CURVES[name][value], mrr]
        for name, found in sweeps.mrr.items()
        for value, mrr in found.items()
    ]
    title = "MRR by setting, the others as in the paper"
    return Result(
        claims=claims(sweeps),
        tables=[Table(title, ("setting", "value", "paper", "here"), rows, words=2, digits=4)],
        differs=(
            "OMBA with the paper's settings on one year, one seed and all the same queries for every value, so that "
            "small differences count; another draw of windows would shift all of them together by about "
            f"{sweeps.error:.3f}."
        ),
        settings=f"{context.setting}; {context.scale.windows} windows; the paper's settings but for the one named",
    )


def claims(sweeps: Sweeps) -> list[Claim]:
    """Whether d matters much, and the others little."""
    ours = sweeps.mrr
    range_of = {name: max(found.values()) - min(found.values()) for name, found in ours.items()}
    least, most = min(ours["dim"]), 300
    growth = ours["dim"][most] - ours["dim"][least]
    return [
        Claim(
            "MRR grows with d up to 300, by much",
            f"{CURVES['dim'][least]:.3f} at {least:g}, {CURVES['dim'][most]:.3f} at {most}",
            f"{ours['dim'][least]:.3f} at {least:g}, {ours['dim'][most]:.3f} at {most}",
            "yes" if growth > 0.05 else "partly" if growth > 2 * sweeps.error else "no",
        ),
        Claim(
            "|N_z| and τ matter little",
            "within 0.003 and 0.008",
            f"within {range_of['negatives']:.3f} and {range_of['tau']:.3f}",
            "yes" if max(range_of["negatives"], range_of["tau"]) < 0.02 else "partly",
        ),
    ]


def contender(name: str, value: float) -> Contender:
    """OMBA with the paper's settings but one; where that is the paper's too, the same contender as elsewhere."""
    exact = float(value) if name == "tau" else int(value)
    return Contender("omba-paper", () if value == SETTINGS[name] else ((name, exact),))


def spread(outcome: Outcome) -> float:
    """The standard error of the MRR over windows."""
    means = np.array([metrics.mrr(ranks) for ranks in outcome.by_window])
    return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else float("nan")


EXPERIMENT = Experiment(
    "supp4", "Sensitivity to d, |N_z| and τ", "Supplement, section 4", measure, tell, draw, minutes=6
)
