"""Failures: what went wrong inside an executor, as one sentence instead of pages of two languages' traces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from omba.errors import OmbaError, SparkError

RAISED = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)): (.+)$", re.MULTILINE)
"""The last line of a Python trace."""
TRACE = "Traceback (most recent call last)"
CAUSED = re.compile(r"Caused by: ([\w.$]+): ([^\n]+)")
USER = re.compile(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|[Ee]xecutor heartbeat|SparkContext was shut down|has been shutdown"
)


@contextmanager
def plainly(work: str) -> Iterator[None]:
    """Turn a failure of Spark into an error that says what was being done, and the cause."""
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JNetworkError as error:
        raise SparkError(f"{work} failed: the connection to Spark is gone; start a new session") from error
    except (Py4JError, PySparkException) as error:
        raise SparkError(f"{work} failed on Spark: {cause(str(error))}") from error


def cause(message: str) -> str:
    """The sentence that matters in a message of Spark's.

    >>> cause("Job aborted … Traceback (most recent call last):\\n  File 'x.py'\\nValueError: no vectors\\n\\tat org.x")
    'no vectors (ValueError)'
    >>> cause("[PATH_NOT_FOUND] Path does not exist: file:/nowhere. SQLSTATE: 42K03")
    'Path does not exist: file:/nowhere'
    """
    messages = USER.findall(message)
    if messages:
        return _trim(messages[-1])
    raised = RAISED.findall(message[message.rfind(TRACE) :]) if TRACE in message else []
    if raised:
        return _python(*raised[-1])
    if LOST.search(message):
        return "an executor was lost as often as Spark tries again; give executors more memory, or more tries"
    caused = CAUSED.findall(message)
    if caused:
        kind, words = caused[-1]
        return f"{_trim(words)} ({kind.rpartition('.')[2]})"
    first = next((line for line in message.splitlines() if line.strip()), message)
    return _trim(re.sub(r"^\[[\w.]+\] ", "", first.strip()))


def _python(kind: str, words: str) -> str:
    kind = kind.rpartition(".")[2]
    if kind == "ModuleNotFoundError":
        return f"{_trim(words)} on the executors: install omba there, or ship it with the job (docs/spark.md)"
    known = {each.__name__ for each in OmbaError.__subclasses__()}
    return _trim(words) if kind in known else f"{_trim(words)} ({kind})"


def _trim(words: str) -> str:
    return re.sub(r" SQLSTATE: \w+.*$", "", words.strip()).strip().rstrip(".")
