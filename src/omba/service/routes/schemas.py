"""Schemas: what requests may hold and what answers do. Extra fields are refused, so that a slip is told."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, create_model
from typing_extensions import TypedDict

from omba.assortment.relations import RELATIONS
from omba.rules.filter import SEASONS
from omba.service.views.rule_index import FIELDS, NUMBERS

MOST = 1_000
"""Rules, products or suggestions of one answer."""
MOST_BASKETS, MOST_PRODUCTS, MOST_IN_BASKET = 10_000, 2_000, 100
"""Baskets of one request, products of one of them, and of one that suggestions are wanted for."""

Text = Annotated[str, StringConstraints(max_length=200)]
Id = (
    Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
    | Annotated[str, StringConstraints(min_length=1, max_length=200)]
)
"""A product, user, store or basket: text, or a whole number."""
Name = int | str
"""The same in answers, as the data had it."""
Moment = Annotated[
    str | None, Field(max_length=40, description="Take the answer back to the window kept at this moment.")
]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(Strict):
    """What went wrong, in one sentence."""

    error: str = Field(examples=["product 'frostng' is not known here; did you mean 'frosting'?"])


# Answers.

EXAMPLES: dict[str, Any] = {"status": "observed", "count": 312, "support": 0.0128, "confidence": 0.41, "lift": 31.9}

_fields: dict[str, Any] = {
    name: (
        {"status": Literal["observed", "rare", "unseen"], "relation": Literal[*RELATIONS] | None, "season": str}.get(
            name, float | None
        ),
        Field(examples=[EXAMPLES[name]]) if name in EXAMPLES else Field(),
    )
    for name in FIELDS
}
_Measured = create_model("_Measured", __base__=Strict, **_fields)


class Rule(_Measured):  # type: ignore[misc, valid-type]
    """A rule with every measure; null is what is not known, has no bound, or (exact probabilities on the page of a
    product) would take long."""

    key: str = Field(description="The rule's name in addresses.", examples=["W1siY2FrZSBtaXgiXSxbImZyb3N0aW5nIl1d"])
    antecedents: list[Name] = Field(examples=[["cake mix"]])
    consequents: list[Name] = Field(examples=[["frosting"]])
    antecedent_names: list[str | None] | None = Field(description="Names beside the labels, where products have them.")
    consequent_names: list[str | None] | None
    count_at_least: bool = Field(description="Whether `count` is a lower bound, and what follows from it too.")


class Rules(Strict):
    total: int
    offset: int
    limit: int
    sort: str
    kept_only: bool = Field(
        description="Whether only kept rules were looked at, since of that moment no pairs are known."
    )
    rules: list[Rule]


class Change(Rule):
    """A pair that changed, with its baskets and its lift in the time before and in the time since."""

    before: float | None = Field(description="Its lift before; null where one of the products was not sold then.")
    since: float | None = Field(description="Its lift in the baskets since; null where one was not sold.")
    count_before: int = Field(description="Baskets with both before, at least.")
    count_since: int = Field(description="Baskets with both since, at least.")
    count_before_most: int = Field(description="The same at most: another number where the count was not kept.")
    count_since_most: int
    explained: float | None = Field(description="Baskets since that the products' own sales explain.")
    note: str = Field(description="'first sold since' or 'not sold since', where that is so of one of them.")
    sentence: str


class Changes(Strict):
    from_: str = Field(alias="from")
    to: str
    note: str = Field(description="What is to be said of the comparison as a whole.")
    counts: dict[str, int]
    emerged: list[Change]
    strengthened: list[Change]
    faded: list[Change]
    vanished: list[Change]


class Bridge(Strict):
    """A product seen with both."""

    product: Name
    count_a: int
    lift_a: float
    count_b: int
    lift_b: float
    at_least_a: bool = Field(description="Whether `count_a` is a lower bound.")
    at_least_b: bool


class Pair(Strict):
    """A pair that was seen, of products near the two in question."""

    key: str
    antecedents: list[Name]
    consequents: list[Name]
    count: int
    count_at_least: bool
    lift: float


class Explanation(Strict):
    text: list[str]
    bridges: list[Bridge]
    users: int | None = Field(description="Users who lately bought both.")
    nearest: list[Pair]


class RulePoint(Strict):
    """A rule at the end of a kept window; null where it was not among the best."""

    at: str
    rank: int | None
    count: int | None
    support: float | None
    lift: float | None
    expected_lift: float | None
    expected_lift_low: float | None
    expected_lift_high: float | None


class RulePage(Strict):
    rule: Rule
    explanation: Explanation
    history: list[RulePoint]


class Product(Strict):
    id: Name
    name: str | None = Field(description="A name beside the label, such as a description beside an article number.")
    category: str | None
    department: str | None
    count: int
    price: float | None


class Products(Strict):
    total: int
    products: list[Product]


class Similar(Strict):
    id: Name
    similarity: float
    count: int


class Near(Strict):
    id: Name
    similarity: float


class ProductPoint(Strict):
    """A product at the end of a kept window: sold since the one before, and its cosine with today's nearest."""

    at: str
    sold: int
    price: float | None
    count: int
    top: list[Near]


