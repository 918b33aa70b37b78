"""Page: the findings as one HTML file, readable on a phone, in light and in dark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

import numpy as np

from omba.report import charts
from omba.report.figures import STRONG, UNSEEN, say_bound, strong_rows, unseen_rows
from omba.report.findings import Findings
from omba.rules import Rules

WIDE, NARROW = 860, 380
"""Every chart is drawn twice, so that its letters stay as large as the text on a phone."""

SELDOM = 0.001

WORDS = {
    "together": "Baskets in which all products of the rule were bought.",
    "first in, second in": "Baskets with either product of a pair.",
    "confidence": "Of the baskets with the left side, the share that also hold the right side.",
    "lift": "How many times more often the products meet than they would by chance; 1 is chance.",
    "expected lift": "The lift to expect in the period ahead. It is learned by forecasting each period before it is "
    "counted, so that a high lift from two lucky baskets is not believed.",
    "90% interval": "Where the lift shown in the period ahead should fall nine times out of ten.",
    "cosine": "How near the products lie in the space the model has learned; 1 is the same direction, 0 unrelated.",
}


def write(found: Findings, path: str | Path) -> Path:
    """Write the page to a file, with the folders it needs.

    Parameters
    ----------
    found
        What `of_model` has gathered.
    path
        The file, which is replaced.

    >>> import omba
    >>> from omba import report
    >>> model = omba.OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.write(report.of_model(model, "My shop"), f"{folder}/report.html").name
    'report.html'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render(found), encoding="utf-8")
    return path


def render(found: Findings) -> str:
    """The whole page."""
    parts = [_head(found), _strongest(found), _unseen(found), _cloud(found), _weeks(found), _theory(found), _words()]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(found.title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n"
        + "\n".join(filter(None, parts))
        + f"\n<footer>{escape(found.settings)}</footer>\n</body>\n</html>\n"
    )


def style() -> str:
    """The style sheet, which goes into the page."""
    return files("omba.report").joinpath("report.css").read_text(encoding="utf-8")


def _head(found: Findings) -> str:
    facts = "".join(f"<div><dt>{escape(what)}</dt><dd>{escape(figure)}</dd></div>" for figure, what in found.facts)
    return (
        f'<header><p class="kicker">What belongs together</p><h1>{escape(found.title)}</h1>'
        f'<p class="period">{escape(found.period)}</p><dl class="facts">{facts}</dl></header>'
    )


def _strongest(found: Findings) -> str:
    said = (
        "The rules that should hold best in the time ahead: whoever buys the left side is far likelier than others to "
        "buy the right side. The first are those with the highest low end of the lift to expect: both strong and sure."
    )
    return _section(
        "The strongest rules",
        said,
        _table(STRONG, strong_rows(found.strongest), found.strongest)
        + (f"<p>{note}</p>" if (note := say_bound(found.strongest)) else ""),
    )


def _unseen(found: Findings) -> str:
    if not len(found.unseen):
        return ""
    said = (
        "Pairs that were never in one basket, but that the model places close together because they are bought with "
        "the same products by the same people. Chance is slim that any single one shows up soon, and the "
        "wide intervals say so; they are suggestions to try, not facts."
    )
    body = _table(UNSEEN, unseen_rows(found.unseen), found.unseen, found.reasons)
    return _section("Never bought together, and yet", said, body)


def _cloud(found: Findings) -> str:
    drawn = len(found.cloud.lift)
    if not drawn:
        return ""
    some = f"{drawn:,} of the {found.cloud.total:,} pairs" if drawn < found.cloud.total else f"The {drawn:,} pairs"
    seldom = int((found.strongest["support"] < SELDOM).sum())
    caption = (
        f"{_key('haze')}{some} bought together five times or more, chosen at random; {_key('second')}the "
        f"{len(found.strongest):,} strongest rules, {seldom:,} of them met in fewer than one basket in a thousand. "
        "Along the dotted line products meet as often as by chance."
    )
    said = "How often products are bought together, and how much more often than chance would have it."
    return _section(
        "Strong and rare",
        said,
        _figure(lambda width: charts.scatter(found.cloud, found.strongest, width), caption),
    )


def _weeks(found: Findings) -> str:
    weeks = found.weeks
    if weeks is None:
        return ""
    caption = f"Baskets by week, from the one of {weeks.names[0]}; the first and the last week may not be whole."
    return _section(
        "The stream",
        "The model learned the baskets window by window in this order, and keeps none of them.",
        _figure(lambda width: charts.columns(weeks, width), caption),
    )


def _theory(found: Findings) -> str:
    names = [f"F = {fit.F}, H = {fit.H:,}, A = {fit.A:.1f}" for fit in found.fits]
    colours = ("var(--haze)", "var(--accent)")
    keys = [
        f'<span class="key line" style="color:{colour}"></span>{who}: {name}'
        for colour, who, name in zip(colours, ("the paper", "this model"), names, strict=True)
    ]
    caption = (
        f"{'; '.join(keys)}. Drawn through, the chance that two products share a bucket in at least one of H hash "
        "tables of F planes; dashed, the chance that their lift is strong. Where the two run together, products that "
        "collide are products with a strong lift. The scale A is measured from the vectors."
    )
    said = "Rules are found by hashing vectors, not by counting all pairs. This is why that works."
    return _section(
        "Why a collision means a lift", said, _figure(lambda width: charts.curves(found.fits, width), caption)
    )


def _words() -> str:
    words = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in WORDS.items())
    return f'<section><h2>In words</h2><dl class="words">{words}</dl></section>'


def _key(colour: str) -> str:
    return f'<span class="key" style="background:var(--{colour})"></span>'


def _section(title: str, said: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2><p>{escape(said)}</p>{body}</section>"


def _figure(draw: Callable[[int], str], caption: str) -> str:
    pictures = f'<div class="wide">{draw(WIDE)}</div><div class="narrow">{draw(NARROW)}</div>'
    return f"<figure>{pictures}<figcaption>{caption}</figcaption></figure>"


def _table(names: Sequence[str], rows: Sequence[Sequence[str]], rules: Rules, reasons: Sequence[str] = ()) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in (*names, ""))
    drawings = _whiskers(rules)
    body = ""
    for place, row in enumerate(rows):
        rule = escape(row[0]).replace("⇒", '<span class="leads">⇒</span>')
        cells = "".join(
            f'<td class="numbers" data-name="{escape(name)}">{escape(cell)}</td>'
            for name, cell in zip(names[1:], row[1:], strict=True)
        )
        body += f'<tr><td>{rule}</td>{cells}<td class="drawn">{drawings[place]}</td></tr>\n'
        if place < len(reasons) and reasons[place]:
            body += f'<tr class="why"><td colspan="{len(names) + 1}">{escape(reasons[place])}</td></tr>\n'
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>"


def _whiskers(rules: Rules) -> list[str]:
    """The expected lift and its interval of each rule, all on one scale."""
    low, middle, high = (rules[f"expected_lift{end}"].astype(np.float64) for end in ("_low", "", "_high"))
    if not len(rules) or not np.isfinite(middle).any():
        return [""] * len(rules)
    axis = charts.Axis(0.5, max(10.0, float(np.nanmax(high))), 4, 116, log=True)
    return [charts.whisker(*ends, axis) for ends in zip(low, middle, high, strict=True)]
