"""Scorer: what every method is to the test: it learns baskets, and scores candidates for a basket.

Subclasses write `learn` and `rate` on codes, and `rate_catalogue` where they score all products quicker than one by
one, or otherwise: among rivals drawn by their sales a good score leaves popularity out, over a whole catalogue it
must not. Tables have one row more than there are units, all zeros: the code −1 of an unknown product or user finds it
there, and scores nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from omba.baselines.queries import Queries, translation
from omba.baskets import Baskets, Label, Vocabulary
from omba.errors import InputError, MissingExtraError, SettingError

Scores = NDArray[np.float32]

SHARE = 0.25
"""What the log of a product's share of sales weighs beside cosines where the whole catalogue is ranked."""
AT_ONCE = 4_000_000
"""Scores that are held at once where a catalogue is gone through in parts."""


@runtime_checkable
class Method(Protocol):
    """Anything the test can rank candidates with; it also has `partial_fit(window)`, or else `fit(baskets)`."""

    def score(self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] = ()) -> Scores:
        """One score a candidate, higher is better."""


def at_least(least: float, **settings: float) -> None:
    """Refuse the first setting that is less.

    >>> at_least(1, dim=0)
    Traceback (most recent call last):
    ...
    omba.errors.SettingError: dim is 0: give 1 or more
    """
    for name, value in settings.items():
        if not value >= least:
            raise SettingError(f"{name} is {value}: give {least:g} or more")


class Scorer(ABC):
    """A method that learns a batch of baskets from scratch, and ranks candidates for a hidden product.

    `learn` gets the baskets, `rate` queries in the codes of those baskets.

    Parameters
    ----------
    seed
        Start of all random numbers.
    """

    help: ClassVar[str]
    """One line for the list of methods."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.products, self.n_products = Vocabulary(), 0
        self.users, self.n_users = Vocabulary(), 0

    @abstractmethod
    def learn(self, baskets: Baskets) -> None:
        """Learn these baskets, and nothing else."""

    @abstractmethod
    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        """A score for each candidate of each query; codes of −1 are not known."""

    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        """A score for each product that is known, (queries, products), given the basket and the user."""
        every = np.arange(self.n_products, dtype=np.int32)[None, :]
        step = max(1, AT_ONCE // max(self.n_products, 1))
        parts = [queries.part(first, min(first + step, len(queries))) for first in range(0, len(queries), step)]
        rated = [self.rate(replace(part, candidates=np.repeat(every, len(part), axis=0))) for part in parts]
        return np.concatenate([np.zeros((0, self.n_products), np.float32), *rated])

    def fit(self, baskets: Baskets) -> Self:
        """Forget what was learned, and learn these baskets."""
        self.products, self.n_products = baskets.product_vocabulary, len(baskets.product_vocabulary)
        self.users, self.n_users = baskets.user_vocabulary, len(baskets.user_vocabulary)
        self.learn(baskets)
        return self

    def score(self, products: Sequence[Label], user: Label | None = None, candidates: Sequence[Label] = ()) -> Scores:
        """One score a candidate, higher is better."""
        scores = self.score_queries(Queries.ask(products, user, candidates, self.products, self.users))
        return scores.ravel()

    def score_queries(self, queries: Queries) -> Scores:
        """The scores of many queries at once, one row a query."""
        return np.asarray(self.rate(self._keep_known(queries)), np.float32)

    def score_catalogue(self, queries: Queries) -> Scores:
        """The score of every product, in the order of the queries' vocabulary; one that is not known comes last."""
        scores = np.asarray(self.rate_catalogue(self._keep_known(queries)), np.float32)
        theirs = queries.product_vocabulary
        if theirs is self.products and len(theirs) == self.n_products:
            return scores
        codes = translation(theirs, self.products, self.n_products)[:-1]
        last = scores.min(axis=1, keepdims=True) - 1
        return np.concatenate([scores, last], axis=1)[:, codes]

    def _keep_known(self, queries: Queries) -> Queries:
        """The queries in this method's own codes."""
        if self.n_products == 0:
            raise InputError(f"{type(self).__name__} has not learned any baskets yet: call fit first")
        return queries.translate(self.products, self.n_products, self.users, self.n_users)


