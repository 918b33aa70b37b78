"""`omba serve`: the HTTP service and the dashboard."""

from __future__ import annotations

from typing import Annotated

import typer

from omba.cli.options import ModelFolder


def serve(
    model: ModelFolder,
    host: Annotated[str, typer.Option(help="Address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes a free one.")] = 8000,
) -> None:
    """Serve a model over HTTP, with the dashboard; one that is not there yet begins with the first baskets."""
    import uvicorn

    from omba.service import create_app

    uvicorn.run(create_app(model), host=host, port=port, log_level="warning")
