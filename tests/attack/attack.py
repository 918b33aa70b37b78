"""`make attack`: what an attacker would try, for five minutes or as many as are given, against a service on loopback.

Each part is a function of a scene (a service and its folder) and a moment to stop at; it returns how often it tried
what, and raises where something gave way. A part more is a line in `PARTS`. All traffic goes to loopback, no part
opens more than some hundred connections, and all of it stops by itself.
"""

import json
import random
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import httpx

sys.path.append(str(Path(__file__).parent.parent))

from omba.live import Inbox, start
from omba.service.http.limits import Limits
from serving import learn, served

ODD = [
    "",
    "²",
    "--5",
    "9" * 40,
    "\x1b[2J",
    "a\nb",
    "%00",
    "../../etc/passwd",
    "99999-01-01",
    "-0001-01-01",
    "1e999",
    "x" * 3_000,
]
PATHS = [
    "/rules",
    "/rules/diff",
    "/rules/{}",
    "/products",
    "/products/{}",
    "/rank",
    "/explain",
    "/today",
    "/names",
    "/users",
]
NAMES = [
    "at",
    "from",
    "to",
    "since",
    "q",
    "limit",
    "offset",
    "sort",
    "product",
    "min_lift",
    "id",
    "products",
    "user",
    "n",
]


@dataclass
class Scene:
    """A service under attack, and what it should have taken in so far."""

    client: httpx.Client
    inbox: Inbox
    folder: Path
    chance: random.Random

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


def odd_files_and_options(scene, until):
    """The tests of odd files, options and poisoned snapshots."""
    return run_tests("attack/test_odd_files.py", "attack/test_poisoned_snapshot.py")


def damage(scene, until):
    """The tests of damaged, missing and older files: at random, one by one, and in backups."""
    live = ("live/test_damage.py", "live/test_losses.py", "live/test_backup.py")
    return run_tests("attack/test_random_damage.py", *live)


def kills(scene, until):
    """Processes that are killed at every step and fifty times at random, compared to the bit with undisturbed ones."""
    return run_tests("live/test_live_kill.py")


def run_tests(*names):
    files = [str(Path(__file__).parent.parent / name) for name in names]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--no-header", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2_000:]
    return Counter({"runs": 1})


PARTS = {
    "poison": poison,
    "slow clients": slow_clients,
    "long heads": long_heads,
    "odd files": odd_files_and_options,
    "damage": damage,
    "kills": kills,
}


def main(minutes: float) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as place, ExitStack() as ends:
        folder = Path(place) / "model"
        learn(folder)
        inbox = Inbox(folder)
        ends.callback(inbox.close)
        # Without one, baskets would wait for ever, and the service would say that it is not well.
        ends.callback(start(folder).stop)
        client = ends.enter_context(served(folder, inbox, limits=Limits(rate=1e9, seconds=5.0)))
        scene = Scene(client, inbox, folder, random.Random(19))
        for name, part in PARTS.items():
            try:
                tried = part(scene, monotonic() + 60 * minutes / len(PARTS))
                scene.check()
            except AssertionError as error:
                failed += 1
                print(f"{name}: GAVE WAY: {error}")
            else:
                print(f"{name}: {json.dumps(dict(sorted(tried.items())))}", flush=True)
    print("something gave way" if failed else "everything held")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0))
