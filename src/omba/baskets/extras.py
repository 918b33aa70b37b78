"""Extras: packages that some features need and most users have; asked for by name when they are not there."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from omba.errors import MissingExtraError


def extra(module: str, purpose: str, install: str) -> Any:
    """The module, or an error that tells what needs it and how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(
            f"{purpose} needs {module.split('.')[0]}: install it with `pip install {install}`"
        ) from None
