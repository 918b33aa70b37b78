// A network of rules: products are joined by the rules between them. Drawn by Cytoscape, loaded when first needed.

import { h, debounce } from "./dom.js";
import { colour, FONT } from "./theme.js";
import { ruleText } from "./labels.js";
import { all, nameOf } from "./names.js";
import * as format from "./format.js";

let library = null;
const load = () => (library ??= import("/static/vendor/cytoscape-3.34.4.min.js"));

export const MOST = 30;

export class Network {
  // `open` gets the rule of an edge, `product` the product of a node.
  constructor({ open, product }) {
    this.rules = [];
    this.marked = new Set();
    this.plot = h("div.plot", { role: "img", "aria-label": "Network of the rules" });
    this.caption = h("figcaption");
    this.larger = h("button", { type: "button", "aria-pressed": "false", onclick: () => this.enlarge() }, "Larger");
    this.element = h("figure.network", {}, this.larger, h("h2", {}, "Network"), this.plot, this.caption);
    this.ready = load().then(({ default: cytoscape }) => {
      if (this.gone) return;
      this.cy = cytoscape({ container: this.plot, style: this.style(), minZoom: 0.2, maxZoom: 3,
        boxSelectionEnabled: false, autounselectify: true });
      this.cy.on("tap", "edge", (event) => open(event.target.data("rule")));
      this.cy.on("tap", "node", (event) => product(event.target.data("label")));
      this.cy.on("mouseover", "node, edge", ({ target }) => {
        this.plot.style.cursor = "pointer";
        this.plot.title = target.isNode() ? nameOf(target.data("label")) : ruleText(target.data("rule"));
      });
      this.cy.on("mouseout", "node, edge", () => {
        this.plot.style.cursor = "";
        this.plot.title = "";
      });
      this.cy.on("zoom", () => this.sizes());
      this.cy.on("zoom pan layoutstop", debounce(() => this.names(), 60));
      this.sized = new ResizeObserver(() => { this.cy.resize(); this.cy.fit(undefined, 30); });
      this.sized.observe(this.plot);
      this.draw();
    });
    this.retheme = () => { this.cy?.style(this.style()); if (this.cy) this.sizes(); };
    addEventListener("themechange", this.retheme);
  }

  set(rules, chosen) {
    this.rules = rules.slice(0, MOST);
    this.caption.textContent = chosen ? `The ${format.plural(this.rules.length, "rule")} chosen.`
      : this.rules.length ? `The first ${format.plural(this.rules.length, "rule")} of the table. Ctrl-click or Space chooses others.` : "No rule to draw.";
    this.draw();
  }

  mark(keys) {
    this.marked = new Set(keys);
    this.highlight();
  }

  draw() {
    if (!this.cy) return;
    const shown = this.rules.map((rule) => rule.key).join();
    if (shown === this.shown) return this.highlight();
    this.shown = shown;
    const products = productsOf(this.rules);
    this.cy.elements().remove();
    this.cy.add(elements(this.rules, products));
    this.arrange();
    this.highlight();
    all(products).then((named) => named && shown === this.shown && this.cy && this.rename(), () => {});
  }

  // Names that came later.
  rename() {
    this.cy.nodes().forEach((node) => void node.data("short", short(nameOf(node.data("label")))));
    this.names();
  }

  arrange() {
    const { clientWidth: w, clientHeight: h } = this.plot;
    this.cy.layout({ name: "cose", animate: false, randomize: false, fit: true, padding: 30, boundingBox: { x1: 0, y1: 0, w, h },
      nodeRepulsion: () => 40000, idealEdgeLength: () => 40, componentSpacing: 30, gravity: 0.4, numIter: 800 }).run();
    this.sizes();
    this.names();
  }

  // The network alone, with room for its names; and back.
  enlarge() {
    const large = this.element.parentElement.classList.toggle("large");
    this.larger.setAttribute("aria-pressed", String(large));
    this.larger.textContent = large ? "Smaller" : "Larger";
    this.cy?.resize();
    if (this.cy) this.arrange();
  }

