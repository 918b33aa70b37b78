"""Supplement, section 5: Recall@k."""

from __future__ import annotations

from typing import Any

from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Result, Rows, Table
from omba.reproduce.style import CYCLE, MARKERS, PAPER, draw
from omba.reproduce.table2 import NAMES, short
from omba.reproduce.trials import Contender
from omba.reproduce.workshop import Workshop

CUTS = range(1, 6)
RECALL = {
    "CJ": {
        "omba": (0.4326, 0.5969, 0.6967, 0.7724, 0.8328),
        "triple2vec": (0.3392, 0.4804, 0.5867, 0.6693, 0.7373),
        "lift": (0.3776, 0.5063, 0.5996, 0.6668, 0.7251),
    },
    "IC": {
        "omba": (0.5859, 0.7760, 0.8690, 0.9205, 0.9506),
        "triple2vec": (0.4348, 0.6208, 0.7418, 0.8254, 0.8849),
        "lift": (0.2655, 0.3612, 0.5446, 0.7681, 0.8868),
    },
    "TF": {
        "omba": (0.3466, 0.4818, 0.5844, 0.6657, 0.7365),
        "triple2vec": (0.3040, 0.4342, 0.5361, 0.6194, 0.6927),
        "lift": (0.2981, 0.4169, 0.5024, 0.5691, 0.6269),
    },
}
"""The paper's Recall@1 to 5."""
METHODS = {"omba": "omba", "omba-paper": "omba", "triple2vec": "triple2vec", "lift": "lift"}
"""Methods here, and the paper's they stand beside."""


def run(workshop: Workshop) -> Result:
    found = {
        data: {
            method: [trial.recall(k) for k in CUTS] for method in METHODS if (trial := trials.get(Contender(method)))
        }
        for data in workshop.data_sets
        if (trials := workshop.retrieve(data, map(Contender, METHODS)))
    }

    def paint(*axes: Any) -> None:
        for one, (data, recalls) in zip(axes, found.items(), strict=True):
            for (method, recall), colour, mark in zip(recalls.items(), CYCLE, MARKERS, strict=False):
                one.plot(CUTS, recall, marker=mark, color=colour, label=NAMES[method])
            for place, printed in enumerate(RECALL[short(data)].values()):
                one.plot(CUTS, printed, label="the paper's three" if place == 0 else None, **PAPER)
            one.set(title=short(data), xlabel="k", xticks=list(CUTS), ylim=(0.1, 1))
        axes[0].set(ylabel="Recall@k")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8.5)

    rows: Rows = []
    for data, recalls in found.items():
        for method, printed in RECALL[short(data)].items():
            rows.append([short(data), f"{NAMES[method].split(',')[0]}, paper", *printed])
        rows += [[short(data), f"{NAMES[method]}, here", *recall] for method, recall in recalls.items()]
    claims = [
        Claim(
            f"{short(data)}: OMBA is ahead at every k",
            f"R@5 {RECALL[short(data)]['omba'][-1]}",
            f"R@5 {recalls['omba'][-1]:.4f}",
            "yes" if all(recalls["omba"][k] >= max(r[k] for r in recalls.values()) for k in range(5)) else "no",
        )
        for data, recalls in found.items()
    ]
    return Result(
        claims=claims,
        tables=[Table("Recall@k", ("data", "method", *(f"R@{k}" for k in CUTS)), rows, words=2, digits=4)],
        pictures=[
            draw(
                "supp5",
                "Recall at 1 to 5 of OMBA, Triple2Vec and Lift, the paper's dashed",
                paint,
                len(found),
                3.4 * len(found) + 2,
            )
        ],
        differs=(
            "The same trials as in Table 2, with the same differences; a tie counts where its mean rank is k or better."
        ),
        settings=f"{workshop.setting}; {workshop.scale.windows} windows",
    )


EXPERIMENT = Experiment("supp5", "Recall at k", "Supplement, section 5", run, minutes=0.1)
