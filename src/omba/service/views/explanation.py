"""Explanation: the words and the evidence behind a rule, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from omba.baskets import Label
from omba.rules.explain import how_often, outlook
from omba.rules.explain_set import count_set
from omba.rules.rule_status import status
from omba.service.views.rule_key import key_of
from omba.service.views.view import View

BRIDGES = 5


def explain(
    view: View, antecedents: Sequence[Label], consequents: Sequence[Label], record: dict[str, Any] | None
) -> dict[str, Any]:
    """Why the two sides belong together: of the present in full, of the past what its table tells."""
    if view.pair_index is None:
        return {"text": facts(view, record), "bridges": [], "users": None, "nearest": []}
    each = [view.pair_index.explainer.explain(one, consequents[0]) for one in antecedents]
    text = (
        [] if len(each) < 2 else set_facts(view, antecedents, consequents[0]) if record is None else facts(view, record)
    )
    for one in each:
        text += one.sentences()
    bridges = [bridge for one in each for bridge in one.bridges if bridge.product not in antecedents]
    bridges.sort(key=lambda bridge: -min(bridge.lift_a, bridge.lift_b))
    names = ("product", "count_a", "lift_a", "count_b", "lift_b", "at_least_a", "at_least_b")
    numbers = [one.shoppers.number for one in each if one.shoppers is not None]
    seen = [
        {
            "key": key_of([x.a], [x.b]),
            "antecedents": [x.a],
            "consequents": [x.b],
            "count": x.count,
            "count_at_least": x.at_least,
            "lift": x.lift,
        }
        for one in each
        for x in one.seen
    ]
    return {
        "text": text,
        "bridges": [{name: getattr(bridge, name) for name in names} for bridge in bridges[:BRIDGES]],
        "users": min(numbers) if numbers else None,
        "nearest": seen[:BRIDGES],
    }


def set_facts(view: View, antecedents: Sequence[Label], consequent: Label) -> list[str]:
    """How often several products and another were bought together, in words, though it is no rule that was kept."""
    assert view.pair_index is not None
    rule, show = count_set(view.pair_index.given, antecedents, consequent), view.catalogue.show
    names = f"{' + '.join(map(show, antecedents))} and {show(consequent)}"
    if rule.count_at_least and not rule.count:
        return [f"How often {names} were in one basket was not kept; here is each of them with {show(consequent)}."]
    known = str(status(np.array([rule.count]))[0])
    lift = f": lift {rule.lift:.1f}" if rule.count and not rule.count_at_least else ""
    often = how_often(rule.count, known, rule.count_at_least)
    return [f"{names} {often} in {view.n_baskets:,} baskets{lift} ({known})."]


def facts(view: View, record: dict[str, Any] | None) -> list[str]:
    """A rule in words, from its line in the table."""
    if record is None:
        return [f"Of the evidence at {view.at} only the {len(view.rule_index):,} best rules were kept."]
    names = [" + ".join(map(view.catalogue.show, record[side])) for side in ("antecedents", "consequents")]
    count = int(record["count"])
    lift = f": lift {record['lift']:.1f}" if count and record["lift"] is not None else ""
    often = how_often(count, record["status"], record["count_at_least"])
    return [
        f"{names[0]} and {names[1]} {often} in {view.n_baskets:,} baskets{lift} ({record['status']}).",
        *outlook(*(record[name] for name in ("expected_lift", "expected_lift_low", "expected_lift_high"))),
    ]
