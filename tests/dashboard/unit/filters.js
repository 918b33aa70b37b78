import { equal, test } from "./check.js";
import { brush, question } from "/static/filters.js";

const asked = (text, options) => question(new URLSearchParams(text), options);

test("filters of the address are asked for, and what is chosen on the page is not", () => {
  equal(asked("text=tea&status=rare&season=none&min_price=2&sort=lift&order=asc&open=k&sel=a&at=3"),
    { text: "tea", status: "rare", season: "none", min_price: "2", sort: "lift", order: "asc" });
});

test("any measure can be bounded from below and from above", () => {
  equal(asked("min_lift=3&max_expected_lift_low=9"), { min_lift: "3", max_expected_lift_low: "9" });
});

test("an empty filter is no filter", () => {
  equal(asked("text=&status="), {});
});

test("the brushed area bounds support and lift", () => {
  equal(asked("area=0.01,0.1,2,8"), { min_support: 0.01, max_support: 0.1, min_lift: 2, max_lift: 8 });
});

test("of a bound and the brushed area the narrower holds", () => {
  equal(asked("area=0.01,0.1,2,8&min_lift=5&max_lift=20&max_support=0.05"),
    { min_lift: 5, max_lift: 8, max_support: 0.05, min_support: 0.01 });
});

test("the scatter asks without the area that is drawn on it", () => {
  equal(asked("area=0.01,0.1,2,8&min_lift=5", { brushed: false }), { min_lift: "5" });
});

test("an area is four numbers or none", () => {
  equal(brush(new URLSearchParams("area=1,2,3,4")), [1, 2, 3, 4]);
  for (const wrong of ["", "area=1,2,3", "area=1,2,3,x", "area=1,2,3,Infinity"]) equal(brush(new URLSearchParams(wrong)), null);
});
