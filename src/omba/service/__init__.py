"""The HTTP service: what a model knows, asked over JSON, and the dashboard on top of it."""

from importlib import import_module

from omba.errors import MissingExtraError

for _package in ("fastapi", "httptools", "uvicorn"):
    try:
        import_module(_package)
    except ImportError:
        raise MissingExtraError(f"the service needs {_package}: install it with `pip install 'omba[serve]'`") from None

from omba.service.app import create_app  # noqa: E402

__all__ = ["create_app"]
