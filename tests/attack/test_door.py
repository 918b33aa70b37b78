"""An attack on the door: what one client sends must not stop, slow or mislead the others, whatever it is."""

import gc
import json
import logging
import socket
import time
import tracemalloc
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from omba.errors import InputError
from omba.live import Inbox
from omba.service.http import protocol
from omba.service.http.limits import Limits
from omba.service.http.tokens import Tokens
from omba.service.views.rule_key import key_of
from patience import PATIENCE, wait_until
from serving import learn, served

BASKET = {"products": [{"id": "tea", "price": 2.5}, {"id": "milk"}]}
UNFINISHED = (
    b"POST /baskets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{"
)


@pytest.fixture
def inbox(tmp_path):
    inbox = Inbox(tmp_path)
    yield inbox
    inbox.close()


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    learn(folder)
    with served(folder, limits=Limits(rate=1e9)) as client:
        yield client


def connect(client):
    found = socket.create_connection((client.base_url.host, client.base_url.port))
    found.settimeout(PATIENCE)
    return found


@contextmanager
def traced_memory():
    """Tells how many bytes are held in large pieces, as bodies are; nothing is let go of by the garbage collector."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield lambda: sum(one.size for one in tracemalloc.take_snapshot().traces if one.size > 2**14)
    finally:
        tracemalloc.stop()
        gc.enable()


def answer_of(connection):
    """The status line and all that comes until the connection ends, or is cut."""
    said = b""
    try:
        while part := connection.recv(65536):
            said += part
    except ConnectionError:
        pass
    return said


# A refused request leaves nothing behind.


def test_a_refused_request_does_not_set_the_clock_of_a_fresh_service(tmp_path, inbox):
    mixed = [{"time": 5, **BASKET}, {"time": "2020-01-01", **BASKET}]
    with served(tmp_path, inbox) as client:
        assert client.post("/baskets", json=mixed).status_code == 422
        assert client.post("/baskets", json={"time": "2020-01-01", **BASKET}).status_code == 202
        assert client.post("/baskets", json={"time": 5, **BASKET}).status_code == 422
    assert inbox.accepted == 1


def test_a_clock_that_the_disk_did_not_take_is_not_kept(inbox, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("omba.store.journal.datasync", full)
    with pytest.raises(Exception, match="No space"):
        inbox.accept([{"time": 5, **BASKET}])
    monkeypatch.undo()
    assert inbox.accept([{"time": "2020-01-01", **BASKET}]).accepted == 1
    with pytest.raises(InputError, match="has dates and times"):
        inbox.accept([{"time": 5, **BASKET}])


# What is odd gets a sentence.

ODD_TIMES = [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0001-01-01", "99999-01-01", "-0001-01-01", "1e999",
    "²", "--5", "9" * 40, "٣", "2017-13-01", "nan",
]  # fmt: skip


@pytest.mark.parametrize("odd", ODD_TIMES)
def test_an_odd_moment_is_refused_in_a_sentence_wherever_it_is_given(learned, odd):
    for path, name in (("/rules", "at"), ("/products", "at"), ("/rank", "at"), ("/today", "since")):
        told = learned.get(path, params={name: odd})
        assert told.status_code == 422, (path, told.text)
        assert set(told.json()) == {"error"}
    assert learned.get("/rules/diff", params={"from": odd}).status_code == 422
    assert learned.get("/rules/diff", params={"from": "2017-01-05", "to": odd}).status_code == 422


@pytest.mark.parametrize("odd", [*ODD_TIMES, 2**62, -(2**62), 10**17])
def test_an_odd_time_of_a_basket_is_refused_in_a_sentence(tmp_path, inbox, odd):
    with served(tmp_path, inbox) as client:
        assert client.post("/baskets", json={"time": odd, **BASKET}).status_code == 422
    assert inbox.accepted == 0


@pytest.mark.parametrize("origin", ["http://[", "//", "null", "http://[::1"])
def test_an_origin_that_cannot_be_read_is_a_foreign_one(tmp_path, inbox, origin):
    with served(tmp_path, inbox) as client:
        told = client.post("/baskets", json=BASKET, headers={"Origin": origin})
    assert told.status_code == 403
    assert told.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize(
    "damage", [b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b'[{"hash": 5, "scopes": 7, "made": 1}]']
)
def test_damaged_tokens_let_nobody_in_and_are_told_in_the_log_alone(tmp_path, damage, caplog):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"])
    with served(tmp_path, None, tokens) as client:
        bearer = {"Authorization": f"Bearer {token}"}
        assert client.get("/rules", headers=bearer).status_code == 200
        tokens.file.write_bytes(damage)
        told = client.get("/rules", headers=bearer)
        assert told.status_code == 503
        assert told.headers["x-frame-options"] == "DENY"
        assert str(tmp_path) not in told.text
        assert client.get("/health").status_code == 200
    assert str(tokens.file) in caplog.text


def test_health_shows_no_paths_to_those_without_a_token(tmp_path):
    tokens = Tokens(tmp_path)
    token = tokens.make(["read"])
    (tmp_path / "current").write_text("snapshot-000000 " + "0" * 64)
    with served(tmp_path, None, tokens) as client:
        told = client.get("/health")
        assert told.status_code == 503
        assert told.json()["error"]
        assert str(tmp_path) not in told.text
        assert client.get("/health", headers={"Authorization": "Bearer wrong"}).text == told.text
        assert str(tmp_path) in client.get("/health", headers={"Authorization": f"Bearer {token}"}).text


def test_no_redirect_repeats_the_host_that_a_client_made_up(tmp_path):
    tokens = Tokens(tmp_path)
    bearer = {"Authorization": f"Bearer {tokens.make(['read'])}", "Host": "evil.example"}
    with served(tmp_path, None, tokens) as client:
        for path in ("/rules/", "/static", "/health/", "//evil.example/rules/"):
            told = client.get(path, headers=bearer)
            assert "evil.example" not in told.headers.get("location", ""), path


def test_a_product_with_a_newline_has_a_page(tmp_path):
    import omba
    from omba.live.keeper import Keeper

    odd = ["tea\nwith milk", "trailing\n", "a/b", "ends/", "\r\n", "q?x=1#y", "%0A", ".."]
    model, keeper = omba.OMBA(dim=4), Keeper(tmp_path, "1d", fresh=True)
    keeper.learn(model, omba.read_baskets([odd, odd[:2], odd[2:5]] * 5))
    keeper.finish(model)
    with served(tmp_path) as client:
        for label in odd:
            from urllib.parse import quote

            path = quote(label, safe="").replace(".", "%2E")
            told = client.get(httpx.URL(str(client.base_url)).copy_with(raw_path=f"/products/{path}".encode()))
            assert told.status_code == 200, label
            assert told.json()["id"] == label


def test_a_label_of_thirty_thousand_letters_costs_no_more_than_a_short_one(learned, monkeypatch):
    compared = []

    def count_words(self, texts, words, **options):
        compared.append(sum(map(len, words)))
        return real(self, texts, words, **options)

    from omba.rules.catalogue import Catalogue

    real = Catalogue._match
    monkeypatch.setattr(Catalogue, "_match", count_words)
    told = learned.get(f"/rules/{key_of([' '.join('abc' for _ in range(9_000))], ['b' * 35])}")
    assert told.status_code == 404
    assert len(told.text) < 2_000
    assert sum(compared) < 2_000


def test_what_a_client_made_up_reaches_the_log_without_its_control_characters(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("omba.service.views.published.Published.at", lambda *_: 1 / 0)

    with served(tmp_path) as client:
        logging.getLogger("uvicorn.error").warning("a client says %s", "\x1b[2J\nERROR: forged")
        assert client.get("/rules").status_code == 500
        assert client.get("/rules/%1b[2J%0aforged?at=1").status_code in (404, 500)
    said = capfd.readouterr().err
    assert "ZeroDivisionError" in said
    assert "\x1b" not in said
    assert "\nforged" not in said
    assert "\nERROR: forged" not in said


# Slow and large requests.


def test_garbage_by_the_hundred_fills_no_log(tmp_path, monkeypatch, capfd):
    logger = logging.getLogger("uvicorn")
    with served(tmp_path) as client:
        for _ in range(200):
            with connect(client) as odd:
                odd.sendall(b"\x16\x03\x01garbage\r\n\r\n")
                assert b" 400 " in answer_of(odd)
        # What else there is to say is said.
        logging.getLogger("uvicorn.error").warning("something else")
        (filter_,) = logger.handlers[0].filters
        monkeypatch.setattr("omba.service.http.log.monotonic", lambda: time.monotonic() + 61)
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    lines = capfd.readouterr().err.splitlines()
    garbage = [line for line in lines if "Invalid HTTP request" in line]
    assert len(garbage) == 11
    assert "more of this is left out for 60 s" in garbage[9]
    assert "and 190 times before that" in garbage[10]
    assert any("something else" in line for line in lines)
    assert filter_._said.keys() == {"Invalid HTTP request received.", "something else"}


def test_a_request_that_comes_too_late_is_answered_without_a_trace_in_the_log(tmp_path, inbox, capfd, caplog):
    with served(tmp_path, inbox, limits=Limits(seconds=0.2)) as client:
        for path in (b"/baskets", b"/rank"):
            with connect(client) as slow:
                slow.sendall((UNFINISHED % 100).replace(b"/baskets", path))
                assert b" 408 " in answer_of(slow).split(b"\r\n")[0]
    assert "Traceback" not in capfd.readouterr().err + caplog.text


HEADS = {
    "one long line": [b"X-Long: ", *[b"x" * 65536] * 64],
    "many lines": [b"X-a: b\r\n" * 8192] * 64,
    "a long address": [b"x" * 65536] * 64,
}


@pytest.mark.parametrize("kind", HEADS)
def test_headers_beyond_a_bound_end_the_connection_before_anybody_is_asked_for_a_token(tmp_path, kind):
    tokens = Tokens(tmp_path)
    tokens.make(["read"])
    begin = b"GET /" if kind == "a long address" else b"GET /rules HTTP/1.1\r\nHost: localhost\r\n"
    with served(tmp_path, None, tokens) as client, connect(client) as greedy:
        sent, said = 0, b""
        try:
            greedy.sendall(begin)
            for part in HEADS[kind]:
                greedy.sendall(part)
                sent += len(part)
        except ConnectionError:
            pass
        said = answer_of(greedy)
        # What fits into the buffers of the two sockets is gone before the answer comes; that is not all of it.
        assert b" 431 " in said or sent < 4 * 2**20
        assert client.get("/health").status_code == 200


def test_trailers_and_lines_between_chunks_are_bounded_too(tmp_path, inbox):
    head = UNFINISHED.replace(b"Content-Length: %d", b"Transfer-Encoding: chunked")[:-1]
    for odd in (b"1\r\n{\r\n0\r\n" + b"X-a: b\r\n" * 40_000, b"1;" + b"x" * 2**19, b"0\r\nX-a: " + b"x" * 2**19):
        with served(tmp_path, inbox) as client, connect(client) as greedy:
            with suppress(ConnectionError):
                greedy.sendall(head + odd)
            said = answer_of(greedy)
            assert not said or said.split()[1] in (b"431", b"400", b"422"), said[:100]


def test_a_head_of_usual_size_passes_also_when_requests_follow_each_other_at_once(tmp_path):
    one = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 20_000 + b"\r\n\r\n"
    with served(tmp_path) as client, connect(client) as busy:
        busy.sendall(one * 8 + one[:-4] + b"\r\nConnection: close\r\n\r\n")
        assert answer_of(busy).count(b"HTTP/1.1 200") == 9


def test_when_too_many_connections_wait_the_oldest_give_way_and_health_is_answered(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "CONNECTIONS", 20)
    with served(tmp_path) as client, ExitStack() as ends:
        held = [ends.enter_context(connect(client)) for _ in range(60)]
        for one in held:
            one.sendall(b"GET /rules HTTP/1.1\r\n")
        assert httpx.get(f"{str(client.base_url).rstrip('/')}/health", timeout=PATIENCE).status_code == 200
        assert answer_of(held[0]) == b""


def test_heads_that_stay_unfinished_hold_little_memory_together(tmp_path, monkeypatch):
    monkeypatch.setattr(protocol, "HEADS", 200_000)
    with served(tmp_path) as client, ExitStack() as ends:
        held = [ends.enter_context(connect(client)) for _ in range(20)]
        for one in held:
            one.sendall(b"GET /rules HTTP/1.1\r\nX-Long: " + b"x" * 40_000)
        assert answer_of(held[0]) == b""
        assert client.get("/health").status_code == 200


def test_slow_bodies_of_one_client_are_bounded_and_leave_room_for_the_others(tmp_path, inbox):
    limits = Limits(unfinished=5, at_once=8)
    with served(tmp_path, inbox, limits=limits) as client, ExitStack() as ends:
        slow = [ends.enter_context(connect(client)) for _ in range(12)]
        for one in slow:
            one.sendall(UNFINISHED % 100)
        refused = slow[5:]
        assert all(b" 429 " in answer_of(one).split(b"\r\n")[0] for one in refused)
        assert client.get("/health").status_code == 200
        assert client.post("/baskets", json=BASKET).status_code in (202, 429)
        for one in slow[:5]:
            one.close()
        wait_until(lambda: client.post("/baskets", json=BASKET).status_code == 202)


def test_health_is_answered_while_no_more_requests_are_taken(tmp_path, inbox):
    with served(tmp_path, inbox, limits=Limits(at_once=1)) as client, connect(client) as slow:
        slow.sendall(UNFINISHED % 100)
        wait_until(lambda: client.get("/rules").status_code == 503)
        assert client.get("/health").status_code == 200


def test_health_is_answered_to_a_client_that_asked_too_much_of_the_rest(tmp_path):
    with served(tmp_path, limits=Limits(rate=5)) as client:
        wait_until(lambda: client.get("/no/such").status_code == 429)
        assert client.get("/health").status_code == 200


def test_the_bodies_of_all_requests_together_are_bounded(tmp_path, inbox):
    limits, arriving = Limits(bodies=4 * 2**20, body=2**20), 2**18
    with served(tmp_path, inbox, limits=limits) as client, traced_memory() as held_of_bodies, ExitStack() as ends:
        held = [ends.enter_context(connect(client)) for _ in range(40)]
        codes = []
        for one in held:
            one.sendall(UNFINISHED % 2**20 + b" " * (2**20 - 100))
        for one in held:
            one.settimeout(0.01)
            try:
                codes.append(one.recv(4096).split()[1])
            except TimeoutError:
                codes.append(b"held")
        wait_until(lambda: held_of_bodies() < limits.bodies + len(held) * arriving + 2**20)
        wait_until(lambda: client.post("/baskets", json=BASKET).status_code == 202)
        assert client.get("/health").status_code == 200


def test_a_small_basket_passes_while_large_bodies_are_on_their_way(tmp_path, inbox):
    with served(tmp_path, inbox, limits=Limits(bodies=2**20, body=2**20)) as client, ExitStack() as ends:
        held = [ends.enter_context(connect(client)) for _ in range(4)]
        for one in held:
            one.sendall(UNFINISHED % 2**20 + b" " * (2**19))
        wait_until(lambda: client.post("/baskets", json=BASKET).status_code == 202)


def test_large_bodies_that_are_sent_to_their_end_are_taken_one_after_the_other(tmp_path, inbox):
    many = json.dumps([BASKET] * 5_000).encode()
    with served(tmp_path, inbox, limits=Limits(bodies=len(many) + 1000)) as client:
        for _ in range(3):
            told = client.post("/baskets", content=many, headers={"Content-Type": "application/json"})
            assert told.status_code == 202
    assert inbox.accepted == 15_000
