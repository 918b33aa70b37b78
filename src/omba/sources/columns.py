"""Columns: which column of a source is the basket, the product, the user, … given by name or recognised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from omba.errors import InputError, nearest

ROLES = ("basket", "product", "user", "time", "price", "quantity", "store")

COMMON = {
    "basket": "basket_id basket order_id order order_no invoice_id invoice invoice_no invoice_number transaction_id "
    "transaction transaction_no trans_id tid receipt_id receipt receipt_no ticket_id ticket bill_id bill_no session_id "
    "visit_id cart_id cart checkout_id",
    "product": "product product_id item item_id stock_code sku sku_id article article_id article_no item_code "
    "product_code item_no upc ean gtin barcode asin plu products items item_description product_name item_name "
    "description",
    "user": "user_id user customer_id customer cust_id household_id household_key household member_id member_number "
    "member client_id client shopper_id shopper visitor_id card_id loyalty_id account_id",
    "time": "timestamp time datetime transaction_timestamp transaction_dt transaction_date trans_date order_date "
    "order_time order_datetime invoice_date purchase_date purchase_time purchase_timestamp event_time t_dat created_at "
    "sale_date sales_date date day",
    "price": "price unit_price item_price product_price selling_price",
    "quantity": "quantity qty units units_sold",
    "store": "store_id store store_code store_no shop_id shop branch_id branch outlet_id outlet",
}
NAMES = "name product_name item_name product_description item_description description title"
ATTRIBUTES = (
    "department category subcategory product_category product_subcategory product_type product_class product_subclass "
    "product_group commodity sub_commodity brand manufacturer manufacturer_id aisle package_size"
)


@dataclass(frozen=True)
class Columns:
    """The name of the column in each role, and of the attributes. Without a basket column a basket is a user's day.

    Parameters
    ----------
    roles
        The column in each role.
    attributes
        The columns that describe products, by what they are called from then on.
    recognised
        The roles that were not named by the caller.
    """

    roles: dict[str, str]
    attributes: dict[str, str] = field(default_factory=dict)
    recognised: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Every column in use, once."""
        return list(dict.fromkeys([*self.roles.values(), *self.attributes.values()]))

    def __str__(self) -> str:
        return ", ".join(f"{role} = {name!r}" for role, name in self.roles.items() if role in self.recognised)


def resolve(
    given: Mapping[str, str | None], attributes: Sequence[str] | None, existing: Sequence[str], title: str
) -> Columns:
    """Settle the role of each column: as given, else recognised by its name; "" leaves a role out.

    >>> resolve({}, None, ["InvoiceNo", "StockCode", "Description", "Quantity"], "sales.csv").roles
    {'basket': 'InvoiceNo', 'product': 'StockCode', 'quantity': 'Quantity'}
    """
    for named in [*filter(None, given.values()), *(attributes or ())]:
        if named not in existing:
            remedy = nearest(named, existing) or ": name one of these"
            raise InputError(f"{title} has no column {named!r} among {list_names(existing)}{remedy}")
    roles = {role: name for role in ROLES if (name := given.get(role))}
    recognised = []
    for role in ROLES:
        if given.get(role) is None and (found := _find(COMMON[role], existing, roles.values())):
            roles[role] = found
            recognised.append(role)
    roles = {role: roles[role] for role in ROLES if role in roles}
    if "product" not in roles:
        raise InputError(
            f"no column of {title} is known to hold products: name it with product, or say form='baskets' where each "
            f"line is a basket; {_has(existing)}"
        )
    if "basket" not in roles and not {"user", "time"} <= roles.keys():
        raise InputError(
            f"no column of {title} tells the basket: name it with basket, or give user and time, and a basket is a "
            f"user's day; {_has(existing)}"
        )
    return Columns(roles, _attributes(attributes, existing, roles.values()), tuple(recognised))


def recognise(role: str, existing: Sequence[str]) -> str | None:
    """The name that commonly plays the role, if there is one."""
    return _find(COMMON[role], existing, ())


def list_names(names: Iterable[str], most: int = 12) -> str:
    """The names in a sentence, the first dozen of them."""
    shown = [repr(name) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")


def _has(existing: Sequence[str]) -> str:
    return f"it has {list_names(existing)}"


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _find(common: str, existing: Sequence[str], used: Iterable[str]) -> str | None:
    free = {_plain(name): name for name in reversed(existing) if name not in used}
    return next((free[plain] for word in common.split() if (plain := _plain(word)) in free), None)


def _attributes(given: Sequence[str] | None, existing: Sequence[str], used: Iterable[str]) -> dict[str, str]:
    name = _find(NAMES, existing if given is None else given, used)
    known = {_plain(word) for word in ATTRIBUTES.split()}
    others = given if given is not None else [column for column in existing if _plain(column) in known]
    found = {"name": name} if name else {}
    return found | {column: column for column in others if column != name and column not in used}
