"""Miners: the top rules of every miner the paper compares, from the same baskets, found once and shared."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from omba.baskets import Baskets
from omba.reproduce.context import Context
from omba.rules import Counts, Rules, classic
from omba.rules.from_model import mine_rules

TOP = 100
SUPPORT = 0.0001
CONFIDENCE = 0.5
"""Of TopK and TopKClass; the paper names none, and half is a common choice."""
COUNTING = ("apriori", "topk", "topk-class")
"""The miners the paper sets itself against."""
NAMES = {
    "omba": "OMBA, defaults",
    "omba-paper": "OMBA, the paper's settings",
    "apriori": "Apriori, by support",
    "apriori-lift": "Apriori, by lift",
    "topk": "TopK",
    "topk-class": "TopKClass",
}


@dataclass(frozen=True)
class MinedRules:
    """The baskets rules were mined from, and the best rules of each miner."""

    past: Baskets
    rules: dict[str, Rules]


def mine_by_each(context: Context) -> MinedRules:
    """The 100 best rules by each miner before the day of the split; lifts are exact counts over the same baskets."""
    past = context.baskets().between(None, context.scale.split)
    default, paper = (context.model(kind, context.scale.split) for kind in ("default", "paper"))
    context.progress(0.8, "mining")
    rules = {
        "omba": mine_rules(default, TOP, past),
        "omba-paper": mine_rules(paper, TOP, past, preset="paper", ties=False),
    }
    rules |= {"apriori": apriori(past, "support"), "apriori-lift": apriori(past, "lift")}
    context.progress(0.9, "mining")
    rules["topk"] = classic.topk(past, TOP, CONFIDENCE)
    consequents = {product for side in rules["omba-paper"].consequents for product in side}
    rules["topk-class"] = classic.topk_class(past, TOP, CONFIDENCE, sorted(consequents))
    return MinedRules(past, rules)


def apriori(past: Baskets, order: str) -> Rules:
    """The 100 best rules of two products at the paper's least support, in this order.

    All pairs are counted exactly, which gives the rules that Apriori finds in far less time.
    """
    counts = Counts.of(past)
    left, right, together = counts.observed(max(1, math.ceil(SUPPORT * counts.n_baskets)))
    a, b, count = np.append(left, right), np.append(right, left), np.append(together, together).astype(np.int64)
    labels = np.array([*past.product_vocabulary, None], dtype=object)[:-1]
    rules = Rules(
        antecedents=[(label,) for label in labels[a]],
        consequents=[(label,) for label in labels[b]],
        count=count,
        n_a=counts.counts[a],
        n_b=counts.counts[b],
        n=counts.n_baskets,
    )
    # Of equal ones the most confident direction comes first.
    return rules.sort("confidence").sort(order).head(TOP)


def shares(rules: Rules, lifts: NDArray[np.int64] | range) -> list[float]:
    """The share of rules with a lift above each of these."""
    return [float((rules["lift"] > lift).mean()) for lift in lifts]
