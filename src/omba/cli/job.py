"""A learning job: what `omba learn` was asked for, whichever way it learns: from files, following, or on Spark."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from omba import terminal
from omba.baskets import Clock
from omba.cli.sources import ColumnOptions
from omba.errors import SettingError
from omba.live.keeper import Keeper
from omba.model import OMBA
from omba.model.blas import one_blas_thread
from omba.settings import Value, agree
from omba.sources.cleaning import Cleaning
from omba.store import ModelFolder

OFTEN = 0.1
"""Seconds between two looks at whether a person wants to stop."""
STOPPED = "stopped: what was learned is kept, and the same command goes on from here"


@dataclass(frozen=True)
class LearningJob:
    """What is to be learned, where it goes, and how.

    Parameters
    ----------
    source
        A file, a glob, a built-in data set, or what a runner takes besides (a folder, an address of Redis).
    folder
        The model's folder. A model that is there goes on from where it was.
    columns
        The columns that were named; the others are recognised.
    every
        The length of a window.
    until
        The moment from which on baskets are left out.
    lateness
        How long a window waits for late baskets, where a source is followed.
    history
        The span of time after which an entry of the history is left; None leaves none.
    settings
        Those of the model that were given. A model that is there must have the same, but for the threads.
    new
        Whether to start over, whatever the folder holds.
    """

    source: str
    folder: ModelFolder
    columns: ColumnOptions = field(default_factory=ColumnOptions)
    every: str = "1d"
    until: str | None = None
    lateness: str = "0"
    history: str | None = "month"
    settings: Mapping[str, Value] = field(default_factory=dict)
    new: bool = False

    @contextmanager
    def begin(self) -> Iterator[tuple[OMBA, Keeper]]:
        """The model to go on with, or a new one, and who keeps it; nobody else learns into the folder meanwhile.

        A new one takes the place of the journal too, so nobody may be taking in baskets then.
        """
        keeper = Keeper(self.folder, self.history)
        with ExitStack() as locks:
            locks.enter_context(self.folder.lock())
            keeper.fresh = self.new or not self.folder.exists
            if keeper.fresh:
                locks.enter_context(self.folder.lock_journal())
            model = OMBA(**self.settings) if keeper.fresh else self._load()  # type: ignore[arg-type]
            yield model, keeper

    def remember(self, model: OMBA) -> None:
        """Have the model remember what is folded and left out, where baskets come one by one."""
        cleaning = Cleaning(self.columns.fold, self.columns.exclude, model.identity)
        if cleaning.folds_itself or cleaning.excludes_itself:
            raise SettingError(
                "what is to be folded or left out is found in a file that is whole: name it, with --fold FILE and "
                "--exclude PATTERNS, or learn a file first"
            )
        model.identity.remember(cleaning.identity())

    def agree(self, known: Mapping[str, Value]) -> None:
        """Refuse settings that are not those of the model in the folder; threads may be others each time."""
        agree(self.settings, known, str(self.folder), "or say --new to start over")

    def _load(self) -> OMBA:
        """The model in the folder, to go on with: its settings stay, but for the threads."""
        model = self.folder.load()
        self.agree(model.get_params())
        model.threads = int(self.settings.get("threads", model.threads))  # type: ignore[arg-type]
        terminal.say(f"going on with the model in {self.folder}, which has learned {model.n_baskets:,} baskets", "dim")
        return model


class StopRequest:
    """Whether a person has asked to stop, as a learner wants to know it."""

    def __init__(self) -> None:
        self._asked = False

    def is_set(self) -> bool:
        return self._asked

    def wait(self, timeout: float) -> bool:
        """Wait so many seconds, or until a stop is asked for; whether it is."""
        until = time.monotonic() + timeout
        while not self._asked and (left := until - time.monotonic()) > 0:
            time.sleep(min(OFTEN, left))
        return self._asked

    @contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Let Ctrl-C ask for a stop between windows, since a window half learned could not be gone on with.

        A second Ctrl-C stops at once, and what was learned is lost.
        """

        def ask(*_: object) -> None:
            self._asked = True
            signal.signal(signal.SIGINT, usual)

        usual = signal.signal(signal.SIGINT, ask)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)


def learn_windows(
    model: OMBA, keeper: Keeper, windows: Iterable[tuple[Any, int]], total: int | None, stop: StopRequest
) -> None:
    """Learn windows one after the other, until there are no more or a person asks to stop; then keep the model.

    `windows` are those to learn, of baskets here or on Spark, each with the number of baskets that are done with it.
    """
    # Between windows too: threads of BLAS that the rules of an entry woke would spin while the next one is learned.
    with one_blas_thread(), terminal.progress("learning", total) as advance:
        for window, baskets in windows:
            if len(window):
                keeper.learn(model, window)
            advance(baskets, f"{moment(model)} · {model.n_baskets:,} baskets")
            if stop.is_set():
                break
    if stop.is_set():
        terminal.say(STOPPED, "yellow")
    keeper.finish(model)


def moment(model: OMBA) -> str:
    """The last moment learned, or the number of windows where there is no time."""
    if model.clock is Clock.NONE:
        return f"window {model.n_windows:,}"
    shown = model.clock.show(model.last_time)
    return f"day {shown}" if isinstance(shown, int) else f"{shown:%Y-%m-%d}"
