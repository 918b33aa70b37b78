"""What all tests share: hypothesis without deadlines, since kernels compile on first use; which worker runs which
tests; no skips in CI; a nursery."""

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


TOGETHER = ("tests/spark", "tests/dashboard")
"""Folders whose tests all go to one worker each, since they share a Spark session and a browser."""
FIRST = (
    *TOGETHER, "tests/reproduce/test_reproduce.py", "tests/service/test_serve.py",
    "tests/live/test_live_kill.py", "tests/service", "tests/live", "tests/attack",
    "tests/cli", "tests/reproduce", "tests/rules/test_standing.py", "tests/evaluation", "tests/baselines",
)  # fmt: skip
"""What takes longest is begun first, in this order: begun last, it would keep the others waiting for one worker."""


UNWATCHED = ("tests/attack", "tests/baselines", "tests/dashboard", "tests/test_site.py")
"""Not watched for coverage either: the lines that they go through again and again others go through too, or run in
processes of their own."""


def group_of(nodeid):
    """What one worker runs in one go: a file, whose fixtures are then made once, or a folder that shares even more."""
    return next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.partition("::")[0])


def place_of(nodeid):
    return next((place for place, start in enumerate(FIRST) if nodeid.startswith(start)), len(FIRST))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: place_of(item.nodeid))
    for item in items:
        if item.get_closest_marker("slow") or item.nodeid.startswith(UNWATCHED):
            # What takes long asks the same many times over. To watch its lines, which others go through too, would
            # take as long as to run half of it again.
            item.add_marker("no_cover")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    # Groups stay in the order of collection, instead of those with the most tests first.
    config.option.loadscopereorder = False
    return Scheduling(config, log)


def left_out(config):
    """The tests that were skipped where none may be, since everything they need can be had.

    An example in a docstring that needs a cluster or a whole data set is there to be read; other tests run the same.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    # Several workers may each find the same module left out.
    skipped = {report.nodeid for report in reporter.stats.get("skipped", [])} if reporter else set()
    skipped = {nodeid for nodeid in skipped if not nodeid.startswith("src/")}
    return len(skipped) if os.environ.get("OMBA_CI") else 0


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
