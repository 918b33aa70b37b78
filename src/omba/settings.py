"""Settings: every tunable of the learner once, with its default, its bounds and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from omba.errors import SettingError, nearest

Value = int | float | bool | str | None | tuple[float, float]


def as_plain(value: Any) -> Any:
    """A number as Python has it, where numpy gave it.

    >>> import numpy as np
    >>> as_plain(np.int64(16)), as_plain("fit")
    (16, 'fit')
    """
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


@dataclass(frozen=True)
class Setting:
    """One tunable. Numbers have bounds, words a list of choices."""

    name: str
    default: Value
    help: str
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str | None, ...] = ()

    def check(self, value: Value) -> None:
        """Refuse a value out of bounds, with name, value and bounds."""
        value = as_plain(value)
        if isinstance(self.default, bool):
            if not isinstance(value, bool):
                raise SettingError(f"{self.name} is {value!r}: it takes True or False")
        elif self.choices:
            pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(v, int | float) for v in value)
            if value not in self.choices and not (self.name == "value" and pair):
                raise SettingError(f"{self.name} is {value!r}: it takes {', '.join(map(repr, self.choices))}")
        else:
            whole = isinstance(self.default, int)
            if isinstance(value, bool) or not isinstance(value, Integral if whole else Real):
                raise SettingError(f"{self.name} is {value!r}: it takes a {'whole ' if whole else ''}number")
            if not self.low <= float(value) <= self.high:
                raise SettingError(f"{self.name} is {value!r}: it must lie from {self.low:g} to {self.high:g}")


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("dim", 300, "length of each vector", 2, 4096),
        Setting("learning_rate", 0.1, "η of Eq. 8, before AdaGrad", 1e-6, 10.0),
        Setting("negatives", 3, "negatives drawn for each product", 1, 100),
        Setting("tau", 0.1, "how much a basket the model agrees with slows its own learning (Eq. 8)", 0.0, 100.0),
        Setting("epochs", 3, "passes over each window", 1, 1000),
        Setting("seed", 0, "start of all random numbers", 0, 2**63 - 1),
        Setting("threads", 1, "1 and 2 learn the same, bit for bit; more share the tables without locks", 1, 256),
        Setting("power", 0.75, "negatives are drawn by purchases to this power", 0.0, 2.0),
        Setting("user_share", 0.5, "the user's part of a product's context (Eq. 2)", 0.0, 1.0),
        Setting("user_targets", False, "users are recovered from their baskets too (Eq. 1, z a user)"),
        Setting(
            "value",
            None,
            "value weighting (Eq. 3-4): 'fit' reads the power law from the prices, (exponent, clip) fixes it",
            choices=("fit", None),
        ),
        Setting("memory", 256, "products remembered of each user; 0 for none", 0, 100_000),
        Setting(
            "categories",
            True,
            "learn a second space at the level of categories, where the data have them; new products begin near"
            " products of like names",
        ),
        Setting("clues", True, "weigh the clues of a score online; False is the paper's sum of two cosines"),
        Setting(
            "pairs",
            4_000_000,
            "pair counts kept as evidence for rules; of triples as many, up to 4 million",
            10_000,
            2**31,
        ),
    )
}

PAPER: dict[str, Value] = {
    "dim": 300,
    "learning_rate": 0.05,
    "negatives": 3,
    "tau": 0.1,
    "epochs": 5,
    "power": 1.0,
    "user_share": 0.5,
    "user_targets": True,
    "value": (2.3, 10.0),
    "memory": 0,
    "categories": False,
    "clues": False,
}
"""The paper's own setting (section 5; 50 epochs of unit updates are 5 passes)."""


def check(values: dict[str, Value]) -> None:
    """Refuse the first setting that is unknown or out of bounds."""
    for name, value in values.items():
        if name not in SETTINGS:
            raise SettingError(f"{name!r} is not a setting{nearest(name, SETTINGS)}")
        SETTINGS[name].check(value)


def agree(wanted: Mapping[str, Value], known: Mapping[str, Any], model: str, otherwise: str) -> None:
    """Refuse settings that are not those a model was learned with; threads may be others each time."""
    for name, value in wanted.items():
        kept = known.get(name, SETTINGS[name].default)
        kept = tuple(kept) if isinstance(kept, list) else kept
        if name != "threads" and value != kept:
            flag = name.replace("_", "-")
            raise SettingError(
                f"the model in {model!r} was learned with {name} = {kept}, not {value}: leave --{flag} out to go on "
                f"with it, {otherwise}"
            )
