import { equal, test } from "./check.js";
import { linesInSight, MOST_LINES, pagesOf, Table } from "/static/table.js";

test("the lines in sight are those on the screen and some to spare", () => {
  equal(linesInSight(0, 400, 40, 1000), [0, 19]);
  equal(linesInSight(4000, 400, 40, 1000), [92, 119]);
});

test("no line is before the first or after the last", () => {
  equal(linesInSight(0, 400, 40, 5), [0, 5]);
  equal(linesInSight(0, 400, 40, 0), [0, 0]);
  equal(linesInSight(39600, 400, 40, 1000), [982, 1000]);
});

test("lines are fetched with the pages that hold them", () => {
  equal(pagesOf(0, 19), [0]);
  equal(pagesOf(92, 119), [0, 1]);
  equal(pagesOf(300, 300), []);
  equal(pagesOf(199, 301), [1, 2, 3]);
});

test("a table fetches a page once and knows its rules by their place", async () => {
  const asked = [];
  const load = async (offset, limit) => {
    asked.push([offset, limit]);
    return { total: 150, rules: Array.from({ length: Math.min(limit, 150 - offset) }, (_, i) => ({ key: `k${offset + i}`, antecedents: ["a"], consequents: ["b"] })) };
  };
  const table = new Table({ load, open() {}, select() {}, sort() {} });
  await table.fetchPage(1);
  await table.fetchPage(0);
  await table.fetchPage(1);
  equal(asked, [[100, 100], [0, 100]]);
  equal([table.total, table.rules.length, table.rule(120).key, table.rule(150)], [150, 150, "k120", null]);
  table.leave();
});

test("a table of millions is as tall as a browser can draw, and says that there are more", async () => {
  const total = 4_000_000;
  const load = async (offset, limit) => ({ total, rules: Array.from({ length: limit }, (_, i) => ({ key: `k${offset + i}`, antecedents: ["a"], consequents: ["b"] })) });
  const table = new Table({ load, open() {}, select() {}, sort() {} });
  document.body.append(table.element);
  table.element.style.height = table.scroller.style.height = "400px";
  table.scroller.style.overflow = "auto";
  await table.refresh();
  equal([table.lines, parseFloat(table.body.style.height) < 8_000_000], [MOST_LINES, true]);
  table.key({ key: "End", target: table.scroller, preventDefault() {} });
  await table.fetch();
  table.draw();
  equal(table.rule(MOST_LINES - 1).key, `k${MOST_LINES - 1}`);
  equal(table.body.textContent.includes("the first 100,000 of 4,000,000"), true);
  table.element.remove();
  table.leave();
});
