// A rule, opened beside the page: its evidence, the lift to expect, why, and how it came about.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { axis, Chart, tooltip } from "./chart.js";
import { change, here } from "./route.js";
import { colour } from "./theme.js";
import { interval } from "./interval.js";
import { code, productLink, ruleCodes, ruleLink, sides, statusMark } from "./labels.js";
import { all, nameOf, withNames } from "./names.js";
import { currencyOf, worth } from "./money.js";
import * as format from "./format.js";

const FACTS = ["count", "support", "confidence", "lift", "similarity", "price"];
const HIDDEN = new Set(["key", "antecedents", "consequents", "antecedent_names", "consequent_names", "count_at_least", "status", "expected_lift", "expected_lift_low", "expected_lift_high", "revenue",
  ...["baskets", "revenue"].flatMap((what) => ["", "_low", "_high"].map((end) => `expected_${what}${end}`)), ...FACTS]);

export class RulePanel {
  constructor(element) {
    this.element = element;
    this.key = null;
  }

  async show(key, at) {
    const asked = key == null ? null : `${key} ${at}`;
    if (asked === this.asked) return;
    this.asked = asked;
    this.chart?.leave();
    this.chart = null;
    this.page = null;
    document.body.classList.toggle("with-panel", key != null);
    this.element.hidden = key == null;
    if (key == null) return;
    if (key !== this.key) fill(this.element, this.bar(), h("p.state", {}, "Loading the rule."));
    this.key = key;
    try {
      const page = await get(`/rules/${encodeURIComponent(key)}`);
      await all([...page.rule.antecedents, ...page.rule.consequents]);
      if (asked === this.asked) this.draw(page);
    } catch (error) {
      if (asked === this.asked) fill(this.element, this.bar(), h("p.state.error", { role: "alert" }, error.message));
    }
  }

  bar() {
    return h("div.bar", {}, h("button.close", { type: "button", "aria-label": "Close the rule", title: "Close (Esc)", onclick: () => change({ open: null }) }, "×"));
  }

  draw(page) {
    this.page = page;
    const { rule, explanation, history } = page;
    const moments = (history ?? []).filter((entry) => entry.lift != null);
    const plot = moments.length > 1 ? h("div.plot") : null;
    fill(this.element, this.bar(),
      h("h2.title", {}, sides(rule, productLink)),
      ruleCodes(rule) && h("p.code", {}, ruleCodes(rule)),
      h("p.lead", {}, statusMark(rule.status), " ", evidence(rule)),
      rule.expected_lift != null && [h("h3", {}, "Lift to expect"), interval(rule), h("p.caption", {}, expectation(rule))],
      h("dl.facts", {}, FACTS.filter((name) => rule[name] != null).map((name) => fact(name, rule[name]))),
      why(explanation, rule),
      worth(rule) && [h("h3", {}, "Worth"), h("p.worth", {}, worth(rule, currencyOf()))],
      h("h3", {}, "History"),
      plot ?? h("p.soft", {}, moments.length ? `Among the best rules at one kept window only, ${format.date(moments[0].at)}.` : history?.length ? "It was not among the best rules of any kept window." : "No window has been kept yet."),
      bridges(explanation?.bridges, rule),
      nearest(explanation?.nearest),
      h("details", {}, h("summary", {}, "All measures"), h("dl.measures", {}, Object.keys(rule).filter((name) => !HIDDEN.has(name) && rule[name] != null)
        .map((name) => [h("dt", {}, format.measureName(name)), h("dd", {}, format.measure(name, rule[name]))]))),
      h("p.actions", {}, h("a.button", { href: here("basket", null, { p: rule.antecedents }) }, "Try in a basket")));
    if (plot) this.chart = new Chart(plot, () => historyChart(history), "Lift of the rule over time");
  }
}

export function evidence(rule) {
  if (!rule.count) return "Never in one basket so far.";
  const chance = rule.lift ? rule.count / rule.lift : null;
  return `Together in ${format.together(rule)}${chance == null ? "" : `, where chance would make it ${chance < 1 ? format.number(Number(chance.toPrecision(2))) : chance < 10 ? Number(chance.toFixed(1)) : format.count(chance)}`}.`;
}

