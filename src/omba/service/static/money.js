// Money: amounts in the currency that was told, once for all views.

import { h, debounce } from "./dom.js";
import { change } from "./route.js";
import * as format from "./format.js";

const KEY = "omba-currency";
export const ANYWAY = "This is what goes together anyway, not what an offer adds.";

// The currency of an address, or the one that was typed last; none where nobody told it.
export function currencyOf(query) {
  const told = query?.get("currency");
  if (told != null) localStorage.setItem(KEY, told);
  return told ?? localStorage.getItem(KEY) ?? "";
}

export function currencyInput() {
  const put = debounce((value) => change({ currency: value || null }, { replace: true }), 200);
  const input = h("input.currency", { type: "text", maxlength: 4, placeholder: "£", "aria-label": "Currency", oninput: () => {
    localStorage.setItem(KEY, input.value.trim());
    put(input.value.trim());
  } });
  return input;
}

// An amount with its currency, to the penny unless told otherwise.
export function money(x, currency = "", digits = 2) {
  if (x == null) return format.NOTHING;
  const text = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(x);
  return /^\p{L}+$/u.test(currency) ? `${text} ${currency}` : `${currency}${text}`;
}

// What a rule is worth, in sentences; null where no price is known.
export function worth(rule, currency = "") {
  if (rule.revenue == null && rule.expected_revenue == null) return null;
  const amount = (x) => money(x, currency, x != null && Math.abs(x) < 10 ? 2 : 0), baskets = (x) => (x >= 10 ? format.count(Math.round(x)) : String(Number(x.toPrecision(2))));
  const range = (name, write) => (rule[`${name}_low`] == null ? "" : ` (${write(rule[`${name}_low`])} to ${write(rule[`${name}_high`])})`);
  const ahead = rule.expected_revenue == null || rule.expected_baskets == null ? ""
    : ` Of the next period ${baskets(rule.expected_baskets)} baskets${range("expected_baskets", baskets)} with ${amount(rule.expected_revenue)}${range("expected_revenue", amount)} are to be expected.`;
  return `${rule.revenue == null ? "" : `Its products brought in ${amount(rule.revenue)} in the baskets that held all of them.`}${ahead} ${ANYWAY}`.trim();
}
