import { equal, test } from "./check.js";
import { caption, extent } from "/static/scatter.js";

const rules = [{ count: 3, support: 0.02, lift: 4 }, { count: 1, support: 0.01, lift: 9 }, { count: 0, support: 0, lift: 0 }];

test("the axes leave room around the points that have support", () => {
  equal(extent(rules), { x: [0.01 / 1.5, 0.02 * 1.5], y: [4 / 1.5, 9 * 1.5] });
});

test("without points the axes have a range of their own", () => {
  equal(extent([]), { x: [1e-4, 1], y: [0.5, 100] });
  equal(extent(rules.slice(2)), extent([]));
});

test("the caption says what is drawn and what cannot be", () => {
  equal(caption(rules, 3), "2 rules; 1 unseen pair has no support yet. Drag to choose an area.");
  equal(caption(rules.slice(0, 1), 1), "1 rule. Drag to choose an area.");
  equal(caption([...rules, rules[2]], 900), "The first 2 rules; 2 unseen pairs have no support yet. Drag to choose an area.");
  equal(caption([], 0), "No rule to draw.");
});
