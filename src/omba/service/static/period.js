// Windows in words: a bar is named by the days it is made of, not by the moment at which its window was closed.

import * as format from "./format.js";

const DAY = 86400000;
const month = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

// For each window, given by the moments at which they end: a name, and all of it in words. The first began where nobody
// knows, so it is taken to be as long as the second.
export function periods(ends) {
  const times = ends.map(time), lengths = times.slice(1).map((stop, i) => stop - times[i]);
  if (ends.length < 2 || times.some(Number.isNaN)) return ends.map((end) => ({ name: format.date(end), words: `until ${format.date(end)}` }));
  const monthly = isMonth(lengths[0]);
  return ends.map((end, i) => {
    const start = i ? times[i - 1] : times[0] - lengths[0];
    const name = monthly ? month.format(start + (isMonth(times[i] - start) ? (times[i] - start) / 2 : 0)) : format.date(moment(start));
    return { name, words: i ? `${format.date(ends[i - 1])} until ${format.date(end)}` : `until ${format.date(end)}` };
  });
}

const isMonth = (length) => length > 24 * DAY && length < 39 * DAY;

const moment = (time) => new Date(time).toISOString().slice(0, 16);

// Milliseconds of a moment as the service writes it; not a number where it is the number of a day or of a window.
function time(text) {
  const [, date, clock = "00:00"] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d))?/.exec(String(text)) ?? [];
  return date ? Date.parse(`${date}T${clock}Z`) : NaN;
}
