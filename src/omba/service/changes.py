"""Changes: what became of the rules between two views."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from omba.rules.diff import Change, diff, rules_table
from omba.service.keys import key_of
from omba.service.view import View

NAMES = ("emerged", "strengthened", "faded", "vanished")


def changes(first: View, second: View) -> dict[str, list[dict[str, Any]]]:
    """The rules that changed, each as it stands last, with its lift before and since."""
    if not len(first.book) or not len(second.book):
        return {name: [] for name in NAMES}
    found = diff(rules_table(first.book.rules), rules_table(second.book.rules))
    return {name: [told(change, first, second) for change in listed] for name, listed in found}


def told(change: Change, first: View, second: View) -> dict[str, Any]:
    key = key_of(change.antecedents, change.consequents)
    view = second if key in second.book.places else first
    record = view.book.records[view.book.places[key]]
    moved = asdict(change)
    return {**record, **{name: moved[name] for name in ("before", "since", "count_before", "count_since")}}
