"""Rule: products bought together lead to another, with the counts that prove it (paper, section 3)."""

from __future__ import annotations

from dataclasses import dataclass

from omba.baskets import Label
from omba.rules.measures import measure


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
        Baskets with all of them.
    n_a
        Baskets with the antecedents.
    n_b
        Baskets with the consequents.
    n
        Baskets in all; every measure follows from these four.

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
        return f"{' + '.join(map(str, self.antecedents))} ⇒ {' + '.join(map(str, self.consequents))}"
