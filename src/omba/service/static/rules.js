// Rules: a table, a scatter and a network of the same rules. What is chosen in one is marked in the others.

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
const NOT_MEASURES = new Set(["key", "antecedents", "consequents", "status"]);

export class RulesView {
  constructor(root) {
    this.filters = new Filters();
    this.scatter = new Scatter({ open: (rule) => openRule(rule.key), brush: (area) => change({ [BRUSH]: area?.join() ?? null }, { replace: true }) });
    this.network = new Network({ open: (rule) => openRule(rule.key), product: (product) => change({ product }) });
    this.table = new Table({
      load: (offset, limit) => get("/rules", { ...this.asked(), offset, limit }),
      open: (rule) => openRule(rule.key),
      select: (rule) => this.select(rule),
      sort: (sort, order) => change({ sort, order }),
    });
    fill(root, h("h1.hidden", {}, "Rules"), this.filters.element,
      h("div.charts", {}, this.scatter.element, this.network.element), this.table.element);
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
    const asked = JSON.stringify([this.asked(), query.get("at"), this.epoch]);
    if (asked !== this.question) {
      this.question = asked;
      this.table.failed = null;
      this.table.reset(this.asked());
      await Promise.all([this.table.refresh(), this.cloud()]);
      if (asked !== this.question) return;
      const first = this.table.rule(0);
      if (first) this.filters.measures(Object.keys(first).filter((name) => !NOT_MEASURES.has(name) && (typeof first[name] === "number" || first[name] === null)));
    }
    this.mark(query);
  }

  // The scatter shows what the filters leave, but for the area drawn on it.
  async cloud() {
    const asked = this.question;
    const answer = await get("/rules", { ...this.asked(false), offset: 0, limit: POINTS });
    if (asked !== this.question) return;
    this.points = answer.rules;
    this.scatter.set(answer.rules, answer.total, brush(parse().query));
  }

  mark(query) {
    const chosen = query.getAll("sel"), opened = query.get("open");
    const marked = opened ? [...chosen, opened] : chosen;
    this.filters.follow(query, this.table.total);
    this.table.mark(opened, chosen);
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
    const names = Object.keys(rules[0] ?? {}).filter((name) => !["key", "antecedents", "consequents"].includes(name));
    return {
      name: "rules",
      title: "Rules",
      note: format.plural(rules.length, "rule"),
      pictures: [this.scatter.chart.picture(), await this.network.picture()],
      columns: ["antecedents", "consequents", ...sides, ...names],
      rows: rules.map((rule) => [rule.antecedents.join(", "), rule.consequents.join(", "), ...(named ? [called(rule.antecedents), called(rule.consequents)] : []), ...names.map((name) => rule[name])]),
      shown: [...(named ? sides : ["antecedents", "consequents"]), "status", "count", "support", "confidence", "lift", "expected_lift"],
    };
  }

  leave() {
    this.question = null;
    this.scatter.leave();
    this.network.leave();
    this.table.leave();
  }
}
