// Support against lift, each rule a point, both on logarithmic scales. A rectangle drawn on it filters the table.

import { h } from "./dom.js";
import { axis, Chart, tooltip } from "./chart.js";
import { colour } from "./theme.js";
import { label, sides } from "./labels.js";
import * as format from "./format.js";

export class Scatter {
  constructor({ open, brush }) {
    this.rules = [];
    this.marked = new Set();
    this.area = null;
    this.plot = h("div.plot");
    this.caption = h("figcaption");
    this.element = h("figure.scatter", {}, h("h2", {}, "Support and lift"), this.plot, this.caption);
    this.chart = new Chart(this.plot, () => this.options(), "Scatter of support against lift; drag to filter the table");
    this.chart.ready.then(() => this.listen(open, brush));
  }

  listen(open, brush) {
    const { chart } = this.chart;
    if (!chart) return;
    chart.on("click", (event) => event.data?.rule && open(event.data.rule));
    chart.on("brushEnd", ({ areas }) => {
      const range = areas[0]?.coordRange;
      if (!range) return this.area && brush(null);
      const [[left, right], [low, high]] = range;
      if (left > 0 && right > left && low > 0 && high > low) brush([left, right, low, high].map((x) => Number(x.toPrecision(4))));
    });
    this.cursor();
  }

  // Dragging draws a rectangle, always: there is no button to press first.
  cursor() {
    const { chart } = this.chart;
    chart?.dispatchAction({ type: "takeGlobalCursor", key: "brush", brushOption: { brushType: "rect", brushMode: "single" } });
    const [left, right, low, high] = this.area ?? [];
    chart?.dispatchAction({ type: "brush", areas: this.area
      ? [{ brushType: "rect", xAxisIndex: 0, yAxisIndex: 0, coordRange: [[left, right], [low, high]] }] : [] });
  }

  set(rules, total, area) {
    this.rules = rules;
    this.area = area;
    this.caption.textContent = caption(rules, total);
    this.redraw();
  }

  mark(keys) {
    this.marked = new Set(keys);
    this.redraw();
  }

  redraw() {
    this.chart.draw();
    this.cursor();
  }

  options() {
    const points = (status) => this.rules.filter((rule) => rule.status === status && rule.count > 0)
      .map((rule) => ({ value: [rule.support, rule.lift], rule }));
    const marked = this.rules.filter((rule) => this.marked.has(rule.key) && rule.count > 0)
      .map((rule) => ({ value: [rule.support, rule.lift], rule }));
    const series = (name, data, hue, size, more = {}) => ({ type: "scatter", name, data, symbolSize: size,
      itemStyle: { color: hue, opacity: 0.62, ...more }, emphasis: { scale: 1.6, itemStyle: { opacity: 1 } }, animation: false });
    const { x, y } = extent(this.rules);
    return {
      grid: { left: 46, right: 14, top: 22, bottom: 34 },
      xAxis: axis({ type: "log", min: x[0], max: x[1], name: "support", nameLocation: "middle", nameGap: 20,
        axisLabel: { ...axis().axisLabel, formatter: format.percent, showMinLabel: false, showMaxLabel: false } }),
      yAxis: axis({ type: "log", min: y[0], max: y[1], name: "lift", nameLocation: "end", nameGap: 8, nameTextStyle: { ...axis().nameTextStyle, align: "right", padding: [0, 10, 0, 0] },
        axisLabel: { ...axis().axisLabel, formatter: format.lift, showMinLabel: false, showMaxLabel: false } }),
      brush: { xAxisIndex: 0, yAxisIndex: 0, throttleType: "debounce", throttleDelay: 100, removeOnClick: true,
        brushStyle: { borderWidth: 1, color: colour("shade"), borderColor: colour("accent") },
        outOfBrush: { colorAlpha: 0.18 }, inBrush: { colorAlpha: 0.85 } },
      toolbox: { show: false },
      tooltip: tooltip(({ data }) => data.rule ? [h("b", {}, sides(data.rule, label)), h("br"),
        `lift ${format.lift(data.rule.lift)}, ${format.plural(data.rule.count, "basket")}, support ${format.percent(data.rule.support)}`] : ""),
      series: [
        series("observed", points("observed"), colour("accent"), 7),
        series("rare", points("rare"), colour("second"), 7),
        series("chosen", marked, colour("ink"), 12, { opacity: 1, borderColor: colour("paper"), borderWidth: 2 }),
      ],
    };
  }

  leave() {
    this.chart.leave();
  }
}

// What is drawn, of how many, and what cannot be.
export function caption(rules, total) {
  if (!rules.length) return "No rule to draw.";
  const drawn = rules.filter((rule) => rule.count > 0).length, unseen = rules.length - drawn;
  const first = total > rules.length ? `The first ${format.count(drawn)} rules` : format.plural(drawn, "rule");
  return `${first}${unseen ? `; ${format.plural(unseen, "unseen pair")} ${unseen === 1 ? "has" : "have"} no support yet` : ""}. Drag to choose an area.`;
}

// The range of the points with a little room around them.
export function extent(rules) {
  const range = (values, least, most) => {
    const known = values.filter((value) => value > 0);
    return known.length ? [Math.min(...known) / 1.5, Math.max(...known) * 1.5] : [least, most];
  };
  const seen = rules.filter((rule) => rule.count > 0);
  return { x: range(seen.map((rule) => rule.support), 1e-4, 1), y: range(seen.map((rule) => rule.lift), 0.5, 100) };
}
