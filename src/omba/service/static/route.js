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

// Puts values into a query in the place of those it has. Values that are null or empty are left out, lists are repeated.
export function put(query, values) {
  for (const [name, value] of Object.entries(values)) {
    query.delete(name);
    for (const one of Array.isArray(value) ? value : [value]) if (one != null && one !== "") query.append(name, one);
  }
  return query;
}

function address(view, id, query) {
  const text = query.toString();
  return `#/${view}${id == null ? "" : "/" + encodeURIComponent(id)}${text ? "?" + text : ""}`;
}

// The address of a view.
export function href(view, id = null, values = {}) {
  return address(view, id, put(new URLSearchParams(), values));
}

// The address of a view at the moment the page is looking at.
export function here(view, id = null, values = {}) {
  return href(view, id, { at: parse().query.get("at"), ...values });
}

// The present address with some of its values changed; null takes one away.
export function addressWith(values, hash = location.hash) {
  const { view, id, query } = parse(hash);
  return address(view, id, put(query, values));
}

// Goes to the present address with some of its values changed. A replaced address leaves no step to go back to.
export function change(values, { replace = false } = {}) {
  const next = addressWith(values);
  if (next === location.hash) return;
  if (replace) {
    history.replaceState(null, "", next);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = next;
}
