// Today: what the stream brought, what emerged and faded since a week ago, and what is worth trying.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { axis, Chart, tooltip } from "./chart.js";
import { addressWith, here, parse } from "./route.js";
import { colour } from "./theme.js";
import { byExpected, expected, scale } from "./interval.js";
import { ruleLink, ruleText, score, statusMark } from "./labels.js";
import { periods } from "./period.js";
import * as format from "./format.js";

const FEW = 8, STRONGEST = 12, MOST = 1000;
const KINDS = {
  emerged: ["Emerged", "New: never together before, and now beyond chance."],
  strengthened: ["Strengthened", "Together more often than their own sales explain."],
  faded: ["Faded", "Together less often than their own sales explain."],
  vanished: ["Vanished", "Together before, and no more."],
};

export class TodayView {
  constructor(root) {
    this.root = root;
  }

  async update({ query }) {
    const opened = query.getAll("all").filter((kind) => kind in KINDS);
    const asked = JSON.stringify([query.get("at"), query.get("since"), opened, this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    const [answer, { rules }] = await Promise.all([get("/today", { since: query.get("since") }),
      get("/rules", { sort: "expected_lift_low", order: "desc", limit: 100 })]);
    const whole = opened.length && answer.since ? await get("/rules/diff", { from: answer.since, to: query.get("at"), at: null, limit: MOST }) : {};
    if (asked !== this.asked) return;
    const today = { ...answer, ...Object.fromEntries(opened.map((kind) => [kind, whole[kind] ?? answer[kind]])), strongest: strongest(answer, rules), unseen: byExpected(answer.unseen) };
    this.today = today;
    this.opened = new Set(opened);
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
        h("dl.facts", {}, fact("baskets", today.window.baskets), fact("lines in them", today.window.products_sold, "products in all baskets together, each once a basket"),
          fact("new products", today.new_products), fact("pairs emerged", today.counts.emerged), fact("pairs faded", today.counts.faded)),
        plot && h("figure", {}, plot, h("figcaption", {}, "Baskets of each kept window."))),
      today.note && h("p.soft.note", {}, `${today.note.charAt(0).toUpperCase()}${today.note.slice(1)}.`),
      h("div.pair", {}, Object.keys(KINDS).map((kind) => changes(kind, today, this.opened.has(kind)))),
      h("div.pair", {},
        list("Strongest, then and now", "By the low end of the lift to expect; those that emerged stand above.", today.strongest, { sort: "expected_lift_low" }),
        list("Unseen, and worth trying", "Never in one basket, but bought alike: pairs to put side by side and see.", today.unseen, { status: "unseen" })));
    if (plot) this.chart = new Chart(plot, () => bars(today.series), "Baskets of each kept window");
  }

  sheet() {
    const { today } = this;
    const kinds = [...Object.keys(KINDS), "strongest", "unseen"];
    return {
      name: "today",
      title: heading(today),
      note: sentence(today),
      pictures: [this.chart?.picture()],
      columns: ["kind", "rule", "status", "count", "lift", "before", "since", "count_before", "count_since", "expected_lift", "expected_lift_low", "expected_lift_high"],
      rows: kinds.flatMap((kind) => today[kind].map((rule) => [kind, ruleText(rule), rule.status, rule.count, rule.lift, rule.before, rule.since, rule.count_before, rule.count_since,
        rule.expected_lift, rule.expected_lift_low, rule.expected_lift_high])),
      shown: ["kind", "rule", "count", "lift", "before", "since", "expected_lift_low"],
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

// The strongest rules that did not emerge just now: those have a list of their own.
export function strongest({ emerged, strongest: told }, rules) {
  const products = ({ antecedents, consequents }) => [...antecedents, ...consequents].map(String).sort().join("\n");
  const listed = new Set(emerged.map(products));
  return (rules.length ? rules : told).filter((rule) => rule.status !== "unseen" && !listed.has(products(rule))).slice(0, STRONGEST);
}

const fact = (name, value, meaning = "") => h("div", { title: meaning }, h("dt", {}, name), h("dd", {}, format.count(value)));

const begin = () => h("div.state", {}, h("h1", {}, "Nothing learned yet"),
  h("p", {}, "Send baskets to ", h("code", {}, "POST /baskets"), ", or let the model learn a file with ", h("code", {}, "omba learn"),
    ". This page fills as windows close."));

// The first few changes of a kind, or all of them.
function changes(kind, today, whole) {
  const rules = today[kind], { since } = today, [title, said] = KINDS[kind], total = today.counts[kind];
  return h("section.changes", {}, h("h2", {}, title, h("span.number", {}, format.count(total))), h("p.soft", {}, said),
    rules.length ? h("ol.rules", {}, (whole ? rules : rules.slice(0, FEW)).map((rule) => h("li", {}, ruleLink(rule), liftChange(rule), rule.sentence && h("p.happened", {}, `${rule.sentence}.`))))
      : h("p.none", {}, since ? `None since ${format.date(since)}.` : "There is no earlier window to compare with yet."),
    total > FEW && h("p.more", {}, whole && rules.length < total ? `The first ${format.count(rules.length)}. ` : null,
      h("a", { href: addressWith({ all: toggled(kind) }), "aria-label": `${whole ? "Show fewer that" : `Show all ${format.count(total)} that`} ${kind}` }, whole ? "Show fewer" : `Show all ${format.count(total)}`)));
}

// The kinds shown in full, with one of them added or taken away.
function toggled(kind) {
  const opened = parse().query.getAll("all");
  return opened.includes(kind) ? opened.filter((one) => one !== kind) : [...opened, kind];
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
      h("span.expect", {}, rule.status === "unseen" ? h("span.soft", { title: "closeness: the cosine of their vectors" }, score(rule.similarity)) : rule.status === "rare" && statusMark(rule.status),
        expected(rule, most)))))
      : h("p.none", {}, "None so far."),
    h("p.more", {}, h("a", { href: here("rules", null, filter) }, "All in the table")));
}

function bars(series) {
  const spans = periods(series.map(({ at }) => at));
  return {
    grid: { left: 44, right: 8, top: 10, bottom: 22 },
    xAxis: axis({ type: "category", data: spans.map(({ name }) => name), splitLine: { show: false } }),
    yAxis: axis({ type: "value", splitNumber: 3 }),
    tooltip: tooltip(([item]) => [h("b", {}, spans[item.dataIndex].words), h("div", {}, format.plural(item.value, "basket"))], { trigger: "axis", axisPointer: { type: "shadow", shadowStyle: { color: colour("shade") } } }),
    series: [{ type: "bar", data: series.map(({ baskets }) => baskets), barMaxWidth: 36, itemStyle: { color: colour("accent"), opacity: 0.82, borderRadius: [2, 2, 0, 0] } }],
  };
}
