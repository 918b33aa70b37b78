"""The overview of a model that a notebook shows: what it has learned, and the settings that are not the defaults."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from omba.settings import SETTINGS, as_plain

if TYPE_CHECKING:
    from omba.model.omba import OMBA


def describe_html(model: OMBA) -> str:
    """A small table in HTML."""
    rows = {
        "products": f"{len(model.product_rows.vocabulary):,}",
        "users": f"{len(model.user_rows.vocabulary):,}",
        "baskets": f"{model.n_baskets:,}",
        "windows": f"{model.n_windows:,}",
    }
    if model.n_windows and model.clock.value != "none":
        rows["learned up to"] = str(model.clock.show(model.last_time))
    for name, value in model.get_params().items():
        if value != SETTINGS[name].default:
            rows[name] = repr(as_plain(value))
    lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows.items())
    return f"<table><caption>{escape(type(model).__name__)}</caption>{lines}</table>"
