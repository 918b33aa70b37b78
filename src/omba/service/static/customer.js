// Customer: what somebody buys, how often and when last; what they are due to buy again, what is new to them, and why.

import { h, fill } from "./dom.js";
import { ApiError, get } from "./api.js";
import { change, here, parse } from "./route.js";
import { all, learn, nameOf } from "./names.js";
import { code, productLink } from "./labels.js";
import { Search } from "./search.js";
import * as format from "./format.js";

const FEW = 20, LISTED = 60;

export class CustomerView {
  constructor(root) {
    this.root = root;
    this.search = new Search({ placeholder: "Find a customer", label: "Find a customer",
      find: async (text) => (await get("/users", { q: text, limit: 12, at: null })).users,
      line: (user) => [String(user)],
      choose: (user) => (location.hash = here("customers", String(user))) });
    this.body = h("div.customer");
    fill(root, h("header.head", {}, (this.title = h("h1", {}, "Customers")), (this.lede = h("p.lede")), h("div.find", {}, this.search.element, (this.actions = h("p.actions")))), this.body);
  }

  async update({ id, query }) {
    const asked = JSON.stringify([id, query.get("all"), this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    if (id == null) return this.choose(asked);
    let page;
    try {
      page = await get(`/customers/${encodeURIComponent(id)}`, { at: null });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      if (asked === this.asked) this.unknown(id, error.message);
      return;
    }
    for (const one of [...page.products, ...page.rebuy, ...page.discover]) learn(one.product, one.name);
    await all([...page.products, ...page.rebuy, ...page.discover].flatMap((one) => [one.product, ...(one.reasons ?? []).map(({ because }) => because)]));
    if (asked !== this.asked) return;
    this.page = page;
    this.draw(page, query.get("all") != null);
    await this.explain(page, asked);
  }

  // What is new to a customer goes with something that they buy: looked up once the page is there.
  async explain(page, asked) {
    const known = new Map(page.products.map((one) => [String(one.product), one]));
    await Promise.all(page.discover.map(async (one) => {
      const product = await get(`/products/${encodeURIComponent(one.product)}`, { at: null }).catch(() => null);
      if (!product || asked !== this.asked) return;
      one.beside = beside(product, known);
      if (one.beside != null) await all([one.beside]).catch(() => {});
      const line = [...this.body.querySelectorAll("li[data-product]")].find(({ dataset }) => dataset.product === String(one.product));
      if (line) fill(line.querySelector(".reasons"), why(one, known));
    }));
  }

  // Nobody yet: some to begin with.
  async choose(asked) {
    const { users, total } = await get("/users", { limit: LISTED, at: null });
    if (asked !== this.asked) return;
    this.page = null;
    this.listed = users;
    fill(this.actions);
    this.title.textContent = "Customers";
    this.lede.textContent = users.length ? `${format.plural(total, "customer")}. Search for one, or take one of these.` : "Baskets without a customer tell nothing of customers; none has had one so far.";
    fill(this.body, h("ol.listing.users", {}, users.map((user) => h("li", {}, h("a.product", { href: here("customers", String(user)) }, String(user))))));
  }

  // `said` is what the service answered; it may know a name that is like the one asked for.
  unknown(id, said) {
    this.page = this.listed = null;
    fill(this.actions);
    this.title.textContent = `Customer ${id}`;
    this.lede.textContent = /^there is nothing at/i.test(said) ? "This service does not tell of customers yet. A newer one does." : "Nobody of that name has bought here so far, or so long ago that it is forgotten.";
    fill(this.body, h("p.state.friendly", {}, /did you mean/.test(said) ? `${said} ` : null, "Look for another above, or see ", h("a", { href: here("basket") }, "what goes into anybody’s basket"), "."));
  }

  draw(page, whole) {
    this.title.textContent = `Customer ${page.id ?? parse().id}`;
    this.lede.textContent = summary(page);
    const known = new Map(page.products.map((one) => [String(one.product), one]));
    fill(this.actions, h("a.button", { href: here("basket", null, { user: page.id ?? parse().id }) }, "Start their basket"));
    fill(this.body,
      h("div.pair", {},
        suggestions("Due now", "What they have bought before, and the chance that it is in their next basket.", page.rebuy, known, "Nothing they have bought is due again yet."),
        suggestions("To discover", "What they have never bought, and the chance that they will on their next visit.", page.discover, known, "There is too little to go by yet.")),
      h("section", {}, h("h2", {}, "What they buy", h("span.number", {}, format.count(page.products.length))), h("p.soft", {}, "By how strong the habit is: what they bought often and lately comes first."),
        page.products.length ? habits(whole ? page.products : page.products.slice(0, FEW)) : h("p.none", {}, "Nothing is remembered of them."),
        page.products.length > FEW && h("p.more", {}, h("button.quiet", { type: "button", onclick: () => change({ all: whole ? null : "habits" }, { replace: true }) },
          whole ? "Show fewer" : `Show all ${format.count(page.products.length)}`))));
  }

  sheet() {
    if (!this.page) return { name: "customers", title: "Customers", note: "", pictures: [], columns: ["customer"], rows: (this.listed ?? []).map((user) => [String(user)]) };
    const { page } = this, known = new Map(page.products.map((one) => [String(one.product), one]));
    const row = (kind, one) => [kind, String(one.product), nameOf(one.product), one.chance ?? null, one.count ?? null, one.every ?? null, one.last ?? null, kind === "buys" ? null : why(one, known)];
    return {
      name: `customer-${page.id ?? parse().id}`,
      title: this.title.textContent,
      note: this.lede.textContent,
      pictures: [],
      columns: ["kind", "product", "name", "chance", "count", "every", "last", "why"],
      rows: [...page.rebuy.map((one) => row("due", one)), ...page.discover.map((one) => row("discover", one)), ...page.products.map((one) => row("buys", one))],
      shown: ["kind", "name", "chance", "count", "every", "last"],
    };
  }

  leave() {
    this.asked = null;
  }
}

// A customer in two sentences.
export function summary({ visits, last, expected_size: size }) {
  const came = visits ? `${format.plural(visits, "visit")}${last == null ? "" : `, the last ${visits === 1 ? "" : "of them "}on ${when(last)}`}.` : "No visit yet.";
  return size == null ? came : `${came} The next basket is expected to hold about ${about(size)} product${about(size) === "1" ? "" : "s"}.`;
}

// A small number with a digit after the point, where there is one to tell.
const about = (n) => (n < 9.5 ? String(Number(n.toFixed(1))) : format.count(n));

function suggestions(title, said, list, known, none) {
  const most = Math.max(...list.map(({ chance }) => chance ?? 0), 1e-9);
  return h("section", {}, h("h2", {}, title), h("p.soft", {}, said), list.length
    ? h("ol.suggestions", {}, list.map((one) => h("li", { data: { product: String(one.product) } },
      h("div.line", {}, h("span", {}, productLink(one.product), code(one.product)), chance(one)), bar(one, most), h("p.reasons", {}, why(one, known)))))
    : h("p.none", {}, none));
}

export const chance = (one) => h("span.figure.chance", { title: "the chance that it is bought" }, one.chance == null ? "" : format.percent(one.chance));

// A chance as a bar, beside the highest of its list.
export function bar(one, most) {
  const line = h("span.bar", { "aria-hidden": "true" }, h("span"));
  line.firstChild.style.width = `${100 * Math.max(0.02, Math.min(1, (one.chance ?? 0) / most))}%`;
  return line;
}

// Why something is suggested, in a sentence: by the customer's own rhythm, or by what else they buy.
export function why(one, known) {
  if (one.why) return one.why;
  const habit = known.get(String(one.product)) ?? (one.count ? one : null);
  if (habit) return `Bought ${times(habit.count)}${habit.every == null ? "" : `, about every ${days(habit.every)}`}, last on ${when(habit.last)}${habit.due ? ": due again." : "."}`;
  if (one.beside != null) return `Goes with ${nameOf(one.beside)}, which they buy.`;
  const reasons = (one.reasons ?? []).filter(({ because }) => because !== "customer").slice(0, 2).map(({ because }) => nameOf(because));
  return reasons.length ? `Goes with ${reasons.join(" and ")}, which they buy.` : "Bought by others whose baskets are like theirs.";
}

// What a customer buys that goes best with a product, by the rules on its page; null where they buy none of it.
export function beside({ id, observed }, known) {
  const others = observed.filter(({ lift }) => lift > 1).map((rule) => [...rule.antecedents, ...rule.consequents].filter((other) => String(other) !== String(id)));
  return others.find((sides) => sides.length === 1 && known.has(String(sides[0])))?.[0] ?? null;
}

// A date, or the number of a day where the baskets have no dates.
const when = (last) => (typeof last === "number" ? `day ${format.count(last)}` : format.date(last));

const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${format.count(n)} times`);

export const days = (n) => (n < 1.05 ? "day" : `${n < 5 ? about(n) : format.count(n)} days`);

function habits(products) {
  return h("table.small.habits", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Product"), h("th.numeric", {}, "Visits with it"), h("th.numeric.often", {}, "About every"), h("th.numeric", {}, "Last"))),
    h("tbody", {}, products.map((one) => h("tr", {}, h("td", {}, productLink(one.product), code(one.product), one.due ? h("span.status.due", {}, "due") : null),
      h("td.numeric", {}, format.count(one.count)), h("td.numeric.often", {}, one.every == null ? format.NOTHING : days(one.every)), h("td.numeric", {}, when(one.last))))));
}
