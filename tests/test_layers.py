"""The layers of the package import in one direction only, and every module belongs to one."""

import tomllib
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parent.parent


def test_no_layer_imports_one_above_it(capsys, monkeypatch):
    monkeypatch.chdir(ROOT)

    failed = lint_imports(no_cache=True)

    assert not failed, capsys.readouterr().out


def test_the_contract_covers_every_module_and_makes_no_exceptions():
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]

    assert contract["exhaustive"]
    assert "ignore_imports" not in contract
    assert "exhaustive_ignores" not in contract
