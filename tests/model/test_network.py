"""The network: what clues say together."""

import numpy as np
import pytest

import omba
from omba.model.blend import Blend
from omba.model.clues import fields
from omba.model.network import HIDDEN, LENGTH, WIDEST, Network
from omba.model.oracle import PlainAdam, log_likelihood, slopes
from omba.model.score_kernels import fit_network


def worth(weights, clues, given):
    """The mean log likelihood of the targets in column 0, in plain NumPy and 64 bits."""
    hidden = np.maximum(clues @ weights[:-2] + weights[-2], 0.0)
    return log_likelihood(hidden @ weights[-1] + given, None) / len(clues)


def test_the_slopes_are_those_of_finite_differences():
    rng = np.random.default_rng(0)
    weights, clues = rng.normal(size=(5 + 2, HIDDEN)), rng.normal(size=(6, 4, 5))
    given = rng.normal(size=(6, 4))
    found = slopes(weights, clues, given)
    for place in [(0, 0), (3, 7), (4, 31), (5, 2), (6, 9)]:
        step = np.zeros_like(weights)
        step[place] = 1e-6
        rise = (worth(weights + step, clues, given) - worth(weights - step, clues, given)) / 2e-6
        assert found[place] == pytest.approx(rise, rel=1e-4, abs=1e-8)


def test_the_kernel_takes_the_steps_of_the_oracle():
    rng, adam, kept, batch = np.random.default_rng(0), (0.01, 0.9, 0.99, 1e-8), 0.8, 4
    clues, given = rng.normal(size=(10, 5, 7)).astype(np.float32), rng.normal(size=(10, 5)).astype(np.float32)
    tables = [rng.normal(size=(9, HIDDEN)).astype(np.float32) for _ in range(3)]
    tables.append(np.abs(rng.normal(size=(9, HIDDEN))).astype(np.float32))
    plain, order = PlainAdam(*(table.astype(np.float64) for table in tables)), rng.permutation(10)
    assert fit_network(clues, given, order, batch, 6, adam, kept, *tables) == 9
    for number, first in enumerate(range(0, 10, batch), 7):
        chosen = order[first : first + batch]
        slope = slopes(plain.weights, clues[chosen].astype(np.float64), given[chosen].astype(np.float64))
        plain.step(slope, number, *adam, kept)
    for name, table in zip(("weights", "average", "gradients", "squares"), tables, strict=True):
        np.testing.assert_allclose(table, getattr(plain, name), rtol=1e-4, atol=1e-5, err_msg=name)


def test_it_learns_what_no_weighted_sum_can_tell():
    """The target is the candidate whose two clues have the same sign."""
    rng, network = np.random.default_rng(1), Network(("one", "other"))
    for window in range(40):
        features = rng.choice([-1.0, 1.0], size=(200, 4, 2)).astype(np.float32)
        features[:, :, 1] = -features[:, :, 0]
        features[:, 0, 1] = features[:, 0, 0]
        found = network.score(features)
        if window:
            network.learn(features, np.zeros((200, 4), np.float32), rng)
        else:
            assert not found.any()
            network.learn(features, np.zeros((200, 4), np.float32), rng)
    assert (found[:, :1] > found[:, 1:]).all(axis=1).mean() > 0.99


def test_a_clue_far_from_all_others_is_bounded():
    rng, network = np.random.default_rng(2), Network(("one", "other"))
    features = rng.normal(size=(300, 5, 2)).astype(np.float32)
    network.learn(features, np.zeros((300, 5), np.float32), rng)
    far, at_the_bound = np.array([[[1e9, 0.0]]], np.float32), np.array([[[2 * WIDEST, 0.0]]], np.float32)
    assert network.score(far) == pytest.approx(network.score(at_the_bound), abs=1e-5)
    assert network.counts[1] == min(300, LENGTH)


def test_clues_of_a_new_level_leave_what_was_learned_of_the_others():
    rng, blend = np.random.default_rng(3), Blend()
    features = rng.normal(size=(64, 11, len(fields(1)))).astype(np.float32)
    blend.learn_together(features, rng)
    before = blend.network.score(features[..., :-1])
    assert before.any()
    old, names = blend.network.weights, blend.network.names
    blend.grow(2)
    mine = [blend.network.names.index(name) for name in names]
    assert np.array_equal(blend.network.weights[mine], old[:-2])
    assert np.array_equal(blend.network.weights[-2:], old[-2:])


def test_features_that_are_no_numbers_are_not_learned():
    rng, blend = np.random.default_rng(4), Blend()
    features = rng.normal(size=(32, 11, len(fields(1)))).astype(np.float32)
    features[3, 2, 1] = np.nan
    before = blend.weights
    blend.learn(features)
    blend.learn_together(features, rng)
    assert np.array_equal(blend.weights, before)
    assert not blend.network.counts.any()


def test_a_snapshot_holds_the_network(tmp_path):
    baskets = omba.datasets.synthetic(baskets=300, products=40, users=20, days=5, pairs=2).baskets
    model = omba.OMBA(dim=8, epochs=1, pairs=10_000).fit(baskets)
    model.save(tmp_path)
    again = omba.OMBA.load(tmp_path)
    assert again.blend.network.names == model.blend.network.names
    for name, array in model.blend.network.state().items():
        assert np.array_equal(array, again.blend.network.state()[name]), name
    assert np.array_equal(
        again.score(model.products[:2], model.users[0]), model.score(model.products[:2], model.users[0])
    )


def test_a_score_of_more_rows_than_are_taken_at_a_time_is_the_oracles():
    rng, network = np.random.default_rng(5), Network(("one", "other"))
    features = rng.normal(size=(150, 3, 2)).astype(np.float32)
    network.learn(features, np.zeros((150, 3), np.float32), rng)
    assert np.allclose(network.mean, features.mean(axis=(0, 1)))
    assert np.allclose(network.square, np.square(features).mean(axis=(0, 1)))
    scale = np.sqrt(network.square - network.mean**2)
    clues = np.clip((features - network.mean) / scale, -WIDEST, WIDEST)
    average = network.average.astype(np.float64)
    want = np.maximum(clues @ average[:-2] + average[-2], 0.0) @ average[-1]
    assert np.allclose(network.score(features), want, atol=1e-5)
    assert np.abs(want).max() > 1e-3
