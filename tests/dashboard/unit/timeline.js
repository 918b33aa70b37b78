import { equal, test } from "./check.js";
import { placeOf } from "/static/timeline.js";

const days = ["2017-01-08", "2017-01-15", "2017-01-22"];

test("the slider stands at the last window kept at or before the moment", () => {
  equal(["2017-01-08", "2017-01-16", "2017-01-22T10:00", "2018"].map((at) => placeOf(at, days)), [0, 1, 2, 2]);
});

test("before the first window it stands at the first, and without a moment after the last", () => {
  equal([placeOf("2016-12-31", days), placeOf(null, days), placeOf(null, [])], [0, 3, 0]);
});

test("windows that are numbers are in the order of numbers", () => {
  equal(["9", "10", "100", "150"].map((at) => placeOf(at, ["9", "10", "100"])), [0, 1, 2, 2]);
});
