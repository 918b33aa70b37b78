"""A process that has omba loaded and its kernels compiled, and forks children at once for tests to kill.

Orders come as lines of JSON on standard input; the answers are the number of the child, and how it ended. The test's
side of it is the fixture `nursery`.
"""

import json
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path


def accept(folder, baskets, acknowledged, batch=5, pause=0.0, clients=1, every="1d", **_):
    """Send what was not acknowledged yet, the last basket after all others, and write down what is."""
    from omba.live import Inbox

    waiting = json.loads(Path(baskets).read_text())
    inbox, log = Inbox(folder, every), os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    known = set(Path(acknowledged).read_text().split())
    waiting = [basket for basket in waiting if basket["id"] not in known]

    def send(mine):
        for first in range(0, len(mine), batch):
            some = mine[first : first + batch]
            inbox.accept(some)
            os.write(log, "".join(f"{basket['id']}\n" for basket in some).encode())
            time.sleep(pause)

    threads = [threading.Thread(target=send, args=(waiting[:-1][k::clients],)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    send(waiting[-1:])
    inbox.close()


def learn(folder, until, settings, every="1d", history=None, **_):
    """Learn until so many baskets are learned."""
    from omba.live import Learner

    learner = Learner(folder, every, history=history, settings=settings)
    while learner.windows.learned < until:
        if not learner.drain():
            time.sleep(0.01)
    learner.close()


def both(folder, baskets, acknowledged, until, settings, batch=5, every="1d", history=None, **_):
    """Send and learn in turn, in one thread."""
    from omba.live import Inbox, Learner

    known = set(Path(acknowledged).read_text().split()) if Path(acknowledged).exists() else set()
    waiting = [basket for basket in json.loads(Path(baskets).read_text()) if basket["id"] not in known]
    inbox, learner = Inbox(folder, every), Learner(folder, every, history=history, settings=settings)
    with Path(acknowledged).open("a") as log:
        for first in range(0, len(waiting), batch):
            inbox.accept(waiting[first : first + batch])
            log.write("".join(f"{basket['id']}\n" for basket in waiting[first : first + batch]))
            log.flush()
            learner.drain()
    learner.drain()
    assert learner.windows.learned == until
    inbox.close()
    learner.close()


def follow(folder, source, until, settings, **_):
    """Follow a file or a stream until so many baskets are taken in."""
    from omba.live import Inbox, Learner
    from omba.live.file_feed import FileFeed
    from omba.live.redis_feed import RedisFeed

    inbox, learner = Inbox(folder), Learner(folder, history=None, settings=settings)
    feed = RedisFeed(source, inbox) if source.startswith("redis:") else FileFeed(Path(source), inbox, {})
    while inbox.accepted < until:
        if not feed.read():
            time.sleep(0.01)
        learner.drain()
        feed.acknowledge(learner.safe)
    learner.drain()


def write(folder, **_):
    """Write each thing that is written safely beside baskets and models, twice, and once more for each step of the
    second time in a child that is killed there; what it left is copied, and written to once more."""
    import omba
    from omba import disk
    from omba.baskets import Clock
    from omba.reproduce.result_cache import ResultCache
    from omba.service.http.tokens import Tokens
    from omba.store import History

    folder, steps = Path(folder), []
    model = omba.OMBA(dim=8, epochs=1).partial_fit(
        omba.Baskets.from_lists([["tea", f"milk {k}"] for k in range(9)] * 5)
    )
    labels, vectors, counts = model.products, model.product_vectors, model.product_counts
    tables = [None, *(omba.mine_rules(model, top=top) for top in (1, 2))]

    def write(place, number):
        for day, n in ((7, 2 * number), (8, 3 * number)):
            History(place / "entries").record(
                tables[number], labels[:n], vectors[:n], counts[:n], number, day, Clock.DAY
            )
        ResultCache(place / "parts").put("part", {"number": number})
        Tokens(place).make(["read"])

    write(folder / "before", 1)
    shutil.copytree(folder / "before", folder / "after")
    disk.hook = steps.append
    write(folder / "after", 2)
    disk.hook = None
    for place, step in enumerate(steps):
        there = folder / f"{place:02d} {step}"
        shutil.copytree(folder / "before", there)
        child = os.fork()
        if child == 0:
            left = iter(range(place + 1))
            disk.hook = lambda name, left=left, last=place: next(left) == last and os.kill(os.getpid(), signal.SIGKILL)
            write(there, 2)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        again = shutil.copytree(there, folder / f"{there.name} again")
        if len(Tokens(again).all) == 1:
            write(again, 2)


ROLES = {"accept": accept, "learn": learn, "both": both, "follow": follow, "write": write}


def prepare(die=None, note=None, segment=None, **_):
    """Set what a test wants to be otherwise: where to die, where to note the steps, how long a segment is."""
    from omba import disk
    from omba.live import learner
    from omba.store import journal

    learner.PUBLISH = learner.SHARE = 0.0
    journal.SEGMENT_BASKETS = segment or journal.SEGMENT_BASKETS
    left = dict([die]) if die else {}

    def hook(name):
        if note:
            with Path(note).open("a") as file:
                file.write(name + "\n")
        if name in left:
            left[name] -= 1
            if left[name] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    disk.hook = hook


def main():
    import omba
    from omba.live import Inbox, Learner  # noqa: F401
    from omba.live.current_rules import look_over
    from omba.rules.layout import places

    world = omba.datasets.synthetic(baskets=200, products=150, users=20, days=3, pairs=4, seed=1).baskets
    model = omba.OMBA(dim=8, epochs=1).fit(world)
    look_over(model)
    places(model.product_vectors, model.product_counts)
    print("ready", flush=True)
    for line in sys.stdin:
        orders = json.loads(line)
        if isinstance(orders, int):
            _, status = os.waitpid(orders, 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        child = os.fork()
        if child == 0:
            try:
                prepare(**orders)
                ROLES[orders.pop("role")](**orders)
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        print(child, flush=True)


if __name__ == "__main__":
    main()
