import { equal, test } from "./check.js";
import * as format from "/static/format.js";

test("numbers have three figures that count", () => {
  equal([0, 0.01234, 0.5, 1.234, 12.34, 123.4, 12345].map(format.number), ["0", "0.0123", "0.500", "1.23", "12.3", "123", "12,345"]);
  equal([-1.234, -250.4].map(format.number), ["-1.23", "-250"]);
});

test("very small numbers are written with a power of ten", () => {
  equal(format.number(0.0000123), "1.2 × 10⁻⁵");
  equal(format.number(4e-12), "4.0 × 10⁻¹²");
});

test("shares get more digits the smaller they are", () => {
  equal([0, 0.5, 0.0123, 0.00123, 0.0000456].map(format.percent), ["0%", "50%", "1.2%", "0.12%", "0.005%"]);
});

test("lifts are times, with a digit behind the point below ten", () => {
  equal([1, 9.94, 10.4, 99.5, 1234.5].map(format.lift), ["1.0×", "9.9×", "10×", "100×", "1,235×"]);
});

test("what is not known is a dash everywhere", () => {
  for (const write of [format.count, format.number, format.percent, format.lift, format.price, format.date]) equal(write(null), "–");
  equal(format.measure("lift", null), "–");
});

test("dates are written out, with the time only where there is one", () => {
  equal(format.date("2017-03-05"), "5 Mar 2017");
  equal(format.date("2017-03-05T00:00:00"), "5 Mar 2017");
  equal(format.date("2017-03-05T14:30:10"), "5 Mar 2017, 14:30");
});

test("moments that are numbers are windows, and any other text stays as it is", () => {
  equal(format.date("1200"), "window 1,200");
  equal(format.date(3), "window 3");
  equal(format.date("spring"), "spring");
});

test("one is singular, none and many are plural", () => {
  equal([0, 1, 2, 1500].map((n) => format.plural(n, "basket")), ["0 baskets", "1 basket", "2 baskets", "1,500 baskets"]);
  equal(format.plural(2, "entry", "entries"), "2 entries");
});

test("a measure is written by what it is", () => {
  equal(format.measure("count", 1234), "1,234");
  equal(format.measure("n_users", 12), "12");
  equal(format.measure("antecedent_support", 0.25), "25%");
  equal(format.measure("expected_lift_low", 3.21), "3.2×");
  equal(format.measure("price", 3), "3.00");
  equal(format.measure("leverage", 0.01234), "0.0123");
  equal(format.measure("status", "rare"), "rare");
});

test("measures without a name of their own are called by their column", () => {
  equal(format.measureName("zhangs_metric"), "Zhang’s metric");
  equal(format.measureName("some_new_measure"), "some new measure");
});

test("a long name loses its middle and keeps the end that tells it from others", () => {
  equal(["tea", "RED RETROSPOT CAKE STAND 16", "RED RETROSPOT CAKE STAND 17"].map((name) => format.shorten(name, 20)),
    ["tea", "RED RETROSPO…TAND 16", "RED RETROSPO…TAND 17"]);
});

test("a lift next to nothing says so", () => {
  equal([0, 1e-7, 0.012, 0.08, 17.43].map(format.lift), ["0.0×", "< 0.01×", "0.01×", "0.1×", "17×"]);
  equal(format.finerLift(17.43), "17.4×");
});
