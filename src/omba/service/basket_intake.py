"""Basket intake: `POST /baskets` from the parser to the disk and back, past the framework.

What every request passes is passed here too, in the same order: who may ask, how much, and how often. Whoever may not
is left to the usual way, which says so.
"""

from __future__ import annotations

import logging
from time import perf_counter

from starlette.types import Scope

from omba.live import Receipt
from omba.service.fast_path import is_json
from omba.service.http.direct import Reply
from omba.service.http.limits import Admission
from omba.service.http.responses import FAULT, LimitExceeded, problem
from omba.service.http.security import SecurityMiddleware
from omba.service.routes import baskets
from omba.service.state import Service

log = logging.getLogger("uvicorn.error")


class BasketIntake:
    """Takes baskets in directly.

    Parameters
    ----------
    service
        What the baskets are for; it takes some in.
    security, admission
        Those of all other requests.
    """

    method, path = b"POST", baskets.PATH.encode()

    def __init__(self, service: Service, security: SecurityMiddleware, admission: Admission) -> None:
        self.service, self.security, self.admission = service, security, admission

    def take(self, scope: Scope, body: bytes, reply: Reply) -> bool:
        begin, size, bodies = perf_counter(), len(body), self.admission.bodies
        if not is_json(scope) or not bodies.has_room(size) or self.security.refusal(scope) is not None:
            return False
        try:
            self.admission.admit(scope, counted=True)
        except LimitExceeded:
            return False
        self.admission.under_way += 1
        bodies.held += size

        def answer(status: int, content: bytes) -> None:
            self.admission.under_way -= 1
            bodies.held -= size
            self.service.metrics.count(baskets.PATH, "POST", status, perf_counter() - begin)
            reply(status, content)

        def tell(found: Receipt | Exception) -> None:
            try:
                response = baskets.response_to(found)
            except Exception:
                log.exception("a request for %r failed", baskets.PATH)
                response = problem(FAULT, 500)
            answer(response.status_code, bytes(response.body))

        try:
            given = baskets.read(body)
            assert self.service.group_commit is not None
            self.service.group_commit.enter(given, tell)
        except Exception as error:
            tell(error)
        return True
