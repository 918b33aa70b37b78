import { close, equal, test } from "./check.js";
import { FORTNIGHTS, fortnight, months, shade, times } from "/static/year.js";

test("the months begin where they do, on a line from 0 to 1", () => {
  equal(months().map(({ name }) => name).join(""), "JanFebMarAprMayJunJulAugSepOctNovDec");
  equal(months()[0].at, 0);
  close(months()[11].at, 334 / 365);
});

test("a fortnight is called by its days, and the last one is a day longer", () => {
  equal(fortnight(0), "1–14 Jan");
  equal(fortnight(2), "29 Jan – 11 Feb");
  equal(fortnight(FORTNIGHTS - 1), "17–31 Dec");
});

test("what is sold as usual or less is not drawn dark, and eight times the usual is as dark as it gets", () => {
  equal([null, 0.2, 1, 8, 30].map(shade), [0, 0, 0, 1, 1]);
  close(shade(2), 1 / 3);
});

test("a rate is told in words", () => {
  equal([null, 0.01, 0.5, 1.1, 3.14, 12.4].map(times), ["not met yet", "hardly ever", "0.5 times the usual", "as usual", "3.1 times the usual", "12 times the usual"]);
});
