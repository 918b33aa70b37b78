"""Summary: what is told of a published state in figures, apart from the state itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from omba.service.views.history_view import HistoryView
from omba.service.views.view import View


@dataclass(frozen=True)
class Summary:
    """How much a state holds, in plain values.

    Parameters
    ----------
    baskets, windows
        How many it has learned.
    products, users, rules, pairs
        How many it knows.
    position
        How far it has learned the journal.
    clock, settings
        Those of its model.
    history
        The kept windows.
    """

    baskets: int = 0
    windows: int = 0
    products: int = 0
    users: int = 0
    rules: int = 0
    pairs: int = 0
    position: dict[str, int] = field(default_factory=dict)
    clock: str = "none"
    settings: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, view: View, past: HistoryView) -> Summary:
        model = view.model
        assert model is not None
        position = {name: int(model.position.get(name, 0)) for name in ("returns", "learned", "windows")}
        return cls(
            model.n_baskets,
            model.n_windows,
            len(view.product_index),
            len(model.user_rows.vocabulary),
            len(view.rule_index),
            model.evidence.n_pairs,
            position,
            model.clock.value,
            model.get_params(),
            [{"at": one.at, "baskets": one.entry.n_baskets, "products": one.entry.n_labels} for one in past.entries],
        )
