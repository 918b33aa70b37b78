"""Launch: the start of the process that answers (`service.answerer`), apart from all that is slow to import.

It takes a second or two until it can read a state, so the command that serves begins it before anything else.
"""

from __future__ import annotations

import subprocess
import sys

COMMAND = [sys.executable, "-c", "from omba.service.answerer import main; main()"]


def can_fork() -> bool:
    """Whether this is a system on which a process that has computed may fork."""
    return sys.platform == "linux"


def launch() -> subprocess.Popen[bytes]:
    """The process, which waits for its orders on standard input."""
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
