import { equal, test } from "./check.js";
import { all, codeOf, learn, learnRule, nameOf, want, withNames } from "/static/names.js";

const asked = [];
globalThis.fetch = async (address) => {
  const ids = new URL(address, location.href).searchParams.getAll("id");
  asked.push(ids);
  const names = Object.fromEntries(ids.map((id) => [id, id.startsWith("9") ? null : `article ${id}`]));
  return new Response(JSON.stringify({ named: true, names }), { headers: { "Content-Type": "application/json" } });
};

test("a product without a name is called by its label", () => {
  equal(nameOf(12), "12");
});

test("names wanted together are asked for once", async () => {
  asked.length = 0;
  const got = await new Promise((done) => {
    const found = [];
    for (const id of [1, 2, 1]) want(id, (name) => found.push(name) === 3 && done(found));
  });
  equal([got.sort(), asked], [["article 1", "article 1", "article 2"], [["1", "2"]]]);
});

test("many names are asked for in parts, and those known are not asked for again", async () => {
  asked.length = 0;
  const ids = Array.from({ length: 450 }, (_, i) => 2000 + i);
  equal(await all([...ids, ...ids]), true);
  equal(asked.map((part) => part.length), [200, 200, 50]);
  asked.length = 0;
  await all(ids);
  equal([asked, nameOf(2449)], [[], "article 2449"]);
});

test("two products of one name are told apart by their labels", () => {
  learn("85123A", "white mug");
  equal([nameOf("85123A"), codeOf("85123A")], ["white mug", "85123A"]);
  learn("85123B", "white mug");
  equal([nameOf("85123A"), nameOf("85123B"), codeOf("85123A")], ["white mug (85123A)", "white mug (85123B)", null]);
  learn("85123B", "red mug");
  equal([nameOf("85123A"), nameOf("85123B")], ["white mug", "red mug"]);
});

test("names that come with a rule are not asked for", async () => {
  asked.length = 0;
  learnRule({ antecedents: [701, 702], consequents: [703], antecedent_names: ["cup", null], consequent_names: ["saucer"] });
  await all([701, 703]);
  equal([[701, 702, 703].map(nameOf), asked], [["cup", "702", "saucer"], []]);
});

test("labels in a sentence become names where they stand alone", () => {
  learn("31", "bread (dark)");
  learn("A+", "vitamin $1");
  equal(withNames("31 goes with A+, not with 131 or 31b; 31.", ["31", "A+"]), "bread (dark) goes with vitamin $1, not with 131 or 31b; bread (dark).");
  equal(withNames("bread (dark) (31) goes with tea", ["31"]), "bread (dark) (31) goes with tea");
});
