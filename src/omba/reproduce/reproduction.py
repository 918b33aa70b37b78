"""Reproduction: all that is finished, before it is written down in any form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from omba.reproduce.experiment import IDS, Experiment
from omba.reproduce.result import Claim, Result
from omba.reproduce.result_cache import finite
from omba.reproduce.scale import Scale

TITLE = "The paper, done again"
CITED = (
    "A. Silva, L. Luo, S. Karunasekera, C. Leckie: OMBA: User-Guided Product Representations for Online Market Basket "
    "Analysis. ECML-PKDD 2020, and its supplement."
)


@dataclass(frozen=True)
class Reproduction:
    """Experiments and their results, and how they were made.

    Parameters
    ----------
    parts
        What is finished, in the order of the paper.
    scale
        How much of the data was looked at.
    seed
        Start of all random numbers.
    left_out
        Experiments that could not be done, and the reason.
    """

    parts: Sequence[tuple[Experiment[Any], Result]]
    scale: Scale
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> str:
        kind = "in full" if not self.scale.words else "quick"
        return f"omba {version('omba')}, {kind}, seed {self.seed}"

    @property
    def claims(self) -> list[tuple[Experiment[Any], Claim]]:
        return [(experiment, claim) for experiment, result in self.parts for claim in result.claims]

    def tally(self) -> str:
        """How the claims of the paper fared, in words.

        >>> Reproduction([], Scale("full"), 0).tally()
        'no claim was tested'
        """
        held = [claim.holds for _, claim in self.claims if claim.holds != "beyond"]
        words = {"yes": "hold", "partly": "hold in part", "no": "do not hold"}
        counts = [f"{held.count(holds)} {said}" for holds, said in words.items() if holds in held]
        return f"Of {len(held)} claims of the paper tested, {', '.join(counts)}" if counts else "no claim was tested"

    @property
    def missing(self) -> str:
        """What is not finished, in words; nothing where all is."""
        done = {experiment.id for experiment, _ in self.parts} | set(self.left_out)
        waiting = [id for id in IDS if id not in done]
        return f"Not in this report yet: {', '.join(waiting)}." if waiting else ""

    def to_dict(self) -> dict[str, object]:
        experiments = {
            one.id: {"title": one.title, "place": one.place, **result.to_dict()} for one, result in self.parts
        }
        return {
            "settings": self.settings,
            "scale": self.scale.name,
            "note": self.scale.words,
            "seed": self.seed,
            "experiments": experiments,
            "left_out": dict(self.left_out),
        }

    def to_json(self) -> str:
        return json.dumps(finite(self.to_dict()), indent=1, ensure_ascii=False) + "\n"
