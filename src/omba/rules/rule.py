"""Rule: products bought together lead to another, with the counts that prove it (paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

from omba.baskets import Label
from omba.baskets.names import show
from omba.rules.measures import measure

Names = tuple[str | None, ...]


@dataclass(frozen=True)
class Rule:
    """Who buys `antecedents` is likely to buy `consequents`.

    Parameters
    ----------
    antecedents
        The products it starts from.
    consequents
        The products it leads to.
    count
        Baskets with all of them; 0 or more.
    n_a
        Baskets with the antecedents; 0 or more.
    n_b
        Baskets with the consequents; 0 or more.
    n
        Baskets in all, 1 or more; every measure follows from these four.
    antecedent_names
        What the antecedents are called beside their labels, None for those without a name; empty where there are none.
    consequent_names
        The same for the consequents.
    count_at_least
        Whether `count` is a lower bound.
    status
        `observed`, `rare` or `unseen`; empty where it is not told.
    expected_lift, expected_lift_low, expected_lift_high
        The lift to expect and both ends of its 90% interval, from 0 on; NaN where there is no forecast.
    season
        When in the year its products are mostly sold together, such as "Nov–Dec"; empty for any time.
    relation, relation_probability
        What its products are to each other, such as `complement`, and how likely, 0 to 1; empty and NaN where that is
        not known.

    >>> rule = Rule(("layer cake mix",), ("frosting",), count=20, n_a=40, n_b=50, n=1000)
    >>> rule.confidence, rule.lift
    (0.5, 10.0)
    >>> print(rule)
    layer cake mix ⇒ frosting
    """

    antecedents: tuple[Label, ...]
    consequents: tuple[Label, ...]
    count: int
    n_a: int
    n_b: int
    n: int
    antecedent_names: Names = field(default=(), compare=False, repr=False)
    consequent_names: Names = field(default=(), compare=False, repr=False)
    count_at_least: bool = field(default=False, compare=False, repr=False)
    status: str = field(default="", compare=False, repr=False)
    expected_lift: float = field(default=nan, compare=False, repr=False)
    expected_lift_low: float = field(default=nan, compare=False, repr=False)
    expected_lift_high: float = field(default=nan, compare=False, repr=False)
    season: str = field(default="", compare=False, repr=False)
    relation: str = field(default="", compare=False, repr=False)
    relation_probability: float = field(default=nan, compare=False, repr=False)

    def measure(self, name: str) -> float:
        """Any measure by name."""
        return float(measure(name, self.count, self.n_a, self.n_b, self.n))

    @property
    def support(self) -> float:
        return self.measure("support")

    @property
    def confidence(self) -> float:
        return self.measure("confidence")

    @property
    def lift(self) -> float:
        return self.measure("lift")

    def __str__(self) -> str:
        left = show_side(self.antecedents, self.antecedent_names)
        return f"{left} ⇒ {show_side(self.consequents, self.consequent_names)}"


def show_side(items: tuple[Label, ...], names: Names = ()) -> str:
    """One side of a rule: each product by its name, where it has one, with the label beside.

    >>> show_side(("22411", "mug"), ("JUMBO BAG", None))
    'JUMBO BAG (22411) + mug'
    """
    return " + ".join(map(show, items, names or (None,) * len(items)))
