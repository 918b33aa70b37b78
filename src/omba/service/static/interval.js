// The expected lift and its 90% interval, drawn: small in a table's cell, large with a scale in a rule's page.

import { h, svg } from "./dom.js";
import * as format from "./format.js";

const LEAST = 0.5;
const TICKS = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000];

// Where a lift stands on a logarithmic scale of some width, from a half to the highest.
export const position = (x, most, width) => {
  const at = Math.log(Math.max(x, LEAST) / LEAST) / Math.log(most / LEAST);
  return 4 + Math.min(1, Math.max(0, at)) * (width - 8);
};

// The highest end among rules, so that all are drawn on one scale.
export function scale(rules) {
  return Math.max(10, ...rules.map((rule) => rule?.expected_lift_high ?? 0));
}

// What a list shows of the lift to expect, beside all of it drawn: the low end, by which it is sorted, or of pairs never
// seen, whose low end is next to nothing, the middle.
export function expected(rule, most, width = 90) {
  const { expected_lift: middle, expected_lift_low: low, expected_lift_high: high } = rule;
  const title = middle == null ? "" : `${format.lift(middle)} to expect, from ${format.lift(low)} to ${format.lift(high)}`;
  const figure = rule.status === "unseen" || low == null ? `about ${format.lift(middle ?? rule.lift)}` : `from ${format.lift(low)}`;
  return [h("span.figure", { title }, figure), whisker(rule, most, width)];
}

// Pairs never seen in the order of what is shown of them.
export const byExpected = (rules) => [...rules].sort((a, b) => (b.expected_lift ?? 0) - (a.expected_lift ?? 0));

export function whisker(rule, most, width = 110) {
  const { expected_lift: middle, expected_lift_low: low, expected_lift_high: high } = rule;
  if (middle == null) return null;
  const at = (x) => position(x, most, width);
  return svg("svg.whisker", { viewBox: `0 0 ${width} 12`, width, height: 12, role: "img",
    "aria-label": `expected lift ${format.lift(middle)}, from ${format.lift(low)} to ${format.lift(high)}` },
    svg("line.even", { x1: at(1), x2: at(1), y1: 0, y2: 12 }),
    low != null && high != null && svg("line.span", { x1: at(low), x2: at(high), y1: 6, y2: 6 }),
    svg("circle", { cx: at(middle), cy: 6, r: 3 }));
}

export function interval(rule, width = 360) {
  const { expected_lift: middle, expected_lift_low: low, expected_lift_high: high, lift } = rule;
  if (middle == null) return null;
  const most = Math.max(10, 1.3 * (high ?? middle), rule.count ? 1.2 * (lift ?? 0) : 0);
  const at = (x) => position(x, most, width);
  const ticks = TICKS.filter((x) => x <= most);
  const seen = rule.count > 0 && lift != null;
  return svg("svg.interval", { viewBox: `0 0 ${width} 64`, role: "img",
    "aria-label": `expected lift ${format.lift(middle)}, 90% interval from ${format.lift(low)} to ${format.lift(high)}` },
    ticks.map((x) => svg(x === 1 ? "line.even" : "line.grid", { x1: at(x), x2: at(x), y1: 6, y2: 46 })),
    ticksWithRoom(ticks, at, width).map((x) => svg("text.tick", { x: at(x), y: 60, "text-anchor": x === LEAST ? "start" : at(x) > width - 16 ? "end" : "middle" }, x < 1 ? "½" : format.count(x))),
    low != null && high != null && svg("rect.span", { x: at(low), y: 21, width: Math.max(2, at(high) - at(low)), height: 10, rx: 5 }),
    seen && svg("path.seen", { d: `M${at(lift)} 15 l4.5 -8 h-9 z` }),
    svg("circle", { cx: at(middle), cy: 26, r: 6 }));
}

// The ticks whose names do not run into the one before; `at` tells where a tick stands.
export function ticksWithRoom(ticks, at, width) {
  let end = -Infinity;
  return ticks.filter((x) => {
    const half = 3 * format.count(x).length + 3, start = at(x) - (at(x) > width - 16 ? 2 : 1) * half;
    if (start < end) return false;
    end = at(x) + half;
    return true;
  });
}
