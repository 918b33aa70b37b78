// The time slider: every view can be taken back to a window that was kept.

import { h, fill, debounce } from "./dom.js";
import { change, parse } from "./route.js";
import * as format from "./format.js";

export class Timeline {
  constructor(element) {
    this.element = element;
    this.moments = [];
    this.range = h("input", { type: "range", min: 0, max: 0, step: 1, value: 0, "aria-label": "Moment",
      oninput: () => { this.tell(); this.soon(); }, onchange: () => { this.soon.cancel(); this.go(); } });
    this.word = h("output", { for: "moment" });
    this.range.id = "moment";
    this.back = h("button.quiet", { type: "button", onclick: () => this.step(-1), "aria-label": "A window earlier", title: "A window earlier" }, "‹");
    this.forth = h("button.quiet", { type: "button", onclick: () => this.step(1), "aria-label": "A window later", title: "A window later" }, "›");
    this.now = h("button.now", { type: "button", onclick: () => change({ at: null }) }, "Now");
    fill(element, this.back, this.range, this.forth, this.word, this.now);
    this.soon = debounce(() => this.go(), 180);
  }

  // `moments` are the kept windows, oldest first; the present comes after them.
  set(moments, clock) {
    this.moments = moments.map(({ at }) => at).filter((at) => at !== clock);
    this.clock = clock;
    this.range.max = this.moments.length;
    this.element.hidden = this.moments.length === 0;
    this.follow();
  }

  // Puts the slider where the address says: at the last kept window at or before its moment.
  follow() {
    const at = parse().query.get("at");
    this.range.value = placeOf(at, this.moments);
    this.tell();
  }

  tell() {
    const place = Number(this.range.value), past = place < this.moments.length;
    this.word.textContent = format.date(past ? this.moments[place] : this.clock);
    this.range.setAttribute("aria-valuetext", past ? this.word.textContent : "now");
    this.element.classList.toggle("past", past);
    this.now.disabled = !past;
    this.back.disabled = place === 0;
    this.forth.disabled = !past;
    this.range.style.setProperty("--done", `${this.moments.length ? (100 * place) / this.moments.length : 100}%`);
  }

  step(by) {
    this.range.value = Number(this.range.value) + by;
    this.tell();
    this.go();
  }

  go() {
    change({ at: this.moments[Number(this.range.value)] ?? null });
  }
}

// The last of the moments at or before one, the first where there is none; the present comes after all of them.
export function placeOf(at, moments) {
  return at == null ? moments.length : Math.max(0, moments.findLastIndex((moment) => earlier(moment, at)));
}

// Moments of one stream are all dates, which sort as text, or all numbers.
const earlier = (a, b) => (Number.isNaN(Number(a)) ? String(a) <= String(b) : Number(a) <= Number(b));
