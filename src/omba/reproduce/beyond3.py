"""Beyond the paper: what learning online costs in quality, and what it saves."""

from __future__ import annotations

from typing import Any

import numpy as np

from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.style import BLUE, RED, draw
from omba.reproduce.trials import BATCH, Contender
from omba.reproduce.workshop import CJ, TF, Workshop

ONLINE, ANEW = Contender("omba-paper"), Contender(BATCH)


def run(workshop: Workshop) -> Result:
    rows: Rows = []
    claims, curves = [], {}
    for data, name in ((CJ, "CJ"), (TF, "TF")):
        some = np.linspace(0, workshop.scale.windows - 1, workshop.scale.few).astype(int).tolist()
        trials = workshop.retrieve(data, [ONLINE, ANEW], only=some)
        online, anew = trials[ONLINE].at(some), trials[ANEW]
        share, error = online.margin(anew)
        days = sum(1 for _ in workshop.baskets(data).windows("1d"))
        day, again = online.learn_seconds / days, anew.learn_seconds / len(anew.by_window)
        rows += [
            [name, "online, a day at a time", online.mrr, f"{share:+.1%} ± {error:.1%}", day],
            [name, "from scratch, all days in one", anew.mrr, "", again],
        ]
        claims.append(
            Claim(
                f"{name}: what is lost by learning online",
                "not asked",
                f"{share:+.1%} ± {error:.1%} of MRR; a new day costs 1/{again / max(day, 1e-9):,.0f} of training anew",
                "beyond",
            )
        )
        curves[name] = [[float(np.mean(1 / ranks)) for ranks in trial.by_window] for trial in (online, anew)]

    def paint(*axes: Any) -> None:
        for one, (name, (online, anew)) in zip(axes, curves.items(), strict=True):
            one.plot(online, "o-", color=BLUE, label="online")
            one.plot(anew, "s--", color=RED, label="from scratch")
            one.set(title=name, xlabel="windows, in order of time")
            one.set_xticks([])
        axes[0].set(ylabel="MRR of the window")
        axes[0].legend()

    return Result(
        claims=claims,
        tables=[
            Table(
                "The paper's settings, online and from scratch",
                ("data", "learning", "online against from scratch", "MRR", "seconds for a new day"),
                [[row[0], row[1], row[3], row[2], row[4]] for row in rows],
                words=3,
            )
        ],
        pictures=[draw("beyond3", "MRR window by window, online and trained anew", paint, 2, 9.6, 3.4)],
        differs=(
            "Not in the paper. From scratch means the same learner, settings and number of passes, over all baskets "
            "before the window at once and in random order; online each day is passed over as often, once, and never "
            "seen again."
        ),
        settings=(
            f"{workshop.setting}; {workshop.scale.few} of the windows of Table 2; seconds of one core with two "
            "methods at a time"
        ),
    )


EXPERIMENT = Experiment("beyond3", "Online against from scratch", "not in the paper", run, minutes=8)
