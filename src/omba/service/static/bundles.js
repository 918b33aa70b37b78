// Bundles: what to sell together, what it brings in, and how much discount an offer bears.

import { h, fill, debounce } from "./dom.js";
import { get } from "./api.js";
import { change } from "./route.js";
import { code, productLink, seasonMark } from "./labels.js";
import { learn } from "./names.js";
import { ANYWAY, currencyInput, currencyOf, money } from "./money.js";
import * as format from "./format.js";

const PAGE = 50;
// Fields of the address, what they are unless given, and what the service takes: shares are typed in percent.
export const FIELDS = { floor: 10, uptake: 20, margin: 100 };

// The question to the service that an address stands for.
export function question(query) {
  const number = (name) => {
    const text = query.get(name), value = Number(text);
    return text == null || text === "" || !Number.isFinite(value) || value < 0 ? FIELDS[name] : value;
  };
  return { by: query.get("by") === "lift" ? "lift" : "revenue", floor: number("floor"), uptake: Math.min(number("uptake"), 10_000) / 100,
    margin: Math.min(Math.max(number("margin"), 0.1), 100) / 100 };
}

export class BundlesView {
  constructor(root) {
    this.by = h("select", { "aria-label": "Order", onchange: () => change({ by: this.by.value || null }) },
      [["", "By expected revenue"], ["lift", "By lift"]].map(([value, text]) => h("option", { value }, text)));
    this.fields = Object.fromEntries(Object.keys(FIELDS).map((name) => [name, this.field(name)]));
    this.currency = currencyInput();
    this.total = h("p.total", { role: "status" });
    this.said = h("p.note");
    this.list = h("div");
    fill(root, h("header.head", {}, h("h1", {}, "Bundles"),
      h("p.lede", {}, "Two to four products of different families that belong together.")),
    h("form.filters", { onsubmit: (event) => event.preventDefault(), "aria-label": "Settings" }, this.by,
      labelled("Baskets, at least", this.fields.floor), labelled("Extra takers", this.fields.uptake, "%"), labelled("Margin", this.fields.margin, "%"), labelled("Currency", this.currency), this.total),
    this.list, this.said);
  }

  field(name) {
    const put = debounce((value) => change({ [name]: value === "" ? null : value }, { replace: true }), 250);
    const input = h("input", { type: "number", min: 0, step: "any", placeholder: FIELDS[name], oninput: () => put(input.value) });
    return input;
  }

  async update({ query }) {
    const wanted = question(query), currency = currencyOf(query);
    const asked = JSON.stringify([wanted, currency, this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    const { bundles } = await get("/bundles", { ...wanted, limit: PAGE, at: null });
    if (asked !== this.asked) return;
    for (const [input, value] of [...Object.entries(this.fields).map(([name, input]) => [input, query.get(name)]), [this.by, query.get("by")], [this.currency, currency]])
      if (document.activeElement !== input) input.value = value ?? "";
    bundles.forEach(({ products, names }) => products.forEach((id, i) => learn(id, names[i])));
    Object.assign(this, { found: bundles, money: currency });
    this.total.textContent = format.plural(bundles.length, "bundle");
    const priced = bundles.some(({ price }) => price != null);
    fill(this.list, bundles.length ? table(bundles, currency, priced) : h("p.none", {}, "No products are likely enough to belong together: lower the number of baskets, or learn more of them."));
    fill(this.said, bundles.length ? `${ANYWAY} Of a period with a third as many baskets as so far. With ${format.percent(wanted.uptake)} more takers and a margin of ${format.percent(wanted.margin)}, an offer earns what it costs at a discount of ${format.percent(bundles[0].break_even)}.` : "");
  }

  sheet() {
    const bundles = this.found ?? [], ends = ["expected_baskets", "expected_baskets_low", "expected_baskets_high", "expected_revenue", "expected_revenue_low", "expected_revenue_high"];
    return {
      name: "bundles", title: "Bundles", note: this.said.textContent, pictures: [],
      columns: ["bundle", "products", "together", "lift", "in a basket", ...ends.map((name) => name.replaceAll("_", " ")), "break-even discount"],
      rows: bundles.map((one) => [one.names.map((name, i) => name ?? one.products[i]).join(" + "), one.products.join("; "), one.count, one.lift, one.price, ...ends.map((name) => one[name]), one.break_even]),
      shown: ["bundle", "together", "lift", "expected baskets", "expected revenue"],
    };
  }

  leave() {
    this.asked = null;
  }
}

const labelled = (text, input, unit) => h("label.labelled", {}, h("span", {}, text), input, unit && h("span", {}, unit));

function table(bundles, currency, priced) {
  const heads = ["Bundle", "Together", "Lift", "Baskets to expect", ...(priced ? ["In a basket", "Revenue to expect"] : [])];
  const most = Math.max(...bundles.map((one) => one.expected_revenue_high ?? 0));
  return h("table.families.bundles", {}, h("thead", {}, h("tr", {}, heads.map((name, place) => h(place ? "th.number" : "th", { scope: "col" }, name)))),
    h("tbody", {}, bundles.map((one) => h("tr", {},
      h("th", { scope: "row" }, h("ul.parts", {}, one.products.map((id) => h("li", {}, productLink(id), code(id)))), one.season && seasonMark(one.season)),
      cell("together", format.count(one.count)), cell("lift", format.lift(one.lift)), cell("baskets", figure(one, "expected_baskets", format.count)),
      priced && cell("in a basket", money(one.price, currency)),
      priced && cell("revenue", [figure(one, "expected_revenue", (x) => money(x, currency, 0)), bar(one, most)])))));
}

const cell = (title, content) => h("td.number", { data: { title } }, content);

// What is expected, and the ends of its interval below it.
const figure = (one, name, write) => [h("span.main", {}, write(rounded(one[name]))), h("span.ends.soft", {}, one[name] == null ? "" : `${write(rounded(one[`${name}_low`]))} to ${write(rounded(one[`${name}_high`]))}`)];

const rounded = (x) => (x == null ? null : x >= 10 ? Math.round(x) : x);

function bar(one, most) {
  const line = h("span.reach", {}, h("span"));
  const place = (x) => `${Math.max(0, Math.min(100, (100 * (x ?? 0)) / (most || 1)))}%`;
  line.firstChild.style.left = place(one.expected_revenue_low);
  line.firstChild.style.right = `calc(100% - ${place(one.expected_revenue_high)})`;
  return line;
}
