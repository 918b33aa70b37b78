"""Log: what the server says on standard error, without anything a client could forge a line or move a cursor with."""

from __future__ import annotations

import logging
from collections import OrderedDict
from time import monotonic
from typing import Any

AGAIN, SPAN, KINDS = 10, 60.0, 100
"""How often the same may be said within so many seconds, and how many things are told apart."""

CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": "omba.service.http.log.PlainFormatter", "fmt": "%(levelname)s: %(message)s"}},
    "filters": {"rate": {"()": "omba.service.http.log.RateFilter"}},
    "handlers": {
        "error": {
            "formatter": "plain",
            "filters": ["rate"],
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stderr",
        }
    },
    "loggers": {"uvicorn": {"handlers": ["error"], "level": "INFO", "propagate": False}},
}
"""Where the log goes, for `logging.config.dictConfig`."""


class RateFilter(logging.Filter):
    """Says the same only so often: whoever sends garbage by the thousand does not fill the disk with its log.

    Messages are the same where they are before anything is put into them. The last one said tells that there may be
    more, and the first one after a while how many there were.
    """

    def __init__(self) -> None:
        super().__init__()
        self._said: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def filter(self, record: logging.LogRecord) -> bool:
        now, kind = monotonic(), str(record.msg)
        begin, count = self._said.get(kind, (now, 0))
        left_out = 0
        if now - begin >= SPAN:
            begin, count, left_out = now, 0, max(0, count - AGAIN)
        count += 1
        self._said[kind] = begin, count
        self._said.move_to_end(kind)
        if len(self._said) > KINDS:
            self._said.popitem(last=False)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out:,} times before that)", ()
        elif count == AGAIN:
            record.msg, record.args = f"{record.getMessage()} (more of this is left out for {SPAN:g} s)", ()
        return count <= AGAIN


class PlainFormatter(logging.Formatter):
    """Lines in which every character that is not to be printed is written as its code; a message is one line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = escape(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        return "\n".join(escape(line) for line in super().formatException(ei).split("\n"))


def escape(text: str) -> str:
    r"""The text with what cannot be printed as its code.

    >>> print(escape("tea\x1b[2J\n"))
    tea\x1b[2J\n
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
