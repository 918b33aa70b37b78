// Names of products that are labelled by number: asked for together, once, and put in where the label stands.

import { get } from "./api.js";

const EACH = 200;
const known = new Map();
let named = true;
let waiting = new Map();

// What to call a product as far as is known now.
export const nameOf = (id) => known.get(String(id)) ?? String(id);

// Takes a name that came with an answer.
export function learn(id, name) {
  if (name != null && name !== String(id)) known.set(String(id), name);
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
  for (const [id, puts] of wanted) if (known.get(id) != null) puts.forEach((put) => put(known.get(id)));
}

async function fetchNames(ids) {
  const answer = await get("/names", { id: ids, at: null });
  named = answer.named;
  for (const [id, name] of Object.entries(answer.names)) known.set(id, name);
}

// A sentence in which labels are replaced by names.
export function withNames(sentence, ids) {
  return ids.reduce((text, id) => (nameOf(id) === String(id) ? text : text.replaceAll(new RegExp(`(?<!\\w)${String(id).replace(/\W/g, "\\$&")}(?!\\w)`, "g"), () => nameOf(id))), sentence);
}
