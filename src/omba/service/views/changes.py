"""Changes: what became of the rules between two views."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from omba.rules.diff import Change, diff, rules_table
from omba.service.views.rule_key import key_of
from omba.service.views.view import View

NAMES = ("emerged", "strengthened", "faded", "vanished")


def changes(first: View, second: View) -> dict[str, list[dict[str, Any]]]:
    """The rules that changed, each as it stands last, with its lift before and since."""
    if not len(first.rule_index) or not len(second.rule_index):
        return {name: [] for name in NAMES}
    found = diff(rules_table(first.rule_index.rules), rules_table(second.rule_index.rules))
    return {name: [change_record(change, first, second) for change in listed] for name, listed in found}


def change_record(change: Change, first: View, second: View) -> dict[str, Any]:
    """A change as plain values: the rule as it stands last, with its lift before and since."""
    key = key_of(change.antecedents, change.consequents)
    view = second if key in second.rule_index.places else first
    record = view.rule_index.records[view.rule_index.places[key]]
    moved = asdict(change)
    return {**record, **{name: moved[name] for name in ("before", "since", "count_before", "count_since")}}
