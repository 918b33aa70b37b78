// Map: all products in two dimensions, near those they are bought like, coloured by department or by neighbourhood.

import { h, fill, debounce, reducedMotion } from "./dom.js";
import { get } from "./api.js";
import { Cloud } from "./cloud.js";
import { change, here, parse } from "./route.js";
import { colour, isDark } from "./theme.js";
import { code, label, labelOf, productLink, score } from "./labels.js";
import { codeOf, learn } from "./names.js";
import { nameNeighbourhoods, neighbourhoods } from "./neighbourhood.js";
import { Search } from "./search.js";
import * as format from "./format.js";

const LIGHT = ["#17627a", "#b4552d", "#6b5ca5", "#3f7d3a", "#b8860b", "#b33a6b", "#2f6fb0", "#7a5230", "#008b8b", "#8a3ab0", "#5d7a1f", "#c0504d"];
const DARK = ["#6cb9d1", "#e2936b", "#ab9ee0", "#86c47f", "#e0b94a", "#e68ab1", "#7fb2ec", "#c59a72", "#55c7c0", "#cf92ec", "#b3cc6a", "#ef8f8a"];

export class MapView {
  constructor(root) {
    this.canvas = h("canvas.cloud", { tabindex: "0", "aria-label": "Map of the products. Arrows move it, plus and minus zoom." });
    this.cloud = new Cloud(this.canvas);
    this.tip = h("div.tooltip.floating", { hidden: true });
    this.legend = h("ul.legend");
    this.by = h("select.by", { "aria-label": "Colour by", onchange: () => change({ by: this.by.value === "neighbourhood" ? "neighbourhood" : null, without: null }, { replace: true }) },
      ["department", "neighbourhood"].map((value) => h("option", { value }, `By ${value}`)));
    this.card = h("div.card", { hidden: true });
    this.caption = h("p.soft.caption");
    this.search = new Search({ placeholder: "Find on the map", label: "Find a product on the map",
      find: async (text) => (text ? (await get("/products", { q: text, limit: 8 })).products : []),
      line: (item) => [labelOf(item), code(item.id), h("span.soft", {}, ` ${item.department ?? ""}`)],
      choose: (item) => change({ product: item.id }) });
    const button = (text, name, act) => h("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
    fill(root, h("h1.hidden", {}, "Map"), h("div.map", {}, this.canvas,
      h("div.over", {}, this.search.element, h("div.zoom", {}, button("+", "Nearer", () => this.zoom(1.6)), button("−", "Farther", () => this.zoom(1 / 1.6)), button("⤢", "All of it", () => this.fly(this.cloud.whole())))),
      h("div.side", {}, this.card, this.by, this.legend), this.caption, this.tip));
    this.hidden = new Set();
    this.still = debounce(() => this.redraw(), 150);
    this.listen();
    this.sized = new ResizeObserver(() => this.fit());
    this.sized.observe(this.canvas);
    this.retheme = () => this.colours();
    addEventListener("themechange", this.retheme);
  }

  async update({ query }) {
    const asked = JSON.stringify([query.get("at"), this.epoch]);
    if (asked !== this.asked) {
      this.asked = asked;
      const map = await get("/map");
      if (asked !== this.asked) return;
      this.take(map);
    }
    this.group(query.get("by") === "neighbourhood");
    this.hidden = new Set(query.getAll("without"));
    this.colours();
    await this.choose(query.get("product"));
  }

  take(map) {
    this.map = map;
    const first = !this.cloud.n;
    this.titles = map.names?.map((name, i) => name ?? map.products[i]) ?? map.products;
    this.cloud.set({ x: map.x, y: map.y, group: map.department, weight: map.count, names: this.titles, ids: map.products });
    this.row = new Map(this.cloud.ids.map((id, i) => [id, i]));
    this.cloud.resize();
    this.cloud.home = this.cloud.whole().scale;
    if (first) this.cloud.camera = this.cloud.whole();
    this.caption.textContent = this.cloud.n ? `${format.plural(this.cloud.n, "product")}. Near are those bought with the same things by the same people; directions have no meaning.`
      : "No product has a place yet: each needs two baskets.";
    this.groups = null;
  }

  // What the colours stand for: departments, or neighbourhoods where they are wanted or there are no departments.
  group(wanted) {
    const { map, cloud } = this, sorted = map.departments.length > 1;
    this.by.hidden = !sorted;
    this.by.value = wanted || !sorted ? "neighbourhood" : "department";
    if (this.groups?.by === this.by.value) return;
    if (this.by.value === "department") this.groups = { by: "department", names: map.departments, of: cloud.take(map.department) };
    else {
      const of = neighbourhoods(cloud.x, cloud.y);
      this.groups = { by: "neighbourhood", names: nameNeighbourhoods(of, cloud.names), of };
    }
    cloud.group = Uint16Array.from(this.groups.of);
    cloud.titles = this.by.value === "department" ? [] : this.groups.names.map((title, g) => ({ title, group: g, ...middle(cloud, g) }));
    this.ranked = rankGroups(this.groups);
    this.legend.setAttribute("aria-label", `${this.by.value === "department" ? "Departments" : "Neighbourhoods"}`);
  }

  colours() {
    if (!this.groups) return;
    const hues = isDark() ? DARK : LIGHT, grey = colour("haze");
    this.hue = new Map(this.ranked.map(({ d }, i) => [d, hues[i] ?? grey]));
    this.cloud.paint({
      colours: this.groups.names.map((_, d) => pixel(this.hue.get(d) ?? grey)),
      visible: (d) => !this.hidden.has(this.groups.names[d]),
      paper: (0xff000000 | pixel(colour("paper"))) >>> 0, ink: colour("ink"), halo: colour("paper"),
    });
    fill(this.legend, this.ranked.map(({ d, n, name }) => {
      const dot = h("span.dot");
      dot.style.background = this.hue.get(d);
      return h("li", {}, h("button.quiet", { type: "button", "aria-pressed": String(!this.hidden.has(name)), title: "Show or hide; with Shift, show alone",
        onclick: (event) => this.toggle(name, event.shiftKey) }, dot, h("span", {}, this.groups.by === "department" ? label(name) : name), h("span.soft", {}, format.count(n))));
    }));
    this.redraw();
  }

  toggle(name, alone) {
    const hidden = alone ? hideOthers(name, this.hidden, this.ranked.map((one) => one.name)) : hideOrShow(name, this.hidden);
    change({ without: [...hidden] }, { replace: true });
  }

  async choose(product) {
    const row = product == null ? -1 : this.row.get(product) ?? -1;
    const asked = (this.picked = {});
    if (row >= 0) learn(product, this.cloud.names[row]);
    this.cloud.chosen = row;
    this.cloud.lines = [];
    this.card.hidden = product == null;
    this.redraw();
    if (product == null) return;
    fill(this.card, h("button.close", { type: "button", "aria-label": "Close", onclick: () => change({ product: null }) }, "×"), h("h2", {}, productLink(product)), h("p.soft", {}, row < 0 ? "It has no place on the map yet." : "Loading."));
    if (row < 0) return;
    const map = await get(`/products/${encodeURIComponent(product)}`);
    if (asked !== this.picked) return;
    const near = map.similar.slice(0, 8).filter(({ id }) => this.row.has(String(id)));
    this.cloud.lines = near.map(({ id, similarity }) => [row, this.row.get(String(id)), Math.max(0, similarity)]);
    const title = this.card.children[1];
    fill(this.card, this.card.firstChild, title, h("p.soft", {}, `${codeOf(product) ? `${product} · ` : ""}${format.plural(map.count, "basket")}${map.price == null ? "" : `, price ${format.price(map.price)}`}`),
      h("ol.near", {}, near.map(({ id, similarity }) => h("li", {}, h("a.product", { href: here("map", null, { product: id }) }, label(id)), h("span.figure", {}, score(similarity))))));
    const { x, y, scale } = this.cloud.camera, [px, py] = this.cloud.screen(row);
    // On a narrow screen the card lies over the lower part of the map.
    const covered = this.card.offsetWidth > this.canvas.clientWidth / 2 ? this.card.offsetHeight : 0;
    const inside = px > 60 && py > 60 && px < this.canvas.clientWidth - 60 && py < this.canvas.clientHeight - 60 - covered;
    const closer = Math.max(scale, 3 * this.cloud.home);
    if (!inside || scale < 2.5 * this.cloud.home) this.fly({ x: this.cloud.x[row], y: this.cloud.y[row] - covered / 2 / closer, scale: closer });
    else this.fly({ x, y, scale });
  }

  fit() {
    const before = this.cloud.home && Math.abs(this.cloud.camera.scale / this.cloud.home - 1) < 0.01;
    this.cloud.resize();
    if (!this.cloud.n) return;
    const whole = this.cloud.whole();
    this.cloud.home = whole.scale;
    if (before) this.cloud.camera = whole;
    this.redraw();
  }

  // One drawing a frame, whatever happened meanwhile, and a sharp one when all is still.
  redraw(moving = false) {
    this.moving = moving;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.cloud.draw(this.moving);
      if (this.moving) this.still();
    });
  }

  fly(to) {
    const from = this.cloud.camera, start = performance.now(), span = reducedMotion() ? 1 : 380;
    const flight = (this.flight = {});
    const step = (now) => {
      if (flight !== this.flight) return;
      const t = Math.min(1, Math.max(0, (now - start) / span)), ease = 1 - (1 - t) ** 3;
      this.cloud.camera = { x: from.x + (to.x - from.x) * ease, y: from.y + (to.y - from.y) * ease, scale: from.scale * (to.scale / from.scale) ** ease };
      this.cloud.draw(t < 1);
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Zoom about a place on the screen, which stays where it is.
  zoom(by, px = this.canvas.clientWidth / 2, py = this.canvas.clientHeight / 2) {
    this.flight = null;
    const { x, y, scale } = this.cloud.camera;
    const dx = px - this.canvas.clientWidth / 2, dy = this.canvas.clientHeight / 2 - py;
    this.cloud.camera = zoomAbout({ x, y, scale }, by, dx, dy, this.cloud.home);
    this.redraw(true);
  }

  move(dx, dy) {
    this.flight = null;
    const { x, y, scale } = this.cloud.camera;
    this.cloud.camera = { x: x - dx / scale, y: y + dy / scale, scale };
    this.redraw(true);
  }

  listen() {
    const { canvas } = this, touching = new Map();
    const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    let moved = 0;
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), ...place(event)); }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); touching.set(event.pointerId, place(event)); moved = 0; this.tip.hidden = true; });
    canvas.addEventListener("pointermove", (event) => {
      const now = place(event), before = touching.get(event.pointerId);
      if (!before) return this.hover(...now);
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      moved += Math.abs(dx) + Math.abs(dy);
      if (touching.size === 1) this.move(dx, dy);
      else if (touching.size === 2) {
        const other = [...touching].find(([id]) => id !== event.pointerId)[1];
        const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.zoom(apart(now) / Math.max(1, apart(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      }
      touching.set(event.pointerId, now);
    });
    const end = (event) => {
      if (touching.delete(event.pointerId) && event.type === "pointerup" && moved < 5) this.click(...place(event));
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
      if (step) this.move(...step);
      else if (event.key === "+" || event.key === "=") this.zoom(1.4);
      else if (event.key === "-") this.zoom(1 / 1.4);
      else if (event.key === "0") this.fly(this.cloud.whole());
      else return;
      event.preventDefault();
    });
  }

  hover(px, py) {
    const i = this.groups ? this.cloud.find(px, py) : -1;
    // The chosen product's name stands beside it already.
    this.tip.hidden = i < 0 || i === this.cloud.chosen;
    this.canvas.style.cursor = i < 0 ? "grab" : "pointer";
    if (this.tip.hidden) return;
    learn(this.cloud.ids[i], this.cloud.names[i]);
    fill(this.tip, h("b", {}, label(this.cloud.ids[i])), h("div.soft", {}, this.groups.names[this.cloud.group[i]]));
    const [x, y] = this.cloud.screen(i);
    this.tip.style.transform = `translate(${Math.min(x + 12, this.canvas.clientWidth - this.tip.offsetWidth - 8)}px, ${y + 12}px)`;
  }

  click(px, py) {
    const i = this.cloud.find(px, py);
    change({ product: i < 0 ? null : this.cloud.ids[i] });
  }

  sheet() {
    const { map } = this;
    return { name: "map", title: "Map of the products", note: format.plural(map.products.length, "product"), pictures: [this.canvas],
      columns: ["product", "name", this.groups.by, "x", "y", "count"],
      rows: this.cloud.order.map((i, place) => [map.products[i], map.names?.[i], this.groups.names[this.cloud.group[place]], map.x[i], map.y[i], map.count[i]]), shown: [] };
  }

  leave() {
    this.asked = this.picked = this.flight = null;
    this.still.cancel();
    cancelAnimationFrame(this.frame);
    this.sized.disconnect();
    removeEventListener("themechange", this.retheme);
  }
}

