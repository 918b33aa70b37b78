"""Every class of the model lists the parameters it is made with."""

import inspect
import pkgutil
import re
from importlib import import_module

import pytest

import omba.model
from omba.settings import SETTINGS


def classes():
    """The public classes that have a constructor of their own."""
    for module in pkgutil.iter_modules(omba.model.__path__, "omba.model."):
        for name, kind in vars(import_module(module.name)).items():
            own = inspect.isclass(kind) and kind.__module__ == module.name and "__init__" in vars(kind)
            if own and not name.startswith("_") and not getattr(kind, "_is_protocol", False):
                yield pytest.param(kind, id=name)


def listed(kind):
    """The names in the `Parameters` section of a class, each with its text."""
    _, found, text = inspect.getdoc(kind).partition("Parameters\n----------\n")
    lines = text.split("\n\n")[0].splitlines() if found else []
    names = [i for i, line in enumerate(lines) if re.match(r"\S", line)]
    ends = [*names, len(lines)][1:]
    texts = [" ".join(line.strip() for line in lines[a + 1 : b]) for a, b in zip(names, ends, strict=True)]
    return {name: text for i, text in zip(names, texts, strict=True) for name in lines[i].split(", ")}


@pytest.mark.parametrize("kind", list(classes()))
def test_a_class_lists_its_parameters_in_order(kind):
    parameters = listed(kind)
    assert list(parameters) == list(inspect.signature(kind).parameters)
    assert all(text.endswith(".") for text in parameters.values())


def test_the_learner_describes_its_parameters_as_the_settings_do():
    described = {name: text.rstrip(".").casefold() for name, text in listed(omba.OMBA).items()}

    assert list(described) == list(SETTINGS)
    for name, setting in SETTINGS.items():
        text, help = described[name], setting.help.casefold()
        bounds = f"; {setting.low:,.10g} to {setting.high:,.10g}".replace("1e-06", "0.000001")
        if setting.high >= 2**31:
            bounds = bounds.replace("2,147,483,648", "2³¹") if name == "pairs" else "; 0 or more"
        assert text == help + bounds if setting.high else text.startswith(help)
