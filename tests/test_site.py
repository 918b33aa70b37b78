"""The site: it builds without a warning, needs no network, and every line of code on its pages runs."""

import contextlib
import inspect
import io
import os
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

import omba
from omba.cli import app
from omba.service import create_app

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))
COMMANDS = typer.main.get_command(app).commands
RUN = ("index.md", "start.md", "how-to.md", "coming-from.md")
"""Pages whose Python is run from top to bottom."""


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)


def run(code, names):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}

    for code in blocks(page):
        run(code, names)

    assert blocks(page)


@pytest.mark.slow
def test_every_line_that_you_write_instead_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    run(blocks("coming-from.md")[0], names)
    rows = re.findall(r"^\| .* \| (.*) \|$", (DOCS / "coming-from.md").read_text(), re.MULTILINE)
    lines = [line for row in rows for line in re.findall(r"`([^`]+\))`", row) if "omba.spark" not in line]

    for line in lines:
        run(line, names)

    assert len(lines) > 25


@pytest.mark.slow
@pytest.mark.thorough
def test_the_notebooks_print_what_they_show():
    import json

    import notebooks

    with notebooks.prepared():
        for path in sorted(notebooks.LEARN.glob("*.ipynb")):
            if notebooks.lacking(path):
                continue
            kept = json.loads(path.read_text())
            shown = notebooks.text_of(kept)
            for old, new in zip(shown, notebooks.text_of(notebooks.run(kept)), strict=True):
                assert not notebooks.differ(old, new), (
                    f"{path.name} now prints:\n{new}\ninstead of:\n{old}\nIf that is meant: python docs/notebooks.py"
                )


def test_numbers_may_change_a_little_and_words_may_not():
    import notebooks

    assert not notebooks.differ("lift 12.74, 1,204 baskets", "lift 12.70, 1,205 baskets")
    assert notebooks.differ("lift 12.74", "lift 8.1")
    assert notebooks.differ("BAGELS 1", "CREAM CHEESE 1")


SHELL = [
    *RUN,
    "faq.md",
    "glossary.md",
    "releases.md",
    "how-it-works.md",
    "reference/formats.md",
    "../README.md",
]


@pytest.mark.parametrize("page", SHELL)
def test_every_command_on_a_page_is_one_that_omba_knows(page):
    text = (DOCS / page).read_text()
    lines = re.findall(r"(?:^ {4}.*?|`)\bomba ([a-z]+\b[^`\n&]*)", text, re.MULTILINE)

    for line in lines:
        command, *rest = line.partition("#")[0].split()
        flags = {word.partition("=")[0] for word in rest if word.startswith("--")}
        assert command in COMMANDS, line
        assert flags <= {flag for parameter in COMMANDS[command].params for flag in parameter.opts}, line


def test_every_page_of_the_navigation_is_there():
    listed = set(re.findall(r"([\w/-]+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    pages = {path.relative_to(DOCS).as_posix() for kind in ("md", "ipynb") for path in DOCS.rglob(f"*.{kind}")}

    assert listed <= pages


def test_every_notebook_is_listed_and_says_where_to_go_next():
    index, site = (DOCS / "learn/index.md").read_text(), (ROOT / "mkdocs.yml").read_text()

    for path in (DOCS / "learn").glob("*.ipynb"):
        assert f"({path.name})" in index
        assert f"learn/{path.name}" in site
        assert re.search(r"\]\([^)]+\.(ipynb|md)\)", path.read_text()), path.name


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "reference/python.md").read_text()

    missing = [name for name in omba.__all__ if not re.search(rf"(\.|`omba\.){name}\b", page)]

    assert not missing


INSIDE = {
    "add_levels", "complete_scores", "describe", "extra_state", "load_extra", "next_scores", "score_catalogue",
    "score_queries",
}  # fmt: skip
"""Methods of OMBA by which evaluation, snapshots and variants reach inside; nobody else calls them."""


def named_in_the_reference():
    """Every class and function of the reference, and the methods of the three classes that people hold in hand."""
    for path in re.findall(r"^::: ([\w.]+)$", (DOCS / "reference/python.md").read_text(), re.MULTILINE):
        module, _, name = path.rpartition(".")
        found = getattr(import_module(module), name) if module != "omba" else import_module(path)
        if inspect.ismodule(found):
            continue
        yield path, found
        if found in (omba.OMBA, omba.Baskets, omba.rules.Rules):
            for method, function in inspect.getmembers(found, callable):
                if not method.startswith("_") and method not in INSIDE and inspect.getdoc(function):
                    yield f"{path}.{method}", function


@pytest.mark.parametrize(
    ("name", "found"), list(named_in_the_reference()), ids=lambda one: one if isinstance(one, str) else ""
)
def test_what_the_reference_names_has_its_parameters_and_an_example(name, found):
    text = inspect.getdoc(found) or ""
    asked = [one for one in inspect.signature(found).parameters if one not in ("self", "cls")]

    assert ">>> " in text, f"{name} has no example"
    assert not asked or "Parameters\n----------\n" in text, f"{name} does not list its parameters"
    section = text.partition("Parameters\n----------\n")[2]
    listed = {one for line in re.findall(r"^(\w[\w, ]*)$", section, re.MULTILINE) for one in line.split(", ")}
    assert set(asked) <= listed, f"{name} leaves out {', '.join(sorted(set(asked) - listed))}"


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_the_site_builds_without_a_warning_and_needs_no_network(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.html")}

    for name, page in pages.items():
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page), name
        assert "cdnjs" not in page, name
    for path in create_app("no such folder").openapi()["paths"]:
        assert path in pages["reference/endpoints.html"]
    assert (tmp_path / "search" / "search_index.js").exists()
