"""The house rules: short functions, few parameters, one meaning a name, and a page that leads to the right file."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "omba"
MODULES = {path.relative_to(SRC).as_posix(): ast.parse(path.read_text()) for path in sorted(SRC.rglob("*.py"))}

MOST_PARAMETERS, MOST_LINES = 10, 60
MANY_PARAMETERS = {
    "model/omba.py OMBA.__init__": "the settings of the learner, which the public contract names one by one",
}
"""Functions that may have more than ten parameters, and why."""
SPOKEN = "what the class of the same name looks like over HTTP"
SHARED_NAMES = {
    "OMBA": "on Spark it is the same estimator, with the same methods",
    "Evidence": "what a model counts, and in rules the interface that any counts answer",
    **dict.fromkeys(("Basket", "Change", "Bridge", "Explanation", "Rule", "Rules"), SPOKEN),
}
"""Class names that stand in several modules, and why."""
DOORS = ("cli/", "service/routes/", "spark/")
"""Rooms whose files are called what they lead to: `cli/rules.py` is the command on the rules of `rules/rules.py`."""
SHARED_FILES = {
    "__init__.py": "what makes a folder a room",
    "kernels.py": "the compiled functions of a room",
    "evidence.py": "what a model counts, and in rules the interface that any counts answer",
}
"""File names that stand in several rooms, and why."""


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


def is_kernel(module, function):
    """Kernels are compiled: arithmetic on arrays that are handed in one by one."""
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in function.decorator_list]
    return module.endswith("kernels.py") or any(isinstance(mark, ast.Name) and mark.id == "njit" for mark in marks)


def is_command(module, name):
    """A command's parameters are its options; a command is the public function that its module is named after."""
    return module.startswith("cli/") and name in (Path(module).stem, "explain", "similar", "rank")


def test_no_function_but_kernels_and_commands_has_more_than_ten_parameters():
    many = {
        f"{module} {name}": len(parameters(function))
        for module, tree in MODULES.items()
        for name, function in functions(tree)
        if len(parameters(function)) > MOST_PARAMETERS and not (is_kernel(module, function) or is_command(module, name))
    }

    assert many.keys() == MANY_PARAMETERS.keys(), many


def lines(function):
    """Lines of a function, without those of its docstring."""
    words = function.body[0].value if ast.get_docstring(function, clean=False) else None
    return function.end_lineno - function.lineno + 1 - (words.end_lineno - words.lineno + 1 if words else 0)


def test_no_function_but_kernels_is_longer_than_a_screen():
    long = {
        f"{module} {name}": lines(function)
        for module, tree in MODULES.items()
        for name, function in functions(tree)
        if lines(function) > MOST_LINES and not is_kernel(module, function)
    }

    assert not long


PARTICIPLE = re.compile(r"_*[a-z]{2,}(?:ed|ing)|_*(?:bought|given|held|kept|known|lost|made|said|sold|told)")
NOUNS = {"_ending", "cleaning", "heading", "ranking", "thing"}
EVIDENCE = {"seen", "observed"}
"""The words of the interface of evidence."""


def is_property(function):
    marks = {ast.unparse(mark) for mark in function.decorator_list}
    return bool(marks & {"property", "cached_property"})


def test_a_function_is_a_verb_or_a_noun_and_no_participle():
    """A property may be one: `view.trained` says what a view is."""
    odd = {
        f"{module} {name}"
        for module, tree in MODULES.items()
        for name, function in functions(tree)
        if PARTICIPLE.fullmatch(function.name) and not is_property(function) and function.name not in NOUNS | EVIDENCE
    }

    assert not odd


def test_a_class_name_means_one_thing():
    found = defaultdict(list)
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module)

    shared = {name: where for name, where in found.items() if len(where) > 1}
    assert shared.keys() == SHARED_NAMES.keys(), shared


def test_a_file_name_means_one_thing():
    found = defaultdict(list)
    for module in MODULES:
        if not module.startswith(DOORS) or module.endswith("/__init__.py"):
            found[Path(module).name].append(module)

    shared = {name: where for name, where in found.items() if len(where) > 1}
    assert shared.keys() == SHARED_FILES.keys(), shared


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
