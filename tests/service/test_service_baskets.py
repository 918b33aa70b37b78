"""Baskets over HTTP: many at once, each request with a receipt of its own."""

import asyncio
import json
import os
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from omba.errors import StoreError
from omba.live import Inbox
from omba.service import create_app
from omba.service.basket_intake import BasketIntake
from omba.service.fast_path import FastPath
from omba.service.http.limits import Limits
from omba.service.http.prometheus import GAUGES
from omba.service.http.protocol import BoundedProtocol
from omba.service.http.tokens import Tokens
from patience import PATIENCE
from serving import served


@pytest.fixture
def inbox(tmp_path):
    inbox = Inbox(tmp_path)
    yield inbox
    inbox.close()


def basket(number):
    return {"id": number, "time": "2020-01-01T10:00", "products": [{"id": "tea", "price": 2.5}, {"id": "milk"}]}


def test_requests_that_share_a_sync_get_their_own_receipts(tmp_path, inbox, monkeypatch):
    syncs = 0
    real = os.fdatasync

    def counted(handle):
        nonlocal syncs
        syncs += 1
        real(handle)

    monkeypatch.setattr("omba.store.journal.datasync", counted)
    with served(tmp_path, inbox) as client:

        def post(first):
            with httpx.Client(base_url=client.base_url, timeout=PATIENCE) as own:
                found = []
                for number in range(first, first + 40):
                    size = 1 + number % 3
                    sent = [basket(f"{number}-{k}") for k in range(size)]
                    fresh = own.post("/baskets", json=sent if size > 1 else sent[0])
                    again = own.post("/baskets", json=[*sent, basket(f"{number}-new")])
                    found.append((size, fresh.status_code, fresh.json(), again.json()))
                return found

        with ThreadPoolExecutor(8) as pool:
            found = [one for part in pool.map(post, range(0, 8 * 40, 40)) for one in part]
    for size, status, fresh, again in found:
        assert (status, fresh) == (202, {"accepted": size, "repeated": 0})
        assert again == {"accepted": 1, "repeated": size}
    assert inbox.accepted == sum(size + 1 for size, *_ in found)
    assert syncs < 2 * len(found), "some were written together"


def test_a_full_disk_is_told_and_what_comes_after_it_is_taken(tmp_path, inbox, monkeypatch):
    def full(*_):
        raise StoreError("there is no room left on the disk: make some")

    with served(tmp_path, inbox) as client:
        with monkeypatch.context() as broken:
            broken.setattr(inbox.journal, "append", full)
            refused = client.post("/baskets", json=basket(1))
        assert refused.status_code == 503
        assert refused.json() == {"error": "there is no room left on the disk: make some"}
        assert client.post("/baskets", json=basket(1)).json() == {"accepted": 1, "repeated": 0}


def test_what_is_not_json_is_refused_in_a_sentence(tmp_path, inbox):
    with served(tmp_path, inbox) as client:
        for content in (b"", b"{", b"\xff\xfe", b"null", b"[" * 10_000):
            answer = client.post("/baskets", content=content, headers={"Content-Type": "application/json"})
            assert answer.status_code == 422
            assert list(answer.json()) == ["error"]
    assert inbox.accepted == 0


def test_categories_and_departments_come_along_with_products(tmp_path, inbox):
    with served(tmp_path, inbox) as client:
        sent = {"products": [{"id": "tea", "category": "drinks", "department": "grocery", "quantity": 2}]}
        assert client.post("/baskets", json=sent).status_code == 202


JSON = "Content-Type: application/json"
ONE = b'{"id": 1, "products": [{"id": "tea"}]}'


