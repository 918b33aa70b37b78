"""How fast the service answers while it learns, how many baskets it takes in, and how soon it is back.

    python benchmarks/serving.py [--products 70000] [--folder DIR] [--out FILE]

Four questions, each over HTTP on loopback, asked from this process of an `omba serve` with its learner beside it:

- restart: seconds from the start of the command to the first suggestion, of a shop of 70,000 products;
- reading: times of /rank and /products/{id}, with nothing else going on and while windows are being learned;
- ingest: baskets a second that were on the disk when their answer came, in batches and one by one;
- reading while baskets come in at 2,000 a second.

The model is learned from a synthetic world once, and kept in the folder for the next run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import quote

import numpy as np

import omba
from measure import Table, machine
from omba.live.current_rules import look_over
from omba.store import ModelFolder

QUIET = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
DAYS = 20


class Client:
    """One connection, kept open; HTTP/1.1 by hand, so that the client costs next to nothing."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**24)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + body)
        top = await self.reader.readuntil(b"\r\n\r\n")
        length = int(re.search(rb"content-length: (\d+)", top)[1])  # type: ignore[index]
        return int(top[9:12]), await self.reader.readexactly(length)


@asynccontextmanager
async def clients(port: int, n: int) -> AsyncIterator[list[Client]]:
    made = [Client(port) for _ in range(n)]
    await asyncio.gather(*(client.__aenter__() for client in made))
    try:
        yield made
    finally:
        for client in made:
            await client.__aexit__()


