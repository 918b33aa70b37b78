"""New products begin near products of like names, whatever comes between save and load."""

import numpy as np
import pyarrow as pa
import pytest

import omba
from omba.model.namesakes import Namesakes
from omba.model.tables import VectorTable

NAMES = {"t1": "RED TEA CUP", "t2": "GREEN TEA CUP", "m1": "DOOR MAT OAK", "m2": "DOOR MAT PINE"}


def shop(new=()):
    """Cups are bought together and mats are; `new` are products of the last day, each in one basket with both kinds."""
    rows = [(f"{day}-{k}", f"2024-01-{day:02d}", p) for day in range(1, 9) for k in range(40) for p in
            (("t1", "t2") if k % 2 else ("m1", "m2"))]  # fmt: skip
    rows += [(f"9-{label}", "2024-01-09", p) for label, _ in new for p in (label, "t1", "m1")]
    names = NAMES | dict(new)
    ids, days, products = zip(*rows, strict=True)
    called = [names[product] for product in products]
    return omba.read_baskets(
        pa.table({"basket_id": ids, "timestamp": days, "product": products, "description": called})
    )


def cosine(a, b):
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


@pytest.fixture(scope="module")
def known():
    return list(shop([("t3", "BLUE TEA CUP"), ("x", "GIFT VOUCHER")]).windows("1d"))


def learned(windows, **settings):
    model = omba.OMBA(dim=16, **settings)
    for window in windows:
        model.partial_fit(window)
    return model


def test_a_new_product_is_nearer_to_its_namesakes_than_to_what_else_it_was_bought_with(known):
    model = learned(known)
    cup, mat = (cosine(model.vector("t3"), model.vector(other)) for other in ("t2", "m2"))
    assert cup > mat + 0.2
    plain = learned(known, categories=False)
    before = cosine(plain.vector("t3"), plain.vector("t2")) - cosine(plain.vector("t3"), plain.vector("m2"))
    assert cup - mat > before


def test_a_name_that_shares_no_word_begins_where_it_would_have():
    table, known = VectorTable(dim=4, seed=0, kind=0), Namesakes()
    table.grow(2)
    known.place(table, 0, ["RED TEA CUP", None])
    table.grow(4)
    before = table.vectors.copy()
    known.place(table, 2, ["GIFT VOUCHER", None])
    assert np.array_equal(table.vectors, before)


def test_saved_and_loaded_before_it_comes_a_new_product_begins_at_the_same_place(known, tmp_path):
    halted = learned(known[:-1])
    halted.save(tmp_path / "model")
    again = omba.OMBA.load(tmp_path / "model").partial_fit(known[-1])
    assert np.array_equal(again.product_vectors, learned(known).product_vectors)
