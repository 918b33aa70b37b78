"""BLAS while a model learns: one thread, and its own threads again afterwards."""

from __future__ import annotations

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from omba import OMBA
from omba.model.blas import one_blas_thread
from omba.model.forecast import Forecast

BASKETS = [["pasta", "sauce"], ["soap", "brush", "pasta"]] * 50


def blas_threads():
    """The threads of each BLAS in this process: NumPy's and the one that compiled code calls."""
    return {part["filepath"]: part["num_threads"] for part in threadpool_info() if part["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with one_blas_thread():
        pass  # so that both are loaded
    with threadpool_limits(2, "blas"):
        assert set(blas_threads().values()) == {2}
        yield


def test_a_window_is_learned_with_one_thread_of_blas_which_has_its_own_again_afterwards(two_threads, monkeypatch):
    seen, follow = [], Forecast.follow

    def watch(*arguments):
        seen.append(set(blas_threads().values()))
        return follow(*arguments)

    monkeypatch.setattr(Forecast, "follow", watch)
    OMBA(dim=8, threads=2).fit(BASKETS, every=50)
    assert seen == [{1}]
    assert set(blas_threads().values()) == {2}


def test_a_window_that_fails_gives_blas_its_threads_back(two_threads):
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert set(blas_threads().values()) == {2}
