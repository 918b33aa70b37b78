"""Hidden products: some baskets of a window, each without one of its products, by which the clues are weighed.

What was known before the window describes the hidden product and some others that were drawn as they are sold; the
weights learn from how well it is told from them. Describing looks at vectors, memories and pairs, so it comes before
the window is learned. Learning looks at what was described alone, so it may go on beside.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from omba.model.blend import Blend
from omba.model.clue_kernels import hide
from omba.model.space import QueryRows, WindowRows
from omba.model.workers import Job

if TYPE_CHECKING:
    from omba.model.answers import Answers

QUERIES = 512
"""Baskets of a window that are made into queries to weigh the clues. With 1,000 the MRR is the same, with 256 it is
lower by 0.001 on Complete Journey and by 0.004 on Ta-Feng."""
NEGATIVES = 5
"""Negatives drawn for each query, beside the hidden product. With 10 the MRR is higher by 0.0015, and queries take
nearly twice as long; with 3 it is lower by 0.001."""
ALONE = 4
"""One in so many queries is asked a second time with nothing in the basket."""


class HiddenProducts:
    """Queries made of a window's baskets, and what is known of their candidates.

    Parameters
    ----------
    window
        The baskets.
    rng
        What the baskets and the products to hide are drawn by.
    """

    def __init__(self, window: WindowRows, rng: np.random.Generator) -> None:
        many = np.flatnonzero(np.diff(window.offsets) > 1)
        self.asked: list[QueryRows] = []
        self.described: list[NDArray[np.float32]] = []
        """The clues of each of the queries asked."""
        if len(many) == 0:
            return
        chosen = rng.permutation(many)[:QUERIES]
        state = rng.integers(1, 2**63, size=2).astype(np.uint64)
        offsets, context, candidates = hide(window.offsets, window.items, chosen, NEGATIVES, state)
        users = window.users[chosen]
        # What a customer will buy next is asked with nothing in the basket: that has to be met in learning too.
        alone = len(chosen) // ALONE
        empty = np.zeros(alone + 1, np.int64), np.empty(0, np.int32)
        self.asked = [
            QueryRows(offsets, context, users, candidates),
            QueryRows(*empty, users[:alone], candidates[:alone]),
        ]

    def jobs(self, model: Answers) -> list[Job]:
        """What is to be done to describe the candidates, a job for each level of products: they share nothing."""
        self.described = [model.make_room(queries) for queries in self.asked]
        return [partial(self.describe, model, level) for level in range(len(model.spaces))] if self.asked else []

    def describe(self, model: Answers, level: int) -> None:
        """Describe the candidates at one level; the last is where those clues stand that have no level."""
        for queries, features in zip(self.asked, self.described, strict=True):
            model.describe_level(level, queries, features)
            if level == len(model.spaces) - 1:
                model.describe_behind(queries, features)

    def teach(self, blend: Blend, rng: np.random.Generator) -> None:
        """Fit the weights of a blend to what was described, and then what the clues say together."""
        if self.described:
            blend.learn(self.described[0])
        for features in self.described:
            blend.learn_together(features, rng)
