"""Curve: the two probabilities of the theory drawn over the cosine, as an SVG picture (supplement, Figure 3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from omba.rules.theory import PAPER, Fit, p_lift, p_omba

WIDTH, HEIGHT, MARGIN = 640, 360, 48
COLOURS = ("#1f5fa8", "#c2571a", "#3b8a3b", "#7a4fa3")


def curve_svg(fits: Sequence[Fit] = (PAPER,)) -> str:
    """p_omba (drawn through) and p_lift (dashed) of each fit; the text of an SVG file."""
    cosine = np.linspace(-1.0, 1.0, 201)
    parts = [_axes()]
    for k, fit in enumerate(fits):
        colour = COLOURS[k % len(COLOURS)]
        parts.append(_line(cosine, p_omba(cosine, fit.F, fit.H), colour, ""))
        parts.append(_line(cosine, p_lift(cosine, fit.A), colour, ' stroke-dasharray="6 4"'))
        name = f"F = {fit.F}, H = {fit.H:,}, A = {fit.A:.1f}"
        parts.append(f'<text x="{MARGIN + 12}" y="{MARGIN + 18 * (k + 1)}" fill="{colour}">{name}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' font-family="sans-serif" font-size="13">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _place(cosine: float, p: float) -> tuple[float, float]:
    return MARGIN + (cosine + 1) / 2 * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - p * (HEIGHT - 2 * MARGIN)


def _line(cosine: NDArray[np.float64], p: NDArray[np.float64], colour: str, style: str) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(_place, cosine.tolist(), p.tolist()))
    return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{style}/>'


def _axes() -> str:
    (left, bottom), (right, top) = _place(-1, 0), _place(1, 1)
    parts = [f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#444"/>']
    for cosine in (-1.0, -0.5, 0.0, 0.5, 1.0):
        x, y = _place(cosine, 0)
        parts.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle" fill="#444">{cosine:g}</text>')
    for p in (0.0, 0.5, 1.0):
        x, y = _place(-1, p)
        parts.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end" fill="#444">{p:g}</text>')
    middle, below = _place(0, 0)
    parts.append(f'<text x="{middle}" y="{below + 38}" text-anchor="middle">cosine</text>')
    parts.append(f'<text x="{left}" y="{top - 16}">p_omba (line) and p_lift (dashed)</text>')
    return "".join(parts)
