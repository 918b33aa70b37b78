// Rules: a table and, where they are wanted, a scatter and a network of the same rules. What is chosen in one is marked in
// the others.

import { h, fill } from "./dom.js";
import { get } from "./api.js";
import { change, parse } from "./route.js";
import { brush, BRUSH, Filters, question } from "./filters.js";
import { MOST, Network } from "./network.js";
import { Scatter } from "./scatter.js";
import { Table } from "./table.js";
import { openRule } from "./labels.js";
import { all, nameOf } from "./names.js";
import * as format from "./format.js";

const POINTS = 500;
const NOT_MEASURES = new Set(["key", "antecedents", "consequents", "antecedent_names", "consequent_names", "count_at_least", "status", "relation", "season"]);

export class RulesView {
  constructor(root) {
    this.toggle = h("button.toggle", { type: "button", "aria-expanded": "false", "aria-controls": "charts",
      onclick: () => change({ charts: this.scatter ? null : "shown" }, { replace: true }) }, "Charts");
    this.filters = new Filters(this.toggle);
    this.charts = h("div.charts", { id: "charts", hidden: true });
    this.table = new Table({
      load: (offset, limit) => get("/rules", { ...this.asked(), offset, limit }),
      open: (rule) => openRule(rule.key),
      select: (rule) => this.select(rule),
      sort: (sort, order) => change({ sort, order }),
    });
    fill(root, h("h1.hidden", {}, "Rules"), this.filters.element, this.table.element, this.charts);
  }

  // The charts stand below the table, and are made when they are first asked for.
  showCharts(shown) {
    if (shown === Boolean(this.scatter)) return;
    this.toggle.setAttribute("aria-expanded", String(shown));
    this.charts.hidden = !shown;
    this.charts.classList.remove("large");
    this.scatter?.leave();
    this.network?.leave();
    this.scatter = shown ? new Scatter({ open: (rule) => openRule(rule.key), brush: (area) => change({ [BRUSH]: area?.join() ?? null }, { replace: true }) }) : null;
    this.network = shown ? new Network({ open: (rule) => openRule(rule.key), product: (product) => change({ product }) }) : null;
    fill(this.charts, this.scatter?.element, this.network?.element);
    this.drawn = null;
  }

  asked(brushed = true) {
    return { sort: "expected_lift_low", order: "desc", ...question(parse().query, { brushed }) };
  }

  // Drawn, and with nothing in it: rules may not have been ready then.
  get empty() {
    return this.table.total === 0;
  }

  select(rule) {
    const chosen = parse().query.getAll("sel");
    change({ sel: chosen.includes(rule.key) ? chosen.filter((key) => key !== rule.key) : [...chosen, rule.key] }, { replace: true });
  }

  async update({ query }) {
    const wanted = query.has("charts"), opening = wanted && !this.scatter && this.question;
    this.showCharts(wanted);
    const asked = JSON.stringify([this.asked(), query.get("at"), this.epoch]);
    if (asked !== this.question) {
      this.question = asked;
      this.table.failed = null;
      this.table.reset(this.asked());
      await Promise.all([this.table.refresh(), this.cloud(asked)]);
      if (asked !== this.question) return;
      const first = this.table.rule(0);
      if (first) this.filters.measures(Object.keys(first).filter((name) => !NOT_MEASURES.has(name) && (typeof first[name] === "number" || first[name] === null)));
    } else await this.cloud(asked);
    if (asked !== this.question) return;
    this.mark(query);
    if (opening) this.charts.scrollIntoView({ block: "nearest" });
  }

  // The scatter shows what the filters leave, but for the area drawn on it.
  async cloud(asked) {
    if (!this.scatter || this.drawn === asked) return;
    this.drawn = asked;
    const answer = await get("/rules", { ...this.asked(false), offset: 0, limit: POINTS });
    if (asked !== this.question) return;
    this.points = answer.rules;
    this.scatter?.set(answer.rules, answer.total, brush(parse().query));
  }

  mark(query) {
    const chosen = query.getAll("sel"), opened = query.get("open");
    const marked = opened ? [...chosen, opened] : chosen;
    this.filters.follow(query, this.table.total);
    this.table.mark(opened, chosen);
    if (!this.scatter) return;
    this.scatter.mark(marked);
    const known = new Map([...(this.points ?? []), ...this.table.rules].map((rule) => [rule.key, rule]));
    const picked = chosen.map((key) => known.get(key)).filter(Boolean);
    this.network.set(picked.length > 1 ? picked : this.table.rules.slice(0, MOST), picked.length > 1);
    this.network.mark(marked);
  }

  // What is on screen, to be written to a file: all rules that the filters leave.
  async sheet() {
    const rules = [];
    for (let total = 1; rules.length < total && rules.length < 10000; ) {
      const answer = await get("/rules", { ...this.asked(), offset: rules.length, limit: POINTS });
      total = answer.total;
      rules.push(...answer.rules);
      if (!answer.rules.length) break;
    }
    const named = await all(rules.flatMap((rule) => [...rule.antecedents, ...rule.consequents]));
    const sides = named ? ["antecedent names", "consequent names"] : [];
    const called = (items) => items.map(nameOf).join("; ");
    const names = Object.keys(rules[0] ?? {}).filter((name) => !["key", "antecedents", "consequents", "antecedent_names", "consequent_names"].includes(name));
    return {
      name: "rules",
      title: "Rules",
      note: format.plural(rules.length, "rule"),
      pictures: this.scatter ? [this.scatter.chart.picture(), await this.network.picture()] : [],
      columns: ["antecedents", "consequents", ...sides, ...names],
      rows: rules.map((rule) => [rule.antecedents.join(", "), rule.consequents.join(", "), ...(named ? [called(rule.antecedents), called(rule.consequents)] : []), ...names.map((name) => rule[name])]),
      shown: [...(named ? sides : ["antecedents", "consequents"]), "status", "relation", "season", "count", "support", "confidence", "lift", "expected_lift_low"],
    };
  }

  leave() {
    this.question = null;
    this.scatter?.leave();
    this.network?.leave();
    this.table.leave();
  }
}
