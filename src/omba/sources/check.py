"""Check: what is in a source and what is odd about it, before it is learned.

Each finding has a figure, an example, and the option that deals with it. All of it is counted by DuckDB where the rows
lie, so half a million of them take seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Unpack

from omba.baskets import Clock
from omba.baskets.reasons import EXCLUDED, UNPAID
from omba.errors import InputError
from omba.sources.columns import ROLES
from omba.sources.engine import identifier
from omba.sources.non_products import find_non_products
from omba.sources.reading import ReadOptions, open_stream
from omba.sources.sorting import SortedStream
from omba.sources.twins import find_twins
from omba.sources.wording import number_of

KEPT = "FROM rows WHERE drop_reason IS NULL"
DEAR = 100
"""A price so many times its product's median, or below it, is out of line."""
GAP = 3.0
"""A pause so many times as long as the longest that is usual (one of a hundred days with baskets) is a gap."""


@dataclass(frozen=True)
class Oddity:
    """One thing that is odd about a source.

    Parameters
    ----------
    kind
        What it is, in a word or two: `duplicates`, `two codes`, `not a product`, …
    sentence
        What was found.
    count
        How many rows, codes or baskets it is about.
    example
        One of them.
    remedy
        The option that deals with it, or what is done anyway.
    """

    kind: str
    sentence: str
    count: int
    example: str
    remedy: str


@dataclass(frozen=True)
class Check:
    """What is in a source, and what is odd about it.

    Parameters
    ----------
    title
        The source.
    facts
        Its sizes, by what they are called.
    findings
        What is odd, what concerns most first.
    """

    title: str
    facts: dict[str, str]
    findings: list[Oddity]

    def to_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)

    def __iter__(self) -> Iterator[Oddity]:
        return iter(self.findings)

    def __str__(self) -> str:
        lines = [f"{name}: {fact}" for name, fact in self.facts.items()]
        lines += [f"{one.kind}: {one.sentence} ({one.example}). {one.remedy}" for one in self.findings]
        return "\n".join([self.title, *lines])


def check(source: Any, step: Callable[[str], None] = lambda what: None, **options: Unpack[ReadOptions]) -> Check:
    """Look at a source before it is learned. The options are those of `read_baskets`; `step` hears what is looked at.

    Parameters
    ----------
    source
        As in `read_baskets`.
    step
        A function that gets a line about what is looked at.
    options
        Those of `read_baskets`.

    >>> import pyarrow as pa
    >>> rows = {"basket": [1, 1, 2, 2], "product": ["85123A", "tea", "85123a", "tea"]}
    >>> [finding.kind for finding in check(pa.table(rows))]
    ['two codes']
    """
    step("reading")
    given = {role: options.get(role) for role in ROLES}
    with open_stream(source, given, options, "1d", bounded=True) as stream:
        if not isinstance(stream, SortedStream):
            raise InputError("lists of products have no rows to check: give a file or a data frame")
        return check_stream(stream, step)


def check_stream(stream: SortedStream, step: Callable[[str], None] = lambda what: None) -> Check:
    """The same of a stream that is open."""
    look = _Look(stream)
    findings: list[Oddity] = []
    for question in (
        look.gaps, look.duplicates, look.returns, look.unpaid, look.zero_prices, look.prices, look.twins,
        look.non_products, look.exclusions, look.nobodies, look.names, look.namesakes, look.nameless,
    ):  # fmt: skip
        step(question.__name__.replace("_", " "))
        findings += question()
    return Check(stream.source.title, look.facts(), findings)


def find_misleading(stream: SortedStream) -> list[Oddity]:
    """Of what is odd about a stream, what bears on the rules of a model that learns it."""
    look = _Look(stream)
    return [*look.prices(), *look.twins(), *look.non_products(), *look.names(), *look.namesakes()]


