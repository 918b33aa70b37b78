"""The vocabulary: labels as given, codes by first appearance."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from omba.baskets import Vocabulary

labels = st.lists(st.one_of(st.text(max_size=3), st.integers(0, 9)))


@given(labels, labels)
def test_codes_are_places_of_first_appearance_and_never_change(first: list[str | int], second: list[str | int]) -> None:
    vocabulary = Vocabulary()
    codes = vocabulary.add(first)
    assert list(vocabulary) == list(dict.fromkeys(first))
    assert vocabulary.take(codes.tolist()) == first
    later = vocabulary.add(second)
    assert list(vocabulary) == list(dict.fromkeys([*first, *second]))
    assert vocabulary.find(first).tolist() == codes.tolist()
    assert vocabulary.find(second).tolist() == later.tolist()


@given(st.lists(st.one_of(st.none(), st.text(max_size=2))), st.lists(st.text(max_size=2)))
def test_a_column_is_encoded_as_its_labels_one_by_one_would_be(column: list[str | None], known: list[str]) -> None:
    quick, plain = Vocabulary(known), Vocabulary(known)
    codes = quick.encode(pa.array(column, pa.string()))
    assert codes.tolist() == [-1 if label is None else int(plain.add([label])[0]) for label in column]
    assert list(quick) == list(plain)


def test_text_and_number_are_different_labels() -> None:
    vocabulary = Vocabulary(["7", 7])
    assert vocabulary.find(["7", 7, "8"]).tolist() == [0, 1, -1]
    assert 7 in vocabulary
    assert "8" not in vocabulary
    assert vocabulary[1] == 7
    assert vocabulary[:1] == ["7"]
