"""`omba learn SOURCE --follow`: a source that grows, learned as it does, until it is stopped."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from omba import terminal
from omba.cli.sources import ColumnOptions
from omba.datasets import is_built_in
from omba.errors import InputError, SettingError
from omba.live import Inbox, Learner
from omba.live.file_feed import FileFeed
from omba.live.follow import Feed, follow
from omba.live.redis_feed import RedisFeed
from omba.live.status import LEARNER
from omba.model import OMBA
from omba.model.snapshot import CURRENT, peek
from omba.settings import Value
from omba.store.journal import JOURNAL
from omba.store.keeper import HISTORY
from omba.store.lock import LOCK, Lock

REDIS = ("redis://", "rediss://")
OFTEN = 0.1
"""Seconds between two looks at whether a person wants to stop."""


@dataclass(frozen=True)
class Asked:
    """Whether a person has asked to stop, as the learner wants to know it."""

    is_set: Callable[[], bool]

    def wait(self, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while not self.is_set() and (left := until - time.monotonic()) > 0:
            time.sleep(min(OFTEN, left))
        return self.is_set()


def follow_source(
    source: str,
    folder: Path,
    columns: ColumnOptions,
    every: str,
    lateness: str,
    history: str | None,
    settings: dict[str, Value],
    new: bool,
    asked: Callable[[], bool],
) -> OMBA:
    """Learn what comes until a person asks to stop; the model as it is then."""
    if is_built_in(source):
        raise InputError(f"{source!r} is built in and does not grow: leave --follow out")
    if new:
        start_over(folder)
    elif (folder / CURRENT).exists():
        agree(folder, peek(folder)["settings"], settings)
    learner = Learner(folder, every, lateness, history, settings)
    inbox = None
    try:
        inbox = Inbox(folder, every, lateness)
        feed = opened(source, inbox, learner, columns)
        terminal.say(f"following {source} in windows of {every}; Ctrl-C stops, and the same command goes on", "dim")
        try:
            _follow(feed, inbox, learner, asked)
        finally:
            feed.close()
    finally:
        if inbox is not None:
            inbox.close()
        learner.close()
    return learner.model


def opened(source: str, inbox: Inbox, learner: Learner, columns: ColumnOptions) -> Feed:
    """The source as a feed. What a model learned from files before it was live is passed over in a file."""
    if source.startswith(REDIS):
        if columns.named():
            role, name = next(iter(columns.named().items()))
            raise InputError(f"--{role} {name!r} names a column, but entries of a stream have none: leave it out")
        return RedisFeed(source, inbox)
    path = Path(source).expanduser()
    if not path.exists():
        raise InputError(f"there is no file or folder {source!r} to follow: check the path")
    model = learner.model
    return FileFeed(path, inbox, columns.named(), model.last_time if model.n_windows and not model.position else None)


def agree(folder: Path, kept: Mapping[str, Value], wanted: Mapping[str, Value]) -> None:
    """Refuse settings that are not those of the model in a folder; threads may be others each time."""
    for name, value in wanted.items():
        known = kept[name]
        known = tuple(known) if isinstance(known, list) else known
        if name != "threads" and value != known:
            raise SettingError(
                f"the model in {str(folder)!r} was learned with {name} = {known}, not {value}: leave --{name} out to "
                "go on with it, or say --new to start over"
            )


def start_over(folder: Path) -> None:
    """Remove a model with its history and its journal; without `current`, the rest counts for nothing."""
    lock = Lock(folder / LOCK, "learns into")
    (folder / CURRENT).unlink(missing_ok=True)
    for part in (*folder.glob("snapshot-*"), folder / HISTORY, folder / JOURNAL):
        shutil.rmtree(part, ignore_errors=True)
    (folder / LEARNER).unlink(missing_ok=True)
    lock.release()


def _follow(feed: Feed, inbox: Inbox, learner: Learner, asked: Callable[[], bool]) -> None:
    told: Counter[str] = Counter()
    note = ""
    with terminal.progress("following", None) as advance:

        def progress(handed: int) -> None:
            nonlocal note
            windows, before = learner.windows, note
            waiting = inbox.accepted - windows.learned
            note = f"{windows.learned:,} baskets learned in {windows.closed_windows:,} windows, {waiting:,} wait"
            if note != before:
                advance(handed, note)
            late = {"baskets came late and were learned with the next window": windows.late}
            # A word when it happens first, and then each time there are twice as many.
            for reason, count in {**feed.counts, **late}.items():
                if count >= 2 * told[reason] and count:
                    told[reason] = count
                    terminal.say(f"{count:,} so far: {reason}", "yellow")

        follow(feed, inbox, learner, Asked(asked), progress)
    if asked():
        terminal.say("stopped: what was learned is kept, and the same command goes on from here", "yellow")
