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


def test_a_command_does_not_wait_for_parts_it_does_not_use():
    asked = "import sys, omba.cli; omba.cli.make_app('rank'); print(*(name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())

    assert "omba.model" in loaded
    assert not loaded & {
        "omba.cli.learn",
        "omba.datasets",
        "pandas",
        "scipy.stats",
        "scipy.optimize",
        "sklearn",
        "gensim",
        "matplotlib",
        "omba.baselines",
        "redis",
    }


def test_every_public_name_is_there_and_no_other_is_made_up():
    asked = (
        "import omba; assert all(hasattr(omba, name) and name in dir(omba) for name in omba.__all__); "
        "assert not hasattr(omba, 'unheard')"
    )

    subprocess.run([sys.executable, "-c", asked], check=True)
