// The page: one view at a time by its address, the rule opened beside it, the header, and the keys.

import { h, fill } from "./dom.js";
import { ApiError, forget, get, keepToken, status } from "./api.js";
import { change, here, href, parse } from "./route.js";
import { code, labelOf } from "./labels.js";
import { nameOf } from "./names.js";
import { BasketView } from "./basket.js";
import { BundlesView } from "./bundles.js";
import { CalendarView } from "./calendar.js";
import { CustomerView } from "./customer.js";
import { FamiliesView } from "./families.js";
import { MapView } from "./map.js";
import { ProductView } from "./product.js";
import { RulePanel } from "./rule.js";
import { RulesView } from "./rules.js";
import { Search } from "./search.js";
import { Timeline } from "./timeline.js";
import { TodayView } from "./today.js";
import { writeCsv, writeExcel, writeImage } from "./sheet.js";
import * as format from "./format.js";
import * as theme from "./theme.js";

const VIEWS = { today: TodayView, rules: RulesView, families: FamiliesView, bundles: BundlesView, calendar: CalendarView, product: ProductView, map: MapView, basket: BasketView, customers: CustomerView };
const TITLES = { today: "Today", rules: "Rules", families: "Families", bundles: "Bundles", calendar: "Calendar", product: "Product", map: "Map", basket: "Basket", customers: "Customer" };
const PAUSE = 5000;

const root = document.getElementById("view");
const notice = document.getElementById("notice");
const panel = new RulePanel(document.getElementById("panel"));
const timeline = new Timeline(document.getElementById("timeline"));
let view = null, name = null, epoch = 0, published = null, fresh = null, said = "";

async function follow() {
  const route = parse();
  if (!VIEWS[route.view]) return (location.hash = href("today"));
  if (name !== route.view) {
    view?.leave();
    name = route.view;
    if (fresh) {
      epoch++;
      forget();
      fresh = null;
    }
    document.body.dataset.view = name;
    fill(root, h("p.state", {}, "Loading."));
    view = new VIEWS[name](root);
    scrollTo({ top: 0 });
  }
  view.epoch = epoch;
  links(route);
  timeline.follow();
  document.title = [name === "product" && route.id != null ? nameOf(route.id) : name === "customers" && route.id != null ? `Customer ${route.id}` : TITLES[name], "OMBA"].join(" · ");
  panel.show(route.query.get("open"), `${route.query.get("at")} ${epoch}`);
  const mine = view;
  root.setAttribute("aria-busy", "true");
  try {
    await mine.update(route);
    if (mine === view) root.setAttribute("aria-busy", "false");
  } catch (error) {
    if (mine === view) fail(error);
  }
}

// What went wrong takes the place of the view, with a way out.
function fail(error) {
  if (!(error instanceof ApiError)) throw error;
  view?.leave();
  name = null;
  root.setAttribute("aria-busy", "false");
  if (error.status === 401 || error.status === 403) return askToken(error);
  fill(root, h("div.state.error", { role: "alert" }, h("h1", {}, error.status === 404 ? "Not known here" : "That did not work"), h("p", {}, error.message),
    h("p.actions", {}, h("button", { type: "button", onclick: () => { forget(); follow(); } }, "Try again"), h("a.button", { href: here("today") }, "Today"))));
}

function askToken(error) {
  const field = h("input", { type: "password", autocomplete: "off", "aria-label": "Token" });
  fill(root, h("form.state", { onsubmit: (event) => { event.preventDefault(); keepToken(field.value.trim()); watch(); follow(); } },
    h("h1", {}, "A token, please"), h("p", {}, error.message), h("p", {}, field, " ", h("button", { type: "submit" }, "Enter")),
    h("p.soft", {}, "It is kept in this tab until it is closed.")));
  field.focus();
}

