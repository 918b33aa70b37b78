"""Group commit: baskets of many requests to the disk together, by one thread, while the requests wait without one.

A request enters its baskets in the inbox at once; whoever is at the disk then takes all that have entered. So two
thousand requests a second need two thousand answers, but far fewer syncs, and no thread each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from omba.live import Inbox, Receipt
from omba.live.inbox import Entered

Tell = Callable[[Receipt | Exception], None]
"""Is told what became of baskets."""


class GroupCommit:
    """Where the event loop hands baskets over."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self._waiting: list[tuple[Entered, Tell]] = []
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, "group commit")

    async def take(self, baskets: Sequence[Mapping[str, Any]]) -> Receipt:
        """Back once the baskets are on the disk; those that cannot be used are refused at once."""
        done: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()

        def tell(found: Receipt | Exception) -> None:
            if done.cancelled():
                return
            if isinstance(found, Receipt):
                done.set_result(found)
            else:
                done.set_exception(found)

        self.enter(baskets, tell)
        return await done

    def enter(self, baskets: Sequence[Mapping[str, Any]], tell: Tell) -> None:
        """The same without waiting: `tell` is called in the event loop, with the receipt or with what went wrong."""
        self._waiting.append((self.inbox.enter(baskets), tell))
        if self._flusher is None:
            self._flusher = asyncio.get_running_loop().create_task(self._settle())

    async def _settle(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            now, self._waiting = self._waiting, []
            answers = await loop.run_in_executor(self._thread, self._settle_all, [entered for entered, _ in now])
            for (_, tell), found in zip(now, answers, strict=True):
                tell(found)
        self._flusher = None

    def _settle_all(self, entered: list[Entered]) -> list[Receipt | Exception]:
        out: list[Receipt | Exception] = []
        for one in entered:
            try:
                out.append(self.inbox.settle(one))
            except Exception as error:
                # It belongs to the request that waits for it, whatever it is.
                out.append(error)
        return out
