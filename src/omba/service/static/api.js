// The service: JSON in and out, errors as sentences. Answers are kept until the service publishes a new state.

import { parse } from "./route.js";

const kept = new Map();
const MOST = 60;
const TOKEN = "omba-token";

export class ApiError extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

export function forget() {
  kept.clear();
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
  forget();
}

// GET with the moment the page is looking at, unless `values` says otherwise.
export function get(path, values = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ at: parse().query.get("at"), ...values })) {
    for (const one of Array.isArray(value) ? value : [value]) if (one != null && one !== "") query.append(name, one);
  }
  const address = query.size ? `${path}?${query}` : path;
  if (!kept.has(address)) {
    const answer = ask(address, { signal });
    kept.set(address, answer);
    answer.catch(() => kept.delete(address));
    if (kept.size > MOST) kept.delete(kept.keys().next().value);
  }
  return kept.get(address);
}

// The state of the service now, never a kept answer.
export const status = () => ask("/status", {});

async function ask(address, options) {
  const token = sessionStorage.getItem(TOKEN);
  const headers = { Accept: "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) };
  let answer;
  try {
    answer = await fetch(address, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The service does not answer. It may have stopped: start it again with omba serve.", 0);
  }
  const told = await answer.json().catch(() => null);
  if (answer.ok && told !== null) return told;
  throw new ApiError(sentence(told) ?? `The service answered with status ${answer.status}.`, answer.status);
}

function sentence(told) {
  if (typeof told?.error !== "string") return null;
  const text = told.error.charAt(0).toUpperCase() + told.error.slice(1);
  return /[.!?]$/.test(text) ? text : text + ".";
}
