"""`make attack`: what an attacker would try, for five minutes or as many as are given, against a service on loopback.

Each part is a function of a scene (a service and its folder) and a moment to stop at; it returns how often it tried
what, and raises where something gave way. A part more is a line in `PARTS`, among which the time is shared out. All
traffic goes to loopback, no part opens more than some hundred connections, and all of it stops by itself.
"""

import logging
import random
import socket
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import httpx

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parent.parent))
sys.path.append(str(Path(__file__).parent.parent / "live"))

from odd_input import ODD, attempt, options, write_odd_file
from test_live_kill import kill_under_load
from test_random_damage import damage_once, make_folder

from conftest import Nursery
from omba.live import Inbox, start
from omba.service.http.limits import Limits
from serving import learn, served

PATHS = [
    "/rules", "/rules/diff", "/rules/{}", "/products", "/products/{}", "/rank", "/explain", "/today", "/names",
    "/users", "/customers/{}", "/categories", "/map",
]  # fmt: skip
NAMES = [
    "at", "from", "to", "since", "q", "limit", "offset", "sort", "product", "min_lift", "id", "products", "user", "n",
]  # fmt: skip


@dataclass
class Scene:
    """A service under attack, and what it should have taken in so far."""

    client: httpx.Client
    inbox: Inbox
    folder: Path
    chance: random.Random
    place: Path

    def connect(self):
        found = socket.create_connection((self.client.base_url.host, self.client.base_url.port), timeout=30)
        return found

    def check(self) -> None:
        """The service is well, and takes a basket."""
        assert self.client.get("/health").status_code == 200
        before = self.inbox.accepted
        for _ in range(300):
            if self.client.post("/baskets", json={"products": [{"id": "p1"}]}).status_code == 202:
                break
            sleep(0.1)
        assert self.inbox.accepted == before + 1


def poison(scene, until):
    """Requests and baskets that are wrong in one way or another: none may be answered by a 5xx."""
    tried = Counter()
    while monotonic() < until:
        odd = scene.chance.choice(ODD)
        if scene.chance.random() < 0.5:
            path = scene.chance.choice(PATHS).replace(
                "{}", "%ff" if not odd else "".join(f"%{b:02x}" for b in odd.encode())
            )
            told = scene.client.get(path, params={scene.chance.choice(NAMES): odd})
        else:
            field = scene.chance.choice(["id", "user", "time", "store", "till"])
            value = scene.chance.choice([odd, 2**62, -1, 1.5, None, [odd], {"a": odd}])
            basket = {"products": [{"id": scene.chance.choice([odd, 5, None]), "price": value}], field: value}
            told = scene.client.post("/baskets", json=scene.chance.choice([basket, [basket, {"products": []}], odd]))
        assert told.status_code < 500, (told.request.url, told.text[:200])
        tried[f"answered {told.status_code}"] += 1
    return tried


def slow_clients(scene, until):
    """Bodies and headers that do not end: health is answered meanwhile, and a basket is taken afterwards."""
    tried = Counter()
    body = b"POST /baskets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    body += b"Content-Length: 5000000\r\n\r\n["
    while monotonic() < until:
        with ExitStack() as ends:
            for _ in range(200):
                slow = ends.enter_context(scene.connect())
                with suppress(OSError):
                    slow.sendall(
                        scene.chance.choice(
                            [body, body + b" " * 300_000, b"GET /rules HTTP/1.1\r\nX: " + b"x" * 40_000]
                        )
                    )
                tried["unfinished requests"] += 1
            begin = monotonic()
            assert scene.client.get("/health").status_code == 200
            tried["health answered"] += 1
            tried["slowest health, ms"] = max(tried["slowest health, ms"], round(1000 * (monotonic() - begin)))
        scene.check()
    return tried


def long_heads(scene, until):
    """Megabytes of headers before anybody is asked who they are."""
    tried = Counter()
    while monotonic() < until:
        with scene.connect() as greedy, suppress(ConnectionError):
            greedy.sendall(b"GET /rules HTTP/1.1\r\nHost: localhost\r\n")
            for _ in range(100):
                greedy.sendall(b"X-a: b\r\n" * 10_000)
                tried["MB of headers"] += 80_000
    tried["MB of headers"] //= 10**6
    return tried


def odd_files(scene, until):
    """Files of sales with odd values, bytes changed or missing, or not what their names say."""
    tried = Counter()
    while monotonic() < until:
        tried[attempt(["check", write_odd_file(scene.place, scene.chance)])] += 1
    return tried


def odd_options(scene, until):
    """Commands with an odd value somewhere."""
    tried = Counter()
    sales = scene.place / "sales.csv"
    sales.write_text("basket_id,timestamp,product\n" + "".join(f"{k // 3},2017-01-01,p{k % 7}\n" for k in range(60)))
    commands = options(str(scene.folder), str(sales), scene.place)
    while monotonic() < until:
        odd = scene.chance.choice(ODD)
        tried[attempt([one.replace("{}", odd) for one in scene.chance.choice(commands)])] += 1
    return tried


def damage(scene, until):
    """Files of a model folder cut, changed or gone, one at a time."""
    folder, tried = make_folder(scene.place / "whole"), Counter()
    while monotonic() < until:
        tried[damage_once(folder, scene.place / "damaged", scene.chance)] += 1
    return tried


def kills(scene, until):
    """Who accepts and who learns are killed at random under load, and what they learn is compared to the bit."""
    nursery = Nursery()
    # What is left of the time is for finishing what was begun.
    stop = monotonic() + 0.6 * (until - monotonic())
    try:
        killed = kill_under_load(
            nursery, scene.place, BASKETS, lambda killed: killed.total() >= KILLS and monotonic() > stop
        )
    finally:
        nursery.close()
    return Counter({f"kills of who {role}s": times for role, times in killed.items()}) + Counter(acknowledged=BASKETS)


PARTS = {
    "kills": kills,
    "damage": damage,
    "odd files": odd_files,
    "odd options": odd_options,
    "poison": poison,
    "slow clients": slow_clients,
    "long heads": long_heads,
}
ENDING = 15.0
"""Seconds for what has begun to end, in each part and of the whole."""
BASKETS, KILLS = 5_000, 10
"""Baskets sent while processes are killed, and how often they are killed at least."""


def main(minutes: float) -> int:
    begin, failed = monotonic(), 0
    with tempfile.TemporaryDirectory() as place, ExitStack() as ends:
        folder = Path(place) / "model"
        learn(folder)
        inbox = Inbox(folder)
        ends.callback(inbox.close)
        # Without one, baskets would wait for ever, and the service would say that it is not well.
        ends.callback(start(folder).stop)
        client = ends.enter_context(served(folder, inbox, limits=Limits(rate=1e9, seconds=5.0)))
        # What is sent here is garbage, and there is no need to be told each time.
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        for left, (name, part) in zip(range(len(PARTS), 0, -1), PARTS.items(), strict=True):
            room = Path(place) / name
            room.mkdir()
            scene = Scene(client, inbox, folder, random.Random(19), room)
            # What one part took longer than its share, the others have less.
            share = max(1.0, (begin + 60 * minutes - ENDING - monotonic()) / left)
            try:
                tried = part(scene, monotonic() + share)
                scene.check()
            except AssertionError as error:
                failed += 1
                print(f"{name}: GAVE WAY: {error}", flush=True)
            else:
                print(f"{name}: {', '.join(f'{what} {n:,}' for what, n in sorted(tried.items()))}", flush=True)
    print(f"{'something gave way' if failed else 'everything held'}, in {monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0))
