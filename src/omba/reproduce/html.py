"""HTML: the report as one file, complete in itself: no script, no network, pictures inside."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from omba.reproduce.experiment import Experiment
from omba.reproduce.reproduction import CITED, TITLE, Reproduction
from omba.reproduce.result import Cell, Claim, Picture, Result, Table


def render(report: Reproduction) -> str:
    """The whole page."""
    style = files("omba.reproduce").joinpath("page.css").read_text(encoding="utf-8")
    sections = "\n".join(_section(experiment, result, report) for experiment, result in report.parts)
    left_out = "".join(f"<p>{escape(id)} is left out: {escape(reason)}</p>" for id, reason in report.left_out.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header><p class="kicker">omba reproduce</p><h1>{TITLE}</h1><p class="cited">{escape(CITED)}</p>'
        f"<p>{escape(report.tally())}. {report.missing}</p></header>\n{_note(report)}"
        f"{_thumbnails(report)}\n{_index(report)}\n{sections}\n{left_out}"
        f"<footer>{escape(report.settings)}</footer>\n</body>\n</html>\n"
    )


def _note(report: Reproduction) -> str:
    return f'<p class="quick">{escape(report.scale.words)}</p>\n' if report.scale.words else ""


def _thumbnails(report: Reproduction) -> str:
    """The pictures small, each a link to its place."""
    links = [
        f'<a href="#{experiment.id}"><img src="{_address(result.pictures[0])}" alt="">'
        f"<span>{experiment.id}</span> {escape(experiment.title)}</a>"
        for experiment, result in report.parts
        if result.pictures
    ]
    return f'<nav class="thumbnails">{"".join(links)}</nav>' if links else ""


def _index(report: Reproduction) -> str:
    rows = "".join(_claim(experiment, claim) for experiment, claim in report.claims)
    return (
        '<section id="claims"><h2>What the paper says, and what was found</h2><div class="wide"><table class="claims">'
        "<thead><tr><th></th><th>claim</th><th>paper</th><th>here</th><th>holds</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _claim(experiment: Experiment[Any], claim: Claim) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in (claim.says, claim.paper, claim.ours))
    mark = claim.holds.replace(" ", "-")
    return (
        f'<tr><td><a href="#{experiment.id}">{experiment.id}</a></td>{cells}'
        f'<td><span class="holds {mark}">{claim.holds}</span></td></tr>'
    )


def _section(experiment: Experiment[Any], result: Result, report: Reproduction) -> str:
    pictures = "".join(
        f'<figure><img src="{_address(picture)}" alt="{escape(picture.alt)}"></figure>' for picture in result.pictures
    )
    findings = "".join(f"<li>{escape(finding)}</li>" for finding in result.findings)
    return (
        f'<section id="{experiment.id}"><p class="kicker">{experiment.id} · {escape(experiment.place)}</p>'
        f"<h2>{escape(experiment.title)}</h2>{_note(report)}{pictures}"
        f"{f'<ul class=findings>{findings}</ul>' if findings else ''}"
        f"{''.join(_table(table) for table in result.tables)}"
        f'<p class="differs"><b>What differs.</b> {escape(result.differs)}</p>'
        f'<p class="settings">{escape(result.settings)}; {result.seconds:,.0f} seconds</p></section>'
    )


def _table(table: Table) -> str:
    kinds = ["words" if place < table.words else "numbers" for place in range(len(table.columns))]
    head = "".join(f'<th class="{kind}">{escape(name)}</th>' for kind, name in zip(kinds, table.columns, strict=True))
    rows = "".join(f"<tr>{_cells(table, row, kinds)}</tr>\n" for row in table.rows)
    return (
        f'<h3>{escape(table.title)}</h3><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{rows}</tbody></table></div>"
    )


def _cells(table: Table, row: Sequence[Cell], kinds: Sequence[str]) -> str:
    both = zip(kinds, row, strict=True)
    return "".join(f'<td class="{kind}">{escape(table.text(cell))}</td>' for kind, cell in both)


def _address(picture: Picture) -> str:
    """A picture inside its own address, so that nothing has to be fetched and names inside it stay apart."""
    return f"data:image/svg+xml;base64,{b64encode(picture.svg.encode()).decode()}"
