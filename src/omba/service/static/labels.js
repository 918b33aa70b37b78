// Products and rules by name, with the addresses they lead to.

import { h, fill } from "./dom.js";
import { addressWith, change, here } from "./route.js";
import { codeOf, learn, learnRule, nameOf, want } from "./names.js";
import * as format from "./format.js";

// A name all in capitals is set smaller: it says the same, and shouts less.
export function label(product) {
  return named(product, h("span.name"), (span, name) => (span.textContent = name));
}

// A name for a line of one's own choosing: where there is no room for all of it, its middle goes and its end stays.
export function cutLabel(product) {
  return named(product, h("span.name.cut"), (span, name) => {
    const [start, end] = parts(name.trim().replace(/\s+/g, " "));
    fill(span, start && h("span.start", {}, start), h("span.end", {}, end));
  });
}

// A name in two: its end is the last words of five letters or more, or of a name without spaces nine letters.
export function parts(name) {
  if (name.length < 18) return ["", name];
  const end = /(?= .{4,11}$)(?! .{0,10} .{4,}$) .*$/.exec(name)?.index ?? name.length - 9;
  return [name.slice(0, end), name.slice(end)];
}

function named(product, span, write) {
  const put = (name) => {
    write(span, name);
    span.classList.toggle("capitals", inCapitals(name));
    if (name !== String(product)) span.title = `${name}, product ${product}`;
  };
  put(nameOf(product));
  want(product, put);
  return span;
}

// The label of a product beside its name, where it has one.
export function code(product) {
  const span = h("span.code", {}, codeOf(product));
  want(product, () => (span.textContent = codeOf(product)));
  return span;
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
  learnRule(rule);
  const list = (items) => items.flatMap((item, i) => (i ? [h("span.and", {}, " and "), product(item)] : [product(item)]));
  return [...list(rule.antecedents), h("span.leads", { "aria-label": " leads to " }, " ⇒ "), ...list(rule.consequents)];
}

export function ruleText(rule, name = nameOf) {
  learnRule(rule);
  return `${rule.antecedents.map(name).join(" and ")} ⇒ ${rule.consequents.map(name).join(" and ")}`;
}

// A rule by the labels of its products, where they have names as well; null where it would say nothing new.
export const ruleCodes = (rule) => ([...rule.antecedents, ...rule.consequents].some((id) => codeOf(id) != null) ? ruleText(rule, String) : null);

export function statusMark(status) {
  return h(`span.status.${["observed", "rare", "unseen"].includes(status) ? status : "observed"}`, {
    title: { observed: "bought together five times or more", rare: "bought together fewer than five times",
             unseen: "never bought together yet" }[status],
  }, status);
}

// What the products of a rule are to each other, and how likely.
export function relationMark({ relation, relation_probability }) {
  if (relation == null) return format.NOTHING;
  return h(`span.relation.${relation.replace(" ", "-")}`, { title: `${MEANT[relation]}${relation_probability == null ? "" : `; probability ${format.percent(relation_probability)}`}` }, relation);
}

const MEANT = {
  complement: "bought with each other more often than habits explain",
  substitute: "bought instead of each other",
  variant: "variants of one thing",
  "same customers": "bought by the same people, each for itself",
  "different customers": "bought by different people",
  unclear: "too little to tell",
};

// A warning that a rule holds for a part of the year alone.
export const seasonMark = (season) => season && h("span.season", { title: `mostly sold in ${season}: at other times do not count on it` }, `${season} only`);

// A rule as a link that opens it beside the page, by its name or other words.
export function ruleLink(rule, ...words) {
  return h("a.rule", { href: addressWith({ open: rule.key }), data: { key: rule.key } }, words.length ? words : sides(rule));
}

export const openRule = (key) => change({ open: key });

export const score = (similarity) => (similarity == null ? format.NOTHING : similarity.toFixed(2));
