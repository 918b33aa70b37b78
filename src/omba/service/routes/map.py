"""Route of the map: every product's place in two dimensions, worked out once a view and sent in columns."""

from __future__ import annotations

import gzip
import hashlib
import threading
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter, Request
from numpy.typing import NDArray
from pydantic_core import to_json
from starlette.responses import Response

from omba.rules.layout import places as laid_out
from omba.service.http.responses import PROBLEMS
from omba.service.routes import schemas
from omba.service.state import Seen
from omba.service.views.product_index import UNSORTED
from omba.service.views.view import View, unit

router = APIRouter(tags=["products"], responses=PROBLEMS)

LAID_OUT = 5_000
"""Products of which a map is drawn on request; of more it takes most of a minute, and the learner does it."""
REDRAWN = 20_000
"""The same where the map of another moment is there to begin with."""
_drawing = threading.Lock()


@dataclass(frozen=True)
class Sheet:
    """A map, ready to be sent."""

    plain: bytes
    packed: bytes
    tag: str


@router.get("/map", response_model=schemas.Map, responses={304: {"description": "The map has not changed"}})
def products_map(request: Request, view: Seen) -> Response:
    """Every product's place in two dimensions, in columns; products met only once have none yet."""
    with _drawing:
        # One at a time: whoever comes meanwhile finds it drawn.
        sheet = view.cache("map", lambda: draw_map(view))
    headers = {"ETag": sheet.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == sheet.tag:
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(sheet.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type="application/json")
    return Response(sheet.plain, headers=headers, media_type="application/json")


def draw_map(view: View) -> Sheet:
    """The map of a view as JSON."""
    places = places_of(view)
    known = np.flatnonzero(np.isfinite(places).all(axis=1))
    groups = [view.product_index.department[row] or UNSORTED for row in known.tolist()]
    names = sorted(set(groups))
    code = {name: place for place, name in enumerate(names)}
    columns = {
        "departments": names,
        "products": [view.product_index.labels[row] for row in known.tolist()],
        "names": [view.product_index.name(row) for row in known.tolist()] if view.product_index.named else None,
        "x": [round(x, 3) for x in places[known, 0].tolist()],
        "y": [round(y, 3) for y in places[known, 1].tolist()],
        "department": [code[name] for name in groups],
        "count": view.product_index.counts[known].tolist(),
    }
    plain = to_json(columns)
    return Sheet(plain, gzip.compress(plain, 5, mtime=0), f'"{hashlib.sha256(plain).hexdigest()[:24]}"')


def places_of(view: View) -> NDArray[np.floating]:
    """Places as they were kept; products that came since stand beside their nearest. Where none were kept, they are
    laid out now, near those of another moment if there are some, or, of many products, put where the two main
    directions of their vectors say."""
    kept = view.places
    if kept is None or not np.isfinite(kept).any():
        start = None
        if view.history_entry is not None and len(view.product_index) <= REDRAWN:
            start = view.history_entry.entry.nearest_places()
        if len(view.product_index) <= LAID_OUT or start is not None:
            return laid_out(view.vectors, view.product_index.counts, start)
        return principal(view.vectors)
    places = np.full((len(view.product_index), 2), np.nan, np.float32)
    places[: len(kept)] = kept[: len(places)]
    for row in np.flatnonzero(view.trained & np.isnan(places).any(axis=1)).tolist():
        near, _ = view.near(row, 5)
        there = near[np.isfinite(places[near]).all(axis=1)]
        if len(there):
            places[row] = places[there[0]]
    return places


def principal(vectors: NDArray[np.float32]) -> NDArray[np.floating]:
    """The two main directions of the vectors."""
    units = unit(vectors)
    centred = units - units.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.asarray(centred @ directions[:, -2:])
