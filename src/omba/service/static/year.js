// The year in fortnights: where months begin, what a fortnight is called, how dark a rate is drawn, when a season begins.

export const FORTNIGHTS = 26;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

// The months, and where on the line of the year each begins, from 0 to 1.
export function months() {
  let day = 0;
  return MONTHS.map((name, i) => {
    const at = day / 365;
    day += DAYS[i];
    return { name, at };
  });
}

// A fortnight in words: the last of a year is a day longer.
export function fortnight(place) {
  const first = 14 * place, last = place === FORTNIGHTS - 1 ? 364 : first + 13;
  const [from, to] = [dayOf(first), dayOf(last)];
  return from.month === to.month ? `${from.day}–${to.day} ${to.month}` : `${from.day} ${from.month} – ${to.day} ${to.month}`;
}

function dayOf(ofYear) {
  let month = 0;
  while (ofYear >= DAYS[month]) ofYear -= DAYS[month++];
  return { day: ofYear + 1, month: MONTHS[month] };
}

// How dark a rate is drawn, from 0 to 1: nothing up to the usual, all of it from eight times the usual on.
export function shade(rate) {
  if (rate == null || rate <= 1) return 0;
  return Math.min(1, Math.log2(rate) / 3);
}

// A rate in words.
export function times(rate) {
  if (rate == null) return "not met yet";
  if (rate < 0.05) return "hardly ever";
  if (rate > 0.8 && rate < 1.25) return "as usual";
  return `${rate >= 10 ? Math.round(rate) : rate.toFixed(1)} times the usual`;
}
