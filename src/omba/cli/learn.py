"""`omba learn`: a stream of baskets into a model on disk, begun anew or gone on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from omba import terminal
from omba.baskets import Baskets, Clock
from omba.cli import options
from omba.cli.check import say_findings
from omba.cli.follow import follow_source
from omba.cli.job import LearningJob, StopRequest, learn_windows, moment
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, open_source, say_report
from omba.cli.spark import learn_on_spark, master_of
from omba.errors import SettingError
from omba.model import OMBA
from omba.report.figures import count_of
from omba.settings import PAPER
from omba.sources.sorting import SortedStream
from omba.store import ModelFolder

INTERRUPTED = 130


@options.with_settings
def learn(
    source: options.Source,
    model: options.ModelPath,
    basket: options.BasketColumn = None,
    product: options.ProductColumn = None,
    user: options.UserColumn = None,
    time: options.TimeColumn = None,
    price: options.PriceColumn = None,
    quantity: options.QuantityColumn = None,
    store: options.StoreColumn = None,
    sheet: options.Sheet = None,
    fold: options.Fold = None,
    exclude: options.Exclude = None,
    every: options.Every = "1d",
    until: options.Until = None,
    new: Annotated[bool, typer.Option("--new", help="Start over, whatever the folder holds.")] = False,
    paper: Annotated[bool, typer.Option("--paper", help="Begin with the paper's settings instead of ours.")] = False,
    history: Annotated[
        str, typer.Option(metavar="SPAN", help="Keep the rules of the end of each such span, for diff; or none.")
    ] = "month",
    follow: Annotated[
        bool, typer.Option("--follow", help="Go on as the source grows: a file, a folder of files, a Redis stream.")
    ] = False,
    lateness: Annotated[
        str, typer.Option(metavar="SPAN", help="With --follow: how long after its end a window waits for baskets.")
    ] = "0",
    engine: Annotated[
        str, typer.Option(metavar="ENGINE", help="Where to learn: omba, spark (on this machine) or spark:MASTER.")
    ] = "omba",
    json: options.Json = None,
    **settings: Any,
) -> None:
    """Learn baskets window by window into a model; a model that is there already goes on from where it was."""
    columns = ColumnOptions(basket, product, user, time, price, quantity, store, sheet, fold, exclude)
    wanted = {**(PAPER if paper else {}), **options.read_settings(settings)}
    kept = None if history == "none" else history
    job = LearningJob(source, ModelFolder(model), columns, every, until, lateness, kept, wanted, new)
    stop, master = StopRequest(), master_of(engine)
    if follow and master:
        raise SettingError(f"--engine {engine} does not --follow: omba.spark.learn_stream learns a stream on Spark")
    if follow and until is not None:
        raise SettingError(f"--until {until!r} and --follow contradict each other: leave one of them out")
    if master:
        learned = learn_on_spark(job, master, stop)
    else:
        learned = follow_source(job, stop) if follow else learn_source(job, stop)
    facts = summary(learned)
    if not write_json(facts, json):
        terminal.show(sentence(facts))
        terminal.show(f"the model is in {model}: omba rules --model {model}", "dim")
    if stop.is_set():
        raise typer.Exit(INTERRUPTED)


def learn_source(job: LearningJob, stop: StopRequest) -> OMBA:
    """Learn a source as it is, but for what the model knows already."""
    with (
        job.begin() as (model, keeper),
        open_source(job.source, job.columns, job.every, model.identity) as stream,
    ):
        if isinstance(stream, SortedStream):
            model.identity.remember(stream.identity)
            say_findings(stream)
        keeper.beside = True
        total = len(stream.between(None, job.until)) if isinstance(stream, Baskets) else stream.total
        windows = NewBaskets(before(stream.windows(job.every), job.until), model)
        with stop.on_interrupt():
            learn_windows(model, keeper, windows, total, stop)
        windows.tell()
        say_report(stream.report)
    return model


def before(windows: Iterable[Baskets], stop: str | None) -> Iterator[Baskets]:
    """The windows up to a moment, the last one cut there."""
    for window in windows:
        part = window if stop is None else window.between(None, stop)
        if len(part):
            yield part
        if len(part) < len(window):
            return


def after(window: Baskets, learner: OMBA) -> Baskets:
    """The baskets of a window that are later than what the model has learned; all of them where there is no time."""
    if window.times is None or window.clock is not learner.clock or learner.clock is Clock.NONE:
        return window
    first = int(np.searchsorted(window.times, learner.last_time, "right"))
    return window.slice(first, len(window), window.start, window.stop)


@dataclass
class NewBaskets:
    """Windows without what a model knew when it began, each with the number of baskets it had in all."""

    windows: Iterable[Baskets]
    model: OMBA
    passed_over: int = 0
    timeless: bool = False

    def __post_init__(self) -> None:
        self.goes_on, self.known = self.model.n_windows > 0, moment(self.model)

    def __iter__(self) -> Iterator[tuple[Baskets, int]]:
        for window in self.windows:
            part = after(window, self.model) if self.goes_on else window
            self.passed_over += len(window) - len(part)
            self.timeless = window.times is None
            yield part, len(window)

    def tell(self) -> None:
        """Say what was left out, and what may have been learned twice."""
        if self.passed_over:
            known_already = "the model knows them; --new starts over"
            terminal.say(f"{self.passed_over:,} baskets up to {self.known} were passed over: {known_already}", "yellow")
        if self.goes_on and self.timeless:
            terminal.say("these baskets have no time, so all of them were learned as new ones", "yellow")


def summary(learner: OMBA) -> dict[str, Any]:
    """What a model has learned, in figures."""
    return {
        "baskets": learner.n_baskets,
        "windows": learner.n_windows,
        "products": len(learner.products),
        "users": len(learner.users),
        "until": None if learner.clock is Clock.NONE else learner.clock.show(learner.last_time),
        "settings": learner.get_params(),
    }


def sentence(facts: dict[str, Any]) -> str:
    """The figures in words."""
    until = "" if facts["until"] is None else f", until {facts['until']}"
    users = f" and {count_of(facts['users'], 'user')}" if facts["users"] else ""
    windows = f"{count_of(facts['baskets'], 'basket')} in {count_of(facts['windows'], 'window')}"
    return f"learned {windows}{until}: {count_of(facts['products'], 'product')}{users}"
