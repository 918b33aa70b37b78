// Products and rules by name, with the addresses they lead to.

import { h } from "./dom.js";
import { addressWith, change, here } from "./route.js";
import { learn, nameOf, want } from "./names.js";
import * as format from "./format.js";

// A name all in capitals is set smaller: it says the same, and shouts less.
export function label(product) {
  const span = h("span.name");
  put(span, nameOf(product), product);
  want(product, (name) => put(span, name, product));
  return span;
}

function put(span, name, product) {
  span.textContent = name;
  span.classList.toggle("capitals", inCapitals(name));
  if (name !== String(product)) span.title = `product ${product}`;
}

// What comes after a comma is often a size or a kind in small letters.
export const inCapitals = (name) => !/\p{Ll}/u.test(name.replace(/, .*/, "")) && /\p{Lu}{4}/u.test(name);

// A product as a list of the service tells it.
export function labelOf(item) {
  learn(item.id, item.name);
  return label(item.id);
}

export const productLink = (name) => h("a.product", { href: here("product", String(name)) }, label(name));

export function sides(rule, product = label) {
  const list = (items) => items.flatMap((item, i) => (i ? [h("span.and", {}, " and "), product(item)] : [product(item)]));
  return [...list(rule.antecedents), h("span.leads", { "aria-label": " leads to " }, " ⇒ "), ...list(rule.consequents)];
}

export const ruleText = (rule) => `${rule.antecedents.map(nameOf).join(" and ")} ⇒ ${rule.consequents.map(nameOf).join(" and ")}`;

export function statusMark(status) {
  return h(`span.status.${["observed", "rare", "unseen"].includes(status) ? status : "observed"}`, {
    title: { observed: "bought together five times or more", rare: "bought together fewer than five times",
             unseen: "never bought together yet" }[status],
  }, status);
}

// A rule as a link that opens it beside the page, by its name or other words.
export function ruleLink(rule, ...words) {
  return h("a.rule", { href: addressWith({ open: rule.key }), data: { key: rule.key } }, words.length ? words : sides(rule));
}

export const openRule = (key) => change({ open: key });

export const score = (similarity) => (similarity == null ? format.NOTHING : similarity.toFixed(2));
