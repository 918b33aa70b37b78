"""A product is found by its label, by its name, or by a part of its name."""

import numpy as np
import pyarrow as pa
import pytest

from omba.errors import UnknownError
from omba.rules import Catalogue

NAMES = {
    "85099B": "JUMBO BAG RED RETROSPOT",
    "22386": "JUMBO BAG PINK POLKADOT",
    "22411": "JUMBO SHOPPER VINTAGE RED PAISLEY",
    "22423": "REGENCY CAKESTAND 3 TIER",
    "85123A": "WHITE HANGING HEART",
    "85123B": "WHITE HANGING HEART",
    "20725": None,
}


@pytest.fixture
def shop() -> Catalogue:
    attributes = pa.table({"product": list(NAMES), "name": list(NAMES.values())})
    return Catalogue(list(NAMES), attributes=attributes, counts=np.array([50, 90, 20, 70, 10, 30, 5]))


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("85099B", "85099B"),
        ("jumbo bag red retrospot", "85099B"),
        ("cakestand", "22423"),
        ("bag pink", "22386"),
        ("jumbo paisley", "22411"),
        ("20725", "20725"),
    ],
)
def test_a_product_is_found_by_label_name_or_a_part_of_its_name(shop, text, label):
    assert shop.find(text) == label


def test_a_text_that_may_mean_several_lists_them_best_sellers_first(shop):
    with pytest.raises(UnknownError) as raised:
        shop.find("jumbo")
    assert str(raised.value) == (
        "product 'jumbo' may be any of JUMBO BAG PINK POLKADOT (22386), JUMBO BAG RED RETROSPOT (85099B), "
        "JUMBO SHOPPER VINTAGE RED PAISLEY (22411): give one of these codes"
    )
    with pytest.raises(UnknownError, match=r"WHITE HANGING HEART \(85123B\), WHITE HANGING HEART \(85123A\)"):
        shop.find("white hanging heart")


def test_no_more_than_five_are_listed():
    labels = [f"bag {k}" for k in range(12)]
    with pytest.raises(UnknownError, match="bag 0, bag 1, bag 2, bag 3, bag 4 and 7 more"):
        Catalogue(labels).find("bag")


def test_a_text_that_means_none_suggests_the_nearest(shop):
    with pytest.raises(UnknownError, match="is not known here"):
        shop.find("no such thing")
    with pytest.raises(UnknownError, match="is not known here"):
        shop.find("re")


def test_search_begins_with_names_that_begin_with_the_text(shop):
    total, rows = shop.search("red", None, 5)
    assert (total, [shop.labels[row] for row in rows]) == (2, ["85099B", "22411"])
    assert shop.search("white hanging heart", None, 1) == (2, [5])
