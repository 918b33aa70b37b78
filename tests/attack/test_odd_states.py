"""In whatever state the service is, every route answers as its published schema says, and never with a 500."""

import json
from contextlib import contextmanager
from datetime import datetime

import pyarrow as pa
import pytest
import schemathesis
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

import omba
from omba.live import Inbox, Learner
from omba.live.keeper import Keeper
from omba.service import create_app
from omba.service.http.limits import Limits
from omba.service.views.rule_key import key_of
from omba.store import ModelFolder
from serving import served

pytestmark = pytest.mark.slow
CHECKS = [status_code_conformance, response_schema_conformance]
SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}
SCHEMA = schemathesis.openapi.from_dict(create_app("no such folder").openapi())
LABELS = ("p1", "p2", "nobody knows this")
MOMENTS = (None, "2017-01-03", "3", "1999-01-01", "9999-12-31", "²")


def shopping(day=lambda k: f"2017-01-{1 + k // 20:02d}", **fields):
    """Some days of baskets as they are posted; a field is given by what it is in basket k."""
    for k in range(100):
        named = {name: value(k) for name, value in fields.items() if name != "product"}
        product = fields.get("product", lambda k, label: {"id": label, "price": 1.5})
        bought = {f"p{(k * k + step) % 9}" for step in (0, 1, k % 4)}
        yield {"id": k, "user": f"u{k % 7}", "time": day(k), **named, "products": [product(k, one) for one in bought]}


def live(folder, baskets, history="1d"):
    """A folder as a learner leaves it that has learned what was posted."""
    inbox = Inbox(folder)
    inbox.accept(list(baskets))
    learner = Learner(folder, history=history, settings=SETTINGS)
    learner.drain()
    learner.close()
    inbox.close()


def from_file(folder, table):
    """A folder as `omba learn` leaves it."""
    model, keeper = omba.OMBA(**SETTINGS), Keeper(folder, None, fresh=True)
    for window in omba.read_baskets(pa.table(table)).windows("1d" if "time" in table else 20):
        keeper.learn(model, window)
    keeper.finish(model)


def quarantined(folder):
    live(folder, shopping())
    inbox = Inbox(folder)
    inbox.journal.append([0], [b'{"time":"2017-01-05","products":[{"id":"tea","price":"dear"}]}'])
    inbox.close()
    learner = Learner(folder, settings=SETTINGS)
    learner.drain()
    learner.close()


def stopped(folder):
    live(folder, shopping())
    ModelFolder(folder).learner_file.write_text(
        json.dumps({"baskets_learned": 80, "failures": 7, "restarts": 7, "learning": True, "error": "it is ill\x1b[2J"})
    )


def damaged(folder):
    live(folder, shopping())
    for file in folder.glob("snapshot-*/*"):
        file.write_bytes(file.read_bytes()[:7])


def damaged_history(folder):
    live(folder, shopping())
    for file in (folder / "history").rglob("entry.json"):
        file.write_text("{")


def odd_word(folder):
    live(folder, shopping())
    ModelFolder(folder).learner_file.write_text('{"last_window": {"start": [], "stop": 1.5, "baskets": -3}}')


