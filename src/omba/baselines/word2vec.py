"""Item2Vec and Prod2Vec: word2vec with products for words (paper, section 5).

Item2Vec (Barkan and Koenigstein 2016) takes a basket for a sentence, and all of it for the context. Prod2Vec
in its bagged form (Grbovic et al. 2015) takes all baskets of a user in time order for one sentence. Both are
gensim's skip-gram with negative sampling, and score by the cosine of a candidate to the basket's mean vector.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise

import numpy as np

from omba.baselines.base import SHARE, Scorer, Scores, at_least, cosines, extra, log_shares, nearness, pad
from omba.baselines.queries import Queries
from omba.baskets import Baskets
from omba.errors import InputError


class Word2Vec(Scorer):
    """Skip-gram over sentences of products. More than one thread is quicker, and never twice the same.

    Frequent products are thinned out as word2vec does, from a share of 10⁻⁴ on (a quarter of an even share, where
    there are few products): on Complete Journey that ranked better than 10⁻³ or none, in a sixth of the time.
    `Item2Vec` and `Prod2Vec` tell what its parameters are.
    """

    window: int
    """How far a context reaches."""
    shrink: bool
    """Whether near products count for more, by word2vec's random narrowing of the window."""

    def __init__(
        self,
        dim: int = 100,
        learning_rate: float = 0.05,
        negatives: int = 5,
        epochs: int = 10,
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(seed)
        at_least(1, dim=dim, negatives=negatives, epochs=epochs, threads=threads)
        self.dim, self.learning_rate, self.negatives, self.epochs = dim, learning_rate, negatives, epochs
        self.threads = threads
        self.gensim = extra("gensim.models")

    @abstractmethod
    def sentences(self, baskets: Baskets, words: list[str]) -> list[list[str]]:
        """The baskets as sentences; `words` are their items."""

    def learn(self, baskets: Baskets) -> None:
        names = np.array([str(code) for code in range(self.n_products)], dtype=object)
        sentences = [words for words in self.sentences(baskets, names[baskets.items].tolist()) if len(words) > 1]
        vectors = np.zeros((self.n_products, self.dim), np.float32)
        if sentences:
            model = self.gensim.Word2Vec(
                sentences,
                vector_size=self.dim,
                alpha=self.learning_rate,
                negative=self.negatives,
                epochs=self.epochs,
                sample=max(1e-4, 0.25 / len(np.unique(baskets.items))),
                window=self.window,
                shrink_windows=self.shrink,
                sg=1,
                min_count=1,
                workers=self.threads,
                seed=self.seed,
            )
            vectors[np.array(model.wv.index_to_key, dtype=np.int64)] = model.wv.vectors
        self.vectors = pad(vectors)
        self.log_shares = log_shares(baskets.items, self.n_products)

    def rate(self, queries: Queries) -> Scores:
        return cosines(queries.mean(self.vectors[queries.items]), self.vectors[queries.candidates])

    def rate_catalogue(self, queries: Queries) -> Scores:
        return nearness(queries.mean(self.vectors[queries.items]), self.vectors) + SHARE * self.log_shares


class Item2Vec(Word2Vec):
    """A basket is a sentence, and every other product of it the context.

    Parameters
    ----------
    dim
        Length of the vectors; 1 or more.
    learning_rate
        Length of the first step; it falls to nothing; above 0.
    negatives
        Products drawn at random against each that was bought; 1 or more.
    epochs
        Passes over the sentences; 1 or more.
    threads
        Threads that learn at a time; 1 or more.
    seed
        Start of all random numbers; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> scores = omba.baselines.Item2Vec(dim=16).fit(shop).score(["hot dogs"], candidates=["buns", "tent"])
    >>> scores.argmax().item()
    0
    """

    help = "word2vec, a basket as a sentence (Barkan & Koenigstein 2016)"
    window, shrink = 1_000, False

    def sentences(self, baskets: Baskets, words: list[str]) -> list[list[str]]:
        return [words[first:after] for first, after in pairwise(baskets.offsets.tolist())]


class Prod2Vec(Word2Vec):
    """All baskets of a user are a sentence, in time order.

    Parameters
    ----------
    dim
        Length of a product's vector; 1 or more.
    learning_rate
        How far the first step goes, which the last hardly does; above 0.
    negatives
        Products drawn against each of a customer's; 1 or more.
    epochs
        Passes over all customers; 1 or more.
    threads
        Threads, a share of the customers each; 1 or more.
    seed
        Start of all random numbers; 0 or more.

    >>> import omba
    >>> method = omba.baselines.Prod2Vec(dim=16).fit(omba.datasets.planted_shop(1_000, days=60).baskets)
    >>> method.score(["hot dogs"], candidates=["buns", "tent"]).argmax().item()
    0
    """

    help = "word2vec, all baskets of a user as a sentence (Grbovic et al. 2015)"
    window, shrink = 5, True

    def sentences(self, baskets: Baskets, words: list[str]) -> list[list[str]]:
        if baskets.user_codes is None:
            raise InputError("these baskets have no users to string together: give a user column, or take item2vec")
        of_user: dict[int, list[str]] = {}
        for user, (first, after) in zip(baskets.user_codes.tolist(), pairwise(baskets.offsets.tolist()), strict=True):
            if user >= 0:
                of_user.setdefault(user, []).extend(words[first:after])
        return list(of_user.values())
