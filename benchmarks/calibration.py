"""Calibration: do the chances that suggestions carry come true?

    python benchmarks/calibration.py                          Complete Journey (product types) and Ta-Feng
    python benchmarks/calibration.py ta-feng --dim 50         another source, shorter vectors
    python benchmarks/calibration.py --draw docs/images/reliability.svg

Before a day is learned, ten suggestions are asked for some of its baskets: at a moment of the visit chosen at random
(*this visit*), and for the customer alone (*next visit*). Suggestions are sorted by their chance into ten parts of
equal size; the calibration error is the mean over the parts of | promised − come true |.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import omba
from omba.baskets import Baskets

PARTS = 10
WARM = 60
"""Days before the first suggestion is judged."""
SOURCES = ["complete-journey", "ta-feng"]
Outcomes = dict[str, list[tuple[float, bool]]]


def judge(model: omba.OMBA, day: Baskets, asked: int, rng: np.random.Generator, outcomes: Outcomes) -> None:
    """Ask for suggestions of some baskets of a day that the model has not learned, and see what came of them."""
    known, users = set(model.products), set(model.users)
    for place in rng.permutation(len(day))[:asked].tolist():
        basket = day[place]
        products = rng.permutation(np.array(basket.products, dtype=object)).tolist()
        cut = int(rng.integers(1, len(products) + 1))
        hand, later = [label for label in products[:cut] if label in known], set(products[cut:])
        user = basket.user if basket.user in users else None
        if hand:
            outcomes["this visit"] += [(chance, label in later) for label, chance in model.rank(hand, user)]
        if user is not None:
            outcomes["next visit"] += [(chance, label in products) for label, chance in model.next_basket(user)]


def reliability(outcomes: list[tuple[float, bool]]) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """What was promised and what came true in each part, and the calibration error."""
    promised, true = np.array(outcomes, np.float64).T
    parts = np.array_split(np.argsort(promised, kind="stable"), PARTS)
    x, y = (np.array([values[part].mean() for part in parts]) for values in (promised, true))
    return x, y, float(np.average(np.abs(x - y), weights=[len(part) for part in parts]))


def run(source: str, dim: int, asked: int) -> Outcomes:
    """Every suggestion that was judged on a data set."""
    model, rng = omba.OMBA(dim=dim), np.random.default_rng(100)
    outcomes: Outcomes = defaultdict(list)
    for number, day in enumerate(omba.datasets.load(source).windows("1d")):
        if number >= WARM:
            judge(model, day, asked, rng, outcomes)
        model.partial_fit(day)
    return outcomes


def draw(lines: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]], file: Path) -> None:
    """The reliability diagram: on the diagonal, what was promised came true."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 4.4), layout="constrained")
    highest = max(max(x.max(), y.max()) for x, y in lines.values()) * 1.05
    axes.plot([0, highest], [0, highest], color="grey", linewidth=1, linestyle="--")
    for name, (x, y) in lines.items():
        axes.plot(x, y, marker="o", markersize=4, label=name)
    axes.set(xlabel="chance promised", ylabel="share that came true", xlim=(0, highest), ylim=(0, highest))
    axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", default=SOURCES)
    parser.add_argument("--dim", type=int, default=omba.OMBA().dim)
    parser.add_argument("--baskets", type=int, default=10, help="baskets of a day")
    parser.add_argument("--draw", type=Path, help="where the diagram goes")
    chosen = parser.parse_args()
    lines = {}
    for source in chosen.sources:
        for name, outcomes in run(source, chosen.dim, chosen.baskets).items():
            x, y, error = reliability(outcomes)
            print(f"{source}, {name}: calibration error {error:.4f}, {len(outcomes):,} suggestions")
            print("  promised  " + " ".join(f"{value:6.3f}" for value in x))
            print("  came true " + " ".join(f"{value:6.3f}" for value in y), flush=True)
            lines[f"{source}, {name}"] = (x, y)
    if chosen.draw:
        draw(lines, chosen.draw)


if __name__ == "__main__":
    main()
