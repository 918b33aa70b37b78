"""Baselines: the methods OMBA is measured against, each behind the same `fit` and `score`.

`make(name)` builds any of them, and OMBA and its variants, by name, with settings where they follow it
(`tifu-knn:own=0.3:groups=7`). Packages that only some need are asked for when one of those is built.
"""

from __future__ import annotations

import inspect
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
from omba.settings import SETTINGS

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
    "split_name",
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
    """Every method by name, with one line of help.

    >>> methods()["lift"] != ""
    True
    """
    return VARIANTS | {name: scorer.help for name, scorer in BASELINES.items()}


def check(names: Iterable[str]) -> None:
    """Refuse a name or a setting that is not known, and list those that are."""
    known = methods()
    for name in names:
        method, settings = split_name(name)
        if method not in known:
            raise UnknownError(f"there is no method {method!r}{nearest(method, known)} (known: {', '.join(known)})")
        allowed = list(SETTINGS)
        if method in BASELINES:
            allowed = [each for each in inspect.signature(BASELINES[method].__init__).parameters if each != "self"]
        for setting in settings:
            if setting not in allowed:
                raise UnknownError(f"{method} has no setting {setting!r}: it has {', '.join(allowed)}")


def split_name(name: str) -> tuple[str, dict[str, Any]]:
    """A method's name and the settings that follow it.

    >>> split_name("tifu-knn:own=0.3:groups=7")
    ('tifu-knn', {'own': 0.3, 'groups': 7})
    """
    method, *given = name.split(":")
    settings: dict[str, Any] = {}
    for each in given:
        setting, equals, value = each.partition("=")
        if not equals:
            raise UnknownError(f"{each!r} in {name!r} is no setting: write it as name=value")
        settings[setting] = _number(value)
    return method, settings


def _number(text: str) -> int | float | str:
    """A value as the whole number, fraction or word it is."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def make(name: str, seed: int = 0, **settings: Any) -> Method:
    """A new method by name.

    Parameters
    ----------
    name
        One of `methods()`.
    seed
        Start of its random numbers; 0 or more.
    settings
        Those of the method, where it has some.

    >>> type(make("lift")).__name__
    'Lift'
    """
    check([name])
    method, named = split_name(name)
    settings = {"seed": seed, **named, **settings}
    if method in BASELINES:
        return BASELINES[method](**settings)
    from omba.model import variants  # here, so that counting products needs no learner

    return variants.make(method, **settings)
