"""Addition: what a rule of several products says beyond the pairs in it.

Whoever buys one thing more has the larger basket, and larger baskets hold more of everything. So a staple added to a
strong pair, bread to conditioner and shampoo, makes a rule that beats the pair by more than chance, and tells nobody
anything. A rule adds something to its pairs where its lift is half as much again as the highest of theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from omba.rules.evidence import Rows
from omba.rules.mining_input import Floats, MiningInput
from omba.rules.nearest import cosines

MORE = 1.5
"""How many times the lift of its strongest pair a rule must be expected to have, to have a line of its own."""


def adds(given: MiningInput, antecedents: NDArray[np.integer], consequent: Rows, expected: Floats) -> NDArray[np.bool_]:
    """Whether each rule says enough beyond its pairs, by the lift that is `expected` of it.

    One of two products always does, and so does any rule without a forecast.
    """
    if antecedents.shape[1] < 2 or given.forecast is None or not len(consequent):
        return np.ones(len(consequent), bool)
    strongest = pair_lifts(given, antecedents, consequent, member_cosines(given, antecedents, consequent)).max(axis=0)
    return np.asarray(expected >= MORE * strongest)


def member_cosines(given: MiningInput, antecedents: NDArray[np.integer], consequent: Rows) -> Floats:
    """The cosine of each antecedent to the consequent: a line an antecedent."""
    vectors = np.ascontiguousarray(given.vectors, np.float32)
    return np.array([cosines(vectors, member, consequent) for member in antecedents.T])


def pair_lifts(given: MiningInput, antecedents: NDArray[np.integer], consequent: Rows, near: Floats) -> Floats:
    """The lift to expect of each antecedent's pair with the consequent, by its cosine: a line an antecedent."""
    return np.array(
        [
            given.expect(member, consequent, cosine, given.evidence.pairs(member, consequent))[0]
            for member, cosine in zip(antecedents.T, near, strict=True)
        ]
    )
