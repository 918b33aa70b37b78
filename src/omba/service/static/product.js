// Product: what it goes with, seen and unseen, what lies near it, and how all that came about.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { axis, Chart, palette, tooltip } from "./chart.js";
import { here } from "./route.js";
import { colour } from "./theme.js";
import { byExpected, expected, scale } from "./interval.js";
import { code, label, labelOf, productLink, ruleLink, ruleText, score } from "./labels.js";
import { all, learn, learnRule, nameOf } from "./names.js";
import { periods } from "./period.js";
import { priceTable } from "./price_effects.js";
import * as format from "./format.js";

export class ProductView {
  constructor(root) {
    this.root = root;
    this.charts = [];
  }

  async update({ id, query }) {
    const asked = JSON.stringify([id, query.get("at"), this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    if (id == null) return this.choose(asked);
    const page = await get(`/products/${encodeURIComponent(id)}`);
    if (asked !== this.asked) return;
    learn(page.id, page.attributes.name);
    await all(page.history.flatMap(({ top }) => top.map(({ id }) => id)));
    if (asked !== this.asked) return;
    this.page = page;
    this.draw(page);
    this.showPrices(asked, page);
    if (this.of !== id) scrollTo({ top: 0 });
    this.of = id;
  }

  // No product yet: the best sellers to begin with.
  async choose(asked) {
    const { products, total } = await get("/products", { limit: 60 });
    if (asked !== this.asked) return;
    this.clear();
    this.listed = products;
    fill(this.root, h("header.head", {}, h("h1", {}, "Products"), h("p.lede", {}, products.length
      ? `${format.plural(total, "product")}, those in most baskets first. Press / to search for any other.` : "No product has been sold yet.")),
      h("ol.listing", {}, products.map((product) => h("li", {}, h("a.product", { href: here("product", product.id) }, labelOf(product)), code(product.id),
        h("span.soft", {}, `${product.category ?? ""} `), h("span.figure", {}, format.plural(product.count, "basket"))))));
  }

  // What the weeks did in which it was cheaper; nothing where these are too few.
  async showPrices(asked, page) {
    const { effects } = await get("/prices", { product: page.id, at: null });
    if (asked !== this.asked || !effects.length) return;
    effects.forEach(({ product, name }) => learn(product, name));
    this.prices.hidden = false;
    fill(this.prices, h("h2", {}, "What its price did"),
      h("p.soft", {}, `Sales in the weeks when it cost ${format.percent(1 - effects[0].price)} less than usual, against its usual weeks, with the 90% interval. Whatever else the shop did then is in it.`), priceTable(effects));
  }

  clear() {
    this.charts.forEach((chart) => chart.leave());
    this.charts = [];
    this.listed = null;
  }

  draw(page) {
    this.clear();
    const sales = page.history.length > 1 ? h("div.plot") : null;
    const near = page.history.length > 1 && page.history.some(({ top }) => top.length) ? h("div.plot") : null;
    fill(this.root,
      h("header.head", {}, h("p.kicker", {}, kinds(page)), h("h1", {}, label(page.id)),
        h("dl.facts", {}, fact("baskets", format.count(page.count)), fact("of all baskets", format.percent(page.support)),
          page.price != null && fact("mean price", format.price(page.price)), page.season && fact("season", h("span.season", {}, `${page.season} only`)), page.family && fact("family", h("a", { href: here("families", null, { q: page.family }) }, page.family))),
        h("p.actions", {}, h("a.button", { href: here("rules", null, { product: page.id }) }, "Its rules in the table"),
          h("a.button", { href: here("map", null, { product: page.id }) }, "On the map"),
          h("a.button", { href: here("basket", null, { p: page.id }) }, "Into a basket"))),
      (sales || near) && h("div.charts", {},
        sales && h("figure", {}, h("h2", {}, "Sales and price"), sales, h("figcaption", {}, "Baskets with it since the window before, and its mean price so far.")),
        near && h("figure", {}, h("h2", {}, "Nearest, over time"), near, h("figcaption", {}, "Closeness (cosine) of the products nearest to it now."))),
      h("div.pair", {},
        associations("Goes with", "Seen together; by the low end of the lift to expect.", page, page.observed),
        associations("Might go with", "Never in one basket so far, but bought alike.", page, byExpected(page.unseen))),
      (page.substitutes.length || page.complements.length) > 0 && h("div.pair", {},
        related("Belongs to it", "Customers who buy both take both at once more often than their habits explain.", page.complements),
        related("Bought instead of it", "Customers who buy both hardly ever take both at once.", page.substitutes)),
      this.prices = h("section.prices", { hidden: true }),
      h("section", {}, h("h2", {}, "Nearest products"), h("p.soft", {}, "Bought with the same things by the same people."),
        page.similar.length ? h("ol.near", {}, page.similar.map((one) => h("li", {}, h("span", {}, productLink(one.id), code(one.id)), closeness(one.similarity), h("span.figure", {}, format.plural(one.count, "basket")))))
          : h("p.none", {}, "It was met too seldom to say.")));
    if (sales) this.charts.push(new Chart(sales, () => salesChart(page.history), "Sales and price by window"));
    if (near) this.charts.push(new Chart(near, () => closenessChart(page.history), "Closeness of the nearest products over time"));
  }

  sheet() {
    if (this.listed) {
      return { name: "products", title: "Products", note: "", pictures: [], columns: ["product", "name", "category", "department", "count", "price"],
        rows: this.listed.map((one) => [one.id, one.name, one.category, one.department, one.count, one.price]) };
    }
    const { page } = this;
    return {
      name: String(page.id),
      title: nameOf(page.id),
      note: `${format.plural(page.count, "basket")}, mean price ${format.price(page.price)}`,
      pictures: this.charts.map((chart) => chart.picture()),
      columns: ["kind", "rule", "count", "support", "confidence", "lift", "similarity", "expected_lift", "expected_lift_low", "expected_lift_high"],
      rows: [...page.observed, ...page.unseen].map((rule) => [rule.status, ruleText(rule), rule.count, rule.support, rule.confidence, rule.lift, rule.similarity,
        rule.expected_lift, rule.expected_lift_low, rule.expected_lift_high]),
      shown: ["kind", "rule", "count", "lift", "similarity", "expected_lift_low"],
    };
  }

  leave() {
    this.asked = null;
    this.clear();
  }
}

const kinds = (page) => Object.entries(page.attributes).filter(([name, value]) => value != null && !["product", "name"].includes(name)).map(([, value]) => String(value)).concat(nameOf(page.id) === String(page.id) ? [] : [`product ${page.id}`]).join(" · ");

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, value));

