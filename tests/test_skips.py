"""A test that is left out tells why; in CI, where everything can be had, it fails the run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ABSENT = "import pytest\n\npytest.skip('the machine has no such thing', allow_module_level=True)\n"


@pytest.mark.parametrize(
    ("test", "ci", "ends"),
    [
        ("import pytest\n\ndef test_it():\n    pytest.skip('the machine has no such thing')\n", "1", 1),
        (ABSENT + "\ndef test_it(): ...\n", "1", 1),
        ("import pytest\n\ndef test_it():\n    pytest.skip('the machine has no such thing')\n", "", 0),
        ("def test_it():\n    pass\n", "1", 0),
    ],
    ids=["in a test", "in a module", "elsewhere", "none"],
)
def test_a_skip_fails_the_run_in_ci_alone(tmp_path, test, ci, ends):
    (tmp_path / "test_one.py").write_text(test + "\n\ndef test_two():\n    pass\n")
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "conftest", "-c", os.devnull, str(tmp_path)]
    beside = {**os.environ, "OMBA_CI": ci, "PYTHONPATH": str(Path(__file__).parent)}

    done = subprocess.run(command, capture_output=True, text=True, env=beside, cwd=tmp_path)

    assert done.returncode == ends, done.stdout
    assert ("left out: that is a failure" in done.stdout) == bool(ends)
    assert ("no such thing" in done.stdout) == ("skip" in test)
