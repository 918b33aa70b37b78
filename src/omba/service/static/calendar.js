// Calendar: what is about to belong together, by the same weeks a year ago; and families and rules over the year, a row each.

import { h, fill, svg, debounce } from "./dom.js";
import { get } from "./api.js";
import { addressWith, change, here } from "./route.js";
import { code, inCapitals, label, productLink } from "./labels.js";
import { learn } from "./names.js";
import { FORTNIGHTS, fortnight, months, shade, times } from "./year.js";
import * as format from "./format.js";

const PAGE = 60;

export class CalendarView {
  constructor(root) {
    const put = debounce((value) => change({ q: value || null }, { replace: true }), 200);
    this.text = h("input", { type: "search", placeholder: "Words in a name", "aria-label": "Words in a name", oninput: () => put(this.text.value.trim()) });
    this.of = select("Rows", [["", "Families"], ["rules", "Rules"]], (value) => change({ of: value || null }));
    this.season = select("Season", [["", "Of a season"], ["all", "All"]], (value) => change({ season: value || null }));
    this.total = h("p.total", { role: "status" });
    this.coming = h("section.coming");
    this.year = h("div.year");
    fill(root, h("header.head", {}, h("h1", {}, "Calendar"), h("p.lede", {}, "What is sold when in the year, against its usual share of all baskets.")),
      this.coming, h("section", {}, h("h2", {}, "Over the year"),
        h("form.filters", { onsubmit: (event) => event.preventDefault(), "aria-label": "Filters" }, this.of, this.season, this.text, this.total), this.year));
  }

  async update({ query }) {
    const shown = Number(query.get("n")) || PAGE;
    const asked = JSON.stringify([query.get("q"), query.get("of"), query.get("season"), shown, this.epoch]);
    if (asked === this.asked) return;
    this.asked = asked;
    const [coming, year] = await Promise.all([get("/coming-up", { limit: 12, at: null }),
      get("/calendar", { q: query.get("q"), of: query.get("of"), season: query.get("season"), limit: Math.min(shown, 200), at: null })]);
    if (asked !== this.asked) return;
    for (const [input, name] of [[this.text, "q"], [this.of, "of"], [this.season, "season"]])
      if (document.activeElement !== input) input.value = query.get(name) ?? "";
    [...coming.rules, ...year.rows].forEach(({ products, names }) => products.forEach((id, i) => learn(id, names[i])));
    Object.assign(this, { comes: coming, found: year });
    fill(this.coming, comingUp(coming, year));
    this.draw(year, query.get("of") === "rules" ? "rule" : "family", shown);
  }

  draw(year, kind, shown) {
    const noun = kind === "rule" ? ["rule", "rules"] : ["family", "families"];
    this.total.textContent = year.now == null ? "" : `${format.plural(year.total, ...noun)}${this.season.value ? `, ${format.count(year.seasonal)} of a season` : " of a season"}`;
    if (year.now == null) return fill(this.year, h("p.none", {}, "The baskets have no dates, so nothing is known of the time of year."));
    if (!year.rows.length) return fill(this.year, h("p.none", {}, year.seasonal ? "None with these words." : `No ${noun[0]} is sold for a few weeks of the year only. Choose “All” to see every one.`));
    const more = year.total > year.rows.length && shown < 200;
    fill(this.year, h("table.calendar", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, noun[0].charAt(0).toUpperCase() + noun[0].slice(1)), h("th.strip", { scope: "col" }, monthNames(year.fortnight)), h("th", { scope: "col" }, "Season"), h("th.number", { scope: "col" }, "Baskets"))),
      h("tbody", {}, year.rows.map((row) => line(row, year.fortnight)))),
    h("p.key", {}, h("span.soft", {}, "as usual "), legend(), h("span.soft", {}, " eight times the usual and more; the line is the next fortnight.")),
    more && h("p.more", {}, h("button", { type: "button", onclick: () => change({ n: String(shown + PAGE) }, { replace: true }) }, "Show more")));
  }

  sheet() {
    const rows = this.found?.rows ?? [];
    return {
      name: "calendar", title: "Calendar", note: format.plural(rows.length, "row"), pictures: [],
      columns: ["name", "products", "season", "baskets", ...Array.from({ length: FORTNIGHTS }, (_, place) => fortnight(place))],
      rows: rows.map((row) => [nameOf(row), row.products.join("; "), row.season, row.count, ...row.rates]),
      shown: ["name", "season", "baskets"],
    };
  }

  leave() {
    this.asked = null;
  }
}

