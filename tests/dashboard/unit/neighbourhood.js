import { equal, test } from "./check.js";
import { nameNeighbourhoods, neighbourhoods, wordsOf } from "/static/neighbourhood.js";

// Three heaps of points, of 300, 200 and 100, each by its middle.
function heaps(middles = [[0, 0, 300], [10, 0, 200], [5, 9, 100]]) {
  let state = 1;
  const random = () => ((state = (state * 48271) % 2147483647) / 2147483647) + ((state = (state * 48271) % 2147483647) / 2147483647) - 1;
  const points = middles.flatMap(([x, y, n], heap) => Array.from({ length: n }, () => ({ x: x + 2 * random(), y: y + 2 * random(), heap })));
  return { x: points.map(({ x }) => x), y: points.map(({ y }) => y), heap: points.map(({ heap }) => heap) };
}

test("each heap of products is a neighbourhood, the largest first", () => {
  const { x, y, heap } = heaps();
  equal(neighbourhoods(x, y, 3), heap);
});

test("there are never more neighbourhoods than colours", () => {
  const { x, y } = heaps(Array.from({ length: 25 }, (_, i) => [10 * (i % 5), 10 * Math.floor(i / 5), 40]));
  equal(Math.max(...neighbourhoods(x, y, 12)) + 1 <= 12, true);
});

test("no product, one, and all in one place are neighbourhoods too", () => {
  equal(neighbourhoods([], []), []);
  equal(neighbourhoods([3], [4]), [0]);
  equal(neighbourhoods([1, 1, 1], [2, 2, 2]), [0, 0, 0]);
});

test("a neighbourhood is called by the words that its products share and the others lack", () => {
  const names = ["CHRISTMAS TREE STAR", "RED CHRISTMAS TREE", "CHRISTMAS TREE BELL", "RED TEA CUP", "TEA CUP GREEN", "TEA CUP SAUCER"];
  equal(nameNeighbourhoods([0, 0, 0, 1, 1, 1], names), ["christmas, tree", "tea, cup"]);
});

test("where products share no word, their best seller lends its name", () => {
  equal(nameNeighbourhoods([0, 1, 0], ["10002", "milk", "10004"]), ["around 10002", "around milk"]);
});

test("numbers, sizes and little words are no words to be called by", () => {
  equal(wordsOf("SET OF 3 CAKE TINS with 12 CM the tins"), ["cake", "tins"]);
});
