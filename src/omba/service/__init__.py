"""The HTTP service: what a model knows, asked over JSON, and the dashboard on top of it."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

from omba.errors import MissingExtraError

if TYPE_CHECKING:
    from omba.service.app import create_app


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ImportError:
        return False


for _package in ("fastapi", "httptools", "uvicorn"):
    if not _is_there(_package):
        raise MissingExtraError(f"the service needs {_package}: install it with `pip install 'omba[serve]'`")

__all__ = ["create_app"]


def __getattr__(name: str) -> object:
    """The app comes in when it is first asked for: the command that serves begins a process before that."""
    if name != "create_app":
        raise AttributeError(f"module 'omba.service' has no attribute {name!r}")
    from omba.service import app

    return app.create_app
