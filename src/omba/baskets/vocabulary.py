"""Vocabulary: labels as the data gave them, each with a small integer, growing as the stream goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Label = str | int


class Vocabulary(Sequence[Label]):
    """An ordered set of labels; the code of a label is its place.

    Parameters
    ----------
    labels
        The labels to begin with, in the order of their codes.

    >>> words = Vocabulary(["pasta", "sauce"])
    >>> words.add(["sauce", "cheese"]).tolist()
    [1, 2]
    >>> words.find(["cheese", "soap"]).tolist()
    [2, -1]
    """

    def __init__(self, labels: Iterable[Label] = ()) -> None:
        self.labels: list[Label] = []
        self.codes: dict[Label, int] = {}
        self.add(labels)

    def add(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        """The code of each label, new ones taken in at the end."""
        codes, known = self.codes, self.labels
        out: list[int] = []
        for label in labels:
            code = codes.get(label)
            if code is None:
                code = codes[label] = len(known)
                known.append(label)
            out.append(code)
        return np.array(out, dtype=np.int32)

    def encode(self, column: pa.Array) -> NDArray[np.int32]:
        """`add` for an Arrow column: Python sees each distinct label once; null is −1.

        >>> Vocabulary(["pasta"]).encode(pa.array(["sauce", None, "pasta", "sauce"])).tolist()
        [1, -1, 0, 1]
        """
        encoded = column.dictionary_encode()
        codes = np.append(self.add(encoded.dictionary.to_pylist()), np.int32(-1))
        # Null is the place after the last label, which holds the −1.
        places: NDArray[np.int32] = encoded.indices.fill_null(len(codes) - 1).to_numpy(zero_copy_only=False)
        return codes[places]

    def find(self, labels: Iterable[Label]) -> NDArray[np.int32]:
        """The code of each label, −1 where it is not known."""
        return np.array([self.codes.get(label, -1) for label in labels], dtype=np.int32)

    def take(self, codes: Iterable[int]) -> list[Label]:
        """The labels behind the codes."""
        return [self.labels[code] for code in codes]

    def turn_to_text(self) -> None:
        """Spell all labels as text from now on; the codes stay, and whoever holds the tables sees the change.

        >>> words = Vocabulary([22423, 7])
        >>> words.turn_to_text()
        >>> words.labels, words.codes
        (['22423', '7'], {'22423': 0, '7': 1})
        """
        self.labels[:] = [str(label) for label in self.labels]
        self.codes.clear()
        self.codes.update({label: code for code, label in enumerate(self.labels)})

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, code: int) -> Label: ...
    @overload
    def __getitem__(self, code: slice) -> list[Label]: ...
    def __getitem__(self, code: int | slice) -> Label | list[Label]:
        return self.labels[code]

    def __iter__(self) -> Iterator[Label]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self.codes

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} labels)"
