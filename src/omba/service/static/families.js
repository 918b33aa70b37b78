// Families: products that are variants of one thing or a set sold as one, a line each, which opens to its members.

import { h, fill, debounce } from "./dom.js";
import { get } from "./api.js";
import { change, here } from "./route.js";
import { code, inCapitals, productLink, seasonMark } from "./labels.js";
import { learn } from "./names.js";
import { currencyInput, currencyOf, money } from "./money.js";
import * as format from "./format.js";

const PAGE = 100;
const EXPECTED = ["baskets", "revenue"].flatMap((what) => ["", "_low", "_high"].map((end) => `expected_${what}${end}`));

export class FamiliesView {
  constructor(root) {
    const put = debounce((value) => change({ q: value || null }, { replace: true }), 200);
    this.root = root;
    this.text = h("input", { type: "search", placeholder: "Words in the name", "aria-label": "Words in the name", oninput: () => put(this.text.value.trim()) });
    this.currency = currencyInput();
    this.total = h("p.total", { role: "status" });
    this.list = h("div.families");
    fill(root, h("header.head", {}, h("h1", {}, "Families"),
      h("p.lede", {}, "Variants of one thing, and sets sold as one. In the table of rules each has one line.")),
    h("form.filters", { onsubmit: (event) => event.preventDefault(), "aria-label": "Filters" }, this.text, h("label.labelled", {}, h("span", {}, "Currency"), this.currency), this.total), this.list);
  }

  async update({ query }) {
    const shown = Number(query.get("n")) || PAGE, currency = currencyOf(query);
    const asked = JSON.stringify([query.get("q"), shown, currency, this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    const answer = await get("/families", { q: query.get("q"), limit: Math.min(shown, 1000), at: null });
    if (asked !== this.asked) return;
    if (document.activeElement !== this.text) this.text.value = query.get("q") ?? "";
    if (document.activeElement !== this.currency) this.currency.value = currency;
    this.found = answer;
    answer.families.forEach((family) => family.products.forEach(({ id, name }) => learn(id, name)));
    this.total.textContent = format.plural(answer.total, "family", "families");
    const more = answer.total > answer.families.length && shown < 1000;
    fill(this.list, answer.families.length ? h("table.families", {},
      h("thead", {}, h("tr", {}, ["Family", "Products", "Baskets", "Revenue", "To expect", "Lift within", "Goes with", "Lift"].map((name, place) => h(place && place !== 6 ? "th.number" : "th", { scope: "col" }, name)))),
      h("tbody", {}, answer.families.map((family) => line(family, currency)))) : h("p.none", {}, "None found: the names share nothing, and no set is sold as one."),
    answer.families.some(({ revenue }) => revenue != null) && h("p.note", {}, "Revenue is what their members bring in anyway, not what an offer adds. To expect: of a period with a third as many baskets as so far, nine times in ten between the ends."),
    more && h("p.more", {}, h("button", { type: "button", onclick: () => change({ n: String(shown + 200) }, { replace: true }) }, "Show more")));
  }

  sheet() {
    const families = this.found?.families ?? [];
    return {
      name: "families",
      title: "Families",
      note: format.plural(families.length, "family", "families"),
      pictures: [],
      columns: ["family", "products", "baskets", "revenue", ...EXPECTED.map((name) => name.replaceAll("_", " ")), "season", "lift within, low", "lift within, high", "goes with", "lift", "members"],
      rows: families.map((one) => [one.name, one.size, one.sold, one.revenue, ...EXPECTED.map((name) => one[name]), one.season, one.lift_low, one.lift_high, one.partner, one.partner_lift, one.products.map(({ id, name }) => name ?? id).join("; ")]),
      shown: ["family", "products", "baskets", "lift within, low", "lift within, high", "goes with", "lift"],
    };
  }

  leave() {
    this.asked = null;
  }
}

// What a family should bring in in the next period, or where there are no prices, its baskets, over their interval.
function expectation(family, currency) {
  const [what, title] = family.expected_revenue == null ? ["expected_baskets", "baskets to expect"] : ["expected_revenue", "revenue to expect"];
  const [middle, low, high] = ["", "_low", "_high"].map((end) => family[what + end]);
  const write = (x) => (what === "expected_revenue" ? money(x, currency, 0) : format.count(Math.round(x)));
  return h("td.number", { data: { title } }, middle == null ? format.NOTHING
    : [write(middle), h("span.soft.range", {}, ` ${write(low)} to ${write(high)}`)]);
}

function line(family, currency) {
  const range = family.lift_low == null ? format.NOTHING : family.lift_high - family.lift_low < 0.05 * family.lift_high ? format.lift(family.lift_high)
    : `${format.lift(family.lift_low)} to ${format.lift(family.lift_high)}`;
  const members = h("ul.members", {}, family.products.map(({ id, count }) => h("li", {}, productLink(id), code(id), h("span.soft", {}, ` ${format.plural(count, "basket")}`))));
  return h("tr", {}, h("th", { scope: "row" }, h("details", {}, h(inCapitals(family.name) ? "summary.capitals" : "summary", {}, family.name), members), family.season && seasonMark(family.season)),
    h("td.number", { data: { title: "products" } }, format.count(family.size)), h("td.number", { data: { title: "baskets" } }, format.count(family.sold)),
    h("td.number", { data: { title: "revenue" } }, money(family.revenue, currency, 0)), expectation(family, currency), h("td.number", { data: { title: "lift within" } }, range),
    h("td.partner", { data: { title: "goes with" } }, family.partner == null ? format.NOTHING : h("a", { href: here("rules", null, { product: String(family.partner_products[0]), families: null }) }, family.partner)),
    h("td.number", { data: { title: "lift" } }, format.lift(family.partner_lift)));
}
