import { equal, test } from "./check.js";
import { periods } from "/static/period.js";

const names = (ends) => periods(ends).map(({ name }) => name);

test("a month is called by its name, though it is closed on the first of the next", () => {
  equal(names(["2010-01-01", "2010-02-01", "2010-03-01"]), ["Dec 2009", "Jan 2010", "Feb 2010"]);
});

test("months closed a few days late, and a last one that has just begun, are called by their name too", () => {
  equal(names(["2010-01-04", "2010-02-01", "2010-03-01", "2010-03-03"]), ["Dec 2009", "Jan 2010", "Feb 2010", "Mar 2010"]);
});

test("any other window is called by the day it begins", () => {
  equal(names(["2024-01-08", "2024-01-15", "2024-01-22"]), ["1 Jan 2024", "8 Jan 2024", "15 Jan 2024"]);
  equal(names(["2024-01-01T10:00", "2024-01-01T11:00"]), ["1 Jan 2024, 09:00", "1 Jan 2024, 10:00"]);
});

test("in words a window has both ends, as far as they are known", () => {
  equal(periods(["2010-01-01", "2010-02-01"]).map(({ words }) => words), ["until 1 Jan 2010", "1 Jan 2010 until 1 Feb 2010"]);
});

test("windows that are only numbered keep their number", () => {
  equal(names(["1", "2"]), ["window 1", "window 2"]);
  equal(names(["2010-01-01"]), ["1 Jan 2010"]);
});
