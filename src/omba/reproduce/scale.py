"""Scale: how much of the data a reproduction looks at, in full or quickly."""

from __future__ import annotations

from dataclasses import dataclass

CJ, PRODUCTS, TF = "complete-journey", "complete-journey:product_id", "ta-feng"

METHODS = (
    "pop", "sup", "lift", "nmf", "item2vec", "prod2vec", "triple2vec", "ease", "als", "history",
    "omba-no-user", "omba-cons", "omba-decay", "omba-info", "omba-no-value", "omba-paper", "omba",
)  # fmt: skip


@dataclass(frozen=True)
class Scale:
    """How much of the data is looked at. Methods and their settings are the same at every scale.

    Parameters
    ----------
    name
        What finished parts of this scale are filed under.
    windows
        Windows that are asked about in the retrieval task.
    few
        Windows where a method is trained anew on large data.
    until
        Data sets that are not read to their end, and the day they stop before.
    split
        Rules are mined before this day, and judged from it on.
    dates
        The two days whose associations are compared.
    sweeps
        Settings that are varied one at a time, and their values.
    pairs
        Pairs of baskets that are compared, of one user and of two.
    methods
        Methods that take part in the retrieval task.
    """

    name: str
    windows: int = 20
    few: int = 5
    until: tuple[tuple[str, str], ...] = ()
    split: str = "2017-10-01"
    dates: tuple[str, str] = ("2017-03-01", "2017-08-01")
    sweeps: tuple[tuple[str, tuple[float, ...]], ...] = (
        ("dim", (50, 100, 200, 300, 400, 500)),
        ("negatives", (1, 2, 3, 4, 5)),
        ("tau", (0.001, 0.01, 0.1, 1.0, 10.0)),
    )
    pairs: int = 100_000
    methods: tuple[str, ...] = METHODS

    @property
    def words(self) -> str:
        """What a reader must know of figures at this scale; nothing where they are in full."""
        if self.name == FULL.name:
            return ""
        cut = ", ".join(f"{name} before {until}" for name, until in self.until)
        return f"Quick run: {self.windows} windows in place of {FULL.windows}, and only {cut}. Figures are rough."


FULL = Scale("full")
QUICK = Scale(
    "quick",
    windows=2,
    few=2,
    until=((CJ, "2017-03-12"), (PRODUCTS, "2017-02-12"), (TF, "2000-11-27")),
    split="2017-03-01",
    dates=("2017-02-20", "2017-03-10"),
    sweeps=(("dim", (50, 300)), ("negatives", (1, 3)), ("tau", (0.01, 0.1))),
)
