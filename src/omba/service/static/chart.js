// Charts by ECharts, in the page's colours and type. The library is loaded with the first chart.

import { h, reducedMotion } from "./dom.js";
import { colour, FONT } from "./theme.js";

let library = null;
const load = () => (library ??= import("/static/vendor/echarts-6.1.0.min.js"));

export const palette = () => ["accent", "second", "third", "fourth", "fifth", "haze"].map(colour);

// An axis in the page's manner: no boxes, faint lines.
export function axis(more = {}) {
  const line = colour("line"), soft = colour("soft");
  return {
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: line } },
    axisLabel: { color: soft, fontSize: 11, fontFamily: FONT, hideOverlap: true },
    nameTextStyle: { color: soft, fontSize: 11, fontFamily: FONT },
    ...more,
  };
}

// Tooltips are elements, not markup: names stay text, and no style is written into a page that forbids it.
export const tooltip = (content, more = {}) => ({
  confine: true,
  className: "tooltip",
  transitionDuration: 0,
  backgroundColor: colour("card"),
  borderColor: colour("line"),
  borderWidth: 1,
  padding: [6, 10],
  textStyle: { color: colour("ink"), fontSize: 12, fontFamily: FONT },
  extraCssText: "box-shadow: 0 2px 10px rgb(0 0 0 / .12)",
  formatter: (given) => h("div", {}, content(given)),
  ...more,
});

// A chart in an element. `options` is called for each drawing, so that it follows the theme.
export class Chart {
  constructor(element, options, label) {
    this.element = element;
    this.options = options;
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
    this.ready = load().then(({ init }) => {
      if (this.gone) return;
      this.chart = init(element, null, { renderer: "canvas" });
      this.resized = new ResizeObserver(() => this.chart.resize());
      this.resized.observe(element);
      this.draw();
    });
    this.retheme = () => this.draw();
    addEventListener("themechange", this.retheme);
  }

  draw() {
    if (!this.chart) return;
    this.chart.setOption({ animation: !reducedMotion(), animationDuration: 250, textStyle: { fontFamily: FONT }, ...this.options() },
      { notMerge: true });
  }

  picture() {
    return this.chart?.renderToCanvas({ pixelRatio: 2, backgroundColor: colour("paper") }) ?? null;
  }

  leave() {
    this.gone = true;
    removeEventListener("themechange", this.retheme);
    this.resized?.disconnect();
    this.chart?.dispose();
  }
}
