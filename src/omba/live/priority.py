"""Priority: what goes on in the background stands back for those who ask.

A lower priority alone is not enough: on Linux a thread that wakes up may wait for milliseconds until the one that is
running has had its turn. So a thread in the background also keeps off one processor, where answers find nobody.
"""

from __future__ import annotations

import os


def stand_back(nice: int, threads: int = 1) -> None:
    """Lower the priority of this thread and of those it starts, and leave one processor alone, if enough are left for
    so many threads.

    Parameters
    ----------
    nice
        By how much.
    threads
        Processors that the background was promised.
    """
    os.nice(nice)
    if not hasattr(os, "sched_setaffinity"):
        return
    others = sorted(os.sched_getaffinity(0))[1:]
    if len(others) >= max(threads, 1):
        os.sched_setaffinity(0, others)
