"""The guard of the service: who may ask, how much, and what nobody gets to see."""

import json
import socket
import stat
import time

import httpx
import pytest

import omba
from omba.errors import InputError, SettingError, UnknownError
from omba.live import Inbox
from omba.service.http.limits import Limits
from omba.service.http.tokens import Tokens, digest
from omba.service.server import ServerPlan
from patience import PATIENCE, wait_until
from serving import served

BASKET = {"products": [{"id": "tea", "price": 2.5}, {"id": "milk"}]}


@pytest.fixture
def inbox(tmp_path):
    inbox = Inbox(tmp_path)
    yield inbox
    inbox.close()


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_kept_as_a_hash_that_only_its_owner_may_read(tmp_path):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"])
    kept = tokens.file.read_text()
    assert token not in kept
    assert digest(token) in kept
    assert stat.S_IMODE(tokens.file.stat().st_mode) == 0o600
    assert tokens.allows(token, "read")
    assert not tokens.allows(token, "write")
    assert not tokens.allows(token[:-1], "read")
    assert not tokens.allows("", "read")


def test_a_revoked_token_holds_no_longer(tmp_path):
    tokens = Tokens(tmp_path)
    first, second = tokens.make(["read"]), tokens.make(["read", "write"])
    Tokens(tmp_path).revoke(digest(first)[:8])
    assert not tokens.allows(first, "read")
    assert tokens.allows(second, "write")
    with pytest.raises(UnknownError, match="is not known here"):
        tokens.revoke("nothing")


def test_another_host_than_this_machine_needs_a_token(tmp_path):
    with pytest.raises(InputError, match="omba token --model"):
        _ = ServerPlan(tmp_path, host="0.0.0.0").tokens
    Tokens(tmp_path).make(["read"])
    assert ServerPlan(tmp_path, host="0.0.0.0").tokens is not None
    assert all(
        ServerPlan(tmp_path, host=host).tokens is None for host in ("127.0.0.1", "::1", "localhost", "127.0.0.9")
    )


def test_settings_that_the_model_was_not_learned_with_are_refused_and_not_passed_over(tmp_path):
    omba.OMBA(dim=16, value=(2.3, 10.0)).save(tmp_path)
    for wanted in ({"dim": 8}, {"value": None}, {"learning_rate": 0.5}):
        with pytest.raises(SettingError, match=r"was learned with .*: leave --"):
            ServerPlan(tmp_path, settings=wanted).check()
    ServerPlan(tmp_path, settings={"dim": 16, "value": (2.3, 10.0), "threads": 2}).check()


def test_with_tokens_each_path_asks_for_its_scope(tmp_path, inbox):
    tokens = Tokens(tmp_path)
    read, write = tokens.make(["read"]), tokens.make(["write"])
    with served(tmp_path, inbox, tokens) as client:
        assert client.get("/health").status_code == 200
        assert client.get("/rules").status_code == 401
        assert client.get("/rules").headers["www-authenticate"] == "Bearer"
        assert client.get("/rules", headers=bearer(read)).status_code == 200
        assert client.post("/rank", json={}, headers=bearer(read)).status_code == 200
        assert client.get("/openapi.json").status_code == 401
        assert client.get("/metrics", headers=bearer(write)).status_code == 403
        assert client.post("/baskets", json=BASKET, headers=bearer(read)).status_code == 403
        assert client.post("/baskets", json=BASKET, headers=bearer(write)).status_code == 202
        assert client.post("/baskets", json=BASKET, headers=bearer("x" * 43)).status_code == 403
        # With a token, any name the machine goes by will do.
        assert client.get("/rules", headers={**bearer(read), "Host": "shop.example"}).status_code == 200
    assert inbox.accepted == 1


