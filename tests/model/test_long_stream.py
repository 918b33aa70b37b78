"""What a basket costs does not depend on how long the stream has run: the work is counted, not timed."""

import sys
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.model import counting, questions, space

WINDOWS, BASKETS = 12, 40
"""A stream's worth; ten of them are learned."""


def stream(times, seed=0):
    """Baskets of 30 products by 20 users, the same shop all along."""
    rng, columns = np.random.default_rng(seed), {"basket_id": [], "user_id": [], "product": [], "timestamp": []}
    for number in range(times * WINDOWS * BASKETS):
        products = set(rng.integers(30, size=6).tolist())
        columns["product"] += [f"p{one}" for one in products]
        columns["basket_id"] += [number] * len(products)
        columns["user_id"] += [f"u{rng.integers(20)}"] * len(products)
        columns["timestamp"] += [number // BASKETS] * len(products)
    return omba.read_baskets(pa.table(columns))


@pytest.fixture(scope="module")
def work():
    """The calls and the numbers handed to kernels in each tenth of the stream, and the bytes held after it."""
    model, tenths, held = omba.OMBA(dim=4, epochs=1, pairs=10_000), [], []
    patch = pytest.MonkeyPatch()
    counted = Counter()

    def count_numbers(owner, name):
        kernel = getattr(owner, name)

        def counting_kernel(*arguments):
            counted["numbers"] += sum(one.size for one in arguments if isinstance(one, np.ndarray))
            return kernel(*arguments)

        patch.setattr(owner, name, counting_kernel)

    watched = (space, "learn_baskets"), (space, "describe"), (counting, "count_pairs"), (questions, "gather")
    for owner, name in watched:
        count_numbers(owner, name)

    def count_calls(frame, event, argument):
        counted["calls"] += event in ("call", "c_call")

    for number, window in enumerate(stream(10).windows("1d"), 1):
        sys.setprofile(count_calls if len(tenths) in (1, 9) else None)
        model.partial_fit(window)
        sys.setprofile(None)
        if number % WINDOWS == 0:
            tenths.append(dict(counted))
            counted.clear()
            held.append(sum(array.nbytes for part in model.spaces for array in part.state().values()))
            held[-1] += model.evidence.nbytes + sum(array.nbytes for array in model.forecast.state().values())
    patch.undo()
    return tenths, held


@pytest.mark.parametrize("what", ["calls", "numbers"])
def test_the_last_tenth_of_a_stream_costs_no_more_than_the_second(work, what):
    tenths, _ = work
    assert tenths[-1][what] <= 1.1 * tenths[1][what]


def test_a_model_holds_no_more_after_ten_times_the_stream(work):
    _, held = work
    assert held[-1] <= 1.1 * held[1]
