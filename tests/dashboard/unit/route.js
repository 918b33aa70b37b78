import { equal, test } from "./check.js";
import { addressWith, change, here, href, parse, put } from "/static/route.js";

const at = (hash) => history.replaceState(null, "", hash || "#");

test("an address has a view, an id and values", () => {
  const { view, id, query } = parse("#/product/dairy%20basics?at=2017-01-01&sel=a&sel=b");
  equal([view, id, query.get("at"), query.getAll("sel")], ["product", "dairy basics", "2017-01-01", ["a", "b"]]);
});

test("an empty address is today", () => {
  for (const hash of ["", "#", "#/"]) equal([parse(hash).view, parse(hash).id], ["today", null]);
});

test("an id may hold a slash, a question mark and a per cent sign", () => {
  for (const id of ["a/b", "50% off?", "ä & ö", "#1"]) equal(parse(href("product", id)).id, id);
});

test("an id that was not encoded well is taken as it stands", () => {
  equal(parse("#/product/100%").id, "100%");
});

test("values that are null or empty are left out and lists are repeated", () => {
  equal(href("rules", null, { text: "", status: null, sel: ["a", "b"], min_lift: 0 }), "#/rules?sel=a&sel=b&min_lift=0");
});

test("a value that is put takes the place of the old one", () => {
  equal(put(new URLSearchParams("a=1&b=2&a=3"), { a: 4 }).toString(), "b=2&a=4");
});

test("a link keeps the moment that is looked at", () => {
  at("#/rules?at=2017-02-01&text=x");
  equal(here("product", "tea"), "#/product/tea?at=2017-02-01");
  equal(here("product", "tea", { at: null }), "#/product/tea");
});

test("an address is changed in some values, and null takes one away", () => {
  equal(addressWith({ sort: "lift", text: null }, "#/rules?text=x&at=3"), "#/rules?at=3&sort=lift");
  equal(addressWith({ open: "k" }, "#/product/a%2Fb"), "#/product/a%2Fb?open=k");
});

test("a replaced address is told and leaves no step to go back to", () => {
  at("#/rules");
  const steps = history.length;
  let told = 0;
  addEventListener("hashchange", () => told++, { once: true });
  change({ text: "tea" }, { replace: true });
  equal([location.hash, told, history.length], ["#/rules?text=tea", 1, steps]);
});

test("a change to the same address does nothing", () => {
  at("#/rules?text=tea");
  let told = 0;
  const listen = () => told++;
  addEventListener("hashchange", listen);
  change({ text: "tea" }, { replace: true });
  removeEventListener("hashchange", listen);
  equal(told, 0);
});
