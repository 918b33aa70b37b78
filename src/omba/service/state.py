"""State: what the routes share: the published views, and the inbox where there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Query, Request

from omba.service.published import Published
from omba.service.schemas import Moment
from omba.service.view import View


@dataclass
class Service:
    """One model folder, served."""

    published: Published


def service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


def view(request: Request, at: Annotated[Moment, Query()] = None) -> View:
    """The view that a request asks for."""
    return service(request).published.at(at)


Served = Annotated[Service, Depends(service)]
Seen = Annotated[View, Depends(view)]
