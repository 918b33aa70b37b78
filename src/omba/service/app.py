"""App: the service assembled: routes over published views, and the dashboard's files beside them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from omba.errors import OmbaError
from omba.live import Inbox
from omba.service.answering import Answering, ForwardMiddleware
from omba.service.basket_intake import BasketIntake
from omba.service.fast_path import FastPath
from omba.service.http.limits import Admission, LimitMiddleware, Limits
from omba.service.http.prometheus import MetricsMiddleware
from omba.service.http.responses import ErrorMiddleware, add_problems, problem
from omba.service.http.security import LOOPBACK, SecurityMiddleware
from omba.service.http.tokens import Tokens
from omba.service.routes import (
    baskets,
    bundles,
    calendar,
    categories,
    customers,
    families,
    map,
    names,
    prices,
    products,
    rank,
    rules,
    status,
)
from omba.service.state import Service
from omba.service.views.published import Published

log = logging.getLogger("omba")

ABOUT = (
    "Baskets in, rules out. A product is a text or a whole number, as the baskets gave it. Most answers can be taken "
    "back in time with `at`, to the last window kept at or before that moment."
)
CLOCK = 5.0
"""Seconds between two looks at the clock."""
STATIC = Path(__file__).parent / "static"


def create_app(
    folder: str | Path,
    inbox: Inbox | None = None,
    tokens: Tokens | None = None,
    hosts: Iterable[str] = LOOPBACK,
    limits: Limits | None = None,
    source: Answering | None = None,
) -> FastAPI:
    """The service over a model folder, which may be empty or missing.

    Without an inbox it only answers. With tokens every request needs one; without, only this machine may ask, by one of
    the names in `hosts`. Questions are answered here, or by the processes that `source` leads to.
    """
    service = Service(Published(folder) if source is None else source, inbox)
    app, admission = routed_app(service), Admission(limits)
    if inbox is not None:
        app.state.direct = BasketIntake(service, SecurityMiddleware(app, tokens, hosts), admission)
    if isinstance(service.source, Answering):
        app.add_middleware(ForwardMiddleware, answering=service.source)
    app.add_middleware(ErrorMiddleware)
    app.add_middleware(LimitMiddleware, admission=admission)
    app.add_middleware(SecurityMiddleware, tokens=tokens, hosts=hosts)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics)
    return app


def create_answers(published: Published) -> FastAPI:
    """The service where questions are answered: whoever asks has been looked at."""
    app = routed_app(Service(published))
    app.add_middleware(ErrorMiddleware)
    return app


def routed_app(service: Service) -> FastAPI:
    """All routes over a service, with the short way to those that are asked most."""
    app = FastAPI(
        title="OMBA", version=version(), summary="Online market basket analysis", description=ABOUT,
        docs_url=None, redoc_url=None, redirect_slashes=False, lifespan=lifespan_of(service),
    )  # fmt: skip
    app.state.service = service
    add_problems(app)
    for module in (
        status,
        rules,
        products,
        categories,
        families,
        bundles,
        calendar,
        prices,
        names,
        map,
        rank,
        customers,
        baskets,
    ):
        app.include_router(module.router)
    add_pages(app)
    for route in app.routes:
        # FastAPI would work out the routes with the first request, which then waits.
        getattr(route, "effective_candidates", tuple)()
    # The last one added is the first to see a request.
    app.add_middleware(GZipMiddleware, minimum_size=4096, compresslevel=1)
    app.add_middleware(FastPath)
    return app


def lifespan_of(service: Service) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Keep an eye on the folder, and on the clock, from the start of the service to its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.source.watch_folder():
            clock = asyncio.create_task(close_windows(service.inbox)) if service.inbox is not None else None
            yield
            if clock is not None:
                clock.cancel()

    return lifespan


async def close_windows(inbox: Inbox) -> None:
    """Have windows close by the clock on the wall where no basket comes to close them."""
    while True:
        await asyncio.sleep(CLOCK)
        try:
            await asyncio.to_thread(inbox.mark)
        except OmbaError as error:
            log.warning("%s", error)


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
