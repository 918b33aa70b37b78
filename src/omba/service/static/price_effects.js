// What a price did: sales of a product and of its partners in cheaper weeks, each with its interval drawn around no change.

import { h, svg } from "./dom.js";
import { code, productLink } from "./labels.js";

const WIDE = 160, HIGH = 18;

// A change in percent with its sign.
export function change(x) {
  const percent = Math.round(100 * x);
  return percent === 0 ? "±0%" : `${percent > 0 ? "+" : "−"}${Math.abs(percent)}%`;
}

// Where a change is drawn, from 0 to 1: on a logarithmic scale, so that twice as much lies as far from none as half.
export function place(x, reach) {
  const position = Math.log1p(Math.max(x, -0.99)) / Math.log1p(reach);
  return 0.5 + 0.5 * Math.max(-1, Math.min(1, position));
}

// How far the scale reaches on either side: as far as most intervals do.
export function reachOf(effects) {
  const ends = effects.flatMap(({ low, high }) => [Math.expm1(Math.abs(Math.log1p(Math.max(low, -0.95)))), high]);
  return Math.min(4, Math.max(0.5, ...ends));
}

export function priceTable(effects) {
  const reach = reachOf(effects);
  return h("table.small.effects", {}, h("thead", {}, h("tr", {}, ["Sales of", "", "Change", "90% interval", "Weeks"].map((name, i) => h(i > 1 ? "th.numeric" : "th", { scope: "col" }, name)))),
    h("tbody", {}, effects.map((one) => h("tr", {}, h("td", {}, one.relation === "itself" ? h("b", {}, "the product itself") : [productLink(one.product), code(one.product), h("span.soft", {}, ` ${one.relation}`)]),
      h("td.drawn", {}, drawn(one, reach)), h("td.numeric", {}, h("b", {}, change(one.change))), h("td.numeric.soft", {}, `${change(one.low)} to ${change(one.high)}`),
      h("td.numeric.soft", { title: `${one.weeks} cheaper weeks against ${one.usual_weeks} usual ones` }, String(one.weeks))))));
}

function drawn(one, reach) {
  const x = (value) => WIDE * place(value, reach), middle = HIGH / 2;
  const kind = one.low > 0 ? "rose" : one.high < 0 ? "fell" : "even";
  return svg(`svg.effect.${kind}`, { viewBox: `0 0 ${WIDE} ${HIGH}`, width: WIDE, height: HIGH, "aria-hidden": "true" },
    svg("line.none", { x1: WIDE / 2, x2: WIDE / 2, y1: 1, y2: HIGH - 1 }),
    svg("line.span", { x1: x(one.low), x2: x(one.high), y1: middle, y2: middle }), svg("circle", { cx: x(one.change), cy: middle, r: 4 }));
}
