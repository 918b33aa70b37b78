// A table of rules of any length: only the lines in sight exist, and pages are fetched as they are scrolled to.

import { h, fill, debounce } from "./dom.js";
import * as format from "./format.js";
import { scale, whisker } from "./interval.js";
import { cutLabel, relationMark, ruleText, seasonMark, sides, statusMark } from "./labels.js";

const PAGE = 100;
const SPARE = 8;
// Lines that can be scrolled to: browsers draw nothing beyond some ten million pixels, and nobody looks that far down.
export const MOST_LINES = 100_000;

const COLUMNS = [
  { name: "rule", title: "Rule", cell: (rule) => h("span.of-season", {}, h("span.sides", { title: ruleText(rule) }, sides(rule, cutLabel)), seasonMark(rule.season)) },
  { name: "status", title: "Status", cell: (rule) => statusMark(rule.status) },
  { name: "relation", title: "Relation", fixed: true, cell: (rule) => relationMark(rule) },
  { name: "count", title: "Together", number: true, cell: (rule) => `${rule.count_at_least ? "≥ " : ""}${format.count(rule.count)}` },
  { name: "support", title: "Support", number: true },
  { name: "confidence", title: "Confidence", number: true },
  { name: "lift", title: "Lift", number: true },
  { name: "expected_lift_low", title: "Low end", number: true, cell: (rule) => format.finerLift(rule.expected_lift_low) },
  { name: "expected_lift", title: "Lift to expect", whisker: true },
];

export class Table {
  // `load(offset, limit)` answers {total, rules}; `open` and `select` get the rule that was meant.
  constructor({ load, open, select, sort }) {
    Object.assign(this, { load, open, select, sort });
    this.head = h("div.row.head", { role: "row" });
    this.body = h("div.body", { role: "rowgroup" });
    this.scroller = h("div.scroller", { role: "grid", "aria-label": "Rules", tabindex: "0",
      onkeydown: (event) => this.key(event) }, this.head, this.body);
    this.element = h("div.table", {}, this.scroller);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.sized = new ResizeObserver(() => { this.height = 0; this.draw(); });
    this.sized.observe(this.scroller);
    this.chosen = new Set();
    this.opened = null;
    this.reset({ sort: "expected_lift_low", order: "desc" });
    this.fetchSoon = debounce(() => this.fetch(), 60);
  }

  // Forgets all lines; a new question has been asked.
  reset({ sort, order }) {
    this.turn = (this.turn ?? 0) + 1;
    this.pages = new Map();
    this.total = null;
    this.at = 0;
    this.most = 10;
    this.order = { sort, order };
    this.columns = COLUMNS.some(({ name }) => name === sort) || ["antecedents", "consequents"].includes(sort)
      ? COLUMNS : [...COLUMNS, { name: sort, title: capital(format.measureName(sort)), number: true }];
    this.element.classList.toggle("wider", this.columns.length > COLUMNS.length);
    this.heads();
    this.scroller.scrollTop = 0;
  }

  async refresh() {
    fill(this.body, h("p.state", {}, "Loading rules."));
    await this.fetchPage(0);
    this.draw();
  }

  heads() {
    fill(this.head, this.columns.map((column) => {
      const sort = column.name === "rule" ? "antecedents" : column.name;
      const by = this.order.sort === sort;
      const falling = this.order.order !== "asc";
      return h(`div.cell.of-${column.name}${column.number ? ".numeric" : ""}`, {
        role: "columnheader", "aria-sort": by ? (falling ? "descending" : "ascending") : "none" },
        column.fixed ? h("span.soft", { title: format.MEANINGS[column.name] ?? "" }, column.title) : h("button.quiet", { type: "button", title: format.MEANINGS[column.name] ?? "", onclick: () => this.sort(sort, by && falling ? "asc" : by ? "desc" : sort === "antecedents" || sort === "status" ? "asc" : "desc") },
          column.title, h("span.arrow", { "aria-hidden": "true" }, by ? (falling ? " ↓" : " ↑") : "")));
    }));
  }

  async fetchPage(page) {
    if (this.pages.has(page)) return;
    const turn = this.turn;
    this.pages.set(page, null);
    try {
      const answer = await this.load(page * PAGE, PAGE);
      if (turn !== this.turn) return;
      this.pages.set(page, answer.rules);
      this.total = answer.total;
      this.most = Math.max(this.most, scale(answer.rules));
      this.scroller.setAttribute("aria-rowcount", answer.total + 1);
    } catch (error) {
      if (turn !== this.turn) return;
      this.pages.delete(page);
      this.total ??= 0;
      this.failed = error.message;
      fill(this.body, h("p.state.error", { role: "alert" }, error.message));
      throw error;
    }
  }

  async fetch() {
    const wanted = pagesOf(...this.sight()).filter((page) => !this.pages.has(page));
    await Promise.all(wanted.map((page) => this.fetchPage(page))).catch(() => {});
    if (wanted.length) this.draw();
  }

