import { equal, test } from "./check.js";
import { question } from "/static/bundles.js";

const asked = (text) => question(new URLSearchParams(text));

test("what is typed in percent is asked for as a share", () => {
  equal(asked("by=lift&floor=25&uptake=30&margin=40"), { by: "lift", floor: 25, uptake: 0.3, margin: 0.4 });
});

test("what is not given or makes no sense is as usual", () => {
  equal(asked(""), { by: "revenue", floor: 10, uptake: 0.2, margin: 1 });
  equal(asked("by=fame&floor=x&uptake=-3&margin=250"), { by: "revenue", floor: 10, uptake: 0.2, margin: 1 });
  equal(asked("margin=0").margin, 0.001);
});
