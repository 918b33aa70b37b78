"""The documentation agrees with the code: settings, commands, options, and the Python in the README."""

import re
import sys
from pathlib import Path

import pytest
import typer

import omba
from omba.cli import app
from omba.service import create_app
from omba.settings import PAPER, SETTINGS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PATHS = create_app("no such folder").openapi()["paths"]
COMMANDS = typer.main.get_command(app).commands
sys.path.append(str(DOCS))


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_is_documented_with_its_default_and_the_papers(name):
    rows = re.findall(rf"^\| `{name}` \|(.*)\|$", (DOCS / "settings.md").read_text(), re.MULTILINE)

    assert len(rows) == 1
    default, _, paper, what = (cell.strip() for cell in rows[0].split("|"))
    assert default == f"`{SETTINGS[name].default}`"
    assert paper == (f"`{PAPER[name]}`" if name in PAPER else "")
    assert what == SETTINGS[name].help


def test_no_setting_is_documented_that_is_not_there():
    documented = re.findall(r"^\| `(\w+)` \|", (DOCS / "settings.md").read_text(), re.MULTILINE)

    assert documented == list(SETTINGS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_documented_with_every_option(name):
    (section,) = re.findall(rf"^## omba {name}\n(.*?)(?=^## |\Z)", (DOCS / "cli.md").read_text(), re.M | re.S)
    options = {flag for parameter in COMMANDS[name].params for flag in parameter.opts if flag.startswith("--")}
    options -= {f"--{setting.replace('_', '-')}" for setting in SETTINGS} if name in ("learn", "serve") else set()

    missing = [flag for flag in options - {"--help"} if not re.search(rf"`{flag}\b", section)]

    assert not missing


def test_no_command_is_documented_that_is_not_there():
    assert re.findall(r"^## omba ([\w-]+)", (DOCS / "cli.md").read_text(), re.MULTILINE) == list(COMMANDS)


@pytest.mark.parametrize("path", PATHS)
def test_each_route_of_the_service_is_documented(path):
    assert re.search(rf"`(POST )?{re.escape(path)}[?`]", (DOCS / "service.md").read_text())


def test_no_route_is_documented_that_is_not_there():
    (table,) = re.findall(r"^\| path \| answers \|\n(.*?)\n\n", (DOCS / "service.md").read_text(), re.M | re.S)
    documented = re.findall(r"`(/[^`?]*)", "\n".join(row.split("|")[1] for row in table.splitlines()))

    assert set(documented) <= {*PATHS, "/openapi.json"}


def test_links_in_the_documentation_lead_somewhere():
    for page in [*DOCS.glob("*.md"), *ROOT.glob("*.md")]:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
            assert link.startswith("https:") or (page.parent / link).exists(), f"{page.name}: {link}"


def test_charts_show_the_figures_of_the_tables_beside_them():
    import charts

    drawn = charts.charts()

    assert {path.stem for path in charts.CHARTS.glob("*.svg")} == set(drawn)
    stale = [name for name, chart in drawn.items() if (charts.CHARTS / f"{name}.svg").read_text() != chart]
    assert not stale, f"figures of {', '.join(stale)} have changed: make charts"


def test_every_picture_that_is_taken_is_shown_on_a_page():
    import pictures

    text = "".join(page.read_text() for page in DOCS.glob("*.md"))
    for name in ("report", *pictures.VIEWS):
        assert (pictures.IMAGES / f"{name}.png").exists(), f"make pictures takes {name}.png, and it is not there"
        assert f"images/{name}.png" in text


def test_a_chart_finds_numbers_as_the_tables_have_them():
    import charts

    assert [charts.number(cell) for cell in ("1,744", "0.646 ±0.004", "1.19e-05", "Triple: 0.6")] == [
        1744, 0.646, 1.19e-05, 0.6
    ]  # fmt: skip
    assert charts.bars("t", [charts.Bar("a", 2, "2"), charts.Bar("b", 1, "1")]).count("<rect") == 2


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "PACKAGE.md"])
def test_the_python_in_the_readme_runs(page, tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    weeks = omba.datasets.complete_journey().between(None, "2017-01-08")
    # A week instead of the year, and vectors a tenth as long, for time's sake.
    monkeypatch.setattr(omba.datasets, "complete_journey", lambda: weeks)
    monkeypatch.setattr(omba, "OMBA", lambda **settings: _OMBA(dim=30, **settings))
    monkeypatch.chdir(tmp_path)

    exec(compile(code, page, "exec"), {})

    assert len(code.strip().splitlines()) <= 14
    assert "⇒" in capsys.readouterr().out


_OMBA = omba.OMBA
