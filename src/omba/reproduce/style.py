"""Style: how all pictures look: light, quiet, the same colours for the same methods, told apart without colour too."""

from __future__ import annotations

import io
from collections.abc import Callable

from omba.baselines.base import extra
from omba.reproduce.result import Picture

INK, SOFT, LINE = "#23262b", "#686e78", "#e6e2d8"
# Okabe and Ito's colours (2008), which people with any kind of colour vision tell apart; yellow is too pale here.
BLUE, ORANGE, GREEN, RED, SKY, PINK = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
CYCLE = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")
PAPER = {"color": SOFT, "linestyle": "--", "linewidth": 1.3}
"""Whatever the paper printed is grey and dashed, in every picture."""

LOOK = {
    "figure.facecolor": "white", "axes.facecolor": "white", "savefig.facecolor": "white",
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"], "font.size": 10,
    "text.color": INK, "axes.labelcolor": INK, "axes.titlecolor": INK, "xtick.color": SOFT, "ytick.color": SOFT,
    "axes.edgecolor": "#b9b5ab", "axes.linewidth": 0.8, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": LINE, "grid.linewidth": 0.8, "axes.axisbelow": True,
    "axes.titlesize": 10.5, "axes.titlelocation": "left", "axes.titlepad": 10,
    "lines.linewidth": 1.8, "lines.markersize": 5, "legend.frameon": False, "legend.fontsize": 9,
    "svg.fonttype": "none", "svg.hashsalt": "omba",
}  # fmt: skip


def picture(
    name: str, alt: str, paint: Callable[..., None], columns: int = 1, width: float = 7.2, height: float = 3.6
) -> Picture:
    """A picture in the shared style: `paint` gets so many axes side by side to draw on."""
    matplotlib, figures = extra("matplotlib", "reproduce"), extra("matplotlib.figure", "reproduce")
    with matplotlib.rc_context(LOOK):
        figure = figures.Figure(figsize=(width, height), layout="constrained")
        paint(*figure.subplots(1, columns, squeeze=False)[0])
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return Picture(name, alt, text.getvalue())
