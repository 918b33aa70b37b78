"""Baskets over HTTP: many at once, each request with a receipt of its own."""

import os
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from omba.errors import StoreError
from omba.live import Inbox
from omba.service.fast_path import FastPath
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


def test_the_route_answers_the_same_whether_or_not_the_fast_path_leads_to_it(tmp_path, monkeypatch):
    as_json = {"Content-Type": "application/json"}
    requests = [
        (as_json, b'{"id": 1, "products": [{"id": "tea"}]}'), (as_json, b'[{"products": [{"id": "tea"}]}]'),
        (as_json, b"{"), (as_json, b'{"products": []}'),
        (as_json, b'{"id": 2, "products": [{"id": "tea", "size": 1}]}'),
        ({"Content-Type": "text/plain"}, b"{}"),
    ]  # fmt: skip

    def answers(folder):
        inbox = Inbox(folder)
        with served(folder, inbox) as client:
            found = [client.post("/baskets", content=content, headers=headers) for headers, content in requests]
        inbox.close()
        return [(answer.status_code, answer.headers["content-type"], answer.content) for answer in found]

    quick = answers(tmp_path / "quick")
    monkeypatch.setattr(FastPath, "__call__", lambda self, *message: self.app(*message))
    assert answers(tmp_path / "routed") == quick
    assert [status for status, *_ in quick] == [202, 202, 422, 422, 422, 422]
