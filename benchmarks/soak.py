"""Soak: does a service that runs for long level off? Mixed load on a real `omba serve`, and what its processes hold.

Baskets come in all the time, a day of event time every few seconds, so that windows close, snapshots and history are
written and thinned; meanwhile the routes of the dashboard are asked, the past among them. Every so often the resident
memory and the open files of the web process and of the learner are noted. Levelled off means that the last third of the
run holds at most a tenth more than the third before it.

    python benchmarks/soak.py --minutes 30
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from statistics import mean

PATHS = ("/status", "/rules?limit=50", "/products?limit=50", "/today", "/map", "/metrics", "/health")
"""What is asked of the present; every third question is about a product, a rule or a moment of the past."""
PRODUCTS, USERS = 500, 500
"""Few enough that soon every pair has been met: what grows after that is not the model."""


def post(address: str, baskets: list[dict[str, object]]) -> None:
    """Give a day's baskets, again where the service says that it is too busy: a day left out would close no window."""
    request = urllib.request.Request(
        f"{address}/baskets", json.dumps(baskets).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    while True:
        try:
            urllib.request.urlopen(request, timeout=60).read()
            return
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                raise
            time.sleep(1)


def ask(address: str, path: str) -> bytes:
    with suppress(urllib.error.HTTPError):
        return bytes(urllib.request.urlopen(address + path, timeout=60).read())
    return b""


def days(chance: random.Random) -> Iterator[list[dict[str, object]]]:
    """The baskets of one day after the other."""
    day, number = datetime(2017, 1, 1), 0
    while True:
        baskets: list[dict[str, object]] = []
        for _ in range(400):
            number += 1
            first = int(PRODUCTS * chance.random() ** 3)
            bought = {first, (first + 1) % PRODUCTS, *(int(PRODUCTS * chance.random() ** 2) for _ in range(4))}
            baskets.append(
                {"id": number, "user": chance.randrange(USERS), "time": day.isoformat(),
                 "products": [{"id": f"p{one}", "price": 1 + one % 9} for one in bought]}
            )  # fmt: skip
        yield baskets
        day += timedelta(days=1)


def question(address: str, chance: random.Random) -> None:
    kind = chance.randrange(3)
    if kind == 0:
        ask(address, f"/products/p{int(PRODUCTS * chance.random() ** 3)}")
    elif kind == 1 and (history := json.loads(ask(address, "/status") or b"{}").get("history")):
        ask(address, f"/rules?limit=20&at={chance.choice(history)['at']}")
    else:
        ask(address, chance.choice(PATHS))


def resident(process: int) -> float:
    """Megabytes of memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_files(process: int) -> int:
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def child_of(process: int) -> int | None:
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return int(found[0]) if found else None


def levelled(values: list[float]) -> bool:
    """Whether the last third is at most a tenth above the one before."""
    third = len(values) // 3
    return third == 0 or mean(values[-third:]) <= 1.1 * mean(values[-2 * third : -third])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pause", type=float, default=3.0, help="seconds between two days of baskets")
    parser.add_argument("--clients", type=int, default=4, help="threads that ask")
    parser.add_argument("--rest", type=float, default=0.2, help="seconds a client waits between two questions")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-c", "from omba.cli import main; main()", "serve", "--model", folder, "--port", "0",
             "--dim", "64"], stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert server.stdout is not None
        address = server.stdout.readline().split(" at ")[1].split()[0]
        stop = threading.Event()
        asked = [0] * given.clients

        def client(seed: int) -> None:
            chance = random.Random(seed)
            while not stop.wait(given.rest):
                question(address, chance)
                asked[seed] += 1

        def source() -> None:
            for baskets in days(random.Random(0)):
                post(address, baskets)
                if stop.wait(given.pause):
                    return

        threads = [threading.Thread(target=client, args=(k,), daemon=True) for k in range(given.clients)]
        threads.append(threading.Thread(target=source, daemon=True))
        for thread in threads:
            thread.start()
        seen: list[tuple[float, float, int, int]] = []
        begin, end = time.monotonic(), time.monotonic() + 60 * given.minutes
        print(
            "minute  web MB  learner MB  web files  learner files  history    pairs  baskets learned  questions",
            flush=True,
        )
        while (now := time.monotonic()) < end:
            stop.wait(min(60 * given.minutes / 30, end - now))
            learner = child_of(server.pid)
            if learner is None:
                continue
            seen.append((resident(server.pid), resident(learner), open_files(server.pid), open_files(learner)))
            status = json.loads(ask(address, "/status") or b"{}")
            kept = len(status.get("history", []))
            pairs, learned = status.get("pairs", 0), status.get("baskets_learned", 0)
            minute, (web, learns, files, learner_files) = (time.monotonic() - begin) / 60, seen[-1]
            print(
                f"{minute:6.1f}  {web:6.0f}  {learns:10.0f}  {files:9}  {learner_files:13}  {kept:7}"
                f"  {pairs:7,}  {learned:15,}  {sum(asked):9,}",
                flush=True,
            )
        stop.set()
        server.terminate()
        server.wait(60)
    verdicts = {
        name: levelled([float(one[k]) for one in seen])
        for k, name in enumerate(("web MB", "learner MB", "web files", "learner files"))
    }
    print("; ".join(f"{name} {'levels off' if level else 'still grows'}" for name, level in verdicts.items()))
    return 0 if all(verdicts.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