class Service:
    """An `omba serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, begin = folder, perf_counter()
        command = [sys.executable, "-c", "from omba.cli import main; main()"]
        command += ["serve", "--model", str(folder), "--port", "0", "--rate", "1000000", "--history", "none"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=QUIET)
        assert self.process.stdout is not None
        self.port = int(re.search(r":(\d+) ", self.process.stdout.readline())[1])  # type: ignore[index]
        self.up = perf_counter() - begin

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate()


def make(folder: Path, products: int) -> None:
    """A model of a synthetic world, unless it is there."""
    if ModelFolder(folder).exists:
        return
    print(f"learning a world of {products:,} products, once", flush=True)
    world = omba.datasets.synthetic(baskets=4 * products, products=products, users=products // 4, days=DAYS, seed=0)
    model = omba.OMBA(epochs=1).fit(world.baskets, every="1d")
    rules = look_over(model)
    assert rules is not None
    ModelFolder(folder).save(model, rules)


def percentiles(seconds: list[float]) -> dict[str, float]:
    p50, p90, p99 = np.percentile(np.array(seconds) * 1e3, [50, 90, 99])
    return {
        "n": len(seconds),
        "p50_ms": round(float(p50), 2),
        "p90_ms": round(float(p90), 2),
        "p99_ms": round(float(p99), 2),
    }


class Shop:
    """Questions and baskets drawn from the products of a model, by their sales."""

    def __init__(self, folder: Path) -> None:
        model = omba.OMBA.load(folder)
        self.rng = np.random.default_rng(1)
        self.products, self.users = model.products, model.users
        self.share = np.cumsum(model.product_counts / model.product_counts.sum())
        self.time, self.sent = model.clock.show(model.last_time), 0

    def rows(self, shape: int | tuple[int, int]) -> Any:
        """Products by their sales: what sells often is asked for often. (numpy's own choice would go through all
        products for every draw, while other connections wait.)"""
        return np.minimum(np.searchsorted(self.share, self.rng.random(shape)), len(self.products) - 1)

    def basket(self, n: int) -> list[Any]:
        return [self.products[row] for row in self.rows(n).tolist()]

    def rank(self) -> tuple[str, str, bytes]:
        user = self.users[self.rng.integers(len(self.users))]
        return "POST", "/rank", json.dumps({"products": self.basket(4), "user": user, "n": 10}).encode()

    def product(self) -> tuple[str, str, bytes]:
        return "GET", f"/products/{quote(str(self.basket(1)[0]))}", b""

    def baskets(self, n: int) -> list[dict[str, Any]]:
        """New baskets of ten products, a day every 4,000."""
        assert isinstance(self.time, datetime)
        rows = self.rows((n, 10))
        out = []
        for row in rows.tolist():
            self.sent += 1
            out.append(
                {
                    "id": f"bench-{os.getpid()}-{self.sent}",
                    "user": self.users[self.sent % len(self.users)],
                    "time": (self.time + timedelta(days=self.sent / 4_000)).isoformat(),
                    "products": [{"id": self.products[one], "price": 1.5} for one in dict.fromkeys(row)],
                }
            )
        return out


async def read_times(
    port: int, question: Callable[[], tuple[str, str, bytes]], seconds: float, n: int
) -> dict[str, float]:
    """Times of a question asked over and over on n connections."""
    times: list[float] = []

    async def ask(client: Client) -> None:
        while perf_counter() < stop:
            asked = question()
            begin = perf_counter()
            status, _ = await client.ask(*asked)
            times.append(perf_counter() - begin)
            assert status == 200, status

    async with clients(port, n) as made:
        stop = perf_counter() + seconds
        await asyncio.gather(*map(ask, made))
    return percentiles(times)


async def ingest(port: int, bodies: list[bytes], each: int, n: int, rate: float | None = None) -> dict[str, float]:
    """Baskets a second taken in on n connections; with a rate, no faster than that."""
    times: list[float] = []
    left, begin = iter(bodies), perf_counter()

    async def send(client: Client) -> None:
        for body in left:
            if rate is not None:
                await asyncio.sleep(max(0.0, begin + len(times) * each / rate - perf_counter()))
            start = perf_counter()
            status, response = await client.ask("POST", "/baskets", body)
            times.append(perf_counter() - start)
            assert status == 202, response

    async with clients(port, n) as made:
        await asyncio.gather(*map(send, made))
    return {"baskets_a_second": round(len(bodies) * each / (perf_counter() - begin)), **percentiles(times)}


async def status(port: int) -> dict[str, Any]:
    async with clients(port, 1) as (client,):
        found: dict[str, Any] = json.loads((await client.ask("GET", "/status"))[1])
        return found


async def first_answer(port: int, shop: Shop, begin: float) -> float:
    async with clients(port, 1) as (client,):
        code, _ = await client.ask(*shop.rank())
        assert code == 200
    return perf_counter() - begin


async def measure_all(folder: Path, seconds: float) -> dict[str, Any]:
    shop, found = Shop(folder), {}

    def tell(name: str, value: Any) -> None:
        found[name] = value
        print(f"{name}: {value}", flush=True)

    begin = perf_counter()
    service = Service(folder)
    try:
        port = service.port
        tell("restart to first answer, s", round(await first_answer(port, shop, begin), 2))
        await asyncio.sleep(min(5.0, 2 * seconds))
        for name, question in (("/rank", shop.rank), ("/products/{id}", shop.product)):
            await read_times(port, question, 1.0, 1)
            tell(f"{name}, quiet, 1 connection", await read_times(port, question, seconds, 1))
        batches = [json.dumps(shop.baskets(100)).encode() for _ in range(max(4, round(30 * seconds)))]
        tell("batches of 100, 4 connections", await ingest(port, batches, 100, 4))
        for name, question in (("/rank", shop.rank), ("/products/{id}", shop.product)):
            tell("learning, baskets waiting", (await status(port))["baskets_waiting"])
            tell(f"{name} while learning, 1 connection", await read_times(port, question, seconds, 1))
            tell(f"{name} while learning, 4 connections", await read_times(port, question, seconds, 4))
        single = [json.dumps(basket).encode() for basket in shop.baskets(round(1500 * seconds))]
        tell("one by one, 64 connections", await ingest(port, single, 1, 64))
        await under_ingest(port, shop, seconds, tell)
    finally:
        service.stop()
    return found


async def under_ingest(port: int, shop: Shop, seconds: float, tell: Callable[[str, Any], None]) -> None:
    """Reading while baskets come in, ten in a request, at 2,000 a second."""
    for name, question in (("/rank", shop.rank), ("/products/{id}", shop.product)):
        bodies = [json.dumps(shop.baskets(10)).encode() for _ in range(round(200 * seconds))]
        both: tuple[Awaitable[Any], Awaitable[Any]] = (
            read_times(port, question, seconds, 1),
            ingest(port, bodies, 10, 8, rate=2_000),
        )
        read, written = await asyncio.gather(*both)
        tell(f"{name} at 2,000 baskets a second, 1 connection", read)
        tell(f"  taken in beside {name}", written)


def suite(quick: bool) -> list[Table]:
    """The same, as a table, with the shop made anew."""
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept) / "model"
        make(folder, 500 if quick else 70_000)
        found = asyncio.run(measure_all(folder, 0.3 if quick else 10.0))
    restart = found.pop("restart to first answer, s")
    times = {name: times for name, times in found.items() if isinstance(times, dict)}
    table = Table(
        f"Serving {500 if quick else 70_000:,} products; restart to the first answer took {restart} s",
        ("what", "requests", "ms, median", "ms, 99 in 100", "baskets a second"),
    )
    for name, one in times.items():
        taken = one.get("baskets_a_second", "")
        table.rows.append((name.strip(), one["n"], one["p50_ms"], one["p99_ms"], taken))
    for path in ("/rank", "/products/{id}"):
        slowest = times[f"{path} while learning, 1 connection"]["p99_ms"]
        table.bar(f"{path} while it learns, ms for 99 in 100", slowest, "at most", 20.0)
    for how in ("batches of 100, 4 connections", "one by one, 64 connections"):
        table.bar(f"baskets a second, {how}", times[how]["baskets_a_second"], "at least", 2_000.0)
    table.bar("seconds from restart to the first answer", restart, "at most", 5.0)
    return [table]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--products", type=int, default=70_000)
    options.add_argument("--folder", type=Path, default=Path("serving-benchmark"))
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--out", type=Path)
    given = options.parse_args()
    print(machine())
    make(given.folder, given.products)
    found = asyncio.run(measure_all(given.folder, given.seconds))
    if given.out:
        given.out.write_text(json.dumps({"machine": machine(), **found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
