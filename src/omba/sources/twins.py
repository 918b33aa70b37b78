"""Twins: one product under two codes, found by how they are spelt, what they are called, and never being in one basket.

`85123A` and `85123a`, ` 22423` and `22423`, `0123` and `123` are the same but for case, spaces and leading zeros. Where
their names agree, or one of them has none, and hardly a basket holds both, they are one product.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from omba.errors import InputError
from omba.sources.engine import Engine, literal
from omba.sources.wording import name_products

TOGETHER = 0.05
"""Of the baskets of the rarer code, the share that may hold both."""
ALIKE = 0.85
"""How much two names must resemble each other (Jaro-Winkler), to be of one product."""


@dataclass(frozen=True)
class Twin:
    """A code that is another one's product.

    Parameters
    ----------
    code, of
        The code, and the one that most baskets have.
    name
        What the product is called, as far as that is known.
    baskets
        Baskets with the code.
    """

    code: str
    of: str
    name: str | None
    baskets: int


def find_twins(engine: Engine, named: bool, priced: bool) -> list[Twin]:
    """The codes to fold, those in most baskets first; `named` tells whether a0 is the products' name."""
    kept = "FROM rows WHERE drop_reason IS NULL"
    counted = f"SELECT product, count(DISTINCT basket) AS n, max(row) AS last {kept} GROUP BY product"
    engine.execute(
        "CREATE OR REPLACE TABLE code AS SELECT product::VARCHAR AS code, name, n, last, "
        "ltrim(upper(regexp_replace(product::VARCHAR, '\\s', '', 'g')), '0') AS plain "
        f"FROM ({counted}) LEFT JOIN {name_products(engine, named, priced)} USING (product)"
    )
    letters = "regexp_replace(lower({x}), '[^a-z0-9]', '', 'g')"
    alike = f"jaro_winkler_similarity({letters.format(x='one.name')}, {letters.format(x='main.name')}) >= {ALIKE}"
    most = "row_number() OVER (PARTITION BY plain ORDER BY n DESC, last DESC) = 1"
    engine.execute(
        "CREATE OR REPLACE TABLE twin AS SELECT one.code, main.code AS main, main.name, one.n, one.last FROM code one "
        f"JOIN (SELECT * FROM code WHERE plain <> '' QUALIFY {most}) main USING (plain) "
        f"WHERE one.code <> main.code AND (one.name IS NULL OR main.name IS NULL OR {alike})"
    )
    # Only the baskets of these few: to tell all codes of all baskets apart takes ten times as long.
    engine.execute(
        "CREATE OR REPLACE TABLE bought AS SELECT DISTINCT product::VARCHAR AS code, basket FROM rows WHERE "
        "drop_reason IS NULL AND product::VARCHAR IN (SELECT code FROM twin UNION SELECT main FROM twin)"
    )
    both = (
        "SELECT twin.code, count(*) AS met FROM twin JOIN bought a ON a.code = twin.code "
        "JOIN bought b ON b.code = twin.main AND b.basket = a.basket GROUP BY twin.code"
    )
    found = engine.execute(
        f"SELECT twin.code, main, name, n FROM twin LEFT JOIN ({both}) met USING (code) "
        f"WHERE coalesce(met, 0) <= {TOGETHER} * n ORDER BY n DESC, twin.code"
    )
    return [Twin(*row) for row in found]


def read_fold(path: str | Path) -> dict[str, str]:
    """A mapping file: a code and the one it is folded into, in two columns of CSV, under `from,to` or no header."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            lines = [[cell.strip() for cell in line] for line in csv.reader(stream) if any(line)]
    except OSError as error:
        raise InputError(f"the mapping {str(path)!r} cannot be read ({error.strerror}): give a CSV file") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"the mapping {str(path)!r} is no CSV in UTF-8 ({error}): save it as that") from None
    if lines and [cell.casefold() for cell in lines[0]] == ["from", "to"]:
        lines = lines[1:]
    odd = next((n for n, line in enumerate(lines, 1) if len(line) != 2 or not all(line)), None)
    if odd is not None:
        raise InputError(f"row {odd} of the mapping {str(path)!r} is {lines[odd - 1]}: write two columns, from and to")
    return flatten(dict(lines))


def flatten(fold: dict[str, str]) -> dict[str, str]:
    """The mapping with every code at its last target; a circle is refused.

    >>> flatten({"a": "b", "b": "c"})
    {'a': 'c', 'b': 'c'}
    """
    out = {}
    for code, target in fold.items():
        seen = {code}
        while target in fold and target != fold[target]:
            if target in seen:
                raise InputError(f"the mapping folds {code!r} into itself by way of {target!r}: leave one of them out")
            seen.add(target)
            target = fold[target]
        if code != target:
            out[code] = target
    return out


def make_fold_table(engine: Engine, fold: dict[str, str]) -> None:
    """The table `folded` of codes and their targets."""
    engine.execute("CREATE OR REPLACE TABLE folded (origin VARCHAR, target VARCHAR)")
    pairs = [f"({literal(code)}, {literal(target)})" for code, target in fold.items()]
    for first in range(0, len(pairs), 1_000):
        engine.execute(f"INSERT INTO folded VALUES {', '.join(pairs[first : first + 1_000])}")
