"""Log: what the server says on standard error, without anything a client could forge a line or move a cursor with."""

from __future__ import annotations

import logging
from typing import Any

CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": "omba.service.http.log.PlainFormatter", "fmt": "%(levelname)s: %(message)s"}},
    "handlers": {"error": {"formatter": "plain", "class": "logging.StreamHandler", "stream": "ext://sys.stderr"}},
    "loggers": {"uvicorn": {"handlers": ["error"], "level": "INFO", "propagate": False}},
}
"""Where the log goes, for `logging.config.dictConfig`."""


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
