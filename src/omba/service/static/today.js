// Today: what the stream brought, what emerged and faded since a week ago, and what is worth trying.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { axis, Chart, tooltip } from "./chart.js";
import { here, parse } from "./route.js";
import { colour } from "./theme.js";
import { scale, whisker } from "./interval.js";
import { ruleLink, ruleText, score, statusMark } from "./labels.js";
import * as format from "./format.js";

const FEW = 8;

export class TodayView {
  constructor(root) {
    this.root = root;
  }

  async update({ query }) {
    const asked = JSON.stringify([query.get("at"), query.get("since"), this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    const today = await get("/today", { since: query.get("since") });
    if (asked !== this.asked) return;
    this.today = today;
    this.draw(today);
  }

  draw(today) {
    this.chart?.leave();
    this.chart = null;
    if (!today.window.baskets && !today.strongest.length) return fill(this.root, begin());
    const plot = today.series.length > 1 ? h("div.plot.stream") : null;
    fill(this.root,
      h("header.head", {}, h("h1", {}, heading(today)), h("p.lede", {}, sentence(today))),
      h("section.summary", {},
        h("dl.facts", {}, fact("baskets", today.window.baskets), fact("products sold", today.window.products_sold),
          fact("new products", today.new_products), fact("rules emerged", today.counts.emerged), fact("rules faded", today.counts.faded)),
        plot && h("figure", {}, plot, h("figcaption", {}, "Baskets of each kept window."))),
      h("div.pair", {},
        changes("Emerged", "Among the strongest now, and not in the table then.", today, "emerged"),
        changes("Strengthened", "More often together since than before, beyond chance.", today, "strengthened"),
        changes("Faded", "Less often together since than before, beyond chance.", today, "faded"),
        changes("Vanished", "Among the strongest then, and no longer in the table.", today, "vanished")),
      h("div.pair", {},
        list("Strongest rules", "By the low end of the lift to expect, those that are new first.", today.strongest, { sort: "expected_lift_low" }),
        list("Unseen, and worth trying", "Never in one basket, but bought alike: pairs to put side by side and see.", today.unseen, { status: "unseen" })));
    if (plot) this.chart = new Chart(plot, () => bars(today.series), "Baskets of each kept window");
  }

  sheet() {
    const { today } = this;
    const kinds = ["emerged", "strengthened", "faded", "vanished", "strongest", "unseen"];
    return {
      name: "today",
      title: heading(today),
      note: sentence(today),
      pictures: [this.chart?.picture()],
      columns: ["kind", "rule", "status", "count", "lift", "before", "since", "expected_lift", "expected_lift_low", "expected_lift_high"],
      rows: kinds.flatMap((kind) => today[kind].map((rule) => [kind, ruleText(rule), rule.status, rule.count, rule.lift, rule.before, rule.since,
        rule.expected_lift, rule.expected_lift_low, rule.expected_lift_high])),
      shown: ["kind", "rule", "count", "lift", "before", "since", "expected_lift"],
    };
  }

  leave() {
    this.asked = null;
    this.chart?.leave();
  }
}

const heading = (today) => (parse().query.get("at") ? format.date(today.window.stop) : "Today");

export function sentence(today) {
  const { window: { start, baskets }, since } = today;
  const span = start ? `Since ${format.date(since ?? start)}` : "So far";
  return `${span} the stream brought ${format.plural(baskets, "basket")}`
    + `${parse().query.get("at") || !today.window.stop ? "." : `, the last of them on ${format.date(today.window.stop)}.`}`;
}

const fact = (name, value) => h("div", {}, h("dt", {}, name), h("dd", {}, format.count(value)));

const begin = () => h("div.state", {}, h("h1", {}, "Nothing learned yet"),
  h("p", {}, "Send baskets to ", h("code", {}, "POST /baskets"), ", or let the model learn a file with ", h("code", {}, "omba learn"),
    ". This page fills as windows close."));

function changes(title, said, today, kind) {
  const rules = today[kind], { since } = today;
  return h("section.changes", {}, h("h2", {}, title, h("span.number", {}, format.count(today.counts[kind]))), h("p.soft", {}, said),
    rules.length ? h("ol.rules", {}, rules.slice(0, FEW).map((rule) => h("li", {}, ruleLink(rule), liftChange(rule))))
      : h("p.none", {}, since ? `None since ${format.date(since)}.` : "There is no earlier window to compare with yet."));
}

function liftChange(rule) {
  const to = rule.since == null ? format.NOTHING : format.lift(rule.since);
  return h("span.moved", { title: "lift before, and since" },
    rule.before == null ? h("b", {}, to) : rule.since == null ? h("b", {}, `was ${format.lift(rule.before)}`)
      : [format.lift(rule.before), h("span", { "aria-label": " to " }, " → "), h("b", {}, to)]);
}

function list(title, said, rules, filter) {
  const most = scale(rules);
  return h("section.strong", {}, h("h2", {}, title), h("p.soft", {}, said),
    rules.length ? h("ol.rules", {}, rules.map((rule) => h("li", {}, ruleLink(rule),
      h("span.expect", {}, rule.status === "unseen" ? h("span.soft", { title: "closeness: the cosine of their vectors" }, score(rule.similarity)) : statusMark(rule.status),
        h("span.figure", {}, format.lift(rule.expected_lift)), whisker(rule, most, 90)))))
      : h("p.none", {}, "None so far."),
    h("p.more", {}, h("a", { href: here("rules", null, filter) }, "All in the table")));
}

function bars(series) {
  return {
    grid: { left: 44, right: 8, top: 10, bottom: 22 },
    xAxis: axis({ type: "category", data: series.map(({ at }) => format.date(at)), splitLine: { show: false } }),
    yAxis: axis({ type: "value", splitNumber: 3 }),
    tooltip: tooltip(([item]) => [h("b", {}, `until ${item.name}`), h("div", {}, format.plural(item.value, "basket"))], { trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { color: colour("shade") } } }),
    series: [{ type: "bar", data: series.map(({ baskets }) => baskets), barMaxWidth: 36, itemStyle: { color: colour("accent"), opacity: 0.82, borderRadius: [2, 2, 0, 0] } }],
  };
}
