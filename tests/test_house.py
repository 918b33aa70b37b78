"""The house rules: short functions, few parameters, one meaning a name, and a page that leads to the right file."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "omba"
MODULES = {path.relative_to(SRC).as_posix(): ast.parse(path.read_text()) for path in sorted(SRC.rglob("*.py"))}
PLAIN = {name: tree for name, tree in MODULES.items() if not name.endswith("kernels.py")}

MOST_PARAMETERS, MOST_LINES = 10, 60
MANY_PARAMETERS = {
    "model/omba.py OMBA.__init__": "the settings of the learner, which the public contract names one by one",
}
"""Functions that may have more than ten parameters, and why."""
STILL_MANY = {
    "cli/spark.py learn_on_spark", "model/likelihood.py expect", "model/likelihood.py likelihood", "rules/mine.py mine",
}  # fmt: skip
"""Functions that still have more, and should not."""

SPOKEN = "what the class of the same name looks like over HTTP"
SHARED_NAMES = {
    "OMBA": "on Spark it is the same estimator, with the same methods",
    **dict.fromkeys(("Basket", "Status", "Change", "Bridge", "Explanation", "Rule", "Rules"), SPOKEN),
}
"""Class names that stand in several modules, and why."""
STILL_SHARED = {
    "Evidence", "Forecast", "Prices", "Sets", "Space", "Explainer", "Pairs",
}  # fmt: skip
"""Class names that still mean two things, and should not."""


def functions(tree, prefix=""):
    """Every function of a module with its full name; those inside functions too."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        name = f"{prefix}{node.name}" if named else prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name, node
        yield from functions(node, f"{name}." if named else prefix)


def parameters(function):
    asked = function.args
    several = [one for one in (asked.vararg, asked.kwarg) if one is not None]
    named = [*asked.posonlyargs, *asked.args, *asked.kwonlyargs, *several]
    return [one.arg for one in named if one.arg not in ("self", "cls")]


def is_command(module, name):
    """A command's parameters are its options; a command is the public function that its module is named after."""
    return module.startswith("cli/") and name in (Path(module).stem, "explain", "similar", "rank")


def test_no_function_but_kernels_and_commands_has_more_than_ten_parameters():
    many = {
        f"{module} {name}": len(parameters(function))
        for module, tree in PLAIN.items()
        for name, function in functions(tree)
        if len(parameters(function)) > MOST_PARAMETERS and not is_command(module, name)
    }

    assert not many.keys() - MANY_PARAMETERS.keys() - STILL_MANY, many


def lines(function):
    """Lines of a function, without those of its docstring."""
    words = function.body[0].value if ast.get_docstring(function, clean=False) else None
    return function.end_lineno - function.lineno + 1 - (words.end_lineno - words.lineno + 1 if words else 0)


def test_no_function_but_kernels_is_longer_than_a_screen():
    long = {
        f"{module} {name}": lines(function)
        for module, tree in PLAIN.items()
        for name, function in functions(tree)
        if lines(function) > MOST_LINES
    }

    assert not long


def test_a_class_name_means_one_thing():
    found = defaultdict(list)
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)

    shared = {name: where for name, where in found.items() if len(where) > 1}
    assert not shared.keys() - SHARED_NAMES.keys() - STILL_SHARED, shared


def named_files():
    page = (ROOT / "docs" / "architecture.md").read_text()
    return sorted(set(re.findall(r"`((?:src|tests|docs)/[^`]+|pyproject\.toml)`", page)))


@pytest.mark.parametrize("name", named_files())
def test_every_file_named_in_the_architecture_is_there(name):
    assert (ROOT / name).exists()


def test_every_file_in_the_drawing_is_there():
    drawing = (ROOT / "docs" / "images" / "architecture.svg").read_text()
    named = set(re.findall(r"[\w/]+\.(?:py|js)\b", drawing))

    assert len(named) >= 10
    assert {name for name in named if not list(SRC.glob(f"**/{name}"))} == set()


def test_the_architecture_names_every_room():
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("| room |")[2].partition("\n\n")[0]
    rooms = {path.stem for path in SRC.iterdir() if path.is_dir() or path.suffix == ".py"} - {"__init__", "__pycache__"}

    assert {room for room in rooms if f"`{room}`" not in table} == set()
