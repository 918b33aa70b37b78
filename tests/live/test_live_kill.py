"""Power may fail at any moment: after a restart nothing acknowledged is lost, and nothing is learned twice."""

import json
import os
import random
import shutil
import signal
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.live import Learner, status
from omba.store import ModelFolder
from omba.store.journal import Tail

SETTINGS = {"dim": 8, "epochs": 1, "pairs": 10_000}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that are killed are forked first"),
]


def stream(tmp_path, baskets, days):
    """A stream in time order, no two baskets at once; the last one, a month later, closes all the others' windows."""
    world = omba.datasets.synthetic(baskets=baskets, products=150, users=20, days=days, pairs=4, seed=3).baskets
    told = [
        {"id": f"b{number}", "user": basket.user, "time": f"{basket.time.isoformat()}.{number:06d}",
         "products": [{"id": p, "price": round(x, 2)} for p, x in zip(basket.products, basket.prices, strict=True)]}
        for number, basket in enumerate(world)
    ]  # fmt: skip
    told.append({"id": "last", "time": "2018-01-01", "products": ["closing time"]})
    (tmp_path / "baskets.json").write_text(json.dumps(told))
    return told


def undisturbed(told):
    """The plain way to the same model: all windows, one after the other."""
    rows = [(b["id"], b["time"], b["user"], p["id"], p["price"]) for b in told[:-1] for p in b["products"]]
    columns = dict(zip(("basket_id", "timestamp", "user_id", "product", "price"), zip(*rows, strict=True), strict=True))
    return omba.OMBA(**SETTINGS).fit(omba.read_baskets(pa.table(columns)), "1d")


def same(a, b):
    return a.products == b.products and all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("product_vectors", "user_vectors", "product_counts")
    )


def test_killed_at_any_step_it_goes_on_to_the_very_bits_of_an_undisturbed_run(nursery, tmp_path):
    told = stream(tmp_path, 60, 3)
    wanted = undisturbed(told)
    orders = {"baskets": str(tmp_path / "baskets.json"), "until": len(told) - 1, "segment": 20, "history": "7d"}
    orders["settings"] = SETTINGS

    def run(name, **more):
        folder = tmp_path / name
        return folder, nursery.wait(
            nursery.start("both", folder=str(folder), acknowledged=str(tmp_path / f"{name}.log"), **orders, **more)
        )

    folder, ended = run("undisturbed", note=str(tmp_path / "steps"))
    assert ended == 0
    assert same(omba.OMBA.load(folder), wanted)
    steps = Counter((tmp_path / "steps").read_text().splitlines())
    assert {"frame written", "ids kept", "segment deleted", "snapshot renamed", "current replaced"} <= set(steps)

    for place, (step, times) in enumerate(sorted(steps.items())):
        for die in {1, times // 2 + 1}:
            folder, ended = run(f"killed-{place}-{die}", die=(step, die))
            assert ended == -signal.SIGKILL, step
            folder, ended = run(f"killed-{place}-{die}")
            assert ended == 0, step
            assert same(omba.OMBA.load(folder), wanted), f"{step}, time {die} of {times}"
            assert status(folder)["baskets_accepted"] == len(told)
            assert status(folder)["baskets_learned"] == len(told) - 1


def test_killed_while_history_is_kept_it_has_the_same_entries_and_bits_in_the_end(nursery, tmp_path):
    told = stream(tmp_path, 60, 3)
    wanted = undisturbed(told)
    orders = {"baskets": str(tmp_path / "baskets.json"), "until": len(told) - 1, "history": "1d", "settings": SETTINGS}

    def run(name, **more):
        acknowledged = str(tmp_path / f"{name}.log")
        return nursery.run("both", folder=str(tmp_path / name), acknowledged=acknowledged, **orders, **more)

    def entries(name):
        found = ModelFolder(tmp_path / name).history.entries
        assert all(entry.rules.num_rows for entry in found)
        # After a restart all pairs are looked at, and of the many rules that are equal here others may come last.
        return [(entry.tick, entry.n_baskets, entry.n_labels, entry.counts.tolist()) for entry in found]

    assert run("undisturbed", note=str(tmp_path / "steps")) == 0
    steps = sorted(set((tmp_path / "steps").read_text().splitlines()))
    for place, step in enumerate(step for step in steps if step.startswith(("history", "labels"))):
        name = f"killed-{place}"
        assert run(name, die=(step, 1)) == -signal.SIGKILL, step
        assert run(name) == 0, step
        assert entries(name) == entries("undisturbed") != [], step
        assert same(omba.OMBA.load(tmp_path / name), wanted), step


@pytest.mark.parametrize("times", [15, pytest.param(50, marks=pytest.mark.thorough)])
def test_killed_many_times_at_random_under_load_every_acknowledged_basket_is_learned_once(nursery, tmp_path, times):
    killed = kill_under_load(nursery, tmp_path, 100 * times, lambda killed: killed.total() == times)
    assert min(killed.values()) > times // 5


def kill_under_load(nursery, place, baskets, enough):
    """Kill who accepts and who learns at random until it is enough, and let them finish: nothing is lost or twice."""
    told = stream(place, baskets, 50)
    folder, log = place / "model", place / "acknowledged"
    chance = random.Random(7)
    orders = {"folder": str(folder), "baskets": str(place / "baskets.json"), "acknowledged": str(log)}
    orders |= {"until": len(told) - 1, "clients": 3, "pause": 0.04, "history": "7d", "settings": SETTINGS}
    running = {role: nursery.start(role, **orders) for role in ("accept", "learn")}
    killed = Counter()

    while not enough(killed):
        time.sleep(chance.uniform(0.02, 0.35))
        role = chance.choice(["accept", "learn"])
        os.kill(running[role], signal.SIGKILL)
        ended = nursery.wait(running[role])
        running[role] = nursery.start(role, **orders)
        if ended == 0:
            # It had done all there was to do.
            break
        assert ended == -signal.SIGKILL
        killed[role] += 1
    os.kill(running["accept"], signal.SIGKILL)
    nursery.wait(running["accept"])
    running["accept"] = nursery.start("accept", **{**orders, "pause": 0})
    assert [nursery.wait(running[role]) for role in ("accept", "learn")] == [0, 0]

    assert set(log.read_text().split()) == {basket["id"] for basket in told}
    journal = Tail(folder / "journal", 0)
    ids = [json.loads(line)["id"] for frame in iter(journal.read, []) for f in frame for line in f.lines[:-1]]
    assert sorted(ids) == sorted(basket["id"] for basket in told)
    killed_model = omba.OMBA.load(folder)
    assert killed_model.n_baskets == len(told) - 1
    again = place / "again"
    shutil.copytree(folder / "journal", again / "journal")
    learner = Learner(again, history=None, settings=SETTINGS)
    learner.drain()
    assert same(killed_model, learner.model)
    learner.close()
    return killed
