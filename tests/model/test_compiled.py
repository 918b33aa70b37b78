"""A process that compiles the kernels learns bit for bit what one learns that finds them compiled."""

import os
import subprocess
import sys

import pytest

LEARN = """
import hashlib

import numpy as np

from omba import OMBA, datasets, mine_rules
from omba.baselines import make

baskets = datasets.load("ta-feng").between(None, "2000-11-03")
model = OMBA(seed=0).partial_fit(baskets)
rules = mine_rules(model, top=50).to_pandas().select_dtypes("number").to_numpy()
labels = baskets.product_vocabulary.labels
triples = make("triple2vec", seed=0).fit(baskets).score(labels[:2], None, labels[2:50])
for found in (model.product_vectors, model.user_vectors, rules, triples):
    print(hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.thorough
def test_compiling_and_loading_the_kernels_give_the_same_model_to_the_bit(tmp_path):
    surroundings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    compiled, loaded = (
        subprocess.run([sys.executable, "-c", LEARN], env=surroundings, capture_output=True, text=True)
        for _ in range(2)
    )

    assert compiled.returncode == 0, compiled.stderr
    assert list(tmp_path.rglob("*.nbi"))
    assert compiled.stdout == loaded.stdout
