"""The HTTP service: what a model knows, asked over JSON, and the dashboard on top of it."""

from omba.service.app import create_app

__all__ = ["create_app"]
