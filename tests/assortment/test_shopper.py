"""Relations in the simulation of SHOPPER (Ruiz, Athey and Blei, 2020), and in a twin of it that is made here.

Half of the customers buy coffee and diapers, the others ramen and candy, each product for itself; everybody takes hot
dogs with buns or tacos with seasoning, never both. Lift is 0 between the two dinners and between the two kinds of
customers alike; what tells them apart is the customer.
"""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import omba

REAL = Path(os.environ.get("OMBA_SHOPPER", "shopper.tsv"))
"""`train.tsv` of that simulation, which does not come by pip: say where it is by OMBA_SHOPPER=FILE."""
PARENTS, STUDENTS, DOGS, TACOS = (100, 101), (200, 201), (300, 301), (400, 401)
PRODUCTS = (*PARENTS, *STUDENTS, *DOGS, *TACOS)


def truth(a: int, b: int) -> str:
    """What two products of the simulation are to each other."""
    if (a, b) in (DOGS, TACOS):
        return "complement"
    if (a, b) in (PARENTS, STUDENTS):
        return "same customers"
    if a in DOGS and b in TACOS:
        return "substitute"
    return "different customers" if a in PARENTS and b in STUDENTS else "unclear"


def make_twin() -> pa.Table:
    """A hundred customers of a hundred visits each, drawn as the simulation says."""
    random = np.random.default_rng(1)
    rows = []
    for trip in range(10_000):
        user = trip % 100
        own = PARENTS if user < 50 else STUDENTS
        basket = [*(product for product in own if random.random() < 0.55), *(DOGS if random.random() < 0.5 else TACOS)]
        rows += [(trip, user, product) for product in basket]
    return pa.table(dict(zip(("basket_id", "user_id", "product"), map(list, zip(*rows, strict=True)), strict=True)))


def read_real() -> pa.Table:
    lines = REAL.read_text().replace("\r", "\n").split("\n")
    user, product, trip, _ = (
        list(column) for column in zip(*(map(int, line.split()) for line in lines if line), strict=True)
    )
    visits = [f"{one} {number}" for one, number in zip(user, trip, strict=True)]
    return pa.table({"basket_id": visits, "user_id": user, "product": product})


def relations_of(table: pa.Table) -> dict[tuple[int, int], str]:
    baskets = omba.read_baskets(table)
    model = omba.OMBA(dim=4, epochs=1, clues=False).fit(baskets, every=len(baskets) // 4)
    pairs = [*combinations(PRODUCTS, 2)]
    a, b = (np.array([model.row(one) for one in side]) for side in zip(*pairs, strict=True))
    return dict(zip(pairs, model.assortment.relations().judge(a, b).names, strict=True))


EXPECTED = {pair: truth(*pair) for pair in combinations(PRODUCTS, 2)}


def test_all_28_pairs_of_the_twin_are_what_was_planted():
    assert relations_of(make_twin()) == EXPECTED


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.skipif(not REAL.exists(), reason="OMBA_SHOPPER does not say where the simulation is")
def test_all_28_pairs_of_the_simulation_are_what_was_planted():
    assert relations_of(read_real()) == EXPECTED