class Related(Strict):
    """A product that is bought with or instead of another."""

    id: Name
    probability: float
    sentence: str = Field(description="What that rests on.")


class ProductPage(Strict):
    id: Name
    attributes: dict[str, Any]
    count: int
    support: float
    price: float | None
    observed: list[Rule]
    unseen: list[Rule]
    similar: list[Similar]
    substitutes: list[Related]
    complements: list[Related]
    family: str | None = Field(description="What the variants of one thing are called that it is one of.")
    season: str = Field(description="The months in which most of it is sold; empty for all year.")
    history: list[ProductPoint]


class Users(Strict):
    total: int
    users: list[Name]


class Reason(Strict):
    because: Name = Field(description="A product of the basket, or 'customer'.")
    share: float


class Suggested(Strict):
    product: Name
    score: float
    chance: float | None = Field(
        description="The chance that it is bought on this visit, of an empty basket on the next; null of the past."
    )
    price: float | None
    reasons: list[Reason]


class Suggestions(Strict):
    suggestions: list[Suggested]
    unknown: list[Name] = Field(description="Products and user that the model does not know, and that were left out.")


class Habit(Strict):
    product: Name
    count: int = Field(description="Visits at which it was bought, since it is remembered.")
    last: str | int = Field(description="When last: a date, or a number where the baskets have days or no time.")
    every: float | None = Field(description="Days from one purchase to the next, on average.")
    due: bool = Field(description="Whether most of that time has passed.")


class Expected(Strict):
    product: Name
    chance: float | None = Field(description="The chance that it is in the next basket.")
    price: float | None
    count: int
    last: str | int | None
    every: float | None
    due: bool
    reasons: list[Reason]


class CustomerPage(Strict):
    id: Name
    visits: int
    last: str | int | None = Field(description="When the last visit was.")
    expected_size: float = Field(description="How many products the next basket is expected to hold.")
    products: list[Habit] = Field(description="What the customer buys, the strongest habit first.")
    rebuy: list[Expected] = Field(description="What they will likeliest buy again.")
    discover: list[Expected] = Field(description="What is new to them, and likeliest.")


class Map(Strict):
    """Columns, a place for each product."""

    departments: list[str]
    products: list[Name]
    names: list[str | None] | None = Field(description="Names beside the labels, where products have them.")
    x: list[float]
    y: list[float]
    department: list[int]
    count: list[int]


class Span(Strict):
    start: str | None
    stop: str | None
    baskets: int
    products_sold: int = Field(description="Products in all its baskets together.")


class Point(Strict):
    at: str
    baskets: int = Field(description="Baskets since the window kept before.")


class Today(Strict):
    window: Span
    since: str | None
    new_products: int
    note: str = Field(description="What is to be said of the comparison as a whole.")
    counts: dict[str, int] = Field(description="How many rules emerged, strengthened, faded and vanished in all.")
    emerged: list[Change]
    strengthened: list[Change]
    faded: list[Change]
    vanished: list[Change]
    strongest: list[Rule]
    unseen: list[Rule]
    series: list[Point]


class KeptWindow(Strict):
    at: str
    baskets: int
    products: int


class LastWindow(Strict):
    start: str | int | None = Field(description="A date and time, or a day's number where baskets count days.")
    stop: str | int | None
    baskets: int


