"""Workers: threads that live as long as the process, and run the parts of a window that do not touch each other.

Starting a pool for each window costs as much as a small window's passes. Parts that share no arrays give the same bits
in whatever order they run, so they may run side by side in a learner that is reproducible.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

Job = Callable[[], None]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "omba worker")


# Threads do not follow into a forked process: there, a pool of the parent would take jobs that nobody does.
os.register_at_fork(after_in_child=_pool.cache_clear)


def run(jobs: Sequence[Job], threads: int) -> None:
    """Do all jobs, the first one in this thread; whoever is done first takes what nobody has begun.

    A job must not call `run` with several threads itself: the pool might wait for its own threads.
    """
    if threads == 1 or len(jobs) < 2:
        for job in jobs:
            job()
        return
    waiting = [(job, _pool(threads - 1).submit(job)) for job in jobs[1:]]
    try:
        jobs[0]()
        for job, promise in reversed(waiting):
            if promise.cancel():
                job()
    finally:
        wait([promise for _, promise in waiting])
    for _, promise in waiting:
        if not promise.cancelled():
            promise.result()
