// Filters of the rules: text, status, category, price, and a bound on any measure; all in the address.

import { h, fill, debounce } from "./dom.js";
import { change } from "./route.js";
import { get } from "./api.js";
import { label } from "./labels.js";
import { Search } from "./search.js";
import { months } from "./year.js";
import * as format from "./format.js";

const BOUND = /^(min|max)_(?!price$)(.+)$/;
export const BRUSH = "area";

// The question to the service that an address stands for. The brushed area is a bound on support and lift.
export function question(query, { brushed = true } = {}) {
  const out = {};
  for (const name of ["text", "status", "relation", "season", "families", "category", "product", "min_price", "max_price", "sort", "order"])
    if (query.get(name)) out[name] = query.get(name);
  for (const [name, value] of query) if (BOUND.test(name)) out[name] = value;
  const area = brushed ? brush(query) : null;
  if (area) {
    const [left, right, low, high] = area;
    out.min_support = Math.max(left, Number(out.min_support ?? 0));
    out.max_support = Math.min(right, Number(out.max_support ?? 1));
    out.min_lift = Math.max(low, Number(out.min_lift ?? 0));
    out.max_lift = Math.min(high, Number(out.max_lift ?? Infinity));
  }
  return out;
}

// The brushed part of the scatter: support from and to, lift from and to.
export function brush(query) {
  const numbers = (query.get(BRUSH) ?? "").split(",").map(Number);
  return numbers.length === 4 && numbers.every(Number.isFinite) ? numbers : null;
}

export class Filters {
  // `more` stands beside the number of rules.
  constructor(more = null) {
    // Each field waits for its own typing to end.
    const put = (name) => debounce((value) => change({ [name]: value || null }, { replace: true }), 200);
    const putText = put("text");
    this.text = h("input", { type: "search", placeholder: "Products in the rule", "aria-label": "Text in the rule",
      oninput: () => putText(this.text.value.trim()) });
    this.status = h("select", { "aria-label": "Status", onchange: () => change({ status: this.status.value || null }) },
      [["", "Any status"], ["observed", "Observed"], ["rare", "Rare"], ["unseen", "Unseen"]].map(([value, text]) => h("option", { value }, text)));
    this.relation = h("select", { "aria-label": "Relation", onchange: () => change({ relation: this.relation.value || null }) },
      [["", "Any relation"], ...["complement", "substitute", "variant", "same customers", "different customers", "unclear"].map((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])].map(([value, text]) => h("option", { value }, text)));
    this.season = h("select", { "aria-label": "Season", onchange: () => change({ season: this.season.value || null }) },
      [["", "Any time of year"], ["none", "All year round"], ["any", "Of a season only"], ...months().map(({ name }) => [name, `Season with ${name}`])].map(([value, text]) => h("option", { value }, text)));
    this.families = h("select", { "aria-label": "Families", title: "Rules between families of products have a line each", onchange: () => change({ families: this.families.value || null }) },
      [["", "Between families"], ["within", "Within a family"], ["all", "All rules"]].map(([value, text]) => h("option", { value }, text)));
    this.category = new Search({ placeholder: "Any category", label: "Category", keep: true,
      find: async (text) => (await get("/categories", { q: text, limit: 12, at: null })).categories,
      line: (item) => [label(item.name), h("span.soft", {}, ` ${format.plural(item.products, "product")}`)],
      choose: (item) => change({ category: item.name }) });
    this.category.input.addEventListener("search", () => !this.category.input.value && change({ category: null }));
    this.low = this.price("from", put("min_price"));
    this.high = this.price("to", put("max_price"));
    this.measure = h("select", { "aria-label": "Measure to bound" });
    this.side = h("select", { "aria-label": "At least or at most" }, h("option", { value: "min" }, "≥"), h("option", { value: "max" }, "≤"));
    this.bound = h("input", { type: "number", step: "any", "aria-label": "Bound", placeholder: "5" });
    this.chips = h("div.chips");
    this.total = h("p.total", { role: "status" });
    const fold = h("button.toggle.fold", { type: "button", "aria-expanded": "false",
      onclick: () => fold.setAttribute("aria-expanded", String(this.element.classList.toggle("unfolded"))) }, "Filters");
    this.element = h("form.filters", { onsubmit: (event) => { event.preventDefault(); this.add(); }, "aria-label": "Filters" },
      this.text, this.status, this.relation, this.season, this.families, this.category.element,
      h("fieldset", {}, h("legend", {}, "Price"), this.low, "–", this.high),
      h("fieldset", {}, h("legend", {}, "Measure"), this.measure, this.side, this.bound, h("button", { type: "submit" }, "Add")),
      h("div.found-rules", {}, this.total, fold, more), this.chips);
  }

  price(word, put) {
    return h("input", { type: "number", min: 0, step: "any", placeholder: word, "aria-label": `Price ${word}`,
      oninput: (event) => put(event.target.value) });
  }

  add() {
    const value = this.bound.value.trim();
    if (value === "" || !this.measure.value) return this.bound.focus();
    this.bound.value = "";
    change({ [`${this.side.value}_${this.measure.value}`]: value });
  }

  // The measures that rules have, as the service tells them.
  measures(names) {
    if (this.measure.children.length === names.length) return;
    fill(this.measure, names.map((name) => h("option", { value: name }, format.measureName(name))));
    this.measure.value = names.includes("lift") ? "lift" : names[0];
  }

  follow(query, total) {
    const set = (input, value) => document.activeElement === input || (input.value = value ?? "");
    set(this.text, query.get("text"));
    set(this.status, query.get("status"));
    set(this.relation, query.get("relation"));
    set(this.season, query.get("season"));
    set(this.families, query.get("families"));
    set(this.category.input, query.get("category"));
    set(this.low, query.get("min_price"));
    set(this.high, query.get("max_price"));
    const chips = [];
    for (const [name, value] of query) {
      const bound = BOUND.exec(name);
      if (bound) chips.push(chip(`${format.measureName(bound[2])} ${bound[1] === "min" ? "≥" : "≤"} ${value}`, { [name]: null }));
    }
    if (query.get("category")) chips.push(chip(["category ", label(query.get("category"))], { category: null }));
    if (query.get("product")) chips.push(chip(["with ", label(query.get("product"))], { product: null }));
    const area = brush(query);
    if (area) chips.push(chip(`support ${format.percent(area[0])} to ${format.percent(area[1])}, lift ${format.lift(area[2])} to ${format.lift(area[3])}`, { [BRUSH]: null }));
    const chosen = query.getAll("sel").length;
    if (chosen) chips.push(chip(`${format.plural(chosen, "rule")} chosen`, { sel: null }));
    fill(this.chips, chips);
    this.total.textContent = total == null ? "" : format.plural(total, "rule");
  }
}

const chip = (content, values) => h("button.chip", { type: "button", title: "Take away", onclick: () => change(values) },
  content, h("span", { "aria-hidden": "true" }, " ×"));
