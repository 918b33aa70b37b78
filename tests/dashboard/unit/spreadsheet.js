import { equal, test } from "./check.js";
import { crc32, formatOf, intervals, letters, width, withIntervals, workbook, zip } from "/static/spreadsheet.js";

const said = (bytes) => new TextDecoder("latin1").decode(bytes);

test("columns go on after Z", () => {
  equal([0, 25, 26, 51, 52, 701, 702].map(letters), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
});

test("the check sum is the one that ZIP files have", () => {
  equal(crc32(new TextEncoder().encode("123456789")).toString(16), "cbf43926");
});

test("a ZIP file begins with its first part and ends with how many there are", () => {
  const bytes = zip({ "a.txt": "tea", "b.txt": "cup" });
  equal([said(bytes.slice(0, 4)), said(bytes.slice(30, 38)), bytes[bytes.length - 12]], ["PK\u0003\u0004", "a.txttea", 2]);
});

test("shares, counts and lifts have their formats", () => {
  equal(["support", "count", "count_before", "expected_lift_low", "price", "similarity"].map(formatOf), [2, 3, 3, 4, 4, 5]);
});

test("a column is as wide as its longest text, and no wider than a screen", () => {
  equal([width("lift", [1, 2]), width("rule", ["tea and cup and saucer"]), width("rule", ["x".repeat(200)]), width("expected_lift", [])], [9, 23, 60, 10]);
});

test("intervals are drawn on one scale, and not where there is none", () => {
  equal(intervals([[1, 20, 100], [1, 1, 100], [null, 2, 3]]), ["├──────────────●───────┤", "●──────────────────────┤", null]);
  equal(withIntervals({ columns: ["a"], rows: [["tea"]] }), { columns: ["a"], rows: [["tea"]] });
});

test("a name that looks like a formula or like markup stays text in a workbook", () => {
  const book = said(workbook({ name: "rules", columns: ["rule", "lift"], rows: [["=1+1", 2.5], ["<b> & \"tea\"\u0000", null]] }));
  equal(book.includes('t="inlineStr"><is><t xml:space="preserve">=1+1</t>'), true);
  equal(book.includes("&lt;b&gt; &amp; &quot;tea&quot;</t>"), true);
  equal(book.includes('<c r="B2" s="4"><v>2.5</v></c>'), true);
});
