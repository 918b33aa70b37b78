"""From a model to rules: the one place where mining meets a learner, and takes only arrays and counts from it."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Unpack

from omba.baskets import Baskets
from omba.errors import InputError, nearest, shorten
from omba.rules.catalogue import Catalogue
from omba.rules.coming_up import WEEKS, ComingUp, find_coming_up
from omba.rules.counts import Counts
from omba.rules.evidence import Evidence, StreamEvidence
from omba.rules.filter import Filter
from omba.rules.mine import MiningOptions, mine
from omba.rules.mining_input import MiningInput
from omba.rules.nearest import MIN_COUNT
from omba.rules.rules import Rules

if TYPE_CHECKING:
    from omba.model import OMBA
    from omba.model.input import BasketsLike


def mine_rules(
    model: OMBA,
    top: int = 100,
    evidence: BasketsLike | None = None,
    *,
    preset: str = "default",
    sort: str | None = None,
    where: Filter | None = None,
    antecedents: int = 2,
    min_count: int = MIN_COUNT,
    within_families: bool = False,
    **options: Unpack[MiningOptions],
) -> Rules:
    """The `top` strongest rules of a model that `where` lets through, with their evidence, best first by `sort`.

    Counts come from what the model kept while it learned; with `evidence`, they are counted exactly over those
    baskets, which may be `Baskets` or what `read_baskets` takes. Rules have up to `antecedents` antecedents; products
    met in fewer than `min_count` baskets are left out.
    With `preset="paper"` pairs are ranked by collisions in 11 hash tables of 4 planes; `F`, `H`, `ties` and `seed`
    change the tables of either preset (see `omba.rules.Hashing`). A rule of several antecedents says more than every
    shorter one; of those, a share `false_discovery` (0.05) is there by chance, at most.

    Rules are between families of products, one line for each; `within_families` also has those between variants of
    one thing and all of each family, as the paper's preset does anyway.

    Parameters
    ----------
    model
        A model that has learned.
    top
        How many rules, at most; 1 or more.
    evidence
        Baskets to count exactly; None for the counts that the model kept.
    preset
        `default`, or `paper` for the paper's own way.
    sort
        A column or measure, best first; None for the order by what may be expected of the next period.
    where
        What rules must fulfil; every counted pair is looked at, not only the best.
    antecedents
        Products on the left side at most, 1 or more.
    min_count
        Baskets that a product must be in; 1 or more.
    within_families
        Whether rules inside a family of products are told too.
    options
        `F`, `H`, `ties` and `seed`, as in `Hashing`; `false_discovery`, between 0 and 1.

    >>> from omba import OMBA
    >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
    >>> rules = mine_rules(model, top=2)
    >>> sorted(sorted((*rule.antecedents, *rule.consequents)) for rule in rules)
    [['brush', 'soap'], ['pasta', 'sauce']]
    """
    unknown = options.keys() - MiningOptions.__annotations__.keys()
    if unknown:
        known = [*inspect.signature(mine_rules).parameters, *MiningOptions.__annotations__]
        raise TypeError(f"mine_rules has no option {min(unknown)!r}{nearest(min(unknown), known)}")
    if not hasattr(model, "product_vectors"):
        raise InputError(f"mine_rules needs a model, and {shorten(model)} is none: give an omba.OMBA that has learned")
    given = mining_input(model, None if evidence is None else _as_baskets(evidence))
    where = scope_of_families(where, within_families, preset)
    return mine(given, top, preset, sort=sort, where=where, antecedents=antecedents, min_count=min_count, **options)


def _as_baskets(evidence: BasketsLike) -> Baskets:
    # Where nothing is counted anew nothing is read, and reading takes a while to import.
    from omba.sources import as_baskets

    return as_baskets(evidence)


def coming_up(model: OMBA, weeks: int = WEEKS, top: int = 20) -> ComingUp:
    """What belonged together at this time last year and is about to again, in the coming weeks: the `top` pairs of
    products of different families that should then be in more baskets than usual, most baskets first.

    Where less than a year is known, `known` is false and there are none: it cannot be told.

    Parameters
    ----------
    model
        A model that has learned a year at least.
    weeks
        How many weeks ahead, from the last day that was learned; 1 or more.
    top
        How many pairs, at most; 1 or more.

    >>> from omba import OMBA
    >>> model = OMBA(dim=16).fit([["pasta", "sauce"], ["soap", "brush"]] * 200, every=50)
    >>> coming_up(model).known  # no dates, so it cannot be told
    False
    """
    return find_coming_up(mining_input(model), weeks, top)


def scope_of_families(where: Filter | None, within_families: bool, preset: str) -> Filter:
    """The filter, with rules between families alone unless others are asked for, or the paper's."""
    where = where or Filter()
    if within_families or preset != "default" or where.families is not None:
        return where
    return replace(where, families="between")


def catalogue_of(model: OMBA) -> Catalogue:
    """The products of a model. Their rows are known already, so that none are numbered again."""
    vocabulary = model.product_rows.vocabulary
    prices = model.prices.means if model.prices.known else None
    return Catalogue(
        vocabulary.labels,
        prices,
        model.attributes,
        model.product_counts,
        vocabulary.codes,
        model.seasons.of,
        model.identity,
        model.assortment.families,
        model.assortment.relations,
        model.prices.amounts if model.prices.known else None,
        model.seasons.outlook,
    )


def mining_input(model: OMBA, evidence: Baskets | Evidence | None = None) -> MiningInput:
    """The model's vectors and forecast, with the counts it kept or, exactly, those of given baskets."""
    catalogue, remembered = catalogue_of(model), model.spaces[0].memory.rows
    if evidence is None:
        evidence = StreamEvidence(model.evidence, partial(getattr, model, "sets"), len(catalogue))
    elif isinstance(evidence, Baskets):
        evidence = Counts.of(evidence, catalogue.labels)
    return MiningInput(
        catalogue,
        model.product_vectors,
        evidence,
        model.forecast,
        model.users,
        remembered if remembered.size else None,
    )