class _Look:
    """The questions that are asked of a stream's rows."""

    def __init__(self, stream: SortedStream) -> None:
        self.stream, self.engine, self.roles = stream, stream.engine, stream.columns.roles
        self.named = "name" in stream.columns.attributes
        self.report = stream.report

    def ask(self, sql: str) -> tuple[Any, ...]:
        return self.engine.execute(sql)[0]

    def facts(self) -> dict[str, str]:
        """Columns, span and sizes."""
        rows, kept, products = self.ask(
            "SELECT count(*), count(*) FILTER (WHERE drop_reason IS NULL), "
            "count(DISTINCT product) FILTER (WHERE drop_reason IS NULL) FROM rows"
        )
        facts = {
            "columns": ", ".join(f"{role} = {name!r}" for role, name in self.roles.items()),
            "attributes": ", ".join(map(repr, self.stream.columns.attributes.values())),
        }
        if self.stream.clock is not Clock.NONE:
            first, last = self.ask("SELECT min(time), max(time) FROM visits")
            if first is not None:
                facts["span"] = " to ".join(str(self.stream.clock.show(tick)) for tick in (first, last))
        sizes = f"SELECT count(DISTINCT product) AS n {KEPT} GROUP BY basket"
        middle, large, most = self.ask(f"SELECT median(n), quantile_disc(n, 0.95), max(n) FROM ({sizes})")
        facts["rows"] = f"{rows:,}, {kept:,} of them usable"
        facts["baskets"] = f"{self.stream.total:,}"
        facts["products"] = f"{products:,}"
        if "user" in self.roles:
            users, without = self.ask(
                'SELECT count(DISTINCT "user"), count(*) FILTER (WHERE "user" IS NULL) FROM visits'
            )
            facts["users"] = f"{users:,}; {without:,} baskets are of nobody known"
        if middle is not None:
            facts["products a basket"] = (
                f"{middle:.0f} in the middle one, {large:,} in a large one (95%), {most:,} at most"
            )
        return {name: fact for name, fact in facts.items() if fact}

    def gaps(self) -> Iterator[Oddity]:
        if self.stream.clock is Clock.NONE:
            return
        day = "time" if self.stream.clock is Clock.DAY else "time // 86400000000"
        pauses = f"SELECT d, d - lag(d) OVER (ORDER BY d) AS pause FROM (SELECT DISTINCT {day} AS d FROM visits)"
        usual, days = self.ask(f"SELECT quantile_disc(pause, 0.99), count(*) FROM ({pauses})")
        if usual is None or days < 10:
            return
        found = self.engine.execute(
            f"SELECT d - pause, pause FROM ({pauses}) WHERE pause > {GAP} * {usual} ORDER BY pause DESC"
        )
        if found:
            begin, pause = found[0]
            after = begin if self.stream.clock is Clock.DAY else self.stream.clock.show(begin * 86_400_000_000)
            yield Oddity(
                "gaps", f"{number_of(len(found), 'pause is', 'pauses are')} far longer than usual", len(found),
                f"{pause} days after {str(after)[:10]}", "look whether a file is missing",
            )  # fmt: skip

    def duplicates(self) -> Iterator[Oddity]:
        names = ", ".join(identifier(role) for role in self.roles)
        twice = f"SELECT {names}, count(*) AS n {KEPT} GROUP BY {names} HAVING count(*) > 1"
        whose = "basket" if "basket" in self.roles else '"user"'
        found = self.engine.execute(
            f"SELECT {whose}, product, n, (sum(n - 1) OVER ())::BIGINT FROM ({twice}) ORDER BY n DESC, {whose} LIMIT 1"
        )
        for basket, product, n, rows in found:
            yield Oddity(
                "duplicates", f"{number_of(rows, 'row repeats', 'rows repeat')} another one, alike in all columns",
                int(rows), f"{product!r} {n} times in {basket!r}", "merged: a product counts once a basket",
            )  # fmt: skip

    def returns(self) -> Iterator[Oddity]:
        if "quantity" in self.roles:
            n, product = self.ask("SELECT count(*), any_value(product) FROM rows WHERE quantity <= 0")
            if n:
                yield Oddity(
                    "returns",
                    f"{number_of(n, 'row has', 'rows have')} a quantity of zero or less",
                    n,
                    f"{product!r}",
                    "dropped as returns",
                )

    def unpaid(self) -> Iterator[Oddity]:
        rows = self.report.dropped[UNPAID]
        if rows:
            n, basket = self.ask(f"SELECT count(DISTINCT basket), min(basket) FROM rows WHERE drop_reason = '{UNPAID}'")
            yield Oddity(
                "no sales",
                f"{number_of(n, 'basket has', 'baskets have')} no price above zero ({number_of(rows, 'row', 'rows')})",
                n,
                f"basket {basket!r}",
                "dropped",
            )

    def zero_prices(self) -> Iterator[Oddity]:
        if "price" not in self.roles:
            return
        n, product = self.ask(f"SELECT count(*), any_value(product) {KEPT} AND price <= 0")
        if n:
            yield Oddity(
                "prices of zero", f"{number_of(n, 'row', 'rows')} in baskets that were paid cost nothing or less",
                n, f"{product!r}", "kept; the price is taken as not known",
            )  # fmt: skip

    def prices(self) -> Iterator[Oddity]:
        if "price" not in self.roles:
            return
        middles = f"SELECT product, median(price) AS middle {KEPT} AND price > 0 GROUP BY product HAVING count(*) >= 5"
        odd = (
            f"SELECT rows.product, price, middle FROM rows JOIN ({middles}) m ON rows.product = m.product WHERE "
            f"drop_reason IS NULL AND price > 0 AND (price > {DEAR} * middle OR price * {DEAR} < middle)"
        )
        found = self.engine.execute(
            f"SELECT *, count(*) OVER () FROM ({odd}) ORDER BY greatest(price / middle, middle / price) DESC LIMIT 1"
        )
        for product, price, middle, n in found:
            yield Oddity(
                "prices out of line",
                f"{number_of(n, 'row is', 'rows are')} {DEAR} times as dear as usual for the product, or a hundredth",
                n, f"{product!r} at {price:,.2f}, usually {middle:,.2f}", "--exclude it if it is no product",
            )  # fmt: skip

    def twins(self) -> Iterator[Oddity]:
        found = find_twins(self.engine, self.named, "price" in self.roles)
        if found:
            baskets = sum(twin.baskets for twin in found)
            yield Oddity(
                "two codes",
                f"{number_of(len(found), 'code is', 'codes are')} another one's product by spelling and name, and "
                f"never in its baskets ({number_of(baskets, 'basket', 'baskets')})",
                len(found), f"{found[0].code!r} and {found[0].of!r}", "--fold folds them; --fold FILE says which",
            )  # fmt: skip

    def non_products(self) -> Iterator[Oddity]:
        found = find_non_products(self.engine, self.named, "price" in self.roles)
        if found:
            one = found[0]
            more = "more " if self.report.dropped[EXCLUDED] else ""
            baskets = sum(one.baskets for one in found)
            codes = ",".join(one.code for one in found[:8])
            yield Oddity(
                "not a product",
                f"{number_of(len(found), f'{more}code seems to be no product', f'{more}codes seem to be no products')}"
                f", in {number_of(baskets, 'basket', 'baskets')}",
                len(found), f"{one.code!r}, {one.name or 'without a name'}: {', '.join(one.clues)}",
                f"--exclude auto leaves them out; or name them: --exclude {codes!r}",
            )  # fmt: skip

    def exclusions(self) -> Iterator[Oddity]:
        rows = self.report.dropped[EXCLUDED]
        if rows:
            codes = ", ".join(map(repr, self.stream.identity.exclude[:5]))
            yield Oddity(
                "left out", f"{number_of(rows, 'row is', 'rows are')} no product", rows, codes,
                "left out, by --exclude or beyond doubt; --exclude none keeps them",
            )  # fmt: skip

    def nobodies(self) -> Iterator[Oddity]:
        for user in self.stream.identity.nobody:
            said = next((note for note in self.report.notes if note.startswith(f"customer {user!r}")), "")
            if said:
                yield Oddity(
                    "nobody", said.partition(": ")[2], 1, f"customer {user!r}", "his baskets stay, without a user"
                )

    def names(self) -> Iterator[Oddity]:
        if not self.named:
            return
        voted = "FROM vote0 GROUP BY product HAVING count(*) > 1"
        (n,) = self.ask(f"SELECT count(*) FROM (SELECT product {voted})")
        if n:
            product, names = self.ask(
                f"SELECT product, list(value ORDER BY weight DESC) {voted} ORDER BY count(*) DESC, product LIMIT 1"
            )
            shown = ", ".join(map(repr, names[:3]))
            yield Oddity(
                "names in conflict", f"{number_of(n, 'product goes', 'products go')} by several names",
                n, f"{product!r}: {shown}", "the name it mostly and lately has counts",
            )  # fmt: skip

    def namesakes(self) -> Iterator[Oddity]:
        """Products of one name under codes that are not spelt alike: one that was numbered anew, or two that the name
        does not tell apart."""
        if not self.named:
            return
        plain = "ltrim(upper(regexp_replace(product::VARCHAR, '\\s', '', 'g')), '0')"
        shared = (
            f"SELECT value, list(product::VARCHAR ORDER BY product) AS codes FROM best0 WHERE product IN "
            f"(SELECT product {KEPT}) GROUP BY value HAVING count(DISTINCT {plain}) > 1"
        )
        found = self.engine.execute(
            "SELECT value, codes, count(*) OVER (), (sum(len(codes)) OVER ())::BIGINT "
            f"FROM ({shared}) ORDER BY len(codes) DESC, value LIMIT 1"
        )
        for name, some, n, codes in found:
            shown = ", ".join(map(repr, some[:3]))
            yield Oddity(
                "one name, several codes",
                f"{number_of(n, 'name is', 'names are')} of {codes:,} codes that are not spelt alike", n,
                f"{name!r}: {shown}", "codes are shown beside the names; --fold FILE folds those that are one product",
            )  # fmt: skip

    def nameless(self) -> Iterator[Oddity]:
        if self.named:
            n, product = self.ask(
                f"SELECT count(*), min(product) FROM (SELECT DISTINCT product {KEPT}) WHERE product NOT IN "
                "(SELECT product FROM best0)"
            )
            if n:
                yield Oddity(
                    "no name",
                    f"{number_of(n, 'product has', 'products have')} no name",
                    n,
                    f"{product!r}",
                    "they go by their code",
                )