const related = (title, said, products) => h("section.strong.related", {}, h("h2", {}, title), h("p.soft", {}, said), products.length
  ? h("ol.rules", {}, products.map(({ id, probability, sentence }) => h("li", {}, h("span", {}, productLink(id), code(id)),
    h("span.expect", {}, h("span.soft", { title: sentence }, format.percent(probability))), h("p.happened", {}, `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`))))
  : h("p.none", {}, "None that is likely."));

function closeness(similarity) {
  const bar = h("span.bar", { title: `cosine ${score(similarity)}` }, h("span"));
  bar.firstChild.style.width = `${Math.max(0, 100 * similarity)}%`;
  return bar;
}

// A rule of the product names only the other side.
function associations(title, said, page, rules) {
  const most = scale(rules), me = String(page.id);
  rules.forEach(learnRule);
  const other = (rule) => [...rule.antecedents, ...rule.consequents].filter((item) => String(item) !== me);
  return h("section.strong", {}, h("h2", {}, title), h("p.soft", {}, said), rules.length
    ? h("ol.rules", {}, rules.map((rule) => h("li", {}, h("span", {}, other(rule).flatMap((item, i) => [i ? " and " : null, productLink(item), code(item)])),
      h("span.expect", {}, rule.count ? h("span.soft", { title: `together in ${format.together(rule)}` }, `${rule.count_at_least ? "≥ " : ""}${format.count(rule.count)}`) : h("span.soft", { title: "closeness: the cosine of their vectors" }, score(rule.similarity)),
        expected(rule, most),
        ruleLink(rule, h("span", { title: ruleText(rule) }, "why"))))))
    : h("p.none", {}, "None so far."));
}

function salesChart(history) {
  const known = history.some(({ price }) => price != null), spans = periods(history.map(({ at }) => at));
  return {
    grid: { left: 40, right: known ? 44 : 8, top: 28, bottom: 22 },
    legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 8, icon: "roundRect", textStyle: { color: colour("soft"), fontSize: 11 } },
    xAxis: axis({ type: "category", data: spans.map(({ name }) => name), splitLine: { show: false } }),
    yAxis: [axis({ type: "value", splitNumber: 3, minInterval: 1 }), axis({ type: "value", scale: true, splitNumber: 3, splitLine: { show: false }, axisLabel: { ...axis().axisLabel, formatter: format.price } })],
    tooltip: tooltip((items) => [h("b", {}, spans[items[0].dataIndex].words), items.map(({ seriesName, value }) => h("div", {}, seriesName === "price" ? `price ${format.price(value)}` : format.plural(value, "basket")))], { trigger: "axis" }),
    series: [
      { type: "bar", name: "baskets", data: history.map(({ sold }) => sold), barMaxWidth: 30, itemStyle: { color: colour("accent"), opacity: 0.82, borderRadius: [2, 2, 0, 0] } },
      known && { type: "line", name: "price", yAxisIndex: 1, data: history.map(({ price }) => price), symbolSize: 5, showSymbol: history.length < 25, itemStyle: { color: colour("second") }, lineStyle: { width: 2 } },
    ].filter(Boolean),
  };
}

function closenessChart(history) {
  const names = [...new Set(history.flatMap(({ top }) => top.map(({ id }) => id)))].slice(0, 5);
  const hues = palette();
  return {
    grid: { left: 36, right: 8, top: 28, bottom: 22 },
    legend: { top: 0, left: 0, type: "scroll", padding: [4, 0], itemWidth: 14, itemHeight: 8, icon: "roundRect", textStyle: { color: colour("soft"), fontSize: 11, }, formatter: (name) => format.shorten(name, 24), pageIconColor: colour("soft"), pageTextStyle: { color: colour("soft") } },
    xAxis: axis({ type: "category", boundaryGap: false, data: history.map(({ at }) => format.date(at)), splitLine: { show: false } }),
    yAxis: axis({ type: "value", max: 1, min: ({ min }) => Math.floor(10 * min) / 10, splitNumber: 3 }),
    tooltip: tooltip((items) => [h("b", {}, items[0].name), items.filter(({ value }) => value != null).map(({ seriesName, value }) => h("div", {}, `${seriesName}: ${score(value)}`))], { trigger: "axis" }),
    series: names.map((name, i) => ({ type: "line", name: nameOf(name), data: history.map(({ top }) => top.find(({ id }) => id === name)?.similarity ?? null),
      symbolSize: 5, showSymbol: history.length < 25, itemStyle: { color: hues[i] }, lineStyle: { width: 2 } })),
  };
}
