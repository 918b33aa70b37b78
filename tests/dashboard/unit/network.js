import { close, equal, test } from "./check.js";
import { elements, productsOf, roomForNames } from "/static/network.js";

const rules = [
  { key: "a", antecedents: ["tea", "cup"], consequents: ["milk"], status: "observed", expected_lift_low: 32 },
  { key: "b", antecedents: ["milk"], consequents: ["a product with a name that is long"], status: "unseen", lift: null },
];

test("each product is one node and each pair across a rule one edge", () => {
  const made = elements(rules, productsOf(rules));
  const nodes = made.filter(({ group }) => group === "nodes"), edges = made.filter(({ group }) => group === "edges");
  equal(nodes.map(({ data }) => data.label), ["tea", "cup", "milk", "a product with a name that is long"]);
  equal(edges.map(({ data }) => [data.source, data.target, data.key]), [["p0", "p2", "a"], ["p1", "p2", "a"], ["p2", "p3", "b"]]);
});

test("edges are the thicker the more is to be expected, and never thinner than one", () => {
  const width = elements(rules, productsOf(rules)).filter(({ group }) => group === "edges").map(({ data }) => data.width);
  close(width[0], 3);
  equal(width[2], 1);
});

test("long names lose their middle", () => {
  equal(elements(rules, productsOf(rules))[3].data.short, "a product wit…is long");
});

test("nodes begin at places of their own", () => {
  const many = [{ key: "c", antecedents: Array.from({ length: 40 }, (_, i) => i), consequents: [40], status: "rare" }];
  const places = elements(many, productsOf(many)).filter(({ group }) => group === "nodes").map(({ position: { x, y } }) => [x, y]);
  for (let i = 0; i < places.length; i++)
    for (let k = 0; k < i; k++) equal(Math.hypot(places[i][0] - places[k][0], places[i][1] - places[k][1]) > 50, true);
});

test("a name that would cover another finds no room, and takes none", () => {
  const free = roomForNames();
  equal(free([0, 0, 50, 16]), true);
  equal(free([40, 10, 90, 26]), false);
  equal(free([60, 0, 110, 16]), true);
  equal(free([45, 17, 95, 33]), true);
});
