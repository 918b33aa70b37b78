"""ALS: users by products by weighted least squares, one side at a time (beyond the paper)."""

from __future__ import annotations

from scipy import sparse

from omba.baselines.base import extra
from omba.baselines.factors import Factorised, Factors


class ALS(Factorised):
    """Weighted least squares for implicit feedback (Hu, Koren and Volinsky 2008; implicit).

    Parameters
    ----------
    dim
        Length of the vectors; 1 or more.
    iterations
        Rounds, each of which solves for users and then for products; 1 or more.
    regularization
        How strongly vectors are held short; 0 or more.
    seed
        Start of all random numbers; 0 or more.

    >>> import omba
    >>> shop = omba.datasets.planted_shop(1_000, days=60).baskets
    >>> scores = omba.baselines.ALS(dim=16).fit(shop).score(["hot dogs"], candidates=["buns", "tent"])
    >>> scores.argmax().item()
    0
    """

    help = "implicit alternating least squares on users by products (Hu et al. 2008)"

    def __init__(self, dim: int = 256, iterations: int = 15, regularization: float = 0.1, seed: int = 0) -> None:
        super().__init__(dim, iterations, seed)
        self.regularization = regularization
        self.implicit = extra("implicit.cpu.als")

    def factorise(self, counts: sparse.csr_matrix) -> Factors:
        model = self.implicit.AlternatingLeastSquares(
            factors=self.dim,
            regularization=self.regularization,
            iterations=self.iterations,
            random_state=self.seed,
            num_threads=1,
        )
        model.fit(counts, show_progress=False)
        return model.user_factors, model.item_factors