class Status(Strict):
    version: str
    baskets_accepted: int
    baskets_learned: int
    baskets_published: int = Field(description="Baskets learned in the state that answers come from.")
    baskets_waiting: int
    baskets_unread: int = Field(description="Baskets that the learner has not looked at; others wait for their window.")
    oldest_waiting: float = Field(description="Seconds that the oldest of those has waited.")
    baskets_late: int
    baskets_of_returns: int = Field(description="Baskets of returns only; nothing of them is learned.")
    baskets_quarantined: int = Field(description="Baskets that the learner has failed at, in quarantine.jsonl.")
    baskets_lost: int = Field(description="Baskets that the journal has lost and that were given up.")
    baskets_repeated: int
    windows_closed: int
    last_window: LastWindow | None
    learning: bool
    error: str | None
    heartbeat: float | None = Field(description="Seconds since the learner's last sign of life.")
    restarts: int = Field(description="How often the learner ended and was started again.")
    failures: int = Field(description="How often it did so in a row.")
    products: int
    users: int
    rules: int
    pairs: int
    memory: int = Field(
        description="Bytes of memory that the processes that take requests, make states ready and answer hold together."
    )
    clock: Literal["none", "day", "datetime"]
    history: list[KeptWindow]
    settings: dict[str, Any]


class Health(Strict):
    status: Literal["ok", "failing"]
    error: str | None = None
    heartbeat: float | None = Field(None, description="Seconds since the learner's last sign of life.")
    restarts: int = 0
    baskets_waiting: int = 0
    baskets_unread: int = 0
    oldest_waiting: float = 0.0


# Requests.


class _RuleParameters(Strict):
    """Filters, order and page of /rules."""

    text: Text = ""
    product: Text | None = None
    antecedent: Text | None = None
    consequent: Text | None = None
    category: Text | None = None
    status: Literal["observed", "rare", "unseen"] | None = None
    relation: Literal[*RELATIONS] | None = None  # type: ignore[valid-type]
    season: Literal[*SEASONS] | None = Field(  # type: ignore[valid-type]
        None, description="Rules of a season, those that hold all year, or those whose season has a month."
    )
    families: Literal["between", "within", "all"] = Field(
        "between", description="Rules between families of products, a line each; within one; or all of them."
    )
    min_price: float | None = None
    max_price: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    sort: Literal["antecedents", "consequents", "status", *NUMBERS] | None = Field(  # type: ignore[valid-type]
        None, description="A field of the rules; unless given, by the low end of the expected lift."
    )
    order: Literal["asc", "desc"] | None = Field(None, description="Best first unless given.")
    offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    at: Moment = None


_bounds: dict[str, Any] = {
    f"{end}_{name}": (float | None, None) for name in NUMBERS if name != "price" for end in ("min", "max")
}
RuleParameters = create_model("RuleParameters", __base__=_RuleParameters, **_bounds)


class Item(Strict):
    id: Id


class Ranking(Strict):
    """A basket and its customer."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"products": ["pasta", "sauce"], "user": "u7", "n": 10}]}
    )

    products: Annotated[list[Id | Item], Field(max_length=MOST_IN_BASKET)] = []
    user: Id | None = None
    n: Annotated[int, Field(ge=1, le=MOST)] = 10
    at: Moment = None


STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
EXAMPLE: dict[str, Any] = {
    "id": "2017-10-01-0042",
    "user": "u7",
    "time": "2017-10-01T09:30:00Z",
    "products": [{"id": "pasta", "price": 1.2, "quantity": 2}, {"id": "sauce", "price": 2.5}],
}


class Bought(TypedDict):
    """A product of a basket. `category` and `department` are remembered with the product."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    id: Id
    price: NotRequired[Annotated[float | None, Field(ge=-1e12, le=1e12, description="Of one piece.")]]
    quantity: NotRequired[Annotated[float | None, Field(ge=-1e9, le=1e9)]]
    category: NotRequired[Text | None]
    department: NotRequired[Text | None]


class Basket(TypedDict):
    """A basket, of which only the products with their ids are needed; without a time it counts as of now (UTC)."""

    __pydantic_config__ = STRICT  # type: ignore[misc]

    id: NotRequired[Annotated[Id | None, Field(description="A repeated id is taken once.")]]
    user: NotRequired[Id | None]
    time: NotRequired[
        Annotated[
            Annotated[str, StringConstraints(max_length=40)] | Annotated[int, Field(ge=-(2**62), le=2**62)] | None,
            Field(description="ISO 8601, or the number of a day."),
        ]
    ]
    store: NotRequired[Id | None]
    products: Annotated[list[Bought], Field(min_length=1, max_length=MOST_PRODUCTS)]


Baskets = Annotated[list[Basket], Field(min_length=1, max_length=MOST_BASKETS)]
OneOrMany = Annotated[
    Annotated[Basket, Tag("one")] | Annotated[Baskets, Tag("many")],
    Discriminator(lambda given: "many" if isinstance(given, list) else "one"),
]


class Received(Strict):
    """What became of baskets that are now safe."""

    accepted: int = Field(examples=[1])
    repeated: int = Field(examples=[0])
