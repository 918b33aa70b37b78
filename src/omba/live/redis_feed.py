"""Redis feed: entries of a Redis Stream for a consumer group, acknowledged when a snapshot has learned them.

`redis://HOST:PORT/STREAM`, with `?group=NAME` where another group than `omba` is wanted and `?db=N` for another
database. An entry has a field `basket` with a basket as over HTTP, in JSON. One without an id goes by the entry's own,
so an entry that is delivered again, after a crash or a lost connection, is known and learned once.
"""

from __future__ import annotations

import json
import logging
from collections import Counter, deque
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from omba.errors import InputError, MissingExtraError, StoreError
from omba.live.inbox import Inbox
from omba.live.records import Record, record, utc_now
from omba.store.ids import REMEMBERED

log = logging.getLogger("omba")

COUNT = 1_000
"""Entries read in one go."""
BLOCK = 200
"""Milliseconds to wait for some."""
WAITING = REMEMBERED // 2
"""Entries that may wait for a snapshot. Beyond, the oldest are acknowledged from the journal, where they are safe too:
ids are remembered for a million, and more than that could not be told from new ones if they were delivered again."""
CONSUMER = "learner"


class RedisFeed:
    """A stream of a Redis server, read by one consumer.

    Parameters
    ----------
    address
        `redis://HOST:PORT/STREAM`.
    inbox
        Where baskets are handed to.
    """

    def __init__(self, address: str, inbox: Inbox) -> None:
        try:
            import redis
        except ImportError:
            raise MissingExtraError("reading from Redis needs its client: pip install 'omba[redis]'") from None
        self.redis, self.inbox = redis, inbox
        self.address, self.stream, self.group, url = parse(address)
        self.server: Any = redis.Redis.from_url(url, socket_connect_timeout=5, health_check_interval=30)
        self.waiting: deque[tuple[int, bytes]] = deque()
        """(number of the basket, entry) of what is in the journal and not yet acknowledged."""
        self.counts: Counter[str] = Counter()
        """Entries that are not learned."""
        self.refused = ""
        self.silent = False
        self.again = True
        """Whether entries that were delivered before are to be asked for first."""
        self.cursor: bytes | str = "0"
        self._join()

    def read(self) -> int:
        """Hand on what is new, and what was delivered before but not acknowledged; how many entries."""
        try:
            entries = self._entries()
        except self.redis.RedisError as error:
            self._report_silence(error)
            return 0
        self.silent = False
        if not entries:
            return 0
        good, bad = self._read(entries)
        try:
            self.inbox.accept([one for _, one in good])
        except StoreError:
            self._again()
            raise
        # What is new is before the journal's end now, and what was repeated was there already.
        self.waiting.extend((self.inbox.accepted - 1, entry) for entry, _ in good)
        self._acknowledge(bad)
        while len(self.waiting) > WAITING:
            self._acknowledge([self.waiting.popleft()[1] for _ in range(COUNT)])
        return len(entries)

    def flush(self) -> int:
        """Entries are whole baskets: nothing waits."""
        return 0

    def acknowledge(self, before: int) -> None:
        """Acknowledge to the server what a snapshot has learned."""
        done = []
        while self.waiting and self.waiting[0][0] < before:
            done.append(self.waiting.popleft()[1])
        self._acknowledge(done)

    def close(self) -> None:
        self.server.close()

    def _join(self) -> None:
        """Make the group, from the stream's beginning on, unless it is there."""
        try:
            self.server.xgroup_create(self.stream, self.group, id="0", mkstream=True)
        except self.redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise InputError(f"{self.address} cannot be read as a stream ({error}): give the name of one") from None
        except self.redis.RedisError as error:
            raise InputError(
                f"{self.address} does not answer ({error}): start the server, or correct the address"
            ) from None

    def _entries(self) -> list[tuple[bytes, dict[bytes, bytes]]]:
        asked = self.cursor if self.again else ">"
        found = self.server.xreadgroup(self.group, CONSUMER, {self.stream: asked}, COUNT, None if self.again else BLOCK)
        entries: list[tuple[bytes, dict[bytes, bytes]]] = found[0][1] if found else []
        if self.again:
            if entries:
                self.cursor = entries[-1][0]
            else:
                self.again = False
                return self._entries()
        return entries

    def _read(self, entries: list[tuple[bytes, dict[bytes, bytes]]]) -> tuple[list[tuple[bytes, Record]], list[bytes]]:
        good: list[tuple[bytes, Record]] = []
        bad, now = [], utc_now()
        for entry, fields in entries:
            try:
                found = self._record(entry, fields, now)
                # All of these are taken in together, so they must tell time as the first of them does.
                self.inbox.check_clock([*(one for _, one in good[:1]), found])
                good.append((entry, found))
            except InputError as error:
                bad.append(entry)
                self.refused = self.refused or f"entries passed over; the first, {entry.decode()}: {error}"
                self.counts[self.refused] += 1
        return good, bad

    def _record(self, entry: bytes, fields: dict[bytes, bytes], now: Any) -> Record:
        if not fields or b"basket" not in fields:
            raise InputError("it has no field 'basket' with a basket in JSON")
        try:
            basket = json.loads(fields[b"basket"])
        except ValueError as error:
            raise InputError(f"its field 'basket' is no JSON ({error})") from None
        if not isinstance(basket, dict):
            raise InputError("its field 'basket' is no JSON object")
        if basket.get("id") is None:
            basket["id"] = f"{self.stream} {entry.decode()}"
        return record(basket, now)

    def _acknowledge(self, entries: list[bytes]) -> None:
        """Tell the server; should it not hear, it delivers them again, and they are known."""
        try:
            for first in range(0, len(entries), COUNT):
                self.server.xack(self.stream, self.group, *entries[first : first + COUNT])
        except self.redis.RedisError as error:
            self._report_silence(error)

    def _report_silence(self, error: Exception) -> None:
        """The server is away: say so once, and ask again for what it delivered, since some may not have come."""
        if not self.silent:
            log.warning("%s does not answer (%s): it is asked again until it does", self.address, error)
        self.silent = True
        self._again()

    def _again(self) -> None:
        """Have everything delivered again that was not acknowledged."""
        self.again, self.cursor = True, "0"
        self.waiting.clear()


def parse(address: str) -> tuple[str, str, str, str]:
    """(shown, stream, group, server) of an address.

    >>> parse("redis://localhost/baskets?db=2")
    ('redis://localhost/baskets', 'baskets', 'omba', 'redis://localhost:6379/2')
    """
    parts = urlsplit(address)
    stream, asked = unquote(parts.path.lstrip("/")), parse_qs(parts.query)
    database = asked.get("db", ["0"])[0]
    if not stream or not database.isdecimal() or set(asked) - {"db", "group"}:
        raise InputError(
            f"{address!r} names no stream: write redis://HOST:PORT/STREAM, with ?group=NAME or ?db=N where needed"
        )
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    host = f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/{stream}"
    return shown, stream, asked.get("group", ["omba"])[0], f"{parts.scheme}://{user}{host}/{database}"
