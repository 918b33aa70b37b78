// Basket: put products into a basket, say whose it is, and see which others go with it, and why.

import { h, fill, reducedMotion } from "./dom.js";
import { get } from "./api.js";
import { change, parse } from "./route.js";
import { nameOf } from "./names.js";
import { label, labelOf, productLink } from "./labels.js";
import { Search } from "./search.js";
import * as format from "./format.js";

const SUGGESTIONS = 12;

export class BasketView {
  constructor(root) {
    this.products = new Search({ placeholder: "Add a product", label: "Add a product to the basket",
      find: async (text) => (await get("/products", { q: text, limit: 10 })).products.filter(({ id }) => !this.held().includes(String(id))),
      line: (item) => [labelOf(item), h("span.soft", {}, ` ${item.category ?? ""}`)],
      choose: (item) => { this.put(item.id); this.products.input.focus(); } });
    this.customer = new Search({ placeholder: "Any customer", label: "Customer", keep: true,
      find: async (text) => (await get("/users", { q: text, limit: 10, at: null })).users,
      line: (user) => [label(user)],
      choose: (user) => change({ user }) });
    this.customer.input.addEventListener("change", () => !this.customer.input.value.trim() && change({ user: null }));
    this.items = h("ul.items");
    this.said = h("p.soft", { role: "status" });
    this.list = h("ol.suggestions");
    fill(root, h("header.head", {}, h("h1", {}, "Basket"), h("p.lede", {}, "What else would go into it, and what speaks for it.")),
      h("div.split", {},
        h("section", {}, h("h2", {}, "In the basket"), this.products.element, this.items, h("h2", {}, "Customer"), this.customer.element,
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
    fill(this.items, products.length ? products.map((product) => h("li", {}, productLink(product),
      h("button.quiet", { type: "button", "aria-label": `Take ${nameOf(product)} out`, title: "Take out", onclick: () => change({ p: products.filter((one) => one !== product) }) }, "×")))
      : h("li.none", {}, "Nothing yet. Type above, or take a suggestion."));
    const ranking = await get("/rank", { products, user, n: SUGGESTIONS });
    if (asked !== this.asked) return;
    this.ranking = ranking;
    this.said.textContent = [
      !products.length && !user ? "With nothing in it and nobody’s, these are the products most often bought." : "",
      ranking.unknown.length ? `Left out, since ${query.get("at") ? "they were not known or not kept then" : "the model does not know them"}: ${ranking.unknown.join(", ")}.` : "",
      ranking.suggestions.length ? "" : "There is nothing to suggest yet.",
    ].filter(Boolean).join(" ");
    this.show(ranking.suggestions);
  }

  // Lines that stay glide to their new place, so that one sees what rose and what sank.
  show(suggestions) {
    const before = new Map([...this.list.children].map((line) => [line.dataset.product, line.getBoundingClientRect().top]));
    const old = new Map([...this.list.children].map((line) => [line.dataset.product, Number(line.dataset.place)]));
    const most = Math.max(...suggestions.map(({ score }) => score), 1e-9), least = Math.min(...suggestions.map(({ score }) => score), 0);
    fill(this.list, suggestions.map((one, i) => this.line(one, i, (one.score - least) / (most - least || 1), old)));
    if (reducedMotion() || !before.size) return;
    for (const line of this.list.children) {
      const top = before.get(line.dataset.product);
      const from = top == null ? { opacity: 0, transform: "translateX(12px)" } : { transform: `translateY(${top - line.getBoundingClientRect().top}px)` };
      line.animate([from, { opacity: 1, transform: "none" }], { duration: 320, easing: "cubic-bezier(.2,.7,.2,1)" });
    }
  }

  line(one, i, share, old) {
    const was = old.get(String(one.product)), rose = was == null ? 0 : was - i;
    const bar = h("span.bar", { title: `score ${format.number(one.score)}` }, h("span"));
    bar.firstChild.style.width = `${100 * Math.max(0.02, share)}%`;
    return h("li", { data: { product: String(one.product), place: i } },
      h("div.line", {}, productLink(one.product),
        old.size ? h(`span.rose${rose > 0 ? ".up" : rose < 0 ? ".down" : ""}`, { "aria-label": was == null ? "new" : rose ? `${rose > 0 ? "up" : "down"} ${Math.abs(rose)}` : "same place" },
          was == null ? "new" : rose > 0 ? `↑${rose}` : rose < 0 ? `↓${-rose}` : "") : null,
        h("span.figure", {}, one.price == null ? "" : format.price(one.price)),
        h("button.add", { type: "button", "aria-label": `Add ${nameOf(one.product)}`, onclick: () => this.put(one.product) }, "Add")),
      bar,
      one.reasons.length ? h("p.reasons", {}, "because of ", one.reasons.map(({ because, share: part }, k) => [k ? ", " : "",
        because === "customer" ? "the customer’s habits" : label(because), one.reasons.length > 1 ? ` ${Math.round(100 * part)}%` : ""])) : null);
  }

  sheet() {
    const { suggestions } = this.ranking;
    return { name: "basket", title: `Basket: ${this.held().map(nameOf).join(", ") || "empty"}`, note: parse().query.get("user") ? `customer ${parse().query.get("user")}` : "", pictures: [],
      columns: ["place", "product", "name", "score", "price", "reasons"],
      rows: suggestions.map((one, i) => [i + 1, String(one.product), nameOf(one.product), one.score, one.price, one.reasons.map(({ because, share }) => `${nameOf(because)} ${Math.round(100 * share)}%`).join("; ")]) };
  }

  leave() {
    this.asked = null;
  }
}
