"""`omba learn`: a stream of baskets into a model on disk, begun anew or gone on with."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from omba import terminal
from omba.baskets import Baskets, Clock
from omba.cli import options
from omba.cli.follow import agree, follow_source
from omba.cli.output import write_json
from omba.cli.sources import ColumnOptions, open_source, say_report
from omba.cli.spark import learn_on_spark, master_of
from omba.errors import SettingError
from omba.model import OMBA
from omba.model.snapshot import CURRENT
from omba.report.figures import counted
from omba.settings import PAPER, Value
from omba.store.keeper import Keeper
from omba.store.lock import LOCK, Lock

INTERRUPTED = 130


@options.with_settings
def learn(
    source: options.Source,
    model: options.ModelFolder,
    basket: options.BasketColumn = None,
    product: options.ProductColumn = None,
    user: options.UserColumn = None,
    time: options.TimeColumn = None,
    price: options.PriceColumn = None,
    quantity: options.QuantityColumn = None,
    store: options.StoreColumn = None,
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
    wanted = {**(PAPER if paper else {}), **options.read_settings(settings)}
    columns = ColumnOptions(basket, product, user, time, price, quantity, store)
    kept = None if history == "none" else history
    master = master_of(engine)
    if follow and master:
        raise SettingError(f"--engine {engine} does not --follow: omba.spark.learn_stream learns a stream on Spark")
    if master:
        with stopping() as stop:
            learner: OMBA = learn_on_spark(
                source, model, columns, every, until, kept, wanted, new, master, _continued, stop
            )
    elif follow:
        if until is not None:
            raise SettingError(f"--until {until!r} and --follow contradict each other: leave one of them out")
        with stopping() as stop:
            learner = follow_source(source, model, columns, every, lateness, kept, wanted, new, stop)
    else:
        learner, stop = _learned(source, model, columns, every, until, kept, wanted, new)
    facts = summary(learner)
    if not write_json(facts, json):
        terminal.show(sentence(facts))
        terminal.show(f"the model is in {model}: omba rules --model {model}", "dim")
    if stop():
        raise typer.Exit(INTERRUPTED)


def _learned(
    source: str,
    folder: Path,
    columns: ColumnOptions,
    every: str,
    until: str | None,
    history: str | None,
    wanted: dict[str, Value],
    new: bool,
) -> tuple[OMBA, Callable[[], bool]]:
    """Learn a source as it is; the model, and whether a person has stopped it."""
    goes_on = (folder / CURRENT).exists() and not new
    keeper = Keeper(folder, history, fresh=not goes_on)
    lock = Lock(folder / LOCK, "learns into")
    try:
        learner = _continued(folder, wanted) if goes_on else OMBA(**wanted)  # type: ignore[arg-type]
        with open_source(source, columns, every) as stream:
            total = len(stream.between(None, until)) if isinstance(stream, Baskets) else stream.total
            with stopping() as stop:
                _learn(learner, keeper, before(stream.windows(every), until), total, stop)
            say_report(stream.report)
        keeper.end(learner)
    finally:
        lock.release()
    return learner, stop


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


def _learn(
    learner: OMBA, keeper: Keeper, windows: Iterator[Baskets], total: int | None, stop: Callable[[], bool]
) -> None:
    """Learn the windows, but for what the model knows, until there are no more or a person stops it."""
    goes_on, known, passed_over, timeless = learner.n_windows > 0, moment(learner), 0, False
    with terminal.progress("learning", total) as advance:
        for window in windows:
            part = after(window, learner) if goes_on else window
            passed_over += len(window) - len(part)
            timeless = window.times is None
            if len(part):
                keeper.before(learner, part)
                learner.partial_fit(part)
            advance(len(window), f"{moment(learner)} · {learner.n_baskets:,} baskets")
            if stop():
                break
    if stop():
        terminal.say("stopped: what was learned is kept, and the same command goes on from here", "yellow")
    if passed_over:
        known_already = "the model knows them; --new starts over"
        terminal.say(f"{passed_over:,} baskets up to {known} were passed over: {known_already}", "yellow")
    if goes_on and timeless:
        terminal.say("these baskets have no time, so all of them were learned as new ones", "yellow")


def _continued(folder: Path, wanted: dict[str, Value]) -> OMBA:
    """The model in the folder, to go on with: its settings stay, but for the threads."""
    learner = OMBA.load(folder)
    agree(folder, learner.get_params(), wanted)
    learner.threads = int(wanted.get("threads", learner.threads))  # type: ignore[arg-type]
    terminal.say(f"going on with the model in {folder}, which has learned {learner.n_baskets:,} baskets", "dim")
    return learner


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C ask for a stop between windows, since a window half learned could not be gone on with.

    A second Ctrl-C stops at once, and what was learned is lost.
    """
    asked = False

    def ask(*_: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, kept)

    kept = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, kept)


def moment(learner: OMBA) -> str:
    """The last moment learned, or the number of windows where there is no time."""
    if learner.clock is Clock.NONE:
        return f"window {learner.n_windows:,}"
    shown = learner.clock.show(learner.last_time)
    return f"day {shown}" if isinstance(shown, int) else f"{shown:%Y-%m-%d}"


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
    users = f" and {counted(facts['users'], 'user')}" if facts["users"] else ""
    windows = f"{counted(facts['baskets'], 'basket')} in {counted(facts['windows'], 'window')}"
    return f"learned {windows}{until}: {counted(facts['products'], 'product')}{users}"
