"""What all tests share: hypothesis without deadlines, since kernels compile on first use; no skips in CI; a nursery."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# What several tests share is a module beside them, and pytest does not look there by itself.
sys.path.append(str(Path(__file__).parent))

settings.register_profile("omba", deadline=None)
settings.load_profile("omba")


def left_out(config):
    """The tests that were skipped where none may be, since everything they need can be had."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return len(reporter.stats.get("skipped", [])) if reporter and os.environ.get("OMBA_CI") else 0


def pytest_sessionfinish(session):
    if left_out(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    if number := left_out(config):
        terminalreporter.write_line(f"OMBA_CI is set, and {number} tests were left out: that is a failure", red=True)


class Nursery:
    """Starts children that have omba loaded, at once; what they do is in nursery.py."""

    def __init__(self):
        quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        script = str(Path(__file__).parent / "nursery.py")
        self.process = subprocess.Popen(
            [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=quiet
        )
        assert self.process.stdout.readline() == "ready\n"

    def start(self, role, **orders):
        """Start a child in a role; its number."""
        return self._ask(json.dumps({"role": role, **orders}))

    def wait(self, child):
        """How a child ended: 0, or minus the signal."""
        return self._ask(str(child))

    def run(self, role, **orders):
        return self.wait(self.start(role, **orders))

    def _ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="session")
def nursery():
    nursery = Nursery()
    yield nursery
    nursery.close()
