import { close, equal, test } from "./check.js";
import { hideOrShow, hideOthers, middle, pixel, rankGroups, zoomAbout } from "/static/map.js";

test("departments are ranked by their number of products", () => {
  equal(rankGroups({ of: [1, 0, 1, 2, 1, 2], names: ["a", "b", "c"] }),
    [{ d: 1, n: 3, name: "b" }, { d: 2, n: 2, name: "c" }, { d: 0, n: 1, name: "a" }]);
});

test("the middle of a group has as many of its points on either side", () => {
  const cloud = { x: Float32Array.of(1, 50, 2, 60, 9), y: Float32Array.of(-5, 0, 20, 0, 7), group: Uint16Array.of(0, 1, 0, 1, 0) };
  equal(middle(cloud, 0), { x: 2, y: 7 });
});

test("a department is hidden and shown in turn", () => {
  equal(hideOrShow("a", new Set(["b"])), ["b", "a"]);
  equal(hideOrShow("a", new Set(["a", "b"])), ["b"]);
});

test("one alone is shown, and all again where it already was alone", () => {
  const all = ["a", "b", "c"];
  equal(hideOthers("a", new Set(), all), ["b", "c"]);
  equal(hideOthers("a", new Set(["b", "c"]), all), []);
  equal(hideOthers("b", new Set(["b", "c"]), all), ["a", "c"]);
});

test("the place that is zoomed about stays where it is", () => {
  const before = { x: 3, y: -2, scale: 20 }, [dx, dy] = [120, -45];
  const after = zoomAbout(before, 1.6, dx, dy, 10);
  close(after.scale, 32);
  close(after.x + dx / after.scale, before.x + dx / before.scale);
  close(after.y + dy / after.scale, before.y + dy / before.scale);
});

test("there is a nearest and a farthest view", () => {
  equal(zoomAbout({ x: 0, y: 0, scale: 20 }, 1e9, 0, 0, 10).scale, 4000);
  equal(zoomAbout({ x: 0, y: 0, scale: 20 }, 1e-9, 0, 0, 10).scale, 5);
});

test("a colour is written as a pixel holds it", () => {
  equal(pixel("#17627a").toString(16), "7a6217");
});
