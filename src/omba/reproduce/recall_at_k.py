"""Supplement, section 5: Recall@k."""

from __future__ import annotations

from typing import Any

from omba.reproduce.contender import Contender
from omba.reproduce.context import Context
from omba.reproduce.experiment import Experiment
from omba.reproduce.result import Claim, Picture, Result, Rows, Table
from omba.reproduce.style import CYCLE, MARKERS, PAPER, picture
from omba.reproduce.table2 import NAMES, short

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


Recalls = dict[str, dict[str, list[float]]]
"""By data set and method, Recall@1 to 5."""


def measure(context: Context) -> Recalls:
    """The recall of each method that can take part."""
    return {
        short(data): {
            method: [outcome.recall(k) for k in CUTS]
            for method in METHODS
            if (outcome := outcomes.get(Contender(method)))
        }
        for data in context.data_sets
        if (outcomes := context.retrieve(data, map(Contender, METHODS)))
    }


def draw(found: Recalls) -> Picture:
    def paint(*axes: Any) -> None:
        for one, (data, recalls) in zip(axes, found.items(), strict=True):
            for (method, recall), colour, mark in zip(recalls.items(), CYCLE, MARKERS, strict=False):
                one.plot(CUTS, recall, marker=mark, color=colour, label=NAMES[method])
            for place, printed in enumerate(RECALL[data].values()):
                one.plot(CUTS, printed, label="the paper's three" if place == 0 else None, **PAPER)
            one.set(title=data, xlabel="k", xticks=list(CUTS), ylim=(0.1, 1))
        axes[0].set(ylabel="Recall@k")
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=8.5)

    alt = "Recall at 1 to 5 of OMBA, Triple2Vec and Lift, the paper's dashed"
    return picture("supp5", alt, paint, len(found), 3.4 * len(found) + 2)


def tell(found: Recalls, context: Context) -> Result:
    rows: Rows = []
    for data, recalls in found.items():
        for method, printed in RECALL[data].items():
            rows.append([data, f"{NAMES[method].split(',')[0]}, paper", *printed])
        rows += [[data, f"{NAMES[method]}, here", *recall] for method, recall in recalls.items()]
    claims = [
        Claim(
            f"{data}: OMBA is ahead at every k",
            f"R@5 {RECALL[data]['omba'][-1]}",
            f"R@5 {recalls['omba'][-1]:.4f}",
            "yes" if all(recalls["omba"][k] >= max(r[k] for r in recalls.values()) for k in range(5)) else "no",
        )
        for data, recalls in found.items()
    ]
    return Result(
        claims=claims,
        tables=[Table("Recall@k", ("data", "method", *(f"R@{k}" for k in CUTS)), rows, words=2, digits=4)],
        differs=("The same trials as in Table 2, with the same differences; ties count as if broken at random."),
        settings=f"{context.setting}; {context.scale.windows} windows",
    )


EXPERIMENT = Experiment("supp5", "Recall at k", "Supplement, section 5", measure, tell, draw)
