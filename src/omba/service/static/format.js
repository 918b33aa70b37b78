// Numbers, dates and the names of measures, as a person would write them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const minute = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});

export const NOTHING = "–";

export const count = (n) => (n == null ? NOTHING : whole.format(n));

// Three figures that count: 0.0123, 1.23, 12.3, 123, 12,300.
export function number(x) {
  if (x == null) return NOTHING;
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 100) return whole.format(x);
  if (size < 0.0001) return x.toExponential(1).replace("e-", " × 10⁻").replace(/⁻(\d+)$/, (_, n) => "⁻" + raised(n));
  return x.toFixed(Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}

const raised = (digits) => [...digits].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("");

export function percent(x) {
  if (x == null) return NOTHING;
  const p = 100 * x;
  return (p === 0 ? "0" : p >= 10 ? p.toFixed(0) : p >= 1 ? p.toFixed(1) : p >= 0.01 ? p.toFixed(2) : p.toFixed(3)) + "%";
}

export const lift = (x) => factor(x, 0);

// A lift for a column that is sorted by it: one between ten and a hundred keeps a digit behind the point.
export const finerLift = (x) => factor(x, 1);

function factor(x, digits) {
  if (x == null) return NOTHING;
  if (x > 0 && x < 0.05) return x < 0.005 ? "< 0.01×" : `${x.toFixed(2)}×`;
  return `${x >= 100 ? whole.format(x) : x.toFixed(x >= 10 ? digits : 1)}×`;
}

export const price = (x) => (x == null ? NOTHING : x.toFixed(2));

// A moment as the service writes it; what is no date is a number of a window or of a day.
export function date(text) {
  if (text == null) return NOTHING;
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::\d\d)?)?/.exec(String(text));
  if (!match) return /^-?\d+$/.test(String(text)) ? `window ${count(Number(text))}` : String(text);
  const [, date, time] = match;
  if (!time || time === "00:00") return day.format(new Date(`${date}T00:00Z`));
  return minute.format(new Date(`${date}T${time}Z`));
}

// A long name without its middle: what tells products apart is often at the end, such as a size or a number.
export function shorten(text, most) {
  if (text.length <= most) return text;
  const end = Math.floor((most - 1) * 0.4);
  return `${text.slice(0, most - 1 - end).trimEnd()}…${text.slice(text.length - end).trimStart()}`;
}

// Baskets with all products of a rule, in words; a count that may be short says so.
export const together = (rule) => `${rule.count_at_least ? "at least " : ""}${plural(rule.count, "basket")}`;

export const plural = (n, one, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

const NAMES = {
  count: "together",
  support: "support",
  confidence: "confidence",
  lift: "lift",
  expected_lift: "expected lift",
  expected_lift_low: "expected lift, low end",
  expected_lift_high: "expected lift, high end",
  similarity: "closeness",
  value: "value",
  relation_probability: "chance of the relation",
  revenue: "revenue so far",
  expected_baskets: "baskets to expect",
  expected_revenue: "revenue to expect",
  price: "price",
  zhangs_metric: "Zhang’s metric",
  fishers_p: "Fisher’s p",
  p_adjusted: "p, adjusted",
  chi_squared: "χ²",
};

export const MEANINGS = {
  count: "baskets with all products of the rule",
  support: "share of all baskets that hold all products of the rule",
  confidence: "of the baskets with the left side, the share that also holds the right side",
  lift: "how many times more often than chance the two sides meet",
  expected_lift: "the lift to expect in the baskets to come",
  expected_lift_low: "the low end of the lift to expect: nine times in ten the coming lift lies between it and the high end. The careful figure to sort by",
  relation: "what the products are to each other: customers who buy both tell",
  similarity: "cosine of the products’ vectors: 1 is the same direction",
  value: "what the products of the rule cost together",
  leverage: "support beyond what chance would give",
  conviction: "how much more often the rule would fail if the sides had nothing to do with each other",
};

export const measureName = (name) => NAMES[name] ?? name.replaceAll("_", " ");

export function measure(name, x) {
  if (x == null) return NOTHING;
  if (typeof x !== "number") return String(x);
  if (name.startsWith("count") || name.startsWith("n_") || name === "collisions") return count(x);
  if (name.endsWith("support") || name === "confidence" || name === "chance") return percent(x);
  if (["lift", "before", "since"].includes(name) || name.startsWith("expected_lift")) return lift(x);
  if (name === "price" || name === "value") return price(x);
  return number(x);
}
