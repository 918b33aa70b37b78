"""BLAS on one thread while a model learns.

A window's matrices are small: threads of BLAS gain nothing in them, but wait for each other by spinning, and take the
processors from the threads of the learner. On two processors a fit with two threads took half as long again.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    # Compiled code calls the BLAS that SciPy brings, which has threads of its own. To find both takes a tenth of
    # the time of a small window, so it is done once.
    import_module("scipy.linalg.cython_blas")
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread, in all of the process, until the block is left.

    >>> with one_blas_thread():
    ...     {part["num_threads"] for part in _controller().info() if part["user_api"] == "blas"}
    {1}
    """
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]
