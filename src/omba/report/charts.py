"""Charts: small drawings as inline SVG, coloured by the page's style sheet, so that they follow light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import ArrayLike, NDArray

from omba.report.figures import number
from omba.report.findings import Cloud, Weeks
from omba.rules import Rules
from omba.rules.theory import Fit, p_lift, p_omba

Floats = NDArray[np.float64]

LEFT, RIGHT, TOP, BOTTOM = 46, 14, 28, 44
"""Margins around the area that is drawn in, in the units of the picture."""
MONTH_ROOM = 34
"""Units from one name of a month to the next, at least."""


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` along `start` to `stop` of the picture, evenly or by their logarithm."""

    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def place(self, values: ArrayLike) -> Floats:
        """Where values lie; beyond the ends they stick to them."""
        x = np.clip(np.asarray(values, np.float64), self.low, self.high)
        low, high = self.low, self.high
        if self.log:
            x, low, high = np.log(x), np.log(low), np.log(high)
        return np.asarray(self.start + (x - low) / (high - low) * (self.stop - self.start))

    def ticks(self) -> list[float]:
        """Round values along the axis: powers of ten, or three to six even steps."""
        if self.log:
            exponents = range(int(np.ceil(np.log10(self.low) - 1e-9)), int(np.floor(np.log10(self.high) + 1e-9)) + 1)
            return [10.0**e for e in exponents]
        unit = 10.0 ** np.floor(np.log10((self.high - self.low) / 3))
        step = next(k * unit for k in (5, 2, 1) if (self.high - self.low) / (k * unit) >= 3)
        first = np.ceil(self.low / step - 1e-9)
        return [float(step * k) + 0.0 for k in np.arange(first, self.high / step + 1e-9)]


def scatter(cloud: Cloud, strongest: Rules, width: int, height: int = 400) -> str:
    """Lift over support, both by their logarithm: all pairs as a haze, the strongest rules on top."""
    support, lift = strongest["support"], strongest["lift"]
    all_support, all_lift = np.concatenate([cloud.support, support]), np.concatenate([cloud.lift, lift])
    x = Axis(*_decades(all_support), LEFT, width - RIGHT, log=True)
    y = Axis(*_decades(all_lift), height - BOTTOM, TOP, log=True)
    haze = "".join(_dot(*at, 1.9) for at in zip(x.place(cloud.support), y.place(cloud.lift), strict=True))
    rules = "".join(
        _dot(*at, 4.0, f"{rule}: lift {number(rule.lift)}, {rule.count:,} baskets")
        for at, rule in zip(zip(x.place(support), y.place(lift), strict=True), strongest, strict=True)
    )
    even = y.place(1.0)
    one = f'<path class="even" d="M{LEFT} {even:.1f}H{width - RIGHT}"/>'
    parts = [_frame(x, y, width, height, "share of baskets with both", "lift", share=True), one]
    parts += [f'<g class="haze">{haze}</g><g class="best">{rules}</g>']
    return _svg(width, height, "Lift over support of pairs of products", parts)


def columns(weeks: Weeks, width: int, height: int = 230) -> str:
    """Baskets a week, a column each."""
    x = Axis(0, len(weeks.baskets), LEFT, width - RIGHT)
    y = Axis(0, 1.05 * float(weeks.baskets.max()), height - BOTTOM, TOP)
    parts = [_rules(y, width)]
    edges, tops = x.place(np.arange(len(weeks.baskets) + 1)), y.place(weeks.baskets)
    gap = 0.18 * (edges[1] - edges[0])
    bars = "".join(
        f'<rect x="{edges[i] + gap / 2:.1f}" y="{tops[i]:.1f}" width="{edges[i + 1] - edges[i] - gap:.1f}" '
        f'height="{y.start - tops[i]:.1f}"><title>week of {name}: {count:,} baskets</title></rect>'
        for i, (name, count) in enumerate(zip(weeks.names, weeks.baskets.tolist(), strict=True))
    )
    parts.append(f'<g class="bars">{bars}</g>')
    parts += [_text(at, height - BOTTOM + 18, name, "start") for at, name in _months(weeks, edges)]
    return _svg(width, height, "Baskets by week", parts)


