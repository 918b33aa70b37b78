"""The layers of the package import in one direction only, and every module belongs to one."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_no_layer_imports_one_above_it():
    linter = Path(sys.executable).parent / "lint-imports"

    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def test_the_contract_covers_every_module_and_makes_no_exceptions():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]

    assert contract["exhaustive"]
    assert "ignore_imports" not in contract
    assert "exhaustive_ignores" not in contract