def test_a_foreign_host_or_origin_is_refused(tmp_path, inbox):
    with served(tmp_path, inbox) as client:
        for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", "["):
            assert client.get("/status", headers={"Host": host}).status_code == 421, host
        for host in ("localhost", "127.0.0.1:9", "[::1]:8000"):
            assert client.get("/status", headers={"Host": host}).status_code == 200, host
        foreign = client.post("/baskets", json=BASKET, headers={"Origin": "https://evil.example"})
        assert foreign.status_code == 403
        own = client.post("/baskets", json=BASKET, headers={"Origin": str(client.base_url).rstrip("/")})
        assert own.status_code == 202
        # What a form of any page may send without asking: it is not taken for JSON.
        plain = client.post("/baskets", content=json.dumps(BASKET), headers={"Content-Type": "text/plain"})
        assert plain.status_code == 422
    assert inbox.accepted == 1


def test_every_answer_has_the_headers_that_keep_the_page_to_itself(tmp_path):
    with served(tmp_path) as client:
        for path in ("/status", "/no/such", "/"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert "server" not in headers


def test_a_body_beyond_the_limit_is_refused_whether_its_length_is_told_or_not(tmp_path, inbox):
    with served(tmp_path, inbox, limits=Limits(body=1_000)) as client:
        long = json.dumps([BASKET] * 50).encode()
        kind = {"Content-Type": "application/json"}
        told = client.post("/baskets", content=long, headers=kind)
        untold = client.post("/baskets", content=iter([long[:700], long[700:]]), headers=kind)
        for answer in (told, untold):
            assert answer.status_code == 413
            assert "1,000 bytes" in answer.json()["error"]
        assert client.post("/baskets", json=BASKET).status_code == 202
    assert inbox.accepted == 1


def test_a_body_that_does_not_come_in_is_given_up(tmp_path, inbox):
    with served(tmp_path, inbox, limits=Limits(seconds=0.3)) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as slow:
            slow.sendall(
                b"POST /baskets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            slow.settimeout(PATIENCE)
            assert b" 408 " in slow.recv(4096).split(b"\r\n")[0]
        assert client.get("/health").status_code == 200


def test_more_requests_than_the_rate_are_told_to_wait(tmp_path):
    # So slow a rate that thirty requests come faster on any machine.
    with served(tmp_path, limits=Limits(rate=2)) as client:
        codes = [client.get("/health").status_code for _ in range(30)]
        assert codes[:4] == [200] * 4
        assert 429 in codes
        time.sleep(0.6)
        assert client.get("/health").status_code == 200


def test_no_more_than_so_many_requests_are_under_way(tmp_path, inbox):
    with served(tmp_path, inbox, limits=Limits(at_once=1)) as client:
        with socket.create_connection((client.base_url.host, client.base_url.port)) as slow:
            slow.sendall(
                b"POST /baskets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                b"Content-Length: 100\r\n\r\n{"
            )
            wait_until(lambda: client.get("/names").status_code == 503)
        # The place of a request that was given up is free again.
        wait_until(lambda: client.get("/names").status_code == 200)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"products": []}, "products"),
        ({}, "products"),
        ({"products": [{"id": "tea", "colour": "green"}]}, "colour"),
        ({"products": [{"id": "tea"}], "till": 3}, "till"),
        ({"products": [{"id": ""}]}, "id"),
        ({"products": [{"id": True}]}, "id"),
        ({"products": [{"id": 1.5}]}, "id"),
        ({"products": [{"id": "tea", "price": "2"}]}, "price"),
        ({"products": [{"id": "tea"}], "time": "yesterday"}, "yesterday"),
        ({"products": [{"id": "tea"}], "time": "2099-01-01"}, "after now"),
        ([{"products": [{"id": "tea"}]}, {"products": [{"price": 2}]}], "id"),
        ([], "at least 1"),
        ("tea", "cannot be used"),
    ],
)
def test_a_basket_that_cannot_be_used_is_told_why_and_nothing_is_taken(tmp_path, inbox, body, says):
    with served(tmp_path, inbox) as client:
        answer = client.post("/baskets", json=body)
    assert answer.status_code == 422
    assert says in answer.json()["error"]
    assert list(answer.json()) == ["error"]
    assert inbox.accepted == 0


def test_a_fault_of_the_program_leaves_no_trace_in_the_answer(tmp_path, inbox, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("secret /etc/passwd")

    monkeypatch.setattr(inbox, "settle", broken)
    with served(tmp_path, inbox) as client:
        answer = client.post("/baskets", json=BASKET)
        assert answer.status_code == 500
        assert answer.json() == {"error": "something went wrong here, and the server's log tells what"}
        assert client.get("/health").status_code == 200


def test_metrics_count_requests_under_their_routes_and_nothing_a_client_made_up(tmp_path, inbox):
    with served(tmp_path, inbox) as client:
        client.post("/baskets", json=[BASKET, BASKET])
        client.get("/products/tea")
        client.get("/products/coffee")
        client.get("/made/up")
        client.request("BREW", "/status")
        text = client.get("/metrics").text
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['omba_requests_total{route="/products/{id:path}",method="GET",status="404"}'] == "2"
    assert lines['omba_requests_total{route="/baskets",method="POST",status="202"}'] == "1"
    assert lines['omba_request_seconds_count{route="/products/{id:path}"}'] == "2"
    assert lines["omba_baskets_accepted_total"] == "2"
    assert "made" not in text
    assert "BREW" not in text


def test_an_idle_connection_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr("omba.service.http.protocol.PATIENCE", 0.3)
    with (
        served(tmp_path) as client,
        socket.create_connection((client.base_url.host, client.base_url.port)) as idle,
    ):
        idle.sendall(b"GET /status HTTP/1.1\r\nHost: lo")
        idle.settimeout(PATIENCE)
        assert idle.recv(100) == b""


def test_a_request_longer_than_the_patience_for_headers_is_answered(tmp_path, monkeypatch):
    monkeypatch.setattr("omba.service.http.protocol.PATIENCE", 0.3)
    monkeypatch.setattr("omba.service.views.published.Published.at", lambda *_: time.sleep(1.0) or 1 / 0)
    with served(tmp_path) as client, httpx.Client(base_url=client.base_url, timeout=PATIENCE) as other:
        assert other.get("/rules").status_code == 500