// Departments or neighbourhoods by their number of products, the largest first.
export function rankGroups({ of, names }) {
  const size = new Map();
  of.forEach((d) => size.set(d, (size.get(d) ?? 0) + 1));
  return [...size].sort((a, b) => b[1] - a[1]).map(([d, n]) => ({ d, n, name: names[d] }));
}

// The middle of a group: half of its points lie left of it, half of them below.
export function middle({ x, y, group }, g) {
  const median = (values) => values.filter((_, i) => group[i] === g).sort()[Math.floor(group.reduce((n, one) => n + (one === g), 0) / 2)];
  return { x: median(x), y: median(y) };
}

export function hideOrShow(name, hidden) {
  const out = new Set(hidden);
  if (!out.delete(name)) out.add(name);
  return out;
}

// All but one are hidden; where they already were, none is.
export function hideOthers(name, hidden, all) {
  const alone = hidden.size === all.length - 1 && !hidden.has(name);
  return new Set(alone ? [] : all.filter((one) => one !== name));
}

// The camera after a zoom that leaves the place at (dx, dy) from the middle of the screen where it is.
export function zoomAbout({ x, y, scale }, by, dx, dy, home) {
  const next = Math.min(400 * home, Math.max(0.5 * home, scale * by));
  return { x: x + dx / scale - dx / next, y: y + dy / scale - dy / next, scale: next };
}

// #rrggbb as a pixel holds it: blue, green, red.
export const pixel = (hex) => (parseInt(hex.slice(5, 7), 16) << 16) | (parseInt(hex.slice(3, 5), 16) << 8) | parseInt(hex.slice(1, 3), 16);
