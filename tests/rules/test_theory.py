"""The two curves of the paper, and the F, H and A that bring them together."""

from xml.etree import ElementTree

import numpy as np
import pytest

from omba.errors import InputError, SettingError
from omba.rules.curve import curve_svg
from omba.rules.theory import PAPER, choose, fit, measured_scale, p_lift, p_omba, p_same_sign, solve


def test_two_vectors_fall_on_the_same_side_of_a_random_plane_as_often_as_their_angle_says():
    rng = np.random.default_rng(0)
    planes = rng.standard_normal((200_000, 2))
    for cosine in (-0.7, 0.0, 0.4, 0.95):
        other = np.array([cosine, np.sqrt(1 - cosine**2)])
        share = np.mean((planes[:, 0] >= 0) == (planes @ other >= 0))
        assert share == pytest.approx(float(p_same_sign(cosine)), abs=0.005)


def test_the_chance_of_a_shared_bucket_is_the_papers_equation():
    cosine = np.linspace(-1, 1, 9)
    plain = 1 - (1 - (1 - np.arccos(cosine) / np.pi) ** 4) ** 11
    assert p_omba(cosine, 4, 11) == pytest.approx(plain, abs=1e-12)
    assert p_lift(0.5, 4.3) == pytest.approx(1 / (1 + np.exp(-4.3 * 0.5)))


def test_a_chance_too_small_for_plain_arithmetic_is_still_above_zero():
    assert 0 < p_omba(-0.9999, 16, 1) < 1e-30


def test_the_solver_finds_the_family_of_solutions_one_for_each_f():
    found = [(fit(F).H, round(fit(F).A, 1)) for F in range(3, 9)]
    assert found == [(5, 3.3), (11, 4.2), (21, 5.0), (42, 5.8), (84, 6.7), (168, 7.6)]


def test_no_neighbouring_h_fits_better_than_the_solvers():
    cosine = np.linspace(-1, 1, 2001)
    scales = np.linspace(4, 6, 401)

    def gap(H: int) -> float:
        return min(float(np.mean((p_lift(cosine, A) - p_omba(cosine, 5, H)) ** 2)) for A in scales)

    best = fit(5).H
    assert gap(best) < min(gap(best - 1), gap(best + 1))


def test_the_papers_own_choice_is_what_the_solver_gives_for_four_functions():
    assert (solve().F, solve().H) == (PAPER.F, PAPER.H) == (4, 11)
    assert solve(A=PAPER.A).F == 4
    assert solve(A=7.5).F == 8


def test_a_scale_is_read_from_the_lengths_of_the_vectors():
    vectors = np.diag([2.0, 3.0, 4.0])
    assert measured_scale(vectors) == pytest.approx((2 * 3 + 2 * 4 + 3 * 4) / 3)
    with pytest.raises(InputError, match="1 trained vectors"):
        measured_scale(np.array([[1.0, 0.0], [0.0, 0.0]]))


def test_a_large_scale_is_followed_only_as_far_as_it_is_affordable():
    assert solve(A=14).F > choose(14, products=68_195).F
    chosen = choose(14, products=68_195)
    assert chosen.F * chosen.H <= 4096 < fit(chosen.F + 1).F * fit(chosen.F + 1).H
    assert choose(14, products=30).F == 4
    assert choose(4.3, products=68_195) == fit(4)


def test_what_cannot_be_solved_for_is_refused():
    with pytest.raises(InputError, match="nothing to solve"):
        solve(F=4, A=4.3)
    with pytest.raises(SettingError, match="outside 1 to"):
        solve(F=40)
    with pytest.raises(SettingError, match="no scale"):
        solve(A=0)


def test_the_curves_are_drawn_as_a_picture_that_any_browser_reads():
    picture = ElementTree.fromstring(curve_svg([PAPER, fit(8)]))
    lines = picture.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 4
    heights = [float(point.split(",")[1]) for point in lines[0].attrib["points"].split()]
    assert heights == sorted(heights, reverse=True)  # the curve rises with the cosine
    assert "F = 8, H = 168" in curve_svg([fit(8)])
