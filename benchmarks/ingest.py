"""Baskets taken in durably a second, beside the bare rate at which the disk syncs.

    python benchmarks/ingest.py                       a folder beside this one's temporary files
    python benchmarks/ingest.py --folder /mnt/disk    on another disk

Every basket is on the disk before its client goes on with the next batch, so one client with single baskets can have no
more than a basket a sync, and the bare rate is its bound. More clients share syncs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from pathlib import Path

from omba import datasets
from omba.live import Inbox
from omba.store import journal

SECONDS = 2.0


def baskets(count: int) -> list[dict[str, object]]:
    """Baskets as over HTTP, about seven products each."""
    world = datasets.synthetic(baskets=count, products=5_000, users=2_000, days=30).baskets
    return [
        {
            "user": basket.user,
            "time": basket.time.isoformat(),
            "products": [{"id": p, "price": round(x, 2)} for p, x in zip(basket.products, basket.prices, strict=True)],
        }
        for basket in world
    ]


def bare(folder: Path, size: int = 600) -> float:
    """Appends of a basket's size, each synced, a second."""
    data, done, begin = b"x" * size, 0, time.perf_counter()
    handle = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while time.perf_counter() - begin < SECONDS:
        os.write(handle, data)
        os.fdatasync(handle)
        done += 1
    os.close(handle)
    return done / (time.perf_counter() - begin)


def ingest(folder: Path, sent: list[dict[str, object]], clients: int, batch: int) -> tuple[float, float]:
    """Baskets a second by so many clients, each waiting for its batch to be safe; and baskets a sync."""
    syncs: list[int] = []
    journal.datasync = lambda handle: (syncs.append(handle), os.fdatasync(handle))
    inbox, done, until = Inbox(folder), [0] * clients, time.perf_counter() + SECONDS

    def client(number: int) -> None:
        place = number * batch
        while time.perf_counter() < until:
            place %= len(sent) - batch
            some = [{**one, "id": f"{number}-{done[number] + i}"} for i, one in enumerate(sent[place : place + batch])]
            done[number] += inbox.accept(some).accepted
            place += clients * batch

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - begin
    inbox.close()
    return sum(done) / seconds, sum(done) / len(syncs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where to write; a temporary folder unless given")
    options = parser.parse_args()
    sent = baskets(5_000)
    with tempfile.TemporaryDirectory(dir=options.folder) as scratch:
        folder = Path(scratch)
        syncs = (bare(folder) + bare(folder)) / 2
        print(f"the disk syncs {syncs:,.0f} times a second\n")
        print(f"{'clients':>8} {'batch':>6} {'baskets a second':>17} {'baskets a sync':>15} {'of the bare rate':>17}")
        for clients in (1, 8, 32):
            for batch in (1, 10, 100):
                rate, shared = ingest(folder / f"{clients}-{batch}", sent, clients, batch)
                print(f"{clients:>8} {batch:>6} {rate:>17,.0f} {shared:>15.1f} {rate / syncs:>17.2f}")


if __name__ == "__main__":
    main()
