"""Contender: a method by its name and settings, as it enters the retrieval task, and the data set it enters it on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from omba import baselines, datasets
from omba.baskets import Baskets
from omba.model import OMBA

BATCH = "omba-batch"


@dataclass(frozen=True)
class DataSet:
    """The baskets of a built-in data set, up to a date or all of them.

    Parameters
    ----------
    name
        The data set, as `omba.datasets.load` knows it.
    until
        The day it stops before; None for all there is.
    """

    name: str
    until: str | None = None

    @property
    def key(self) -> str:
        return self.name.replace("/", "_") + (f"-{self.until}" if self.until else "")


@cache
def load(data: DataSet) -> Baskets:
    """The baskets of a data set, read once a process."""
    return datasets.load(data.name).between(None, data.until)


@dataclass(frozen=True)
class Contender:
    """A method and the settings in which it is not at its defaults.

    Parameters
    ----------
    method
        The name of the method, or `BATCH`.
    settings
        Names and values of settings that differ from the method's defaults.
    """

    method: str
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> str:
        return "-".join([self.method, *(f"{name}={value}" for name, value in self.settings)])

    @property
    def online(self) -> bool:
        """Whether it goes through the stream once; the others are trained anew for each window."""
        return self.method in baselines.VARIANTS

    def make(self, seed: int) -> Any:
        """The method, ready to learn."""
        make = BatchOMBA if self.method == BATCH else partial(baselines.make, self.method)
        return make(seed=seed, **dict(self.settings))


class BatchOMBA:
    """OMBA with the paper's settings, learned in one go from all there is: what being online is held against.

    Parameters
    ----------
    seed
        Start of all random numbers.
    """

    def __init__(self, seed: int = 0) -> None:
        self.model = OMBA.paper(seed=seed)

    def fit(self, baskets: Baskets) -> Self:
        """Forget what was learned, and learn these baskets as one window."""
        self.model = OMBA.paper(seed=self.model.seed).partial_fit(baskets)
        return self

    def score_queries(self, queries: Any) -> NDArray[np.float32]:
        """The scores of many queries at once, one row a query."""
        return self.model.score_queries(queries)