const nameOf = (row) => row.name ?? row.names.map((name, i) => name ?? row.products[i]).join(" + ");

function select(title, options, put) {
  const field = h("select", { "aria-label": title, onchange: () => put(field.value) }, options.map(([value, text]) => h("option", { value }, text)));
  return field;
}

function comingUp(coming, year) {
  const title = h("h2", {}, "Coming up", coming.known && h("span.number", {}, `${format.date(coming.first)} to ${format.date(coming.last)}`));
  if (!coming.known) {
    return [title, h("p.none", {}, year.now == null ? "The baskets have no dates."
      : "This cannot be told yet: nothing was learned of the same weeks a year ago. From a year of baskets on, it stands here.")];
  }
  return [title, h("p.soft", {}, `Belonged together at this time last year, and is about to. Baskets to expect if it comes again, nine times in ten; of what was sold at this time last year, ${format.percent(coming.returns)} is again.`),
    coming.rules.length ? h("ol.rules", {}, coming.rules.map((rule) => h("li", {},
      h("span", {}, rule.products.flatMap((id, i) => [i ? h("span.and", {}, " + ") : null, productLink(id), code(id)])),
      h("span.expect", {}, rule.season && h("span.season", {}, rule.season), h("span.soft", {}, `from ${format.date(rule.begins)}`),
        h("span.figure", { title: "against usual" }, `${format.number(rule.times)}×`),
        h("span.baskets", {}, h("b", {}, format.count(Math.round(rule.expected_baskets))), h("span.soft", {}, ` ${Math.round(rule.expected_baskets_low)}–${Math.round(rule.expected_baskets_high)}`))))))
      : h("p.none", {}, "Nothing: by last year, the coming weeks bring what is usual."),
  ];
}

function line(row, now) {
  const name = row.name != null ? h("details", {}, h(inCapitals(row.name) ? "summary.capitals" : "summary", {}, row.name), h("ul.members", {}, row.products.map((id) => h("li", {}, productLink(id), code(id)))))
    : h("span", {}, row.products.flatMap((id, i) => [i ? h("span.and", {}, " + ") : null, h("a.product", { href: here("product", String(id)) }, label(id))]));
  return h("tr", {}, h("th", { scope: "row" }, name), h("td.strip", {}, strip(row.rates, now, nameOf(row))),
    h("td", {}, row.season ? h("span.season", {}, row.season) : h("span.soft", {}, "all year")), h("td.number", {}, format.count(row.count)));
}

// The year as 26 cells; a screen reader gets the fortnights that stand out.
function strip(rates, now, name) {
  const high = rates.map((rate, place) => [rate, place]).filter(([rate]) => rate >= 2).map(([, place]) => fortnight(place));
  return svg("svg.weeks", { viewBox: `0 0 ${FORTNIGHTS} 4`, preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${high.length ? `more than usual ${high.join(", ")}` : "as usual all year"}` },
    rates.map((rate, place) => {
      const cell = svg(rate == null ? "rect.unmet" : "rect", { x: place + 0.04, y: 0, width: 0.92, height: 4, "fill-opacity": rate == null ? null : Math.max(0.05, shade(rate)) },
        svg("title", {}, `${fortnight(place)}: ${times(rate)}`));
      return cell;
    }), now != null && svg("line", { x1: now, x2: now, y1: 0, y2: 4 }));
}

function monthNames() {
  const line = h("div.months", { "aria-hidden": "true" });
  fill(line, months().map(({ name, at }) => {
    const tick = h("span", {}, name);
    tick.style.left = `${100 * at}%`;
    return tick;
  }));
  return line;
}

const legend = () => svg("svg.weeks", { viewBox: "0 0 5 4", preserveAspectRatio: "none", "aria-hidden": "true" },
  [1, 1.7, 2.8, 4.8, 8].map((rate, i) => svg("rect", { x: i + 0.04, y: 0, width: 0.92, height: 4, "fill-opacity": Math.max(0.05, shade(rate)) })));
