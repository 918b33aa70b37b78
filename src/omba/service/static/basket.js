// Basket: put products into a basket, say whose it is, and see which others go with it, and why.

import { h, fill, reducedMotion } from "./dom.js";
import { get } from "./api.js";
import { bar, chance } from "./customer.js";
import { change, here, parse } from "./route.js";
import { learn, nameOf } from "./names.js";
import { code, label, labelOf, productLink } from "./labels.js";
import { Search } from "./search.js";
import * as format from "./format.js";

const SUGGESTIONS = 12;

export class BasketView {
  constructor(root) {
    this.products = new Search({ placeholder: "Add a product", label: "Add a product to the basket",
      find: async (text) => (await get("/products", { q: text, limit: 10 })).products.filter(({ id }) => !this.held().includes(String(id))),
      line: (item) => [labelOf(item), code(item.id), h("span.soft", {}, ` ${item.category ?? ""}`)],
      choose: (item) => { this.put(item.id); this.products.input.focus(); } });
    this.customer = new Search({ placeholder: "Any customer", label: "Customer", keep: true,
      find: async (text) => (await get("/users", { q: text, limit: 10, at: null })).users,
      line: (user) => [String(user)],
      choose: (user) => change({ user }) });
    this.customer.input.addEventListener("change", () => !this.customer.input.value.trim() && change({ user: null }));
    this.items = h("ul.items");
    this.page = h("p.more");
    this.said = h("p.soft", { role: "status" });
    this.list = h("ol.suggestions");
    fill(root, h("header.head", {}, h("h1", {}, "Basket"), h("p.lede", {}, "What else would go into it, and what speaks for it.")),
      h("div.split", {},
        h("section", {}, h("h2", {}, "In the basket"), this.products.element, this.items, h("h2", {}, "Customer"), this.customer.element, this.page,
          h("p.actions", {}, h("button.clear", { type: "button", onclick: () => change({ p: null, user: null }) }, "Empty it"))),
        h("section", {}, h("h2", {}, "Suggestions"), this.said, this.list)));
  }

  held = () => parse().query.getAll("p");

  put(product) {
    change({ p: [...new Set([...this.held(), String(product)])] });
  }

  async update({ query }) {
    const products = query.getAll("p"), user = query.get("user");
    const asked = JSON.stringify([products, user, query.get("at"), this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    if (document.activeElement !== this.customer.input) this.customer.input.value = user ?? "";
    fill(this.items, products.length ? products.map((product) => h("li", {}, h("span", {}, productLink(product), code(product)),
      h("button.quiet", { type: "button", "aria-label": `Take ${nameOf(product)} out`, title: "Take out", onclick: () => change({ p: products.filter((one) => one !== product) }) }, "×")))
      : h("li.none", {}, "Nothing yet. Type above, or take a suggestion."));
    fill(this.page, user && h("a", { href: here("customers", user) }, "What they buy, and what is due"));
    const ranking = await this.rank(products, user);
    if (asked !== this.asked) return;
    this.ranking = ranking;
    this.said.textContent = [
      !products.length && !user ? "With nothing in it and nobody’s, these are the best sellers." : "",
      ranking.unknown.length ? `Left out, since ${query.get("at") ? "they were not known or not kept then" : "the model does not know them"}: ${ranking.unknown.join(", ")}.` : "",
      ranking.suggestions.length ? "" : "There is nothing to suggest yet.",
    ].filter(Boolean).join(" ");
    this.show(ranking.suggestions);
  }

  // With nothing to go by, the best sellers are all there is to say; a service that gives no chances would not say them.
  async rank(products, user) {
    const ranking = await get("/rank", { products, user, n: SUGGESTIONS });
    if (products.length || user || ranking.suggestions.some((one) => one.chance != null)) return ranking;
    const listed = (await get("/products", { limit: SUGGESTIONS })).products;
    listed.forEach(({ id, name }) => learn(id, name));
    return { ...ranking, suggestions: listed.map(({ id, count, price }) => ({ product: id, score: count, count, price, reasons: [] })) };
  }

  // Lines that stay glide to their new place, so that one sees what rose and what sank.
  show(suggestions) {
    const before = new Map([...this.list.children].map((line) => [line.dataset.product, line.getBoundingClientRect().top]));
    const old = new Map([...this.list.children].map((line) => [line.dataset.product, Number(line.dataset.place)]));
    fill(this.list, shares(suggestions).map((share, i) => this.line(suggestions[i], i, share, old)));
    if (reducedMotion() || !before.size) return;
    for (const line of this.list.children) {
      const top = before.get(line.dataset.product);
      const from = top == null ? { opacity: 0, transform: "translateX(12px)" } : { transform: `translateY(${top - line.getBoundingClientRect().top}px)` };
      line.animate([from, { opacity: 1, transform: "none" }], { duration: 320, easing: "cubic-bezier(.2,.7,.2,1)" });
    }
  }

  line(one, i, share, old) {
    const was = old.get(String(one.product)), rose = was == null ? 0 : was - i;
    return h("li", { data: { product: String(one.product), place: i } },
      h("div.line", {}, h("span", {}, productLink(one.product), code(one.product)),
        old.size ? h(`span.rose${rose > 0 ? ".up" : rose < 0 ? ".down" : ""}`, { "aria-label": was == null ? "new" : rose ? `${rose > 0 ? "up" : "down"} ${Math.abs(rose)}` : "same place" },
          was == null ? "new" : rose > 0 ? `↑${rose}` : rose < 0 ? `↓${-rose}` : "") : null,
        h("span.figure.soft", { title: "mean price" }, one.price == null ? "" : format.price(one.price)), chance(one),
        h("button.add", { type: "button", "aria-label": `Add ${nameOf(one.product)}`, onclick: () => this.put(one.product) }, "Add")),
      bar({ chance: share }, 1),
      one.count != null ? h("p.reasons", {}, `in ${format.plural(one.count, "basket")}`) : null,
      one.reasons.length ? h("p.reasons", {}, "because of ", one.reasons.map(({ because, share: part }, k) => [k ? ", " : "",
        because === "customer" ? "the customer’s habits" : label(because), one.reasons.length > 1 ? ` ${Math.round(100 * part)}%` : ""])) : null);
  }

  sheet() {
    const { suggestions } = this.ranking;
    return { name: "basket", title: `Basket: ${this.held().map(nameOf).join(", ") || "empty"}`, note: parse().query.get("user") ? `customer ${parse().query.get("user")}` : "", pictures: [],
      columns: ["place", "product", "name", "chance", "score", "price", "reasons"],
      rows: suggestions.map((one, i) => [i + 1, String(one.product), nameOf(one.product), one.chance ?? null, one.score, one.price, one.reasons.map(({ because, share }) => `${nameOf(because)} ${Math.round(100 * share)}%`).join("; ")]) };
  }

  leave() {
    this.asked = null;
  }
}

// How long the bar of each suggestion is: by its chance, or where there is none by its score between the least and the most.
export function shares(suggestions) {
  const value = ({ chance, score }) => chance ?? score, values = suggestions.map(value);
  const most = Math.max(...values, 1e-9), least = Math.min(...values, 0);
  return values.map((one) => (one - least) / (most - least || 1));
}
