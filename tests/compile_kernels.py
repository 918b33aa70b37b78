"""Compile the kernels once, before several processes of the tests would each do it at the same time; `make` runs this.

It learns, asks, mines, compares and serves a small world, in which nearly every kernel meets the kinds of arrays it is
called with. A kernel that is left out here is compiled by the first test that needs it.
"""

import tempfile
from pathlib import Path

import numpy as np

import omba
from omba import spark
from omba.live.keeper import Keeper
from omba.rules import lsh
from serving import served


def learn(folder, baskets):
    """A model that was learned day by day, as a shop would, with all that is kept of it."""
    model, keeper = omba.OMBA(dim=16), Keeper(folder, "1d", fresh=True)
    for window in baskets.windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)
    return model


def ask(model, baskets):
    """Everything that a model is asked, by its own counts and by exact ones."""
    first, second = model.products[:2]
    model.similar(first)
    model.rank([first], model.users[0])
    for evidence in (None, baskets):
        omba.mine_rules(model, top=50, evidence=evidence, antecedents=2)
    vectors = np.random.default_rng(0).standard_normal((4_000, 16)).astype(np.float32)
    counts = np.ones(len(vectors), np.int64)
    for more in ({}, {"F": 4, "H": 11}):
        lsh.nearest_pairs(vectors, 100, counts=counts, min_count=1, **more)
    return first, second


def serve(folder, first, second):
    with served(folder) as client:
        for path in ("/status", "/rules", "/map", "/today", f"/products/{first}", f"/rank?products={first}"):
            client.get(path)
        client.get("/explain", params={"antecedent": first, "consequent": second})


def main():
    world = omba.datasets.synthetic(baskets=1_200, products=150, users=30, days=6, pairs=5, seed=1).baskets
    with tempfile.TemporaryDirectory() as folder:
        model = learn(Path(folder), world)
        serve(Path(folder), *ask(model, world))
    spark.OMBA(partitions=2, dim=16).fit(world)
    for task in ("hidden", "complete"):
        omba.evaluate(["omba", "omba-paper", "triple2vec"], world, windows=2, task=task)


if __name__ == "__main__":
    main()
