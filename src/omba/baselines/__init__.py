"""Baselines: the methods OMBA is measured against, each behind the same `fit` and `score`.

`make(name)` builds any of them, and OMBA and its variants, by name. Packages that only some need are asked for
when one of those is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from omba.baselines.als import ALS
from omba.baselines.base import Method, Scorer
from omba.baselines.ease import EASE
from omba.baselines.nmf import NMF
from omba.baselines.pop_sup_lift import Lift, Pop, Sup
from omba.baselines.queries import Queries
from omba.baselines.tifu_knn import TIFUKNN
from omba.baselines.top_frequency import GPTopFreq, PTopFreq
from omba.baselines.triple2vec import Triple2Vec
from omba.baselines.up_cf import UPCF
from omba.baselines.user_history import UserHistory
from omba.baselines.word2vec import Item2Vec, Prod2Vec
from omba.errors import UnknownError, nearest

__all__ = [
    "ALS",
    "EASE",
    "NMF",
    "TIFUKNN",
    "UPCF",
    "GPTopFreq",
    "Item2Vec",
    "Lift",
    "Method",
    "PTopFreq",
    "Pop",
    "Prod2Vec",
    "Queries",
    "Scorer",
    "Sup",
    "Triple2Vec",
    "UserHistory",
    "check",
    "make",
    "methods",
]

BASELINES: dict[str, type[Scorer]] = {
    "pop": Pop,
    "sup": Sup,
    "lift": Lift,
    "nmf": NMF,
    "item2vec": Item2Vec,
    "prod2vec": Prod2Vec,
    "triple2vec": Triple2Vec,
    "ease": EASE,
    "als": ALS,
    "history": UserHistory,
    "p-topfreq": PTopFreq,
    "gp-topfreq": GPTopFreq,
    "tifu-knn": TIFUKNN,
    "up-cf": UPCF,
}

VARIANTS: dict[str, str] = {
    "omba": "OMBA as this package ships it",
    "omba-paper": "OMBA with the paper's settings",
    "omba-no-user": "OMBA without users",
    "omba-no-value": "OMBA without value-based weights",
    "omba-cons": "OMBA held near its earlier vectors instead of AdaGrad",
    "omba-decay": "OMBA replaying earlier baskets, recent ones more",
    "omba-info": "OMBA replaying earlier baskets, informative ones more",
}


def methods() -> dict[str, str]:
    """Every method by name, with one line of help."""
    return VARIANTS | {name: scorer.help for name, scorer in BASELINES.items()}


def check(names: Iterable[str]) -> None:
    """Refuse a name that is not known, and list those that are."""
    known = methods()
    for name in names:
        if name not in known:
            raise UnknownError(f"there is no method {name!r}{nearest(name, known)} (known: {', '.join(known)})")


def make(name: str, seed: int = 0, **settings: Any) -> Method:
    """A new method by name.

    >>> type(make("lift")).__name__
    'Lift'
    """
    check([name])
    if name in BASELINES:
        return BASELINES[name](seed=seed, **settings)
    from omba.model import variants  # here, so that counting products needs no learner

    return variants.make(name, seed=seed, **settings)