def request(body, *headers, path="/baskets", version="1.1"):
    """A request as it goes over the wire."""
    lines = [f"POST {path} HTTP/{version}", "Host: localhost", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def read_answer(stream):
    """Status, headers and body of one answer."""
    status, headers = stream.readline(), []
    while (line := stream.readline()) not in (b"\r\n", b""):
        headers.append(re.sub(rb"(?<=^date: ).*", b"then", line))
    length = next((int(line[16:]) for line in headers if line.startswith(b"content-length: ")), 0)
    return status, sorted(headers), stream.read(length)


@contextmanager
def connected(client):
    with socket.create_connection(("127.0.0.1", client.base_url.port), timeout=PATIENCE) as door:
        yield door, door.makefile("rb")


@pytest.fixture
def direct(monkeypatch):
    """What becomes of requests that may be answered directly: whether each was."""
    taken, real = [], BasketIntake.take
    monkeypatch.setattr(BasketIntake, "take", lambda self, *given: taken.append(real(self, *given)) or taken[-1])
    return taken


def test_the_answers_are_the_same_directly_by_the_fast_path_and_by_the_route(tmp_path, monkeypatch, direct):
    requests = [
        request(ONE, JSON), request(b'[{"products": [{"id": "tea"}]}]', JSON), request(ONE, JSON),
        request(b"{", JSON), request(b'{"products": []}', JSON), request(b"[" * 10_000, JSON),
        request(b'{"id": 2, "products": [{"id": "tea", "size": 1}]}', JSON),
        request(b'{"time": "2020-13-01", "products": [{"id": "tea"}]}', JSON),
        request(b"{}", "Content-Type: text/plain"), request(ONE, JSON, "Origin: http://elsewhere"),
        request(ONE, JSON, path="/baskets?x=1"), request(ONE, JSON, "Connection: close"),
        request(ONE, JSON, version="1.0"), request(ONE, JSON).replace(b"localhost", b"elsewhere"),
    ]  # fmt: skip

    def answers(folder):
        inbox, found = Inbox(folder), []
        with served(folder, inbox) as client:
            for one in requests:
                with connected(client) as (door, stream):
                    door.sendall(one)
                    found.append(read_answer(stream))
        inbox.close()
        return found

    quick = answers(tmp_path / "direct")
    assert direct == [True] * 8 + [False] * 3, "nothing is left to the usual way without need, nor taken from it"
    monkeypatch.setattr(BoundedProtocol, "_may_be_direct", lambda self: False)
    assert answers(tmp_path / "fast path") == quick
    monkeypatch.setattr(FastPath, "__call__", lambda self, *message: self.app(*message))
    assert answers(tmp_path / "routed") == quick
    assert [int(status[9:12]) for status, *_ in quick] == [202] * 3 + [422] * 6 + [403] + [202] * 3 + [421]
    assert quick[0][2] == b'{"accepted":1,"repeated":0}'
    assert quick[2][2] == b'{"accepted":0,"repeated":1}'


def test_requests_sent_at_once_over_a_connection_are_answered_in_their_order(tmp_path, inbox):
    other = b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n"
    sent = [request(json.dumps(basket(n)).encode(), JSON) if n % 3 else other for n in range(1, 31)]
    with served(tmp_path, inbox) as client, connected(client) as (door, stream):
        door.sendall(b"".join(sent))
        found = [int(read_answer(stream)[0][9:12]) for _ in sent]
    assert found == [202 if n % 3 else 404 for n in range(1, 31)]
    assert inbox.accepted == 20


def test_a_basket_that_comes_in_pieces_is_taken_too(tmp_path, inbox, direct):
    whole = request(ONE, JSON)
    with served(tmp_path, inbox) as client:
        for cut in (len(whole) - 1, len(whole) - len(ONE), 30):
            with connected(client) as (door, stream):
                door.sendall(whole[:cut])
                time.sleep(0.1)
                door.sendall(whole[cut:])
                assert read_answer(stream)[0].startswith(b"HTTP/1.1 202")
    assert inbox.accepted == 1
    assert direct == [True], "the one whose body came in one piece"


def test_limits_and_tokens_hold_for_what_is_answered_directly(tmp_path, inbox, direct):
    tokens = Tokens(tmp_path)
    write, reading = (f"Authorization: Bearer {tokens.make([scope])}" for scope in ("write", "read"))

    def asked(client, *headers):
        with connected(client) as (door, stream):
            door.sendall(request(ONE, JSON, *headers))
            return int(read_answer(stream)[0][9:12])

    with served(tmp_path, inbox, tokens, ["localhost"], Limits(rate=2)) as client:
        assert [asked(client), asked(client, reading)] == [401, 403]
        assert inbox.accepted == 0
        assert [asked(client, write) for _ in range(6)][:5] == [202] * 4 + [429]
    with served(tmp_path, inbox, tokens, ["localhost"], Limits(body=len(ONE) - 1)) as client:
        assert asked(client, write) == 413
    assert direct[:2] == [False, False]
    assert not direct[-1]


def test_what_was_answered_directly_is_counted_and_no_longer_under_way(tmp_path, inbox):
    app = create_app(tmp_path, inbox)
    intake, told = app.state.direct, []
    scope = {"method": "POST", "path": "/baskets", "client": ("127.0.0.1", 1),
             "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")]}  # fmt: skip

    async def send():
        both = asyncio.Event()

        def reply(status, body):
            told.append(status)
            if len(told) == 2:
                both.set()

        assert intake.take(scope, ONE, reply)
        assert (intake.admission.under_way, intake.admission.bodies.held) == (1, len(ONE))
        assert intake.take(scope, b"{", reply)
        await asyncio.wait_for(both.wait(), PATIENCE)

    asyncio.run(send())
    assert told == [422, 202]
    assert (intake.admission.under_way, intake.admission.bodies.held) == (0, 0)
    counted = app.state.service.metrics.text(dict.fromkeys(GAUGES, 0))
    assert 'omba_requests_total{route="/baskets",method="POST",status="202"} 1' in counted


def test_a_fault_of_the_service_is_told_without_what_it_was(tmp_path, inbox, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(inbox, "enter", broken)
    with served(tmp_path, inbox) as client:
        answer = client.post("/baskets", json=basket(1))
    assert (answer.status_code, list(answer.json())) == (500, ["error"])
    assert "secret" not in answer.text


def test_a_connection_without_a_request_is_closed_however_many_it_had(tmp_path, inbox, monkeypatch):
    monkeypatch.setattr("omba.service.http.protocol.PATIENCE", 0.3)
    real = BoundedProtocol.__init__

    def impatient(self, *given, **options):
        real(self, *given, **options)
        self.timeout_keep_alive = 0.2

    monkeypatch.setattr(BoundedProtocol, "__init__", impatient)
    with served(tmp_path, inbox) as client, connected(client) as (door, stream):
        for _ in range(4):
            door.sendall(request(ONE, JSON))
            assert read_answer(stream)[0].startswith(b"HTTP/1.1 202")
            time.sleep(0.1)
        begin = time.monotonic()
        assert stream.read() == b""
        assert time.monotonic() - begin < PATIENCE / 2
