// The service: JSON in and out, errors as sentences. Answers are kept until the service publishes a new state.

import { parse, put } from "./route.js";

const cache = new Map();
const MOST = 60;
const TOKEN = "omba-token";

export class ApiError extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

export function forget() {
  cache.clear();
}

export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
  forget();
}

// GET with the moment the page is looking at, unless `values` says otherwise.
export function get(path, values = {}, signal = undefined) {
  const query = put(new URLSearchParams(), { at: parse().query.get("at"), ...values });
  const address = query.size ? `${path}?${query}` : path;
  if (!cache.has(address)) {
    const answer = ask(address, { signal });
    cache.set(address, answer);
    answer.catch(() => cache.delete(address));
    if (cache.size > MOST) cache.delete(cache.keys().next().value);
  }
  return cache.get(address);
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
  const body = await answer.json().catch(() => null);
  if (answer.ok && body !== null) return body;
  throw new ApiError(sentence(body) ?? `The service answered with status ${answer.status}.`, answer.status);
}

function sentence(body) {
  if (typeof body?.error !== "string") return null;
  const text = body.error.charAt(0).toUpperCase() + body.error.slice(1);
  return /[.!?]$/.test(text) ? text : text + ".";
}
