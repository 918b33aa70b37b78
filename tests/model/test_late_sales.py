"""Late sales: what moved, and how large baskets are."""

from __future__ import annotations

import numpy as np
import pytest

from omba.model.late_sales import FADE, LASTING, STEADY, LateSales


def late_of(sold: list[int], baskets: int = 1_000) -> LateSales:
    late = LateSales()
    late.learn(np.array(sold), baskets)
    return late


def test_sales_of_a_month_of_windows_ago_count_half() -> None:
    late = late_of([100, 0], 100)
    for _ in range(28):
        late.learn(np.array([0, 50]), 100)
    assert late.sold[0] == pytest.approx(50)
    assert late.baskets == pytest.approx(100 * sum(FADE**i for i in range(29)))
    assert late.share([1, 2])[1] == 0, "a product that is new was not sold"


def test_moves_tell_what_rises_what_falls_and_what_was_sold_at_once() -> None:
    late, usual = late_of([20, 10, 5, 0]), np.full(4, 0.01)
    share = late.share(np.arange(4))

    def moves(a: int, b: int) -> list[float]:
        return late.moves(share[[a]], share[[b]], usual[[a]], usual[[b]], 4_000)[0].tolist()

    assert moves(1, 1) == pytest.approx([0, 0, 0], abs=1e-12)
    assert moves(0, 1) == pytest.approx([np.log(2), 0, 0], abs=1e-12)
    assert moves(1, 2) == pytest.approx([0, np.log(2), 0], abs=1e-12)
    assert moves(3, 3) == pytest.approx([0, 2, np.log(4 / 3)]), "both were sold in three quarters of the time"
    assert moves(0, 0)[2] == pytest.approx(np.log(0.25 * 4 + 0.75 * (2 / 3) ** 2))
    assert moves(0, 3)[2] == 0, "what was never there at once is no reason to doubt"


def test_half_of_a_level_of_late_is_taken_to_last() -> None:
    late = LateSales()
    for size in (40, 40, 10):
        for _ in range(60):
            sizes = np.where(np.arange(100) < 10, size, 5)
            late.learn(np.array([sizes.sum()]), len(sizes), float((sizes**2).sum()))
    (n, size, squares), (n_ever, size_ever, squares_ever) = late.sizes
    ratio = (squares - size) * n / size**2 / ((squares_ever - size_ever) * n_ever / size_ever**2)
    assert ratio < 0.8
    assert late.level == pytest.approx(ratio ** (LASTING * n / (n + STEADY)))
    assert late_of([5]).level == 1, "where no sizes are known nothing is said"


def test_late_sales_saved_and_restored_are_the_same() -> None:
    late = late_of([3, 4])
    late.learn(np.array([1, 2, 3]), 10, 40.0)
    state = late.state()
    again = LateSales.from_state(state)
    assert all(np.array_equal(state[name], array) for name, array in again.state().items())
