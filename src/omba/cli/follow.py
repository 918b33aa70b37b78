"""`omba learn SOURCE --follow`: a source that grows, learned as it does, until it is stopped."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from omba import terminal
from omba.cli.job import STOPPED, LearningJob, StopRequest
from omba.cli.sources import ColumnOptions
from omba.datasets import is_built_in
from omba.errors import InputError
from omba.live import Inbox, Learner
from omba.live.file_feed import FileFeed
from omba.live.follow import Feed, follow
from omba.live.redis_feed import RedisFeed
from omba.model import OMBA

REDIS = ("redis://", "rediss://")


def follow_source(job: LearningJob, stop: StopRequest) -> OMBA:
    """Learn what comes until a person asks to stop; the model as it is then."""
    if is_built_in(job.source):
        raise InputError(f"{job.source!r} is built in and does not grow: leave --follow out")
    job.columns.refuse_sheet(job.source)
    if job.new:
        with job.folder.lock_all():
            job.folder.clear()
    elif job.folder.exists:
        job.agree(job.folder.manifest()["settings"])
    with stop.on_interrupt(), ExitStack() as ends:
        learner = Learner(job.folder, job.every, job.lateness, job.history, job.settings)
        ends.callback(learner.close)
        job.remember(learner.model)
        inbox = Inbox(job.folder, job.every, job.lateness)
        ends.callback(inbox.close)
        feed = open_feed(job.source, inbox, learner, job.columns)
        ends.callback(feed.close)
        terminal.say(
            f"following {job.source} in windows of {job.every}; Ctrl-C stops, and the same command goes on", "dim"
        )
        _follow(feed, inbox, learner, stop)
    return learner.model


def open_feed(source: str, inbox: Inbox, learner: Learner, columns: ColumnOptions) -> Feed:
    """The source as a feed. What a model learned from files before it was live is passed over in a file."""
    if source.startswith(REDIS):
        if columns.names():
            role, name = next(iter(columns.names().items()))
            raise InputError(f"--{role} {name!r} names a column, but entries of a stream have none: leave it out")
        return RedisFeed(source, inbox)
    path = Path(source).expanduser()
    if not path.exists():
        raise InputError(f"there is no file or folder {source!r} to follow: check the path")
    model = learner.model
    return FileFeed(path, inbox, columns.names(), model.last_time if model.n_windows and not model.position else None)


def _follow(feed: Feed, inbox: Inbox, learner: Learner, stop: StopRequest) -> None:
    said: Counter[str] = Counter()
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
                if count >= 2 * said[reason] and count:
                    said[reason] = count
                    terminal.say(f"{count:,} so far: {reason}", "yellow")

        follow(feed, inbox, learner, stop, progress)
    if stop.is_set():
        terminal.say(STOPPED, "yellow")
