"""Workers: threads that live as long as the process, and do the parts of a window that do not touch each other.

Starting a pool for each window costs as much as a small window's passes. Parts that share no arrays give the same bits
in whatever order they run, so they may run side by side in a learner that is reproducible; a part that needs what
another one makes comes after it. What no other part of the window needs may go on beside the next window.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Condition

Job = Callable[[], None]


class WorkItem:
    """A job that is done once, by whoever comes to it first.

    Parameters
    ----------
    job
        What is to be done.
    after
        What must be done before.
    """

    def __init__(self, job: Job, after: Sequence[WorkItem] = ()) -> None:
        self.job: Job | None = job
        self.after = tuple(after)
        self.error: BaseException | None = None

    @property
    def done(self) -> bool:
        return self.job is None


class Crew:
    """Threads that do tasks beside the thread that gives them out.

    Parameters
    ----------
    helpers
        How many threads, beside the one that gives tasks out.

    >>> crew, done = Crew(1), []
    >>> first = WorkItem(lambda: done.append("pairs"))
    >>> second = WorkItem(lambda: done.append("triples"), after=[first])
    >>> crew.add([first, second])
    >>> crew.finish([second])
    >>> done
    ['pairs', 'triples']
    """

    def __init__(self, helpers: int) -> None:
        self._pool = ThreadPoolExecutor(helpers, "omba worker")
        self._waiting: list[WorkItem] = []
        self._running = 0
        self._changed = Condition()

    def add(self, tasks: Sequence[WorkItem], urgent: bool = False) -> None:
        """Give out tasks, in the order in which they are to be begun; urgent ones come before all that are waiting."""
        with self._changed:
            self._waiting[:] = [*tasks, *self._waiting] if urgent else [*self._waiting, *tasks]
        for _ in tasks:
            self._pool.submit(self._help)

    def finish(self, tasks: Sequence[WorkItem]) -> None:
        """Return once these are done; what nobody has begun is done here. If one failed, that is told then."""
        try:
            while (task := self._take_one_of(tasks)) is not None:
                self._do(task)
        finally:
            with self._changed:
                self._changed.wait_for(lambda: all(task.done for task in tasks))
        for task in tasks:
            if task.error is not None:
                error, task.error = task.error, None
                raise error

    def settle(self) -> None:
        """Wait until nobody does anything."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._running)

    def _help(self) -> None:
        """Do what is ready until nothing is."""
        while True:
            with self._changed:
                task = self._take(self._waiting)
            if task is None:
                return
            self._do(task)

    def _take_one_of(self, tasks: Sequence[WorkItem]) -> WorkItem | None:
        """A task that is ready, of these or of what they come after; None once all are done."""
        with self._changed:
            while not all(task.done for task in tasks):
                needed = [*(before for task in tasks for before in task.after), *tasks]
                task = self._take([task for task in needed if task in self._waiting])
                if task is not None:
                    return task
                self._changed.wait()
        return None

    def _take(self, tasks: Sequence[WorkItem]) -> WorkItem | None:
        for task in tasks:
            if all(before.done for before in task.after):
                self._waiting.remove(task)
                self._running += 1
                return task
        return None

    def _do(self, task: WorkItem) -> None:
        assert task.job is not None
        try:
            task.job()
        except BaseException as error:
            task.error = error
        with self._changed:
            task.job, task.after = None, ()
            self._running -= 1
            self._changed.notify_all()
            others = len(self._waiting)
        if others:
            # It may have been what others waited for.
            self._pool.submit(self._help)


_crews: dict[int, Crew] = {}


def crew(threads: int) -> Crew:
    """The threads beside this one, of so many in all; the same for all learners of the process."""
    if threads not in _crews:
        _crews.setdefault(threads, Crew(threads - 1))
    return _crews[threads]


def _settle() -> None:
    for one in list(_crews.values()):
        one.settle()


# Threads do not follow into a forked process: there, a crew of the parent would take jobs that nobody does, and what it
# has begun would never end.
os.register_at_fork(before=_settle, after_in_child=_crews.clear)


def run(jobs: Sequence[Job], threads: int) -> None:
    """Do all jobs, the first one in this thread; whoever is done takes the next one that nobody has begun, so that long
    ones had better come first.

    A job must not call `run` with several threads itself: it might wait for its own thread.
    """
    if threads == 1 or len(jobs) < 2:
        for job in jobs:
            job()
        return
    others = [WorkItem(job) for job in jobs[1:]]
    crew(threads).add(others)
    try:
        jobs[0]()
    except BaseException:
        with suppress(Exception):
            crew(threads).finish(others)
        raise
    crew(threads).finish(others)