  // Names, points and arrows are as large on the screen however near one looks.
  sizes() {
    const unit = 1 / this.cy.zoom();
    this.cy.style().selector("node").style({ "font-size": 10 * unit, "text-margin-y": 2 * unit, width: 8 * unit, height: 8 * unit, "text-outline-width": 2 * unit })
      .selector("edge").style({ "arrow-scale": 0.7 * unit, width: (edge) => edge.data("width") * unit }).selector("edge.marked").style({ width: 3.5 * unit })
      .selector("node.silent").style({ label: "" }).update();
  }

  // Names that find room, those of the marked and of the most joined products first.
  names() {
    if (!this.cy) return;
    const free = roomForNames();
    const nodes = this.cy.nodes().sort((a, b) => b.hasClass("marked") - a.hasClass("marked") || b.degree() - a.degree());
    this.cy.batch(() => nodes.forEach((node) => {
      const { x, y } = node.renderedPosition(), half = node.data("short").length * 3.1 + 4;
      node.toggleClass("silent", !free([x - half, y + 2, x + half, y + 18]));
    }));
  }

  highlight() {
    if (!this.cy) return;
    this.cy.batch(() => {
      this.cy.elements().removeClass("marked");
      const edges = this.cy.edges().filter((edge) => this.marked.has(edge.data("key")));
      edges.addClass("marked").connectedNodes().addClass("marked");
    });
    this.names();
  }

  style() {
    return [
      { selector: "node", style: { width: 9, height: 9, "background-color": colour("soft"), label: "data(short)", color: colour("ink"),
        "font-family": FONT, "font-size": 9, "text-valign": "bottom", "text-margin-y": 3,
        "text-outline-color": colour("paper"), "text-outline-width": 2 } },
      { selector: "edge", style: { "line-color": colour("accent"), "target-arrow-color": colour("accent"), opacity: 0.55,
        "curve-style": "bezier", "target-arrow-shape": "triangle", "arrow-scale": 0.7 } },
      { selector: 'edge[status="rare"]', style: { "line-color": colour("second"), "target-arrow-color": colour("second") } },
      { selector: 'edge[status="unseen"]', style: { "line-color": colour("third"), "target-arrow-color": colour("third"), "line-style": "dashed" } },
      { selector: "edge.marked", style: { opacity: 1, "line-color": colour("ink"), "target-arrow-color": colour("ink"), "z-index": 9 } },
      { selector: "node.marked", style: { "background-color": colour("ink"), "font-weight": "bold", "z-index": 9 } },
    ];
  }

  async picture() {
    if (!this.cy) return null;
    return createImageBitmap(await this.cy.png({ output: "blob-promise", scale: 2, bg: colour("paper") }));
  }

  leave() {
    this.gone = true;
    removeEventListener("themechange", this.retheme);
    this.sized?.disconnect();
    this.cy?.destroy();
  }
}

export const productsOf = (rules) => [...new Set(rules.flatMap((rule) => [...rule.antecedents, ...rule.consequents]))];

// A node for each product, laid out on a spiral to begin with, and an edge from each left product of a rule to each right
// one, the thicker the more is to be expected of it.
export function elements(rules, products) {
  const id = new Map(products.map((product, i) => [product, `p${i}`]));
  return [
    ...products.map((product, i) => ({ group: "nodes", data: { id: id.get(product), label: String(product), short: short(nameOf(product)) },
      position: { x: 200 * Math.cos(i * 2.4) * Math.sqrt(i + 1), y: 200 * Math.sin(i * 2.4) * Math.sqrt(i + 1) } })),
    ...rules.flatMap((rule) => rule.antecedents.flatMap((from) => rule.consequents.map((to) => ({ group: "edges",
      data: { source: id.get(from), target: id.get(to), key: rule.key, rule, status: rule.status,
        width: 1 + Math.log2(Math.max(1, rule.expected_lift_low ?? rule.lift ?? 1)) / 2.5 } })))),
  ];
}

// Asks, box by box (left, top, right, bottom), whether there is room beside those that found some before.
export function roomForNames() {
  const taken = [];
  return (box) => {
    const free = taken.every(([left, top, right, bottom]) => box[2] < left || box[0] > right || box[3] < top || box[1] > bottom);
    if (free) taken.push(box);
    return free;
  };
}

const short = (name) => format.shorten(name, 22);
