// Neighbourhoods of the map: where products lie dense there is one, and its name is the words that its products share.
//
// The map is cut into cells and the products of each are counted, evened out a little. From every cell one climbs to the
// densest beside it, until there is no higher: cells that end on the same peak are one neighbourhood. Small ones, and
// those that hardly a dip parts from a higher one, join the neighbour with which they share the highest pass.

const CELLS = 64, MANY = 500, WORDS = 2;

// The neighbourhood of each point, numbered from the one with most points; at most `most` of them.
export function neighbourhoods(x, y, most = 12) {
  if (!x.length) return [];
  const size = Math.max(8, Math.min(CELLS, Math.ceil(Math.sqrt(x.length) * 0.9)));
  const cell = cellsOf(x, y, size);
  const density = blurred(countsOf(cell, size), size, x.length < MANY ? 1 : 2);
  const peak = climb(density, size);
  const root = merge(peak, density, cell, size, most);
  return numbered(Array.from(cell, (at) => root(peak[at])));
}

function cellsOf(x, y, size) {
  const along = (values) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
    return (value) => Math.min(size - 1, Math.floor(((value - low) / (high - low || 1)) * size));
  };
  const column = along(x), row = along(y);
  return Int32Array.from(x, (value, i) => row(y[i]) * size + column(value));
}

function countsOf(cell, size) {
  const counts = new Float64Array(size * size);
  for (const at of cell) counts[at]++;
  return counts;
}

// Each cell the weighted mean of itself and those beside it, some times over. Cells differ by a hair, so that no two are
// equally high.
function blurred(values, size, turns) {
  for (let turn = 0; turn < turns; turn++) {
    const next = new Float64Array(values.length);
    for (let at = 0; at < values.length; at++) {
      next[at] = values[at] / 4;
      for (const [other, weight] of beside(at, size)) next[at] += values[other] * weight;
    }
    values = next;
  }
  return values.map((value, at) => value + at * 1e-9);
}

// The cells beside one, with their weights.
function beside(at, size) {
  const column = at % size, row = (at - column) / size, out = [];
  for (let dy = -1; dy <= 1; dy++)
    for (let dx = -1; dx <= 1; dx++) {
      if ((dx || dy) && column + dx >= 0 && column + dx < size && row + dy >= 0 && row + dy < size) out.push([at + dy * size + dx, dx && dy ? 1 / 16 : 1 / 8]);
    }
  return out;
}

// The peak that each cell leads up to.
function climb(density, size) {
  const peak = new Int32Array(density.length), order = Array.from(density.keys()).sort((a, b) => density[b] - density[a]);
  for (const at of order) {
    let up = at;
    for (const [other] of beside(at, size)) if (density[other] > density[up]) up = other;
    peak[at] = up === at ? at : peak[up];
  }
  return peak;
}

// Joins the least of the neighbourhoods to the one it is least parted from, until few enough are left. Gives the peak that
// stands for another in the end.
function merge(peak, density, cell, size, most) {
  const into = new Map(), members = new Map(), passes = new Map();
  const root = (one) => (into.has(one) ? root(into.get(one)) : one);
  for (const at of cell) members.set(peak[at], (members.get(peak[at]) ?? 0) + 1);
  for (let at = 0; at < peak.length; at++)
    for (const [other] of beside(at, size)) {
      if (peak[other] === peak[at]) continue;
      const mine = passes.get(peak[at]) ?? passes.set(peak[at], new Map()).get(peak[at]);
      mine.set(peak[other], Math.max(mine.get(peak[other]) ?? 0, Math.min(density[at], density[other])));
    }
  while (members.size > 1) {
    const [least, n] = [...members].reduce((a, b) => (b[1] < a[1] ? b : a));
    if (members.size <= most && n >= cell.length / (4 * most)) break;
    const over = [...passes.get(least) ?? []].filter(([other]) => members.has(other));
    const [best] = over.length ? over.reduce((a, b) => (b[1] > a[1] ? b : a)) : [[...members].find(([other]) => other !== least)[0]];
    into.set(least, best);
    members.set(best, members.get(best) + n);
    members.delete(least);
    for (const [other, height] of passes.get(least) ?? []) {
      if (other === best) continue;
      for (const [from, to] of [[best, other], [other, best]]) {
        const known = passes.get(from) ?? passes.set(from, new Map()).get(from);
        known.set(to, Math.max(known.get(to) ?? 0, height));
      }
    }
  }
  return root;
}

// Names of groups become numbers, the largest group first.
function numbered(groups) {
  const size = new Map();
  for (const group of groups) size.set(group, (size.get(group) ?? 0) + 1);
  const number = new Map([...size].sort((a, b) => b[1] - a[1]).map(([group], i) => [group, i]));
  return groups.map((group) => number.get(group));
}

// A name for each neighbourhood: the words that many of its products have and few of the others. Where its products share
// no word it is called after its best-selling product. `names` are ordered by sales, `group` tells where each belongs.
export function nameNeighbourhoods(group, names) {
  const n = group.length ? Math.max(...group) + 1 : 0;
  const size = Array(n).fill(0), inside = Array.from({ length: n }, () => new Map()), all = new Map(), first = Array(n).fill(null);
  group.forEach((g, i) => {
    size[g]++;
    first[g] ??= names[i];
    for (const word of wordsOf(names[i])) {
      inside[g].set(word, (inside[g].get(word) ?? 0) + 1);
      all.set(word, (all.get(word) ?? 0) + 1);
    }
  });
  const taken = new Set();
  return size.map((members, g) => {
    const ranked = [...inside[g]].filter(([, count]) => count >= Math.max(3, 0.03 * members))
      .map(([word, count]) => [word, (count / members) * Math.log((count / members) / (all.get(word) / group.length))])
      .filter(([, score]) => score > 0.01).sort((a, b) => b[1] - a[1]).map(([word]) => word);
    const name = distinct(ranked, taken) ?? `around ${first[g]}`;
    taken.add(name);
    return name;
  });
}

// The first words, and more of them where that name is taken already.
function distinct(words, taken) {
  for (let n = Math.min(WORDS, words.length); n && n <= words.length; n++) {
    const name = words.slice(0, n).join(", ");
    if (!taken.has(name)) return name;
  }
  return null;
}

// The words of a name, each once, in small letters; numbers, sizes and little words do not count.
export const wordsOf = (name) => new Set((String(name).toLowerCase().match(/\p{L}{3,}/gu) ?? []).filter((word) => !LITTLE.has(word)));

const LITTLE = new Set(["and", "the", "with", "for", "von", "mit", "und", "der", "die", "das", "les", "des", "per", "set", "pack"]);
