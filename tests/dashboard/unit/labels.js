import { equal, test } from "./check.js";
import { code, cutLabel, inCapitals, parts, ruleCodes, ruleLink, ruleText, score, sides, statusMark } from "/static/labels.js";
import { learn } from "/static/names.js";

const rule = { key: "k", antecedents: ["tea", "cup"], consequents: ["milk"] };
const plain = (product) => document.createTextNode(product);

test("a rule is its left products, an arrow and its right products", () => {
  equal(ruleText(rule), "tea and cup ⇒ milk");
  equal(sides(rule, plain).map((node) => node.textContent).join(""), "tea and cup ⇒ milk");
});

test("a rule of products known by number is written by their names", () => {
  learn(1030, "article 30");
  equal(ruleText({ antecedents: [1030], consequents: [7] }), "article 30 ⇒ 7");
});

test("a name that is cut keeps its end, and all of its text", () => {
  learn("84997B", "RED 3 PIECE RETROSPOT CUTLERY SET 2");
  equal([...cutLabel("84997B").children].map((part) => part.textContent), ["RED 3 PIECE RETROSPOT CUTLERY", " SET 2"]);
  equal([...cutLabel("tea cup").children].map((part) => part.textContent), ["tea cup"]);
});

test("a name is cut before its last words", () => {
  equal(parts("CHILDS GARDEN TROWEL BLUE"), ["CHILDS GARDEN TROWEL", " BLUE"]);
  equal(parts("HISPANIC CARBONATED BEVERAGES"), ["HISPANIC CARBONATED", " BEVERAGES"]);
  equal(parts("A LONG NAME OF EXTRAORDINARINESS"), ["A LONG NAME OF EXTRAORD", "INARINESS"]);
  equal(parts("SHORT NAME 7"), ["", "SHORT NAME 7"]);
});

test("labels stand beside names, and nowhere else", () => {
  learn(1030, "article 30");
  equal([code(1030).textContent, code("tea").textContent], ["1030", ""]);
  equal(ruleCodes({ antecedents: [1030], consequents: [7] }), "1030 ⇒ 7");
  equal(ruleCodes(rule), null);
});

test("a name in capitals is known as one, whatever follows its comma", () => {
  equal(["FROZEN PIZZA", "SOUP, tomato", "Frozen Pizza", "KIWI", "TEA", "A1-B2", "ÄPFEL"].map(inCapitals),
    [true, true, false, true, false, false, true]);
});

test("a link to a rule opens it on the page where it stands", () => {
  history.replaceState(null, "", "#/product/tea?at=5&open=old");
  equal(ruleLink(rule, "why").getAttribute("href"), "#/product/tea?at=5&open=k");
});

test("a status that is not known is shown as observed", () => {
  equal(statusMark("rare").className, "status rare");
  equal(statusMark("odd one").className, "status observed");
});

test("a cosine has two digits", () => {
  equal([0.876, 1, null].map(score), ["0.88", "1.00", "–"]);
});