// Links in the header keep the moment that is looked at.
function links(route) {
  for (const link of document.querySelectorAll("[data-view]")) {
    link.href = href(link.dataset.view, null, { at: route.query.get("at") });
    if (link.closest("nav") && link.dataset.view === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// Looks now and then whether the service has published a new state.
async function watch() {
  clearTimeout(watch.timer);
  if (!document.hidden) await look();
  watch.timer = setTimeout(watch, PAUSE);
}

async function look() {
  try {
    const state = await status();
    const learned = `${state.windows_closed} ${state.baskets_learned} ${state.history.length} ${state.rules}`;
    if (learned !== published) {
      const kept = state.history.filter(({ baskets }) => baskets < state.baskets_learned);
      timeline.set(kept, state.last_window?.stop ?? state.history.at(-1)?.at ?? null);
      if ((published !== null || view?.empty) && !parse().query.get("at")) renew();
    }
    published = learned;
    say(state.error ? sentence(state.error) : state.baskets_waiting > 0 ? `${format.plural(state.baskets_waiting, "basket")} waiting for ${state.baskets_waiting === 1 ? "its" : "their"} window to close.` : null, Boolean(state.error));
  } catch (error) {
    if (error.status !== 401 && error.status !== 403) say(error.message, true);
  }
}

// The present is drawn anew; a table that somebody may be reading waits until it is asked to, unless it is empty.
function renew() {
  const show = () => {
    epoch++;
    forget();
    fresh = null;
    follow();
  };
  if (name !== "rules" || view.empty) return show();
  fresh = h("button", { type: "button", onclick: () => { show(); look(); } }, "Show what is new");
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

function say(text, wrong = false) {
  const words = [text, fresh && "More has been learned since this table was drawn. "].filter(Boolean).join(" ");
  notice.hidden = !words;
  notice.classList.toggle("error", wrong);
  if (said !== words) fill(notice, words, fresh);
  said = words;
}

function header() {
  const find = new Search({ placeholder: "Search", label: "Search products", hint: "/",
    find: async (text) => (await get("/products", { q: text, limit: 12 })).products,
    line: (item) => [labelOf(item), code(item.id), h("span.soft", {}, ` ${[item.category, format.plural(item.count, "basket")].filter(Boolean).join(" · ")}`)],
    choose: (item) => { location.hash = here("product", String(item.id)); root.focus({ preventScroll: true }); } });
  fill(document.getElementById("search"), find.element);
  const menu = h("div.menu", { hidden: true, id: "export-menu" },
    h("button", { type: "button", onclick: () => save(writeCsv) }, "Table as CSV"), h("button", { type: "button", onclick: () => save(writeExcel) }, "Table as Excel"), h("button", { type: "button", onclick: () => save(writeImage) }, "Picture as PNG"));
  const open = h("button", { type: "button", "aria-haspopup": "true", "aria-expanded": "false", "aria-controls": "export-menu", onclick: () => show(menu.hidden) }, "Export");
  const show = (on) => { menu.hidden = !on; open.setAttribute("aria-expanded", String(on)); if (on) menu.firstChild.focus(); };
  async function save(write) {
    show(false);
    try {
      if (name) await write(await view.sheet());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      say(error.message, true);
    }
  }
  document.addEventListener("click", (event) => open.contains(event.target) || menu.contains(event.target) || show(false));
  menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); show(false); open.focus(); } });
  fill(document.getElementById("tools"), h("div.export", {}, open, menu),
    h("button", { type: "button", "aria-label": "Light or dark", title: "Light or dark", onclick: theme.toggle }, h("span", { "aria-hidden": "true" }, "◐")));
  return find;
}

function keys(find) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches?.("input:not([type=range]), select, textarea");
    if (event.key === "/" && !typing) {
      event.preventDefault();
      find.input.focus();
      find.input.select();
    } else if (event.key === "Escape") {
      if (parse().query.get("open")) change({ open: null });
      else if (name === "map" && !typing) change({ product: null });
      else if (typing) event.target.blur();
    }
  });
}

// The header may take several lines; what sticks below it needs to know.
new ResizeObserver(([{ target }]) => document.documentElement.style.setProperty("--top", `${target.offsetHeight}px`)).observe(document.querySelector(".top"));
theme.start();
keys(header());
addEventListener("hashchange", follow);
watch();
follow();
