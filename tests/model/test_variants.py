"""Variants of the learner: what they have of their own."""

import numpy as np

import omba
from omba.model import variants


def test_a_rate_that_leads_vectors_astray_is_told_and_ends_in_no_error(caplog):
    baskets = omba.datasets.synthetic(baskets=400, products=30, users=10, days=6, pairs=2).baskets
    with np.errstate(all="ignore"):
        model = variants.Decay.paper(dim=8, learning_rate=10.0, clues=True).fit(baskets)
    assert not np.isfinite(model.product_vectors).all()
    assert "a lower learning_rate" in caplog.text
    assert np.isfinite(model.blend.weights).all()
