"""A test that is left out tells why; in CI, where everything can be had, it fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = "import pytest\n\npytest.skip('the machine has no such thing', allow_module_level=True)\n"


SKIPPING = "import pytest\n\ndef test_it():\n    pytest.skip('the machine has no such thing')\n"
TWO = ("-p", "xdist", "-n", "2")


@pytest.mark.parametrize(
    ("workers", "test", "ci", "ends"),
    [
        ((), SKIPPING, "1", 1),
        (TWO, SKIPPING, "1", 1),
        ((), ABSENT + "\ndef test_it(): ...\n", "1", 1),
        (TWO, ABSENT + "\ndef test_it(): ...\n", "1", 1),
        ((), SKIPPING, "", 0),
        ((), "def test_it():\n    pass\n", "1", 0),
    ],
    ids=["in a test", "in a test, two workers", "in a module", "in a module, two workers", "elsewhere", "none"],
)
def test_a_skip_fails_the_run_in_ci_alone(tmp_path, workers, test, ci, ends):
    (tmp_path / "test_one.py").write_text(test + "\n\ndef test_two():\n    pass\n")
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "conftest", "-c", os.devnull, *workers, str(tmp_path)]
    # Plugins that happen to be installed take longer to load than these tests to run.
    beside = {"OMBA_CI": ci, "PYTHONPATH": str(Path(__file__).parent), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | beside, cwd=tmp_path)

    assert done.returncode == ends, done.stdout
    assert ("left out: that is a failure" in done.stdout) == bool(ends)
    assert ("no such thing" in done.stdout) == ("skip" in test)
