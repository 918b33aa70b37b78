"""OMBA: online market basket analysis. One embedding space for products and users, and the rules in it."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omba import baselines, datasets, errors, evaluation, rules
    from omba.baskets import Basket, Baskets
    from omba.evaluation import evaluate, truth_test
    from omba.model import OMBA
    from omba.patterns import itemsets
    from omba.rules.association import association_rules
    from omba.rules.from_model import coming_up, mine_rules
    from omba.sources import read_baskets, stream_baskets
    from omba.sources.check import check

__version__ = "0.2.0"
__all__ = [
    "OMBA",
    "Basket",
    "Baskets",
    "association_rules",
    "baselines",
    "check",
    "coming_up",
    "datasets",
    "errors",
    "evaluate",
    "evaluation",
    "itemsets",
    "mine_rules",
    "read_baskets",
    "rules",
    "stream_baskets",
    "truth_test",
]

_ROOMS = ("baselines", "datasets", "errors", "evaluation", "rules", "spark")

_HOMES = {
    "OMBA": "omba.model",
    "Basket": "omba.baskets",
    "Baskets": "omba.baskets",
    "association_rules": "omba.rules.association",
    "check": "omba.sources.check",
    "coming_up": "omba.rules.from_model",
    "evaluate": "omba.evaluation",
    "itemsets": "omba.patterns",
    "mine_rules": "omba.rules.from_model",
    "read_baskets": "omba.sources",
    "stream_baskets": "omba.sources",
    "truth_test": "omba.evaluation",
}


def __getattr__(name: str) -> object:
    """Names come in when they are first asked for: a command should not wait for parts it does not use."""
    if name in _ROOMS:
        return import_module(f"omba.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'omba' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
