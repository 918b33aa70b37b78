"""What the tests of the service share: a world, a model of it on disk, and real servers on free ports."""

import threading
from contextlib import contextmanager
from pathlib import Path

import httpx

import omba
from omba.live.keeper import Keeper
from omba.service import create_app
from omba.service.server import bind_socket, make_server
from patience import PATIENCE

WORLD = omba.datasets.synthetic(baskets=2_000, products=120, users=50, days=28, pairs=6, seed=5)
SMALL = {"dim": 16, "epochs": 2, "negatives": 5, "pairs": 20_000}


def learn(folder: Path, world=WORLD, history: str = "week") -> omba.OMBA:
    """A model of the world in a folder, with its history."""
    model, keeper = omba.OMBA(**SMALL), Keeper(folder, history, fresh=True)
    for window in world.baskets.windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)
    return model


@contextmanager
def served(folder: Path, *arguments, **options):
    """A client of a service that runs in a thread of this process."""
    up = threading.Event()
    app = create_app(folder, *arguments, **options)
    with bind_socket("127.0.0.1", 0) as door:
        server = make_server(app, up.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]})
        thread.start()
        assert up.wait(PATIENCE)
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{door.getsockname()[1]}", timeout=PATIENCE) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()