  rule(i) {
    return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE] ?? null;
  }

  // All lines that have been fetched, in order.
  get rules() {
    return [...this.pages.keys()].sort((a, b) => a - b).flatMap((page) => this.pages.get(page) ?? []);
  }

  sight() {
    return linesInSight(this.scroller.scrollTop, this.scroller.clientHeight, this.rowHeight(), this.lines);
  }

  // The lines that can be seen, of all there are.
  get lines() {
    return Math.min(this.total ?? 0, MOST_LINES);
  }

  rowHeight() {
    return (this.height ||= parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 40);
  }

  draw() {
    if (this.total == null) return;
    if (this.total === 0) {
      if (!this.failed) fill(this.body, h("p.state", {}, "No rule fulfils all of this. Take a filter away, or lower a bound."));
      this.body.style.height = "";
      return;
    }
    const [first, after] = this.sight(), height = this.rowHeight();
    const more = this.total > this.lines;
    this.body.style.height = `${(this.lines + (more ? 1 : 0)) * height}px`;
    const lines = [];
    for (let i = first; i < after; i++) {
      const line = this.line(i);
      line.style.transform = `translateY(${i * height}px)`;
      lines.push(line);
    }
    if (more && after === this.lines) {
      const note = h("p.state.rest", {}, `These are the first ${format.count(this.lines)} of ${format.count(this.total)}: a filter or another order shows the others.`);
      note.style.transform = `translateY(${this.lines * height}px)`;
      lines.push(note);
    }
    fill(this.body, lines);
    if (lines.length && this.missing(first, after)) this.fetchSoon();
  }

  missing(first, after) {
    return pagesOf(first, after).some((page) => !this.pages.has(page));
  }

  line(i) {
    const rule = this.rule(i);
    const more = { role: "row", "aria-rowindex": i + 2, data: { row: i } };
    if (!rule) return h("div.row.waiting", more, h("div.cell.of-rule", {}, "…"));
    const row = h("div.row", { ...more, id: `row-${i}`, "aria-selected": String(this.marked(rule)),
      onclick: (event) => this.click(event, i, rule) },
      this.columns.map((column) => h(`div.cell.of-${column.name}${column.number ? ".numeric" : ""}${column.name === this.order.sort ? ".sorted" : ""}`, {
        role: "gridcell", data: { title: column.title.toLowerCase() } },
        column.cell ? column.cell(rule) : column.whisker ? expectation(rule, this.most) : format.measure(column.name, rule[column.name]))));
    row.dataset.key = rule.key;
    row.classList.toggle("open", rule.key === this.opened);
    row.classList.toggle("chosen", this.chosen.has(rule.key));
    row.classList.toggle("active", i === this.at && document.activeElement === this.scroller);
    return row;
  }

  marked = (rule) => rule.key === this.opened || this.chosen.has(rule.key);

  mark(opened, chosen) {
    this.opened = opened;
    this.chosen = new Set(chosen);
    const place = this.rules.findIndex((rule) => rule.key === opened);
    if (place >= 0) this.at = place;
    this.draw();
  }

  click(event, i, rule) {
    this.at = i;
    if (event.ctrlKey || event.metaKey || event.shiftKey) this.select(rule);
    else this.open(rule);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.rowHeight()) - 2);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (event.target !== this.scroller || !this.total) return;
    if (step) {
      event.preventDefault();
      this.at = Math.min(this.lines - 1, Math.max(0, this.at + step));
      this.reveal();
    } else if (event.key === "Enter" && this.rule(this.at)) {
      event.preventDefault();
      this.open(this.rule(this.at));
    } else if (event.key === " " && this.rule(this.at)) {
      event.preventDefault();
      this.select(this.rule(this.at));
    }
  }

  reveal() {
    const height = this.rowHeight(), top = this.at * height, head = this.head.offsetHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + height + head > this.scroller.scrollTop + this.scroller.clientHeight)
      this.scroller.scrollTop = top + height + head - this.scroller.clientHeight;
    this.draw();
    this.scroller.setAttribute("aria-activedescendant", `row-${this.at}`);
  }

  leave() {
    this.turn++;
    this.sized.disconnect();
  }
}

// The first line in sight and the one after the last, with some to spare on both sides.
export function linesInSight(scrolled, height, rowHeight, total) {
  const top = Math.floor(scrolled / rowHeight) - SPARE;
  return [Math.max(0, top), Math.min(total, top + 2 * SPARE + Math.ceil(height / rowHeight) + 1)];
}

// The pages that hold some lines.
export function pagesOf(first, after) {
  const out = [];
  for (let page = Math.floor(first / PAGE); page * PAGE < after; page++) out.push(page);
  return out;
}

const expectation = (rule, most) => h("span.expect", { title: rule.expected_lift == null ? "" :
  `${format.lift(rule.expected_lift)} to expect, from ${format.lift(rule.expected_lift_low)} to ${format.lift(rule.expected_lift_high)}` },
  h("span.figure", {}, format.lift(rule.expected_lift)), whisker(rule, most));

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