class CatalogueScorer(Scorer):
    """A scorer of the whole catalogue, of which candidates are a part.

    Parameters
    ----------
    seed
        Start of all random numbers.
    """

    def rate(self, queries: Queries) -> NDArray[np.floating[Any]]:
        step = max(1, AT_ONCE // max(self.n_products, 1))
        rated: list[NDArray[np.floating[Any]]] = [np.zeros((0, queries.candidates.shape[1]), np.float32)]
        for first in range(0, len(queries), step):
            part = queries.part(first, min(first + step, len(queries)))
            scores = self.rate_catalogue(part)
            found = np.take_along_axis(scores, np.maximum(part.candidates, 0), axis=1)
            rated.append(np.where(part.candidates >= 0, found, 0))
        return np.concatenate(rated)

    @abstractmethod
    def rate_catalogue(self, queries: Queries) -> NDArray[np.floating[Any]]:
        """A score for each product that is known, (queries, products), given the basket and the user."""


def extra(module: str, extra: str = "baselines") -> ModuleType:
    """An optional package, or the sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is not installed: pip install 'omba[{extra}]' brings it (the other methods do without)"
        ) from error


def matrix(baskets: Baskets, n_products: int) -> sparse.csr_array:
    """Baskets by products, 1 where the basket holds the product."""
    return sparse.csr_array(
        (np.ones(baskets.n_items, np.float32), baskets.items, baskets.offsets), shape=(len(baskets), n_products)
    )


def user_matrix(baskets: Baskets, n_users: int, n_products: int) -> sparse.csr_array:
    """Users by products: in how many of the user's baskets the product was. Baskets of nobody are left out."""
    known, users = users_of(baskets)
    visits = sparse.csr_array((np.ones(len(known), np.float32), (users, known)), shape=(n_users, len(baskets)))
    return (visits @ matrix(baskets, n_products)).tocsr()


def users_of(baskets: Baskets) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The baskets that are somebody's, and whose."""
    if baskets.user_codes is None:
        raise InputError("these baskets have no users to learn from: give a user column, or leave this method out")
    known = np.flatnonzero(baskets.user_codes >= 0)
    return known, baskets.user_codes[known]


def occurs(codes: NDArray[np.int32], n: int) -> NDArray[np.bool_]:
    """Which of n units occur."""
    return np.bincount(codes[codes >= 0], minlength=n) > 0


def unit(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Rows scaled to length 1; rows of zeros stay."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def pad(vectors: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """The vectors, and the row of zeros that −1 finds."""
    return np.vstack([vectors, np.zeros((1, vectors.shape[1]))]).astype(np.float32)


def nearness(contexts: NDArray[np.floating[Any]], vectors: NDArray[np.floating[Any]]) -> Scores:
    """The cosine of each query's context, one vector, to every vector but the last, that of −1."""
    return np.asarray(unit(contexts) @ unit(vectors[:-1]).T, np.float32)


def log_shares(items: NDArray[np.int32], n: int) -> NDArray[np.float32]:
    """The log of each product's share of all purchases, as if each had been bought half a time more."""
    counts = np.bincount(items, minlength=n) + 0.5
    return np.asarray(np.log(counts / counts.sum()), np.float32)


def cosines(contexts: NDArray[np.floating[Any]], candidates: NDArray[np.floating[Any]]) -> Scores:
    """The cosine of each query's context, one vector, to each of its candidates' vectors."""
    q, c, d = candidates.shape
    units = unit(candidates.reshape(q * c, d)).reshape(q, c, d)
    return np.asarray(np.einsum("qd,qcd->qc", unit(contexts), units), np.float32)