export function expectation(rule) {
  const range = rule.expected_lift_low == null ? "" : `, with nine chances in ten between ${format.lift(rule.expected_lift_low)} and ${format.lift(rule.expected_lift_high)}`;
  return `${format.lift(rule.expected_lift)}${range}.${rule.count ? ` The mark above is the lift so far, ${format.lift(rule.lift)}.` : ""} Dotted: as often as by chance.`;
}

const fact = (name, value) => h("div", { title: format.MEANINGS[name] ?? "" }, h("dt", {}, format.measureName(name)), h("dd", {}, format.measure(name, value)));

function why(explanation, rule) {
  const sentences = [explanation?.text ?? []].flat();
  if (!sentences.length) return null;
  return [h("h3", {}, "In words"), sentences.map((sentence) => h("p.sentence", {}, withNames(sentence, [...rule.antecedents, ...rule.consequents])))];
}

function bridges(list, rule) {
  if (!list?.length) return null;
  return [h("h3", {}, "What goes with both"), h("table.small", {},
    h("thead", {}, h("tr", {}, h("th", {}, "Product"), h("th.numeric", { title: `with ${rule.antecedents.map(nameOf).join(", ")}` }, "lift, left"), h("th.numeric", { title: `with ${rule.consequents.map(nameOf).join(", ")}` }, "lift, right"))),
    h("tbody", {}, list.map((bridge) => h("tr", {}, h("td", {}, productLink(bridge.product), code(bridge.product)),
      h("td.numeric", { title: format.together({ count: bridge.count_a, count_at_least: bridge.at_least_a }) }, format.lift(bridge.lift_a)),
      h("td.numeric", { title: format.together({ count: bridge.count_b, count_at_least: bridge.at_least_b }) }, format.lift(bridge.lift_b))))))];
}

function nearest(list) {
  if (!list?.length) return null;
  return [h("h3", {}, "Pairs like it that were seen"), h("ul.rules", {}, list.map((rule) => h("li", {},
    rule.key ? ruleLink(rule) : sides(rule), h("span.soft", {}, ` lift ${format.lift(rule.lift)}, ${format.together(rule)}`))))];
}

function historyChart(history) {
  const at = history.map((entry) => format.date(entry.at));
  const line = (name, key, hue, more = {}) => ({ type: "line", name, data: history.map((entry) => entry[key] ?? null), symbolSize: 5,
    showSymbol: history.length < 40, connectNulls: false, itemStyle: { color: hue }, lineStyle: { color: hue, width: 2 }, ...more });
  const hidden = { lineStyle: { opacity: 0 }, symbol: "none", stack: "interval", silent: true, tooltip: { show: false } };
  const band = history.map(({ expected_lift_low: low, expected_lift_high: high }) => (low == null || high == null ? null : high - low));
  return {
    grid: { left: 40, right: 8, top: 26, bottom: 22 },
    legend: { data: ["lift", "to expect"], top: 0, left: 0, itemWidth: 14, itemHeight: 8, icon: "roundRect", textStyle: { color: colour("soft"), fontSize: 11 } },
    xAxis: axis({ type: "category", data: at, boundaryGap: false, splitLine: { show: false } }),
    yAxis: axis({ type: "value", min: 0, axisLabel: { ...axis().axisLabel, formatter: format.lift } }),
    tooltip: tooltip((items) => [h("b", {}, items[0].name), items.filter(({ seriesName, value }) => value != null && !seriesName.startsWith("interval"))
      .map(({ seriesName, value }) => h("div", {}, `${seriesName}: ${format.lift(value)}`))], { trigger: "axis" }),
    series: [
      line("interval low", "expected_lift_low", colour("accent"), hidden),
      { type: "line", name: "interval", data: band, ...hidden, areaStyle: { color: colour("accent"), opacity: 0.14 } },
      line("lift", "lift", colour("second")),
      line("to expect", "expected_lift", colour("accent")),
    ],
  };
}
