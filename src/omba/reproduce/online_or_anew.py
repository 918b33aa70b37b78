"""Beyond the paper: what learning online costs in quality, and what it saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from omba.evaluation import metrics
from omba.reproduce.contender import BATCH, Contender
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.outcome import Outcome
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.scale import CJ, TF
from omba.reproduce.style import BLUE, RED, picture

ONLINE, ANEW = Contender("omba-paper"), Contender(BATCH)


@dataclass(frozen=True)
class Comparison:
    """One learner online and from scratch, asked the same, and the seconds that a new day costs either way."""

    online: Outcome
    anew: Outcome
    day_seconds: float
    anew_seconds: float


def measure(context: Context) -> dict[str, Comparison]:
    """The comparison on each data set."""
    return {name: compare(data, context) for data, name in ((CJ, "CJ"), (TF, "TF"))}


def compare(data: str, context: Context) -> Comparison:
    """Learn a data set both ways, and ask about some of its windows."""
    some = np.linspace(0, context.scale.windows - 1, context.scale.few).astype(int).tolist()
    outcomes = context.retrieve(data, [ONLINE, ANEW], only=some)
    online, anew = outcomes[ONLINE].at(some), outcomes[ANEW]
    days = sum(1 for _ in context.baskets(data).windows("1d"))
    return Comparison(online, anew, online.learn_seconds / days, anew.learn_seconds / len(anew.by_window))


def draw(found: dict[str, Comparison]) -> Picture:
    def paint(*axes: Any) -> None:
        for one, (name, compared) in zip(axes, found.items(), strict=True):
            one.plot(_curve(compared.online), "o-", color=BLUE, label="online")
            one.plot(_curve(compared.anew), "s--", color=RED, label="from scratch")
            one.set(title=name, xlabel="windows, in order of time")
            one.set_xticks([])
        axes[0].set(ylabel="MRR of the window")
        axes[0].legend()

    return picture("beyond3", "MRR window by window, online and trained anew", paint, 2, 9.6, 3.4)


def _curve(outcome: Outcome) -> list[float]:
    return [metrics.mrr(ranks) for ranks in outcome.by_window]


def tell(found: dict[str, Comparison], context: Context) -> Result:
    rows: Rows = []
    claims = []
    for name, one in found.items():
        margin = "{:+.1%} ± {:.1%}".format(*one.online.margin(one.anew))
        rows += [
            [name, "online, a day at a time", margin, one.online.mrr, one.day_seconds],
            [name, "from scratch, all days in one", "", one.anew.mrr, one.anew_seconds],
        ]
        cheaper = one.anew_seconds / max(one.day_seconds, 1e-9)
        claims.append(
            Claim(
                f"{name}: what is lost by learning online",
                "not asked",
                f"{margin} of MRR; a new day costs 1/{cheaper:,.0f} of training anew",
                "beyond",
            )
        )
    return Result(
        claims=claims,
        tables=[
            Table(
                "The paper's settings, online and from scratch",
                ("data", "learning", "online against from scratch", "MRR", "seconds for a new day"),
                rows,
                words=3,
            )
        ],
        differs=(
            "Not in the paper. From scratch means the same learner, settings and number of passes, over all baskets "
            "before the window at once and in random order; online each day is passed over as often, once, and never "
            "seen again."
        ),
        settings=(
            f"{context.setting}; {context.scale.few} of the windows of Table 2; seconds of one core with two "
            "methods at a time"
        ),
    )


EXPERIMENT = Experiment("beyond3", "Online against from scratch", "not in the paper", measure, tell, draw, minutes=8)
