"""Manners: baskets in any form people have them, scikit-learn's and river's ways, and mistakes told in a sentence."""

import copy
import pickle
import tempfile

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import omba
from omba.errors import InputError, SettingError

LISTS = [["pasta", "sauce"], ["soap", "brush"], ["pasta", "sauce", "soap"]] * 60
SMALL = {"dim": 8, "epochs": 1, "pairs": 10_000}


@pytest.fixture(scope="module")
def model():
    return omba.OMBA(**SMALL).fit(omba.read_baskets(LISTS), every=60)


def one_hot(kind):
    """The lists as mlxtend's encoder gives them."""
    products = ["pasta", "sauce", "soap", "brush"]
    return pd.DataFrame([[product in basket for product in products] for basket in LISTS], columns=products).astype(
        kind
    )


def long_rows():
    rows = [(number, product) for number, basket in enumerate(LISTS) for product in basket]
    return pd.DataFrame(rows, columns=["basket_id", "product"])


@pytest.mark.parametrize(
    "given",
    [
        LISTS,
        one_hot(bool),
        one_hot(int),
        pl.from_pandas(one_hot(bool)),
        long_rows(),
        [dict.fromkeys(b, 1) for b in LISTS],
        one_hot(pd.SparseDtype(bool, False)),
        pd.Series(LISTS),
    ],
    ids=["lists", "one-hot", "zeros and ones", "polars", "rows", "mappings", "sparse", "series"],
)
def test_baskets_in_any_form_are_learned_alike(model, given):
    found = omba.OMBA(**SMALL).fit(given, every=60)

    assert sorted(found.products) == sorted(model.products)
    assert found.similar("pasta", n=1)[0][0] == "sauce"
    assert found.n_baskets == model.n_baskets


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.coo_array])
def test_columns_of_a_matrix_are_products_by_number(make):
    found = omba.OMBA(**SMALL).fit(make(one_hot(int).to_numpy()), every=60)

    assert sorted(found.products) == [0, 1, 2, 3]
    assert found.similar(0, n=1)[0][0] == 1


def test_single_baskets_are_learned_with_their_users_and_times():
    whole = omba.read_baskets(long_rows().assign(user_id="ann", timestamp=7))

    found = omba.OMBA(**SMALL).partial_fit(list(whole))

    assert found.users == ["ann"]
    assert found.last_time == 7
    assert found.n_baskets == len(whole)


def test_a_frame_whose_columns_are_known_is_not_taken_for_one_hot():
    frame = pd.DataFrame({"basket_id": [0, 0, 1], "product": [0, 1, 1]})

    assert omba.read_baskets(frame).products == [0, 1]


def test_baskets_come_one_by_one_as_in_river():
    found = omba.OMBA(**SMALL)
    for basket in LISTS[:6]:
        found.learn_one(basket)

    assert found.n_baskets == 6


def test_evidence_may_be_plain_lists(model):
    found = omba.mine_rules(model, top=2, evidence=LISTS)

    assert found.n == len(LISTS)


def test_a_pipeline_and_a_grid_search_take_the_learner():
    piped = Pipeline([("omba", omba.OMBA(**SMALL))]).fit(LISTS)
    search = GridSearchCV(
        omba.OMBA(**SMALL), {"dim": np.array([4, 8])}, cv=2, scoring=lambda fitted, held: float(fitted.dim)
    )

    assert piped["omba"].n_windows == 1
    assert search.fit(LISTS).best_params_ == {"dim": 8}
    assert clone(search.best_estimator_).get_params()["dim"] == 8


def test_numbers_of_numpy_are_settings_and_are_saved_as_numbers(tmp_path):
    found = omba.OMBA(dim=np.int64(8), epochs=np.int32(1), tau=np.float32(0.5), pairs=10_000).fit(LISTS)
    found.save(tmp_path / "model")

    assert omba.OMBA.load(tmp_path / "model").get_params()["tau"] == 0.5
    assert repr(omba.OMBA(dim=np.int64(8))) == "OMBA(dim=8)"
    with pytest.raises(SettingError, match="dim is 0: it must lie from 2 to 4096"):
        omba.OMBA(dim=np.int64(0))


def through_a_file(rules):
    with tempfile.TemporaryFile() as file:
        joblib.dump(rules, file)
        file.seek(0)
        return joblib.load(file)


@pytest.mark.parametrize("take", [copy.deepcopy, lambda rules: pickle.loads(pickle.dumps(rules)), through_a_file])
def test_rules_can_be_copied_and_pickled(model, take):
    rules = omba.mine_rules(model, top=2)
    rules.to_pandas()  # which works out the relations of the products, and keeps them

    assert str(take(rules)) == str(rules)
    assert str(take(rules).explain("pasta", "sauce")) == str(rules.explain("pasta", "sauce"))


def test_baskets_become_a_pandas_frame_and_come_back():
    baskets = omba.read_baskets(long_rows().assign(user_id="ann"))

    frame = baskets.to_pandas()

    assert list(frame.columns) == ["basket_id", "product", "user_id"]
    assert [basket.products for basket in omba.read_baskets(frame)] == [basket.products for basket in baskets]


def test_a_notebook_shows_a_model_and_baskets_as_tables(model):
    assert "<th>baskets</th><td>180</td>" in model._repr_html_()
    assert "<th>dim</th><td>8</td>" in model._repr_html_()
    assert "pasta, &lt;b&gt;" in omba.read_baskets([["pasta", "<b>"]])._repr_html_()


def test_what_is_no_model_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="mine_rules needs a model, and 3 is none"):
        omba.mine_rules(3)


def test_an_unknown_option_of_mining_is_refused_with_the_nearest(model):
    with pytest.raises(TypeError, match="no option 'antecedent'; did you mean 'antecedents'"):
        omba.mine_rules(model, antecedent=1)
