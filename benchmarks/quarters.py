"""Does what is said of a shop hold in the quarter after? Lines of rules, intervals of lifts, and families to come.

    python benchmarks/quarters.py FILE --dates 2010-05-01,2010-06-01,2010-07-01,2010-08-01,2010-09-01 [--dim 100]

The file, or built-in data set, is learned day by day up to each date, and judged by the 92 days from then on:

- lines: of the first 100 and 50 lines of `omba rules`, how many have a lift above 5 then;
- adding: of the thousand best rules of three products that add enough to their pairs to have a line, and of the others,
  the share whose lift is half as much again as their strongest pair's then, too; of those whose antecedents are in 20
  baskets or more;
- best, often, rare: the share of lifts that lie in their 90% interval, below and above it, and the median of shown over
  expected, of the best thousand rules' pairs, of those seen five times or more, and of those seen less often;
- counts: the mean log-likelihood of pairs seen fewer than five times, and as often, beyond that of counts alone with a
  fitted prior;
- shrunk: the mean log-likelihood of pairs seen five times or more beyond that of (1 + n) / (1 + e), with the error of a
  bootstrap over products; and the same if both are told by how much all such pairs come together more or less often;
- families: of those of which five baskets or more are expected, the share whose baskets lie in the 90% interval (as if
  the quarter had a third as many baskets as were learned), below and above, and the median of what came over expected.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray

import omba
from omba import datasets
from omba.evaluation.forecast_quality import coverage, fit_prior, forecast, likelihoods, random_pairs
from omba.evaluation.period_counts import PeriodCounts, sets_of
from omba.model import OMBA
from omba.rules import MiningInput
from omba.rules.addition import MORE, adds
from omba.rules.from_model import mine_rules, mining_input
from omba.rules.grow import triples_once
from omba.rules.holding import LINE
from omba.rules.mine import mine

DAYS, STRONG, OFTEN, JUDGED, DRAWS = 92, 5.0, 5, 20, 100
Floats = NDArray[np.float64]


def lines(model: OMBA, given: MiningInput, after: PeriodCounts) -> dict[str, int]:
    """How many of the first lines hold."""
    found, first = {}, mine_rules(model, top=100)
    for top in (100, 50):
        rules = first.head(top)
        parts = [after.strength(rows) for rows in sets_of(rules, given)]
        found[f"first {top}"] = sum(int((n > STRONG * chance).sum()) for n, chance in parts)
    return found


def adding(given: MiningInput, after: PeriodCounts) -> str:
    """How many of the rules that add something to their pairs still do, and of the others."""
    rules = triples_once(given, pool=1_000)[0][0].best(given, LINE, 1_000)
    first, second, to = rules.antecedents[:, 0], rules.antecedents[:, 1], rules.consequent
    both, sold = after.together(first, second), after.counts.counts
    shown = after.strength(np.column_stack([rules.antecedents, to]))[0] / np.maximum(both, 1)
    pairs = [after.together(one, to) / np.maximum(sold[one], 1) for one in (first, second)]
    still, judged = shown >= MORE * np.maximum(*pairs), both >= JUDGED
    enough = adds(given, rules.antecedents, to, rules.expected)
    told = (f"{still[some].mean():.2f} of {some.sum()}" for some in (judged & enough, judged & ~enough))
    return " · ".join(told)


def counted(given: MiningInput, before: PeriodCounts, after: PeriodCounts) -> str:
    """The log-likelihood of rare and of often seen pairs beyond that of counts alone."""
    pairs = random_pairs(before, after, 0)
    prior = fit_prior(before.together(*pairs), before.chance(*pairs))
    ours, peer, *_ = likelihoods(given, before, after, pairs, prior)
    return f"{ours.log_likelihood - peer.log_likelihood:+.3f}, {ours.of_observed - peer.of_observed:+.3f}"


def shrunk(given: MiningInput, before: PeriodCounts, after: PeriodCounts) -> str:
    """The log-likelihood of pairs seen often beyond that of a constant prior, as it is and with the level known."""
    a, b = random_pairs(before, after, 0)
    n = before.together(a, b)
    a, b, n = a[n >= OFTEN], b[n >= OFTEN], n[n >= OFTEN]
    later, chance = after.together(a, b), after.chance(a, b)
    means = forecast(given, before, a, b)[0], (1.0 + n) / (1.0 + before.chance(a, b))
    levels = [float(later.sum() / (mean * chance).sum()) for mean in means]
    plain = gain(means[0], means[1], later, chance)
    level = gain(means[0] * levels[0], means[1] * levels[1], later, chance)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(DRAWS):
        times = rng.poisson(1.0, max(a.max(), b.max()) + 1)
        weight = times[a] * times[b]
        drawn.append([(one * weight).sum() / weight.sum() for one in (plain, level)])
    error = np.std(drawn, axis=0)
    return f"{plain.mean():+.3f} ±{error[0]:.3f}, level known {level.mean():+.3f} ±{error[1]:.3f}"


def gain(mean: Floats, other: Floats, later: NDArray[np.int64], chance: Floats) -> Floats:
    """What each pair's log-likelihood gains by a mean over another."""
    return np.asarray(later * np.log(mean / other) - chance * (mean - other))


def families(model: OMBA, after: PeriodCounts) -> str:
    """How often the baskets of a family lie in their interval."""
    table = model.families()
    middle, low, high = (np.array(table[f"expected_baskets{end}"].to_pylist()) for end in ("", "_low", "_high"))
    sold = [after.counts.counts[rows].sum() for rows in model.assortment.families().members]
    came = np.array(sold) * model.n_baskets / 3 / after.n
    some = middle >= OFTEN
    below, above = (came < low)[some].mean(), (came > high)[some].mean()
    return f"{1 - below - above:.3f} ({below:.2f}, {above:.2f}), {np.median((came / middle)[some]):.2f} of {some.sum()}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--dates", default="2010-05-01,2010-06-01,2010-07-01,2010-08-01,2010-09-01")
    parser.add_argument("--dim", type=int, default=100)
    asked = parser.parse_args()
    baskets = datasets.load(asked.file) if datasets.is_built_in(asked.file) else omba.read_baskets(asked.file)
    model, start = OMBA(dim=asked.dim), None
    for date in asked.dates.split(","):
        for window in baskets.between(start, date).windows("1d"):
            model.partial_fit(window)
        start = date
        until = str(np.datetime64(date) + np.timedelta64(DAYS, "D"))
        given = mining_input(model)
        before, after = (
            PeriodCounts.of(some, given) for some in (baskets.between(None, date), baskets.between(date, until))
        )
        print(f"{date}: {before.n:,} baskets learned, {after.n:,} judge")
        print("  lines that hold:", lines(model, given, after))
        print("  adding:", adding(given, after))
        for name, one in zip(("best", "often", "rare"), covered(given, before, after), strict=True):
            above = 1 - one.inside - one.below
            print(
                f"  {name}: {one.inside:.3f} ({one.below:.2f}, {above:.2f}), median {one.ratio:.2f} of {one.number:,}"
            )
        print("  beyond counts:", counted(given, before, after))
        print("  beyond shrunk:", shrunk(given, before, after))
        print("  families:", families(model, after), flush=True)


def covered(given: MiningInput, before: PeriodCounts, after: PeriodCounts) -> list[Any]:
    """The best, the often seen and the rare."""
    return coverage(given, before, after, mine(given, 1_000), random_pairs(before, after, 0))[:3]


if __name__ == "__main__":
    main()
