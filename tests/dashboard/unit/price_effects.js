import { close, equal, test } from "./check.js";
import { change, place, reachOf } from "/static/price_effects.js";

test("a change has its sign", () => {
  equal([0.2, -0.345, 0.001].map(change), ["+20%", "−34%", "±0%"]);
});

test("no change stands in the middle, and twice as much as far from it as half", () => {
  equal(place(0, 1), 0.5);
  close(place(1, 3) - 0.5, 0.5 - place(-0.5, 3));
  equal([place(99, 1), place(-1, 1)], [1, 0]);
});

test("the scale reaches as far as the intervals, within bounds", () => {
  equal(reachOf([{ low: 0, high: 0.1 }]), 0.5);
  close(reachOf([{ low: -0.5, high: 0.3 }]), 1);
  equal(reachOf([{ low: -0.99, high: 9 }]), 4);
});
