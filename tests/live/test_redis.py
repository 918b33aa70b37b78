"""Redis Streams, against a real server: delivered again is learned once, acknowledged is learned."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import omba
from omba.live import Inbox, Learner, redis_feed
from omba.live.follow import follow
from omba.live.redis_feed import RedisFeed
from omba.store.journal import Tail

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}
SERVER = shutil.which("redis-server")
if SERVER is None:
    pytest.skip("redis-server is not installed: the tests of Redis Streams are left out", allow_module_level=True)
redis = pytest.importorskip("redis")


class Server:
    """A Redis server on a free port, with its data in a folder so that it can be stopped and started again."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.process = folder, None
        self.start()

    def start(self):
        options = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(self.folder),
            "--appendonly",
            "yes",
            "--save",
            "",
        ]
        self.process = subprocess.Popen([SERVER, *options], stdout=subprocess.DEVNULL)
        self.client = redis.Redis(port=self.port)
        for _ in range(200):
            try:
                self.client.ping()
                return
            except redis.RedisError:
                time.sleep(0.05)
        raise AssertionError("the server did not start")

    def stop(self):
        self.client.close()
        self.process.terminate()
        self.process.wait()

    @property
    def address(self):
        return f"redis://127.0.0.1:{self.port}/baskets"

    def send(self, baskets):
        with self.client.pipeline() as pipeline:
            for basket in baskets:
                pipeline.xadd("baskets", {"basket": json.dumps(basket)})
            pipeline.execute()

    @property
    def pending(self):
        return self.client.xpending("baskets", "omba")["pending"]


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "redis"
    folder.mkdir()
    server = Server(folder)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def world():
    return omba.datasets.synthetic(baskets=400, products=150, users=20, days=6, pairs=4, seed=6).baskets


def told(baskets):
    return [
        {"id": one.id, "user": one.user, "time": one.time.isoformat(), "products": [{"id": p} for p in one.products]}
        for one in baskets
    ]


class Following:
    def __init__(self, server, model):
        self.inbox = Inbox(model)
        self.learner = Learner(model, history=None, settings=SETTINGS)
        self.feed = RedisFeed(server.address, self.inbox)

    def look(self):
        """Take in all there is, and learn it; what a snapshot has learned is acknowledged."""
        while self.feed.read():
            pass
        self.learner.drain()
        self.feed.acknowledge(self.learner.safe)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.feed.close()
        self.inbox.close()
        self.learner.close()


def ids(model):
    tail = Tail(model / "journal", 0)
    lines = [line for frames in iter(tail.read, []) for frame in frames for line in frame.lines[:-1]]
    return [json.loads(line)["id"] for line in lines]


def vectors(model):
    return model.products, model.product_vectors.tobytes(), model.user_vectors.tobytes()


def plainly(world):
    windows = list(world.windows("1d"))
    model = omba.OMBA(**SETTINGS)
    for window in windows[:-1]:
        model.partial_fit(window)
    return model, len(windows[-1])


def test_entries_are_learned_and_acknowledged_once_a_snapshot_has_learned_them(server, world, tmp_path):
    server.send(told(world))
    wanted, left = plainly(world)
    with Following(server, tmp_path / "model") as following:
        while following.feed.read():
            assert server.pending == following.inbox.accepted
        following.look()

        assert vectors(following.learner.model) == vectors(wanted)
        # The whole of a batch waits for its last basket, whose window is still open.
        assert server.pending == 400
        server.send([{"id": "last", "time": "2017-03-01", "products": ["tea"]}])
        following.look()
        assert server.pending == 1

    assert sorted(map(str, ids(tmp_path / "model"))) == sorted([*map(str, range(400)), "last"])
    assert left > 0


def test_entries_delivered_again_after_a_crash_are_learned_once(server, world, tmp_path):
    baskets = told(world)
    for place in range(5):
        server.send(baskets[80 * place : 80 * (place + 1)])
        with Following(server, tmp_path / "model") as following:
            following.look()
            # Killed here: what was journaled and not acknowledged is delivered again to the next one.

    assert ids(tmp_path / "model") == [basket["id"] for basket in baskets]
    assert vectors(following.learner.model) == vectors(plainly(world)[0])
    assert following.inbox.repeated > 50


def test_entries_without_an_id_go_by_their_own(server, tmp_path):
    server.send([{"time": "2017-01-01", "products": ["tea"]}] * 3)
    for _ in range(2):
        with Following(server, tmp_path / "model") as following:
            following.look()

    assert (following.inbox.accepted, following.inbox.repeated) == (3, 3)


def test_entries_that_are_no_baskets_are_passed_over_acknowledged_and_counted(server, tmp_path):
    server.client.xadd("baskets", {"something": "else"})
    server.client.xadd("baskets", {"basket": "{"})
    server.client.xadd("baskets", {"basket": "[1]"})
    server.send([{"id": 1, "products": []}, {"id": 2, "time": "2017-01-01", "products": ["tea"]}])
    server.send([{"id": 3, "time": 12, "products": ["tea"]}])
    with Following(server, tmp_path / "model") as following:
        following.look()
        ((reason, count),) = following.feed.counts.items()

    assert ids(tmp_path / "model") == [2]
    assert (server.pending, count) == (1, 5)
    assert "it has no field 'basket' with a basket in JSON" in reason


def test_a_server_that_goes_away_is_asked_again_until_it_is_back(server, world, tmp_path, caplog):
    baskets, stop = told(world), threading.Event()
    server.send(baskets[:200])
    with Following(server, tmp_path / "model") as following:
        looks = []

        def progress(handed):
            looks.append(handed)
            if following.inbox.accepted == 200 and len(looks) < 50:
                looks.extend([0] * 50)
                server.stop()
            elif "does not answer" in caplog.text and server.process.poll() is not None:
                server.start()
                server.send(baskets[200:])
            elif following.inbox.accepted == 400:
                stop.set()

        follow(following.feed, following.inbox, following.learner, stop, progress)

    assert ids(tmp_path / "model") == [basket["id"] for basket in baskets]
    assert caplog.text.count("does not answer") == 1


def test_more_entries_than_ids_are_remembered_are_acknowledged_from_the_journal(server, world, tmp_path, monkeypatch):
    monkeypatch.setattr(redis_feed, "WAITING", 100)
    monkeypatch.setattr(redis_feed, "COUNT", 50)
    server.send(told(world))
    with Following(server, tmp_path / "model") as following:
        while following.feed.read():
            pass
        assert server.pending == 100


def test_killed_while_following_a_stream_every_entry_is_learned_once(nursery, server, world, tmp_path):
    baskets = told(world)
    orders = {"folder": str(tmp_path / "model"), "source": server.address, "settings": SETTINGS}
    for place in range(10):
        child = nursery.start("follow", **orders, until=10**9)
        server.send(baskets[40 * place : 40 * (place + 1)])
        time.sleep(0.15)
        os.kill(child, signal.SIGKILL)
        assert nursery.wait(child) == -signal.SIGKILL
    assert nursery.run("follow", **orders, until=400) == 0

    assert ids(tmp_path / "model") == [basket["id"] for basket in baskets]
    assert vectors(omba.OMBA.load(tmp_path / "model")) == vectors(plainly(world)[0])
