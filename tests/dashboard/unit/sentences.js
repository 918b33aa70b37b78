import { equal, test } from "./check.js";
import { evidence, expectation } from "/static/rule.js";
import { sentence, strongest } from "/static/today.js";

test("how often two meet is told beside what chance would make it", () => {
  equal(evidence({ count: 12, lift: 4 }), "Together in 12 baskets, where chance would make it 3.");
  equal(evidence({ count: 1, lift: 3 }), "Together in 1 basket, where chance would make it 0.330.");
  equal(evidence({ count: 2000, lift: 1.5 }), "Together in 2,000 baskets, where chance would make it 1,333.");
  equal(evidence({ count: 0, lift: 0 }), "Never in one basket so far.");
});

test("a count that may be short says so", () => {
  equal(evidence({ count: 12, lift: 4, count_at_least: true }), "Together in at least 12 baskets, where chance would make it 3.");
});

test("what is to be expected is told with its interval where there is one", () => {
  equal(expectation({ expected_lift: 4, expected_lift_low: 2, expected_lift_high: 8, count: 3, lift: 5 }),
    "4.0×, with nine chances in ten between 2.0× and 8.0×. The mark above is the lift so far, 5.0×. Dotted: as often as by chance.");
  equal(expectation({ expected_lift: 4, expected_lift_low: null, count: 0 }), "4.0×. Dotted: as often as by chance.");
});

test("the stream of today is told with its last day, and that of the past without", () => {
  const today = { window: { start: "2017-01-01", stop: "2017-01-09", baskets: 1200 }, since: "2017-01-02" };
  history.replaceState(null, "", "#/today");
  equal(sentence(today), "Since 2 Jan 2017 the stream brought 1,200 baskets, the last of them on 9 Jan 2017.");
  history.replaceState(null, "", "#/today?at=2017-01-09");
  equal(sentence(today), "Since 2 Jan 2017 the stream brought 1,200 baskets.");
  equal(sentence({ window: { start: null, stop: null, baskets: 0 }, since: null }), "So far the stream brought 0 baskets.");
});

test("a rule that has emerged is not told again among the strongest, whichever way round", () => {
  const rule = (left, right, status = "observed") => ({ key: left + right, antecedents: [left], consequents: [right], status });
  const listed = strongest({ emerged: [rule("a", "b")] }, [rule("b", "a"), rule("c", "d"), rule("e", "f", "unseen"), rule(1, 2)]);
  equal(listed.map(({ key }) => key), ["cd", 3]);
});
