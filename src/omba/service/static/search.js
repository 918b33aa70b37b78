// A field that searches as one types: a list below it, arrows and Enter to choose, Esc to close.

import { h, fill, debounce } from "./dom.js";

let number = 0;

// `find(text)` gives a list, `line(item)` the nodes of an item's line, `choose(item)` takes the chosen one.
export class Search {
  constructor({ placeholder, label, find, line, choose, keep = false, hint = null }) {
    Object.assign(this, { find, line, choose, keep });
    this.items = [];
    this.active = -1;
    const id = `search-${number++}`;
    this.input = h("input", {
      type: "search", placeholder, "aria-label": label, role: "combobox", autocomplete: "off", spellcheck: "false",
      "aria-expanded": "false", "aria-controls": id, "aria-autocomplete": "list",
      oninput: () => this.ask(), onkeydown: (event) => this.key(event), onfocus: () => this.ask(), onblur: () => this.close(),
    });
    this.list = h("ul.found", { id, role: "listbox", "aria-label": label, hidden: true });
    this.element = h("div.search", {}, this.input, hint && h("kbd", { "aria-hidden": "true" }, hint), this.list);
    this.ask = debounce(() => this.search(), 90);
    this.turn = 0;
  }

  async search() {
    const turn = ++this.turn, text = this.input.value.trim();
    if (document.activeElement !== this.input) return;
    try {
      const items = await this.find(text);
      if (turn !== this.turn || document.activeElement !== this.input) return;
      this.show(items, text);
    } catch (error) {
      if (turn === this.turn) this.say(error.message);
    }
  }

  show(items, text) {
    this.items = items;
    this.active = items.length && text ? 0 : -1;
    if (!items.length) return text ? this.say(`Nothing is called “${text}”.`) : this.close();
    fill(this.list, items.map((item, i) => h("li", {
      id: `${this.list.id}-${i}`, role: "option",
      // Before the field loses the focus and the list closes.
      onmousedown: (event) => { event.preventDefault(); this.take(i); },
    }, this.line(item))));
    this.open();
    this.mark();
  }

  say(sentence) {
    this.items = [];
    this.active = -1;
    fill(this.list, h("li.none", { role: "option", "aria-disabled": "true" }, sentence));
    this.open();
  }

  open() {
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }

  close() {
    this.ask.cancel();
    this.turn++;
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  mark() {
    [...this.list.children].forEach((line, i) => line.setAttribute("aria-selected", i === this.active));
    const line = this.list.children[this.active];
    if (line) this.input.setAttribute("aria-activedescendant", line.id);
    line?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && !this.list.hidden && this.items.length) {
      event.preventDefault();
      this.active = (this.active + step + this.items.length) % this.items.length;
      this.mark();
    } else if (step) {
      this.ask();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (!this.list.hidden && this.items[this.active]) this.take(this.active);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      if (this.list.hidden) this.input.blur();
      this.close();
    }
  }

  take(i) {
    const item = this.items[i];
    if (!this.keep) this.input.value = "";
    this.close();
    this.choose(item);
  }
}