def _months(weeks: Weeks, edges: Floats) -> list[tuple[float, str]]:
    """The months, each at the first week that begins in it, as far as there is room from the last one backwards."""
    kept: list[tuple[float, str]] = []
    for i, name in reversed(list(enumerate(weeks.names))):
        room = kept[-1][0] if kept else edges[-1] + MONTH_ROOM / 2
        if (i == 0 or name[:7] != weeks.names[i - 1][:7]) and room - edges[i] > MONTH_ROOM:
            kept.append((float(edges[i]), f"{np.datetime64(name).item():%b}"))
    return kept


def curves(fits: Sequence[Fit], width: int, height: int = 310) -> str:
    """p_omba, drawn through, and p_lift, dashed, over the cosine: where they agree, a collision means a lift."""
    x, y = Axis(-1, 1, LEFT, width - RIGHT), Axis(0, 1, height - BOTTOM, TOP)
    cosine = np.linspace(-1.0, 1.0, 121)
    parts = [_frame(x, y, width, height, "cosine of two products", "probability")]
    for place, fit in enumerate(fits):
        for name, p in (("through", p_omba(cosine, fit.F, fit.H)), ("dashed", p_lift(cosine, fit.A))):
            line = " ".join(f"{px:.1f},{py:.1f}" for px, py in zip(x.place(cosine), y.place(p), strict=True))
            parts.append(f'<polyline class="line{place} {name}" points="{line}"/>')
    return _svg(width, height, "Two probabilities over the cosine", parts)


def whisker(low: float, middle: float, high: float, axis: Axis) -> str:
    """An interval and its middle, small enough for a cell of a table."""
    a, m, b = axis.place([low, middle, high])
    return (
        '<svg class="whisker" viewBox="0 0 120 12" aria-hidden="true">'
        f'<path class="even" d="M{axis.place(1.0):.1f} 0V12"/>'
        f'<path class="span" d="M{a:.1f} 6H{b:.1f}"/><circle cx="{m:.1f}" cy="6" r="3"/></svg>'
    )


def _decades(values: Floats) -> tuple[float, float]:
    """Whole powers of ten around the values, at least one apart."""
    known = values[np.isfinite(values) & (values > 0)]
    if not len(known):
        return 0.1, 10.0
    low, high = np.floor(np.log10(known.min())), np.ceil(np.log10(known.max()))
    return float(10.0**low), float(10.0 ** max(high, low + 1))


def _frame(x: Axis, y: Axis, width: int, height: int, below: str, beside: str, share: bool = False) -> str:
    """Lines, numbers and names of both axes."""
    places = zip(x.place(x.ticks()), x.ticks(), strict=True)
    numbers = "".join(
        _text(at, height - BOTTOM + 18, f"{100 * tick:g}%" if share else f"{tick:g}", "middle") for at, tick in places
    )
    middle = (x.start + x.stop) / 2
    name = f'<text class="name" x="6" y="{TOP - 14}">{escape(beside)}</text>'
    return _rules(y, width) + numbers + _text(middle, height - 6, below, "middle", "name") + name


def _rules(y: Axis, width: int) -> str:
    """Light lines across the picture, each with its number."""
    places = list(zip(y.place(y.ticks()), y.ticks(), strict=True))
    lines = "".join(f"M{LEFT} {at:.1f}H{width - RIGHT}" for at, _ in places)
    return f'<path class="grid" d="{lines}"/>' + "".join(
        _text(LEFT - 8, at + 4, f"{tick:,g}" if tick < 1e6 else f"{tick:.0e}", "end") for at, tick in places
    )


def _text(x: float, y: float, words: str, anchor: str, kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _dot(x: float, y: float, radius: float, title: str = "") -> str:
    said = f"<title>{escape(title)}</title>" if title else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{said}</circle>'


def _svg(width: int, height: int, label: str, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