COLUMNS = {"basket": [k // 3 for k in range(120)], "product": [f"p{k * k % 9}" for k in range(120)]}
RETURNED = {"id": "r", "time": "2017-01-01", "products": [{"id": "tea", "quantity": -1}]}
STATES = {
    "no folder": lambda folder: None,
    "nothing learned": lambda folder: live(folder, [next(shopping())]),
    "one basket learned": lambda folder: live(folder, [*list(shopping())[:1], *list(shopping())[-1:]]),
    "returns only": lambda folder: live(folder, [RETURNED, *list(shopping())[-1:]]),
    "live": lambda folder: live(folder, shopping()),
    "no history": lambda folder: live(folder, shopping(), None),
    "no prices": lambda folder: live(folder, shopping(product=lambda k, label: {"id": label})),
    "prices of nothing": lambda folder: live(folder, shopping(product=lambda k, label: {"id": label, "price": 0})),
    "huge prices": lambda folder: live(folder, shopping(product=lambda k, label: {"id": label, "price": 1e12})),
    "no users": lambda folder: live(folder, shopping(user=lambda k: None)),
    "numbers as labels": lambda folder: live(
        folder, shopping(user=lambda k: k % 7, product=lambda k, label: {"id": int(label[1:]), "price": 2})
    ),
    "names": lambda folder: live(
        folder,
        shopping(product=lambda k, label: {"id": label, "category": f"c{label}", "department": "d", "name": "n"}),
    ),
    "days are counted": lambda folder: live(folder, shopping(day=lambda k: k // 20)),
    "days before the first": lambda folder: live(folder, shopping(day=lambda k: k // 20 - 9)),
    "no time": lambda folder: from_file(folder, COLUMNS),
    "a file with time": lambda folder: from_file(
        folder, {**COLUMNS, "time": [datetime(2017, 1, 1 + k // 30) for k in range(120)]}
    ),
    "quarantine": quarantined,
    "learner stopped": stopped,
    "snapshot damaged": damaged,
    "history damaged": damaged_history,
    "an odd word of the learner": odd_word,
}
READ_ONLY = ("no folder", "no time", "a file with time", "snapshot damaged")
UNWELL = {("/health", 503), ("/baskets", 503)}
"""Routes that tell by their status that the service is not well, or takes nothing in; others answer as ever."""


@contextmanager
def service_in(state, folder):
    """The address of a service over a folder in a state."""
    STATES[state](folder)
    inbox = Inbox(folder) if state not in READ_ONLY else None
    try:
        with served(folder, inbox, limits=Limits(rate=1e9)) as client:
            yield str(client.base_url).rstrip("/")
    finally:
        if inbox is not None:
            inbox.close()


def questions(path, method, operation):
    """What is asked of a route: nothing more than it needs, and then each label and each moment in its turn."""
    names = {one["name"]: one["in"] for one in operation.get("parameters", [])}
    needed = {one["name"] for one in operation.get("parameters", []) if one.get("required")}
    for place, label in enumerate(LABELS):
        for moment in MOMENTS if names.keys() & {"at", "since", "from", "to"} else (None,):
            given = {
                "id": [label] if names.get("id") == "query" else label,
                "key": key_of([label], [LABELS[place - 1]]),
                "antecedent": [label] if path == "/explain" else label,
                "consequent": LABELS[place - 1],
                "products": [label], "user": f"u{place}", "q": label, "product": label,
                "from": moment or "2017-01-02", **dict.fromkeys(("at", "since", "to"), moment),
            }  # fmt: skip
            wanted = {name: value for name, value in given.items() if name in names and value is not None}
            for some in (wanted, {name: value for name, value in wanted.items() if name in needed or name == "at"}):
                yield (
                    {name: value for name, value in some.items() if names[name] == "path"},
                    {name: value for name, value in some.items() if names[name] == "query"},
                )


BODIES = {
    "/rank": [{}, {"products": ["p1"]}, {"products": ["p1", {"id": 2}, "unknown"], "user": "u1", "at": "2017-01-03"}],
    "/baskets": [[], {"products": []}, {"products": [{"id": "p1"}]}, [{"time": 10**9, "products": [{"id": "p1"}]}]],
}


@pytest.mark.parametrize("state", STATES)
def test_every_route_answers_as_its_schema_says_in_every_state(tmp_path, state):
    answers = 0
    with service_in(state, tmp_path / "model") as address:
        for path, methods in SCHEMA.raw_schema["paths"].items():
            for method, operation in methods.items():
                ask = SCHEMA[path][method.upper()].Case
                if "requestBody" in operation:
                    cases = [ask(body=body, media_type="application/json") for body in BODIES[path]]
                else:
                    asked = {json.dumps(one): one for one in questions(path, method, operation)}.values()
                    cases = [ask(path_parameters=inside, query=query) for inside, query in asked]
                for case in cases:
                    answer = case.call(base_url=address, timeout=300)
                    assert answer.status_code < 500 or (path, answer.status_code) in UNWELL, answer.content
                    case.validate_response(answer, checks=CHECKS)
                    answers += 1
    assert answers > 100
