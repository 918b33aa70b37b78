import { equal, test } from "./check.js";
import { cellText, csv, fileName } from "/static/sheet.js";

test("a file of values has a line a row, for any spreadsheet", () => {
  equal(csv({ columns: ["a", "b"], rows: [["tea", 1.5], [null, 2]] }), "\ufeffa,b\r\ntea,1.5\r\n,2\r\n");
});

test("commas, quotes and line ends in a value are quoted", () => {
  equal(csv({ columns: ["a"], rows: [['tea, "green"'], ["two\nlines"]] }), '\ufeffa\r\n"tea, ""green"""\r\n"two\nlines"\r\n');
});

test("a name that a spreadsheet would take for a formula stays text, and a number a number", () => {
  equal(csv({ columns: ["a", "b"], rows: [["=1+1", -3], ["@home", 0]] }), "\ufeffa,b\r\n'=1+1,-3\r\n'@home,0\r\n");
});

test("a picture shows values as the page does", () => {
  equal(cellText("lift", 3.14159), "3.1×");
  equal(cellText("count", 1200), "1,200");
  equal([cellText("lift", null), cellText("kind", "rare")], ["–", "rare"]);
});

test("a file is named by what it holds and the moment, in letters any system takes", () => {
  history.replaceState(null, "", "#/rules");
  equal(fileName({ name: "a/b: c" }), "omba-a-b-c");
  history.replaceState(null, "", "#/rules?at=2017-03-05T00:00:00");
  equal(fileName({ name: "rules" }), "omba-rules-2017-03-05");
});
