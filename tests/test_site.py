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

import pages  # noqa: E402

COMMANDS = typer.main.get_command(app).commands
PAGES = {name: path.read_text() for name, path in pages.pages().items()}
CODE = [name for name, text in PAGES.items() if pages.blocks_of(text)]


def run(code, names):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


@pytest.fixture(scope="module")
def place():
    with pages.prepared() as folder:
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("page", CODE)
def test_the_code_of_a_page_runs_and_prints_what_the_page_shows(page, place):
    for block, printed in zip(pages.blocks_of(PAGES[page]), pages.outputs(PAGES[page], place), strict=True):
        if block.shown is None:
            assert not printed or block.language == "shell", f"the page does not show what this prints:\n{block.code}"
        else:
            assert not pages.differ(block.shown, printed), (
                f"{block.code}now prints:\n{printed}instead of:\n{block.shown}"
                f"If that is meant: python docs/pages.py {page}"
            )


def test_nearly_all_code_is_run_and_what_is_not_says_why():
    blocks = [block for text in PAGES.values() for block in pages.blocks_of(text)]
    left_out = [block for block in blocks if not block.is_run]

    assert len(blocks) > 90
    assert len(left_out) <= 14
    assert sum(block.shown is not None for block in blocks) > 35
    for block in blocks:
        assert block.title == "" or len(block.title) > len(pages.NOT_RUN), block.title


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../PACKAGE.md", "../CONTRIBUTING.md"])
def test_no_command_stands_where_it_is_not_run(page):
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?<=\n\n) {4}(\S+) .*", text)

    assert not {"omba", "pip", "pipx", "make", "curl", "python", "import"} & set(indented)
    assert not re.findall(r"^``` *$\n(?:omba|pip|make|import) ", (DOCS / page).read_text(), re.MULTILINE)


@pytest.mark.parametrize("page", ["../README.md", "../PACKAGE.md"])
def test_the_commands_beside_the_site_are_there(page):
    blocks = [block for block in pages.blocks_of((DOCS / page).read_text()) if block.language == "shell"]

    for words in (words for block in blocks for words in pages.commands_of(block.code)):
        if words[0] == "omba":
            known = {flag for parameter in COMMANDS[words[1]].params for flag in parameter.opts}
            assert {word for word in words[2:] if word.startswith("--")} <= known
        else:
            pages.run_command(words)
    assert blocks


def test_lines_may_change_places_and_the_end_may_be_left_out():
    assert not pages.differ("a 1\nb 2\n", "b 2\na 1\n")
    assert not pages.differ("a 1\n…\n", "a 1\nb 2\n")
    assert pages.differ("a 1\n", "a 1\nb 2\n")
    assert pages.differ("a 1\n…\n", "b 1\na 1\n")


def test_a_block_that_is_wrong_is_found(place):
    wrong = "```python\nprint(1)\n```\n\n```text\n2\n```\n"
    (block,), (printed,) = pages.blocks_of(wrong), pages.outputs(wrong, place)

    assert pages.differ(block.shown, printed)
    assert pages.renewed(wrong, [printed]) == wrong.replace("2", "1")
    for command in ("omba rules --no-such", "pip install 'omba[none]'", "make nothing", "podman run omba"):
        with pytest.raises(AssertionError), contextlib.redirect_stderr(io.StringIO()):
            pages.run_command(pages.commands_of(command)[0])


@pytest.mark.slow
def test_every_line_that_you_write_instead_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    run(pages.blocks_of(PAGES["coming-from.md"])[0].code, names)
    rows = re.findall(r"^\| .* \| (.*) \|$", (DOCS / "coming-from.md").read_text(), re.MULTILINE)
    lines = [line for row in rows for line in re.findall(r"`([^`]+\))`", row) if "omba.spark" not in line]

    for line in lines:
        run(line, names)

    assert len(lines) > 25


@pytest.mark.slow
@pytest.mark.thorough
def test_the_notebooks_print_what_they_show():
    # In a process of its own: Spark's virtual machine keeps the folder in which a process first asked for it.
    done = subprocess.run([sys.executable, str(DOCS / "notebooks.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]


def test_numbers_may_change_a_little_and_words_may_not():
    import notebooks

    assert not notebooks.differ("lift 12.74, 1,204 baskets", "lift 12.70, 1,205 baskets")
    assert notebooks.differ("lift 12.74", "lift 8.1")
    assert notebooks.differ("BAGELS 1", "CREAM CHEESE 1")


@pytest.mark.parametrize("page", PAGES)
def test_every_command_in_a_sentence_is_one_that_omba_knows(page):
    text = re.sub(r"^```.*?^```$", "", PAGES[page], flags=re.MULTILINE | re.DOTALL)

    for line in re.findall(r"`omba ([a-z-]+\b[^`\n&]*)", text):
        command, *rest = line.split()
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
    "add_levels", "complete_scores", "describe",
    "describe_behind",
    "describe_level", "make_room", "extra_state", "load_extra", "next_scores", "score_catalogue",
    "score_queries",
}  # fmt: skip
"""Methods of OMBA by which evaluation, learning, snapshots and variants reach inside; nobody else calls them."""


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


BOUND = re.compile(
    r"\b\d[\d,.]*(?: \w+)? or more|\d to |\bfrom (?:\d|`start`)|\b(?:above|at least|at most|up to|between) \d"
)


@pytest.mark.parametrize(
    ("name", "found"), list(named_in_the_reference()), ids=lambda one: one if isinstance(one, str) else ""
)
def test_what_the_reference_names_has_types_and_the_bounds_of_its_numbers(name, found):
    section = (inspect.getdoc(found) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    described = {
        one: " ".join(text.split())
        for names, text in re.findall(r"^(\w[\w, ]*)\n((?: {4}.*\n?)+)", section, re.MULTILINE)
        for one in names.split(", ")
    }
    for one in inspect.signature(found).parameters.values():
        if one.name in ("self", "cls"):
            continue
        assert one.annotation is not one.empty, f"{name} does not say what {one.name} is"
        kinds = set(re.findall(r"\w+", str(one.annotation)))
        if one.kind is not one.VAR_KEYWORD and kinds & {"int", "float"} and not kinds & {"NDArray", "Callable"}:
            assert BOUND.search(described[one.name]), f"{name} does not say within which bounds {one.name} may lie"


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
