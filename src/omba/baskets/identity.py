"""Identity: how a model spells its labels, for good, and which of them are one product, no product or no customer.

Labels are whole numbers or text, in each role alike. The first window settles it, and whatever comes later is read to
that spelling: where products are text, 22423 is '22423'. Where they are whole numbers and a code like '85123A' comes,
all of them turn to text, exactly, and that is said. Codes that mean the same product, and what is left out, are kept
beside it, so that baskets are read alike at every door.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from omba.baskets.label import find_label
from omba.baskets.spelling import as_whole
from omba.baskets.vocabulary import Label, Vocabulary

log = logging.getLogger("omba")

TEXT, WHOLE, MIXED = "text", "whole", "mixed"
"""How labels of a role are spelt; models of old may hold both, and are left as they are."""


def kind_of(labels: Iterable[Label]) -> str | None:
    """How labels are spelt; None where there are none.

    >>> kind_of([1, 2]), kind_of(["a"]), kind_of(["a", 1]), kind_of([])
    ('whole', 'text', 'mixed', None)
    """
    kinds = {TEXT if isinstance(label, str) else WHOLE for label in labels}
    return MIXED if len(kinds) > 1 else next(iter(kinds), None)


@dataclass
class Identity:
    """Who is who in a model.

    Parameters
    ----------
    kinds
        The spelling of the labels in each role: `text` or `whole`.
    fold
        Products by the text of their label, and the one each of them is another code of.
    exclude
        Patterns of products that are left out, such as `POST` or `gift_*`; upper and lower case are the same.
    nobody
        Users, by the text of their label, who are no customer: their baskets are of nobody known.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    fold: dict[str, str] = field(default_factory=dict)
    exclude: list[str] = field(default_factory=list)
    nobody: list[str] = field(default_factory=list)

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Identity:
        """The reverse of `to_dict`."""
        return cls(**{name: type(default)(state.get(name, default)) for name, default in vars(cls()).items()})

    def to_dict(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        return dict(vars(self))

    @property
    def changes(self) -> bool:
        """Whether anything but the spelling is to be looked at."""
        return bool(self.fold or self.exclude or self.nobody)

    def remember(self, found: Identity) -> None:
        """Take in what a reader folded and left out, so that later baskets are read alike."""
        self.fold, self.exclude, self.nobody = dict(found.fold), list(found.exclude), list(found.nobody)

    def spell(self, label: Label, role: str) -> Label:
        """A label as the model spells it; text among whole numbers stays, and `admit` says what then happens."""
        kind = self.kinds.get(role)
        if kind == TEXT:
            return str(label)
        return as_whole(label) if kind == WHOLE and isinstance(label, str) else label

    def admit(self, labels: Iterable[Label], role: str, vocabulary: Vocabulary) -> None:
        """Settle the spelling by the first labels, and turn whole numbers to text once text comes."""
        known = self.kinds.get(role)
        if known is None:
            found = kind_of(vocabulary) or kind_of(labels)
            if found is not None:
                self.kinds[role] = TEXT if found == MIXED and not len(vocabulary) else found
        elif known == WHOLE:
            odd = next((label for label in labels if isinstance(self.spell(label, role), str)), None)
            if odd is not None:
                log.warning(
                    "%ss were whole numbers until now, and %r is text: from here on all of them are text, as in %r",
                    role, odd, str(next(iter(vocabulary), odd)),
                )  # fmt: skip
                self.kinds[role] = TEXT
                vocabulary.turn_to_text()

    def product(self, label: Label) -> Label | None:
        """The product that a label means; None where it is left out.

        >>> who = Identity(fold={"85123a": "85123A"}, exclude=["POST", "gift_*"])
        >>> [who.product(label) for label in ("85123a", "post", "gift_0001_20", 22423)]
        ['85123A', None, None, 22423]
        """
        found = self.fold.get(str(label), label) if self.fold else label
        return None if self.exclude and is_excluded(found, self.exclude) else found

    def user(self, label: Label | None) -> Label | None:
        """The user that a label means; None where that is no customer."""
        return None if self.nobody and str(label) in self.nobody else label

    def basket(self, basket: dict[str, Any]) -> dict[str, Any]:
        """A basket as it comes over HTTP, with its products folded or left out, and its user if that is a customer."""
        if not self.changes:
            return basket
        products = [
            {**one, "id": label} for one in basket["products"] if (label := self.product(one["id"])) is not None
        ]
        return {**basket, "products": products, "user": self.user(basket.get("user"))}

    def product_codes(self, vocabulary: Vocabulary, used: NDArray[np.integer]) -> NDArray[np.int32]:
        """The code of the product that each code in use of a vocabulary means, −1 where it is left out."""
        return _codes(vocabulary, used, self.product)

    def user_codes(self, vocabulary: Vocabulary, used: NDArray[np.integer]) -> NDArray[np.int32]:
        """The same for users."""
        return _codes(vocabulary, used, self.user)


def is_excluded(label: Label, patterns: Iterable[str]) -> bool:
    """Whether a product meets one of the patterns, whatever its case."""
    return any_of(tuple(patterns)).match(str(label).casefold()) is not None


@lru_cache(16)
def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """What a text meets that meets one of the patterns."""
    return re.compile("|".join(translate(pattern.casefold()) for pattern in patterns) or r"(?!)")


def _codes(
    vocabulary: Vocabulary, used: NDArray[np.integer], meaning: Callable[[Label], Label | None]
) -> NDArray[np.int32]:
    codes = np.arange(len(vocabulary), dtype=np.int32)
    for code in np.unique(used[used >= 0]).tolist():
        label = vocabulary[code]
        meant = meaning(label)
        if meant is None:
            codes[code] = -1
        elif meant != label:
            known = find_label(meant, vocabulary.codes)
            codes[code] = int(vocabulary.add([meant if known is None else known])[0])
    return codes
