"""App: the service assembled: routes over published views, and the dashboard's files beside them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from omba.service import categories, map, products, rank, rules, status
from omba.service.answers import add_problems, problem
from omba.service.published import Published
from omba.service.state import Service

STATIC = Path(__file__).parent / "static"


def create_app(folder: str | Path) -> FastAPI:
    """The service over a model folder, which may be empty or missing."""
    served = Service(Published(Path(folder)))

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        served.published.start()
        yield
        served.published.stop()

    app = FastAPI(
        title="OMBA", version=version(), summary="Online market basket analysis",
        docs_url=None, redoc_url=None, lifespan=lifespan,
    )  # fmt: skip
    app.state.service = served
    add_problems(app)
    for part in (status, rules, products, categories, map, rank):
        app.include_router(part.router)
    add_pages(app)
    app.add_middleware(GZipMiddleware, minimum_size=4096, compresslevel=1)
    return app


def add_pages(app: FastAPI) -> None:
    """The dashboard's files."""

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        file = STATIC / "index.html"
        return FileResponse(file) if file.exists() else problem("there is no dashboard here: see /openapi.json", 404)

    if STATIC.is_dir():
        app.mount("/static", StaticFiles(directory=STATIC), name="static")


def version() -> str:
    from omba import __version__

    return __version__
