"""Runner: experiments one after the other, each kept as soon as it is done, and a report of all that are."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from omba import terminal
from omba.datasets.instacart import FILES
from omba.errors import InputError, MissingExtraError
from omba.reproduce import csvs, html, markdown
from omba.reproduce.context import PROCESSES, Context
from omba.reproduce.experiment import IDS, Experiment, choose
from omba.reproduce.reproduction import Reproduction
from omba.reproduce.result_cache import ResultCache, write_whole
from omba.reproduce.scale import FULL, QUICK, Scale

log = logging.getLogger("omba")

UNITS = 1_000
"""Steps of the bar for a minute of a full run."""


@dataclass(frozen=True)
class Run:
    """What a run left behind: the report of all that is finished, its folder, and the ids that were asked for."""

    report: Reproduction
    folder: Path
    asked: Sequence[str]

    @property
    def page(self) -> Path:
        return self.folder / "report.html"


def reproduce(
    ids: Sequence[str] = (),
    out: Path = Path("omba-reproduction"),
    *,
    quick: bool = False,
    seed: int = 0,
    instacart: Path | None = None,
    scale: Scale | None = None,
    processes: int = PROCESSES,
) -> Run:
    """Do experiments again, all unless some are named, and write the report into the folder.

    What was finished before under the same settings is not done again; Ctrl-C leaves what is finished, and its report.

    Parameters
    ----------
    ids
        What to do again; all unless some are named.
    out
        The folder that report and finished parts go to.
    quick
        Shorter data and fewer windows, in minutes.
    seed
        Start of all random numbers.
    instacart
        The folder of the Kaggle files, where they are at hand.
    scale
        Another scale than the full and the quick one.
    processes
        How many methods are at work at a time.
    """
    wanted = choose(ids)
    _check(seed, instacart)
    scale = scale or (QUICK if quick else FULL)
    results = ResultCache(out / "parts" / _folder(scale, seed, instacart))
    context = Context(results, scale, seed, instacart, processes)
    left_out: dict[str, str] = {}
    try:
        _work(wanted, context, left_out)
    finally:
        run = _write_report(context, out, [one.id for one in wanted], left_out)
    return run


def _check(seed: int, instacart: Path | None) -> None:
    """Refuse before any work what would be refused after hours of it."""
    if seed < 0:
        raise InputError(f"seed is {seed}: give 0 or more")
    missing = [name for name in FILES if instacart and not (instacart / f"{name}.csv").is_file()]
    if missing:
        raise InputError(f"'{instacart}' has no {missing[0]}.csv: give the folder of the Kaggle files, unpacked")


def _work(wanted: Sequence[Experiment[Any]], context: Context, left_out: dict[str, str]) -> None:
    total = sum(_units(one) for one in wanted)
    with terminal.progress("reproducing", total) as advance:
        for experiment in wanted:
            done = 0

            def watch(share: float, note: str, id: str = experiment.id, units: int = _units(experiment)) -> None:
                nonlocal done
                step = max(0, min(round(units * share), units - 1) - done)
                done += step
                advance(step, f"{id} {note}")

            context.progress = watch
            advance(0, experiment.id)
            if context.results.result(experiment.id) is None:
                _do(experiment, context, left_out)
            advance(_units(experiment) - done, experiment.id)


def _do(experiment: Experiment[Any], context: Context, left_out: dict[str, str]) -> None:
    began = perf_counter()
    try:
        result = experiment.run(context)
    except MissingExtraError as error:
        left_out[experiment.id] = str(error)
        log.warning("%s is left out: %s", experiment.id, error)
        return
    context.results.keep(experiment.id, replace(result, seconds=perf_counter() - began))


def _units(experiment: Experiment[Any]) -> int:
    return round(UNITS * experiment.minutes)


def _folder(scale: Scale, seed: int, instacart: Path | None) -> str:
    """A name for all that changes figures."""
    return f"{scale.name}-seed{seed}-{version('omba')}" + (f"-{instacart.resolve().name}" if instacart else "")


def _write_report(context: Context, out: Path, asked: list[str], left_out: dict[str, str]) -> Run:
    """The report of all that is finished, in every form."""
    kept = {one.id: context.results.result(one.id) for one in choose(IDS)}
    parts = [(one, result) for one in choose(IDS) if (result := kept[one.id]) is not None]
    report = Reproduction(parts, context.scale, context.seed, left_out)
    run = Run(report, out, asked)
    write_whole(run.page, html.render(report))
    write_whole(out / "report.md", markdown.render(report))
    write_whole(out / "report.json", report.to_json())
    for name, text in csvs.render(report).items():
        write_whole(out / "tables" / name, text)
    for _, result in parts:
        for picture in result.pictures:
            write_whole(out / "images" / f"{picture.name}.svg", picture.svg)
    return run
