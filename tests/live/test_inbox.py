"""The inbox: baskets are taken in once each, by many threads, and are on the disk when it says so."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from omba.baskets import Clock
from omba.errors import InputError, StoreError
from omba.live import Inbox, Receipt, status
from omba.live.records import record
from omba.store import journal as journals
from omba.store.journal import Tail


@pytest.fixture
def inbox(tmp_path):
    inbox = Inbox(tmp_path)
    yield inbox
    inbox.close()


def taken(folder):
    """The baskets in the journal."""
    tail = Tail(folder / "journal", 0)
    frames = [frame for frames in iter(tail.read, []) for frame in frames]
    return [json.loads(line) for frame in frames for line in frame.lines[:-1]]


def basket(name, **more):
    return {"id": name, "products": [{"id": "tea"}], **more}


def test_a_basket_is_kept_as_it_came_with_its_time_filled_in(inbox, tmp_path):
    now = datetime(2017, 3, 1, 12, 30)

    inbox.accept([{"products": ["tea", {"id": 7, "price": 1.5, "quantity": 2}]}], now=now)
    inbox.accept([basket("b1", user="u7", store=3, time="2017-03-01T14:00:00+01:00")], now=now)

    assert taken(tmp_path) == [
        {"time": "2017-03-01T12:30:00", "products": [{"id": "tea"}, {"id": 7, "price": 1.5, "quantity": 2}]},
        {"id": "b1", "user": "u7", "store": 3, "time": "2017-03-01T13:00:00", "products": [{"id": "tea"}]},
    ]


def test_a_repeated_id_is_taken_in_once_also_after_a_restart(inbox, tmp_path):
    assert inbox.accept([basket("a"), basket("b"), basket("a")]) == Receipt(2, 1)
    assert inbox.accept([basket("b"), basket(7), basket("7")]) == Receipt(2, 1)
    inbox.close()

    again = Inbox(tmp_path)

    assert again.accept([basket("a"), basket("c")]) == Receipt(1, 1)
    again.close()
    assert [one["id"] for one in taken(tmp_path)] == ["a", "b", 7, "7", "c"]
    assert (status(tmp_path)["baskets_accepted"], status(tmp_path)["baskets_repeated"]) == (5, 3)


def test_baskets_without_an_id_are_never_taken_for_repeated(inbox):
    assert inbox.accept([{"products": ["tea"]}, {"products": ["tea"]}]) == Receipt(2, 0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"id": "b"}, "basket 'b' has no products: give a list"),
        ({"products": []}, "a basket without an id has no products"),
        ({"products": [{"price": 1}]}, "has a product without an id"),
        ({"products": [{"id": 1.5}]}, "a product is text or a whole number"),
        ({"products": [{"id": "tea", "price": "1"}]}, "has the price '1' for product 'tea': give a number"),
        ({"products": ["tea"], "time": "yesterday"}, "has the time 'yesterday': write it as '2017-10-01'"),
        ({"products": ["tea"], "time": 1.5}, "has the time 1.5: give a date"),
        ({"products": ["tea"], "time": "2099-01-01"}, r"is of 2099-01-01 00:00:00, more than a day after now \(.*UTC"),
        ({"products": ["tea"], "time": 12}, "tells time by day, but this stream has dates and times"),
    ],
)
def test_a_basket_that_is_wrong_is_refused_in_a_sentence_and_so_are_those_with_it(inbox, tmp_path, wrong, sentence):
    inbox.accept([basket("first")])

    with pytest.raises(InputError, match=sentence) as said:
        inbox.accept([basket("second"), wrong])

    assert "\n" not in str(said.value)
    assert [one["id"] for one in taken(tmp_path)] == ["first"]


def test_times_are_dates_or_days_or_counted_since_1970():
    now = datetime(2020, 1, 1)
    day = Clock.DATETIME.read("2017-07-14T02:40")

    given = [
        1_500_000_000,
        1_500_000_000_000,
        1_500_000_000_000_000,
        "2017-07-14T02:40:00Z",
        datetime(2017, 7, 14, 2, 40),
    ]

    assert {(one.clock, one.tick) for time in given for one in [record(basket("b", time=time), now)]} == {
        (Clock.DATETIME, day)
    }
    assert record(basket("b", time=17), now).clock is Clock.DAY


def test_the_clock_of_a_stream_is_known_after_a_restart(inbox, tmp_path):
    inbox.accept([basket("a", time=12)])
    inbox.close()

    again = Inbox(tmp_path)

    with pytest.raises(InputError, match="but this stream counts days"):
        again.accept([basket("b", time="2017-01-01")])
    again.close()


def test_baskets_that_come_while_the_disk_is_busy_share_the_next_sync(inbox, tmp_path, monkeypatch):
    syncs, real = [], journals.datasync

    def slow(handle):
        syncs.append(handle)
        while len(syncs) == 1 and len(inbox._coming.keys) < 7:
            time.sleep(0.001)
        real(handle)

    monkeypatch.setattr(journals, "datasync", slow)
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda number: inbox.accept([basket(number)]), range(8)))

    assert receipts == [Receipt(1, 0)] * 8
    assert len(syncs) == 2
    assert sorted(one["id"] for one in taken(tmp_path)) == list(range(8))


def test_of_baskets_sent_by_many_threads_at_once_each_is_there_once(inbox, tmp_path):
    sent = [[basket(f"{client}-{number}"), basket(f"common-{number}")] for number in range(40) for client in range(8)]

    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(inbox.accept, sent))

    wanted = {f"{client}-{number}" for client in range(8) for number in range(40)} | {f"common-{n}" for n in range(40)}
    assert sorted(one["id"] for one in taken(tmp_path)) == sorted(wanted)
    assert (sum(r.accepted for r in receipts), sum(r.repeated for r in receipts)) == (360, 280)


def test_a_basket_repeated_while_the_first_is_on_its_way_is_not_called_safe_before_it_is(inbox, monkeypatch):
    started, go = threading.Event(), threading.Event()

    def fails(handle):
        started.set()
        go.wait()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(journals, "datasync", fails)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(inbox.accept, [basket("a")])
        started.wait()
        second = pool.submit(inbox.accept, [basket("a")])
        go.set()
        for waiting in (first, second):
            with pytest.raises(StoreError, match="No space left on device"):
                waiting.result()
    monkeypatch.undo()

    assert inbox.accept([basket("a")]) == Receipt(1, 0)


def test_how_far_a_source_was_read_is_kept_with_its_baskets(inbox, tmp_path):
    inbox.accept([basket("a"), basket("a")], source=("sales.csv", {"offset": 120}))
    inbox.accept([], source=("other.csv", {"offset": 7}))
    inbox.accept([basket("b")])
    inbox.close()

    again = Inbox(tmp_path)

    assert again.sources == {"sales.csv": {"offset": 120}, "other.csv": {"offset": 7}}
    assert [one["id"] for one in taken(tmp_path)] == ["a", "a", "b"]
    again.close()


def test_silence_closes_a_window_that_the_clock_on_the_wall_is_past(inbox, tmp_path):
    inbox.accept([basket("a", time="2017-01-01T23:00")])
    evening, night = datetime(2017, 1, 1, 23, 59), datetime(2017, 1, 2)

    assert not inbox.mark(evening, silence=0)
    assert not inbox.mark(night, silence=60)
    assert inbox.mark(night, silence=0)
    assert not inbox.mark(night + timedelta(days=3), silence=0)

    tail = Tail(tmp_path / "journal", 0)
    _, second = tail.read()
    assert (second.count, json.loads(second.lines[-1])["latest"]) == (0, Clock.DATETIME.read(night))
