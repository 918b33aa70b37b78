import { close, equal, test } from "./check.js";
import * as format from "/static/format.js";
import { byExpected, expected, interval, position, scale, ticksWithRoom, whisker } from "/static/interval.js";

const rule = { expected_lift: 4, expected_lift_low: 2, expected_lift_high: 8, lift: 5, count: 10 };
const number = (element, name) => Number(element.getAttribute(name));

test("lifts stand on a logarithmic scale from a half to the highest", () => {
  equal([position(0.5, 32, 108), position(32, 32, 108)], [4, 104]);
  close(position(4, 32, 108), 54);
});

test("what is beyond the scale stands at its end", () => {
  equal([position(0, 32, 108), position(0.1, 32, 108), position(1e9, 32, 108)], [4, 4, 104]);
});

test("all rules share the scale of the highest end, which is ten at least", () => {
  equal(scale([rule, { expected_lift_high: 90 }, { expected_lift_high: null }, null]), 90);
  equal([scale([]), scale([rule])], [10, 10]);
});

test("a whisker runs from the low end to the high end, with its middle between", () => {
  const drawn = whisker(rule, 32), span = drawn.querySelector(".span"), middle = number(drawn.querySelector("circle"), "cx");
  equal([number(span, "x1") < middle, middle < number(span, "x2")], [true, true]);
  equal(drawn.getAttribute("aria-label"), "expected lift 4.0×, from 2.0× to 8.0×");
});

test("without an interval only the middle is drawn, and without a lift to expect nothing", () => {
  equal(whisker({ ...rule, expected_lift_low: null }, 32).querySelector(".span"), null);
  equal([whisker({ expected_lift: null }, 32), interval({ expected_lift: null })], [null, null]);
});

test("the lift so far is marked only on a rule that was seen", () => {
  equal([interval(rule).querySelector(".seen") !== null, interval({ ...rule, count: 0 }).querySelector(".seen")], [true, null]);
});

test("names of ticks never run into each other", () => {
  for (const most of [10, 90, 700, 9000, 10000]) {
    for (const width of [120, 200, 360]) {
      const at = (x) => position(x, most, width);
      const kept = ticksWithRoom([0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000].filter((x) => x <= most), at, width);
      equal(kept[0], 0.5);
      // A figure is about six pixels wide, and stands with its middle at the tick.
      const half = (x) => 3 * format.count(x).length;
      for (let i = 1; i < kept.length; i++) equal(at(kept[i]) - at(kept[i - 1]) >= half(kept[i]) + half(kept[i - 1]), true);
    }
  }
});

test("a list shows the low end it is sorted by, and of pairs never seen the middle", () => {
  const seen = { status: "observed", expected_lift: 4, expected_lift_low: 2, expected_lift_high: 8 };
  equal(expected(seen, 10)[0].textContent, "from 2.0×");
  const unseen = [1.5, 9].map((middle) => ({ status: "unseen", expected_lift: middle, expected_lift_low: 1e-6, expected_lift_high: 20 }));
  equal(byExpected(unseen).map((rule) => expected(rule, 10)[0].textContent), ["about 9.0×", "about 1.5×"]);
});
