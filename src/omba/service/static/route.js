// Addresses: #/view/id?name=value. All that is chosen on a page is in its address, so it can be shared and gone back to.

export function parse(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "today", ...rest] = path.split("/");
  let id = null;
  try {
    id = rest.length && rest[0] !== "" ? decodeURIComponent(rest.join("/")) : null;
  } catch {
    id = rest.join("/");
  }
  return { view: view || "today", id, query: new URLSearchParams(query) };
}

// The address of a view. Values that are null or empty are left out, lists are repeated.
export function href(view, id = null, values = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one != null && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return `#/${view}${id == null ? "" : "/" + encodeURIComponent(id)}${text ? "?" + text : ""}`;
}

// The address of a view at the moment the page is looking at.
export function here(view, id = null, values = {}) {
  return href(view, id, { at: parse().query.get("at"), ...values });
}

// Changes some values of the present address; null takes one away. A replaced address leaves no step to go back to.
export function change(values, { replace = false } = {}) {
  const { view, id, query } = parse();
  for (const [name, value] of Object.entries(values)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) if (one != null && one !== "") query.append(name, one);
  }
  const text = query.toString();
  const next = `#/${view}${id == null ? "" : "/" + encodeURIComponent(id)}${text ? "?" + text : ""}`;
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = next;
}
