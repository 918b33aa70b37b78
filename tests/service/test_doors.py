"""The same questions give the same answers at every door: in Python, on the command line and over HTTP."""

import json
import math
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.main import get_command

import omba
from omba.cli import app, run
from omba.errors import OmbaError
from omba.live.keeper import Keeper
from omba.model import OMBA
from omba.rules import Filter, Rules, lsh
from omba.rules.from_model import catalogue_of, mining_input
from omba.rules.rule_columns import SPELLINGS
from omba.rules.rules import join_tables
from omba.rules.rules_table import read_rules
from omba.service.views.rule_index import FIELDS
from omba.service.views.rule_key import key_of
from omba.service.views.view import View
from omba.store import ModelFolder
from serving import served

RULES, OTHERS = 100, 300
"""Questions about rules, which are mined anew for each, and of each other kind, half of them in each of two shops: what
is similar, what goes with a basket, and why."""
ODD = ("²", "--5", "no such thing", "5" * 50, "-", "1e3", "٣", "0x7", " ")
COLUMNS = ("lift", "support", "confidence", "count", "similarity", "expected_lift_low", "value", "antecedent_support")
TOP = 12


def shop(numbered: bool) -> omba.Baskets:
    """Baskets of 60 products in six departments, with prices; or of products that are numbers, and nothing else."""
    rng = np.random.default_rng(3)
    chance = 1.0 / np.arange(4, 64)
    rows = []
    for basket in range(900):
        held = set(rng.choice(60, rng.integers(2, 6), p=chance / chance.sum()).tolist())
        if rng.random() < 0.5:
            first = int(rng.integers(12))
            held |= {first, first + 30, first + 45} if rng.random() < 0.4 else {first, first + 30}
        for item in sorted(held):
            rows.append((basket, basket % 40, basket // 45, 100 + item, 1.0 + item % 9))
    names = ("basket_id", "user_id", "timestamp", "product", "price")
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    if numbered:
        return omba.read_baskets(table.drop_columns(["price"]))
    number = table["product"].to_numpy()
    label = pa.array([f"product {item}" for item in number])
    department = pa.array([f"Department {item % 6}" for item in number])
    return omba.read_baskets(table.set_column(3, "product", label).append_column("department", department))


@dataclass
class Doors:
    """One model, behind all of them."""

    folder: str
    model: OMBA
    client: Any
    table: Rules
    view: View

    def command(self, *arguments: str) -> Any:
        """What a command answers; None where it refuses."""
        # Not by pytest's capture: what else runs in this process may have standard output for itself for a moment.
        with redirect_stdout(StringIO()) as said:
            status = run([*arguments[:1], "--model", self.folder, "--json", "-", *arguments[1:]])
        assert status in (0, 2), arguments
        return json.loads(said.getvalue()) if status == 0 else None

    def http(self, path: str, **params: Any) -> Any:
        """What the service answers; None where it refuses."""
        answer = self.client.get(path, params={name: value for name, value in params.items() if value is not None})
        assert answer.status_code in (200, 404, 422), answer.text[:300]
        assert answer.status_code == 200 or answer.json()["error"]
        return answer.json() if answer.status_code == 200 else None


@pytest.fixture(scope="module", params=["named", "numbered"])
def doors(request, tmp_path_factory):
    """A model in a folder and the doors to it. It is small, so tables are made for it that a larger one would need."""
    patch = pytest.MonkeyPatch()
    patch.setattr(lsh, "MANY", 1)
    folder = tmp_path_factory.mktemp("doors") / request.param
    model, keeper = OMBA(dim=12, epochs=2, pairs=20_000), Keeper(folder, "week", fresh=True)
    for window in shop(request.param == "numbered").windows("1d"):
        keeper.learn(model, window)
    keeper.finish(model)
    given = mining_input(model)
    assert given.choose().shape != (4, 11), "or nothing is told from the paper's F and H"
    # Typer would build all commands anew for each question.
    patch.setattr("omba.cli.app", get_command(app))
    # The command line loads a model and prepares it for each question; here it is the same one every time.
    patch.setattr(OMBA, "load", staticmethod(lambda folder: model))
    patch.setattr("omba.rules.from_model.mining_input", lambda model, evidence=None: given)
    patch.setattr(import_module("omba.cli.rules"), "mining_input", lambda model: given)
    table = read_rules(ModelFolder(folder).history.entries[-1].rules, catalogue_of(model))
    with served(folder) as client:
        yield Doors(str(folder), model, client, table, View.now(model, table))
    patch.undo()


def pick(rng: np.random.Generator, doors: Doors, odd: float = 0.1) -> str:
    """A product, as somebody would type it; now and then one that there is not."""
    if rng.random() < odd:
        return str(rng.choice(ODD))
    return str(doors.model.products[int(rng.integers(len(doors.model.products)))])


def python(question: Any) -> Any:
    """What Python answers; None where it refuses."""
    try:
        return question()
    except OmbaError:
        return None


def close(one: Any, other: Any) -> bool:
    """Whether two values are the same, but for the digits that JSON leaves out; what is not finite is null there."""
    values = [None if isinstance(x, float) and not math.isfinite(x) else x for x in (one, other)]
    if any(value is None or isinstance(value, str | list) for value in values):
        return values[0] == values[1]
    return bool(abs(values[0] - values[1]) <= 1e-4 * max(abs(values[0]), 1e-3))


def draw_filter(rng: np.random.Generator, doors: Doors) -> dict[str, Any]:
    """Some of the filters there are, of any kind."""
    wanted: dict[str, Any] = {}
    for side in ("product", "antecedent", "consequent"):
        if rng.random() < 0.12:
            wanted[side] = pick(rng, doors)
    if rng.random() < 0.15:
        wanted["category"] = str(rng.choice(["Department 1", "department 3", "Department", "²"]))
    if rng.random() < 0.2:
        low = float(rng.integers(1, 9))
        wanted |= {"min_price": low, "max_price": low + float(rng.integers(-1, 6))}
    if rng.random() < 0.25:
        wanted["status"] = str(rng.choice(["observed", "rare", "unseen", "often"]))
    if rng.random() < 0.1:
        wanted["length"] = int(rng.integers(2, 4))
    for end in ("minimum", "maximum"):
        if rng.random() < 0.2:
            wanted[end] = {str(rng.choice(COLUMNS)): float(rng.choice([0.001, 0.5, 1.0, 3.0, 8.0]))}
    return wanted


def ask_http(doors: Doors, wanted: dict[str, Any], sort: str | None, order: str | None = None, text: str = "") -> Any:
    params = {name: value for name, value in wanted.items() if name not in ("minimum", "maximum", "length")}
    for end in ("min", "max"):
        params |= {f"{end}_{name}": value for name, value in wanted.get(f"{end}imum", {}).items()}
        if "length" in wanted:
            params[f"{end}_length"] = wanted["length"]
    return doors.http("/rules", **params, sort=sort, order=order, text=text, limit=1000, families="all")


def ask_command(doors: Doors, wanted: dict[str, Any], sort: str | None) -> Any:
    arguments = [f"--top={TOP}"] + ([] if sort is None else [f"--sort={sort}"])
    for name, value in wanted.items():
        if name in ("minimum", "maximum"):
            arguments += [f"--{name[:3]}={column}={bound}" for column, bound in value.items()]
        else:
            arguments.append(f"--{name.replace('_', '-')}={value}")
    return doors.command("rules", *arguments)


def sides(rule: dict[str, Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    return tuple(rule["antecedents"]), tuple(rule["consequents"])


def same_numbers(doors: Doors, rule: dict[str, Any], known: dict[Any, dict[str, Any]]) -> None:
    """A rule that was mined has the numbers that the service gives it: from its table, or made on request."""
    there = known.get(sides(rule))
    if there is None and len(rule["antecedents"]) == 1:
        there = doors.http(f"/rules/{key_of(*sides(rule))}")["rule"]
    if there is None:
        return
    for name, column in FIELDS.items():
        if column in rule and not (sides(rule) not in known and name == "p_adjusted"):
            assert close(rule[column], there[name]), (sides(rule), name, rule[column], there[name])


@pytest.mark.slow
def test_a_thousand_questions_have_the_same_answers_at_every_door(doors):
    rng = np.random.default_rng(11)
    everything = {sides(rule): rule for rule in doors.http("/rules", limit=1000)["rules"]}
    refused = answered = 0
    for number in range(OTHERS // 2):
        for kind in ((rules,) if number < RULES // 2 else ()) + (similar, rank, explain):
            if kind(doors, rng, everything) is None:
                refused += 1
            else:
                answered += 1
    assert min(refused, answered) > OTHERS // 6, "questions of one kind alone prove little"


def rules(doors: Doors, rng: np.random.Generator, everything: dict[Any, dict[str, Any]]) -> Any:
    wanted = draw_filter(rng, doors)
    sort = str(rng.choice([*COLUMNS, "fishers_p", "lfit"])) if rng.random() < 0.5 else None
    order = str(rng.choice(["asc", "desc"])) if rng.random() < 0.2 else None
    text = str(rng.choice(["1", "PRODUCT 11", "x"])) if rng.random() < 0.2 else ""

    def whole() -> Rules:
        where = Filter.of({**wanted, "text": text})
        return everything_known(doors, where).where(where).sort(sort or "expected_lift_low", order)

    table, page = python(whole), ask_http(doors, wanted, sort, order, text)
    if table is None or page is None:
        assert table is None, wanted
        assert page is None, wanted
    else:
        assert page["total"] == len(table), (wanted, sort, order, text)
        name = sort or "expected_lift_low"
        column = SPELLINGS.get(name, name)
        assert all(map(close, [rule[name] for rule in page["rules"]], known(table[:1000], column))), (wanted, sort)
        there = dict(zip(table.sides, range(len(table)), strict=True))
        for rule in page["rules"][:5]:
            for name in ("lift", "probability", "collisions", "expected_lift", "value"):
                assert close(rule[name], known(table, name)[there[sides(rule)]]), name
    column = sort or "expected_lift_low"
    mined, plain = ask_command(doors, wanted, sort), ask_http(doors, wanted, column)
    assert (mined is None) == (plain is None), (wanted, sort)
    if mined is None or plain is None:
        return None
    for rule in mined[:3]:
        same_numbers(doors, rule, everything)
    same_order(mined, plain["rules"], column)
    return mined


def everything_known(doors: Doors, where: Filter) -> Rules:
    """The kept rules and all counted pairs; a product asked for stands on its side."""
    search, catalogue = doors.view.rule_search, doors.view.catalogue
    left, right = search.left, search.right
    for asked, side in ((where.antecedent, 1), (where.consequent, 0)):
        if asked is not None:
            turned = (left, right)[side] == catalogue.row(asked)
            left, right = np.where(turned, right, left), np.where(turned, left, right)
    return join_tables([doors.table, doors.view.pair_index.rules_from(left, right)])


def same_order(mined: list[Any], listed: list[Any], column: str) -> None:
    """The rules that both found stand in the same order; equal ones in any."""
    both = {sides(rule) for rule in mined} & {sides(rule) for rule in listed}
    name = FIELDS.get(column, column)
    if both and name in mined[0]:
        values = [rule[name] for rule in mined if sides(rule) in both]
        assert all(map(close, values, [rule[column] for rule in listed if sides(rule) in both])), column


def known(table: Rules, name: str) -> list[Any]:
    values = table.numbers(name)
    return [None if not math.isfinite(value) else value for value in values.tolist()]


def similar(doors: Doors, rng: np.random.Generator, everything: Any) -> Any:
    product = pick(rng, doors, 0.3)
    in_python = python(lambda: doors.model.similar(product, 5))
    command = doors.command("similar", "--top=5", "--", product)
    page = doors.http(f"/products/{product}") if product.strip() else None
    assert (in_python is None) == (command is None) == (page is None), product
    if in_python is not None:
        assert [(one["product"], one["similarity"]) for one in command] == in_python
        assert [one["id"] for one in page["similar"][:5]] == [label for label, _ in in_python]
        assert all(
            abs(one["similarity"] - cosine) < 1e-3 for one, (_, cosine) in zip(page["similar"], in_python, strict=False)
        )
    return in_python


def rank(doors: Doors, rng: np.random.Generator, everything: Any) -> Any:
    basket = [pick(rng, doors, 0.2) for _ in range(int(rng.integers(1, 5)))]
    basket = [name for name in basket if name.strip()] or ["²"]
    user = str(rng.choice([*map(str, doors.model.users), *ODD])) if rng.random() < 0.6 else None
    in_python = python(lambda: doors.model.rank(basket, user, 5))
    command = doors.command(
        "rank", f"--basket={','.join(basket)}", "--top=5", *([] if user is None else [f"--user={user}"])
    )
    answer = doors.http("/rank", products=basket, user=user, n=5)
    assert in_python is not None
    assert [(one["product"], one["chance"]) for one in command] == in_python
    assert [one["product"] for one in answer["suggestions"]] == [label for label, _ in in_python]
    assert all(
        abs(one["chance"] - chance) < 1e-3 for one, (_, chance) in zip(answer["suggestions"], in_python, strict=True)
    )
    return in_python


def explain(doors: Doors, rng: np.random.Generator, everything: Any) -> Any:
    a, b = pick(rng, doors), pick(rng, doors)
    found = python(lambda: mining_input(doors.model).explainer.explain(a, b))
    command = doors.command("explain", "--", a, b)
    answer = doors.http("/explain", antecedent=a, consequent=b)
    assert (found is None) == (command is None) == (answer is None), (a, b)
    if found is None:
        return None
    assert command == json.loads(json.dumps(found.to_dict()))
    assert answer["text"] == found.sentences()
    for ours, theirs in ((found.bridges, answer["bridges"]),):
        mine = sorted((str(one.product), one.count_a, one.count_b) for one in ours)
        assert mine == sorted((str(one["product"]), one["count_a"], one["count_b"]) for one in theirs)
    assert answer["users"] == (None if found.shoppers is None else found.shoppers.number)
    assert [(one["antecedents"], one["count"]) for one in answer["nearest"]] == [
        ([one.a], one.count) for one in found.seen
    ]
    return found


def test_a_range_of_prices_without_prices_is_refused_in_the_same_words(doors, capsys):
    if doors.model.prices.known:
        where = Filter(min_price=1)
        there = everything_known(doors, where).where(where)
        assert doors.client.get("/rules", params={"min_price": 1, "families": "all"}).json()["total"] == len(there)
        return
    with pytest.raises(OmbaError, match="no prices are known") as raised:
        doors.table.filter(min_price=1)
    answer = doors.client.get("/rules", params={"min_price": 1})
    assert (answer.status_code, answer.json()["error"]) == (422, str(raised.value))
    assert run(["rules", "--model", doors.folder, "--min-price", "1"]) == 2
    assert "no prices are known" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("name", ["²", "--5", "5" * 5000])
def test_a_name_that_looks_like_a_number_is_an_unknown_product(doors, name):
    for question in (doors.model.similar, catalogue_of(doors.model).find, lambda x: doors.table.filter(product=x)):
        with pytest.raises(OmbaError, match="is not known"):
            question(name)
