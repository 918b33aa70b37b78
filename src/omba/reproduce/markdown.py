"""Markdown: the report for a repository, with its pictures beside it."""

from __future__ import annotations

from typing import Any

from omba.reproduce.experiment import Experiment
from omba.reproduce.reproduction import CITED, TITLE, Reproduction
from omba.reproduce.result import Claim, Result, Table


def render(report: Reproduction) -> str:
    """The whole report; pictures are in the folder `images` beside it."""
    head = [f"# {TITLE}", CITED, f"Made by `omba reproduce`: {report.settings}. {report.tally()}."]
    parts = [*head, *filter(None, [report.missing]), *_note(report), _index(report)]
    for experiment, result in report.parts:
        parts += [f"## {experiment.id}: {experiment.title}", f"*{experiment.place}*", *_note(report), *_section(result)]
    parts += [f"{id} is left out: {reason}" for id, reason in report.left_out.items()]
    return "\n\n".join(parts) + "\n"


def _note(report: Reproduction) -> list[str]:
    return [f"> {report.scale.words}"] if report.scale.words else []


def _index(report: Reproduction) -> str:
    rows = [_claim(experiment, claim) for experiment, claim in report.claims]
    return "\n".join(["| | claim | paper | here | holds |", "| --- | --- | --- | --- | --- |", *rows])


def _claim(experiment: Experiment[Any], claim: Claim) -> str:
    link = f"[{experiment.id}](#{anchor(experiment)})"
    return f"| {link} | {' | '.join(map(_cell, (claim.says, claim.paper, claim.ours, claim.holds)))} |"


def anchor(experiment: Experiment[Any]) -> str:
    """The name a heading is linked by: its words in small letters, joined by hyphens.

    >>> anchor(Experiment("supp4", "Sensitivity to d, |N_z| and τ", "", measure=None, tell=None))
    'supp4-sensitivity-to-d-n_z-and-τ'
    """
    words = f"{experiment.id}: {experiment.title}".lower().replace(" ", "-")
    return "".join(letter for letter in words if letter.isalnum() or letter in "-_")


def _section(result: Result) -> list[str]:
    pictures = [f"![{picture.alt}](images/{picture.name}.svg)" for picture in result.pictures]
    findings = ["\n".join(f"- {finding}" for finding in result.findings)] if result.findings else []
    tables = [part for table in result.tables for part in (f"**{table.title}**", _table(table))]
    return [*pictures, *findings, *tables, f"What differs: {result.differs}", f"*Settings: {result.settings}.*"]


def _table(table: Table) -> str:
    head = f"| {' | '.join(table.columns)} |"
    line = "".join("| --- " if place < table.words else "| ---: " for place in range(len(table.columns))) + "|"
    rows = [f"| {' | '.join(_cell(table.text(cell)) for cell in row)} |" for row in table.rows]
    return "\n".join([head, line, *rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("\n", " ")
