"""Launch: the start of the process that answers (`service.answerer`), apart from all that is slow to import.

It takes a second or two until it can read a state, so the command that serves begins it before anything else.
"""

from __future__ import annotations

import os
import subprocess
import sys

COMMAND = [sys.executable, "-c", "from omba.service.answerer import main; main()"]

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that say how many threads BLAS has, to be set before NumPy is read."""


def limit_blas() -> None:
    """Have BLAS use one thread in this process, as far as NumPy is not read yet, and in all it starts, unless the
    environment says otherwise: threads that wait for each other by spinning would hold up what answers."""
    for name in THREADS:
        os.environ.setdefault(name, "1")


def can_fork() -> bool:
    """Whether this is a system on which a process that has computed may fork."""
    return sys.platform == "linux"


def launch() -> subprocess.Popen[bytes]:
    """The process, which waits for its orders on standard input."""
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
