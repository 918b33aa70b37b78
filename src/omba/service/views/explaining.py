"""Explaining: the words and the evidence behind a rule, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omba.baskets import Label
from omba.rules.explain import Explanation
from omba.service.views.rule_key import key_of
from omba.service.views.view import View

BRIDGES = 5


def explained(
    view: View, antecedents: Sequence[Label], consequents: Sequence[Label], record: dict[str, Any] | None
) -> dict[str, Any]:
    """Why the two sides belong together: of the present in full, of the past what its table tells."""
    if view.pairs is None:
        return {"text": facts(view, record), "bridges": [], "users": None, "nearest": []}
    consequent = consequents[0]
    each = [view.pairs.space.explainer.explain(one, consequent) for one in antecedents]  # type: ignore[union-attr]
    text = facts(view, record) if len(each) > 1 else []
    for one in each:
        text += words(one)
    bridges = sorted(
        ({"product": x.product, "count_a": x.count_a, "lift_a": x.lift_a, "count_b": x.count_b, "lift_b": x.lift_b}
         for one in each for x in one.bridges if x.product not in antecedents),
        key=lambda bridge: -min(bridge["lift_a"], bridge["lift_b"]),
    )  # fmt: skip
    numbers = [one.shoppers.number for one in each if one.shoppers is not None]
    seen = [
        {"key": key_of([x.a], [x.b]), "antecedents": [x.a], "consequents": [x.b], "count": x.count, "lift": x.lift}
        for one in each
        for x in one.seen
    ]
    return {
        "text": text,
        "bridges": bridges[:BRIDGES],
        "users": min(numbers) if numbers else None,
        "nearest": seen[:BRIDGES],
    }


def words(explanation: Explanation) -> list[str]:
    """The sentences of an explanation; what follows as a list of its own is left to those who draw it."""
    return [*explanation._facts(), *explanation._shoppers()]


def facts(view: View, record: dict[str, Any] | None) -> list[str]:
    """A rule in words, from its line in the table."""
    if record is None:
        return [f"Of the evidence at {view.at} only the {len(view.rule_index):,} best rules were kept."]
    names = " + ".join(map(str, record["antecedents"])), " + ".join(map(str, record["consequents"]))
    count = int(record["count"])
    times = {0: "were never bought together", 1: "were bought together once"}
    told = times.get(count, f"were bought together {count:,} times")
    lift = f": lift {record['lift']:.1f}" if count and record["lift"] is not None else ""
    out = [f"{names[0]} and {names[1]} {told} in {view.n_baskets:,} baskets{lift} ({record['status']})."]
    if record["expected_lift"] is not None:
        out.append(
            f"In the next period they should show a lift of {record['expected_lift']:.1f} (nine times in ten between "
            f"{record['expected_lift_low']:.1f} and {record['expected_lift_high']:.1f})."
        )
    return out
