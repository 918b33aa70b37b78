// Names of products that are labelled by number: asked for together, once, and put in where the label stands.

import { get } from "./api.js";

const EACH = 200;
const known = new Map();
const namesakes = new Map();
let named = true;
let waiting = new Map();

// What to call a product as far as is known now. Where two share a name, their labels tell them apart.
export function nameOf(id) {
  const name = known.get(String(id));
  return name == null ? String(id) : namesakes.get(name).size > 1 ? `${name} (${id})` : name;
}

// The label of a product that goes by another name; null where the label is all there is.
export const codeOf = (id) => (known.get(String(id)) == null || namesakes.get(known.get(String(id))).size > 1 ? null : String(id));

// Takes a name that came with an answer.
export function learn(id, name) {
  name = name?.trim().replace(/\s+/g, " ");
  if (!name || name === String(id)) return;
  namesakes.get(known.get(String(id)))?.delete(String(id));
  known.set(String(id), name);
  namesakes.set(name, (namesakes.get(name) ?? new Set()).add(String(id)));
}

// Takes the names that came with a rule.
export function learnRule({ antecedents, consequents, antecedent_names: left, consequent_names: right }) {
  left?.forEach((name, i) => learn(antecedents[i], name));
  right?.forEach((name, i) => learn(consequents[i], name));
}

// Calls back once the name is known; never, where products have none.
export function want(id, put) {
  const key = String(id);
  if (!named || known.has(key)) return;
  if (!waiting.size) queueMicrotask(() => ask(waiting));
  waiting.set(key, [...(waiting.get(key) ?? []), put]);
}

// Resolves when the names of all these products are known. True where products have names at all.
export async function all(ids) {
  const missing = [...new Set(ids.map(String))].filter((id) => !known.has(id));
  for (let i = 0; named && i < missing.length; i += EACH) await fetchNames(missing.slice(i, i + EACH));
  return named;
}

async function ask(wanted) {
  waiting = new Map();
  await all([...wanted.keys()]).catch(() => {});
  for (const [id, puts] of wanted) if (known.get(id) != null) puts.forEach((put) => put(nameOf(id)));
}

async function fetchNames(ids) {
  const answer = await get("/names", { id: ids, at: null });
  named = answer.named;
  for (const id of ids) {
    learn(id, answer.names[id]);
    if (!known.has(id)) known.set(id, null);
  }
}

// A sentence in which labels are replaced by names, unless it has the names already.
export function withNames(sentence, ids) {
  return ids.reduce((text, id) => (nameOf(id) === String(id) || text.includes(`(${id})`) ? text : text.replaceAll(new RegExp(`(?<!\\w)${String(id).replace(/\W/g, "\\$&")}(?!\\w)`, "g"), () => nameOf(id))), sentence);
}
