// What the tests of the modules are written with: a name and a body for each, and what should be equal.

const tests = [];

export function test(name, body) {
  tests.push([name, body]);
}

// Runs all tests of the page: what was wrong with each by its name, null where nothing was.
export async function run() {
  const out = {};
  for (const [name, body] of tests) {
    try {
      await body();
      out[name] = null;
    } catch (error) {
      out[name] = error.stack ?? String(error);
    }
  }
  return out;
}

export function equal(found, wanted) {
  if (text(found) !== text(wanted)) throw new Error(`${text(found)} should be ${text(wanted)}`);
}

export function close(found, wanted, by = 1e-9) {
  if (!(Math.abs(found - wanted) <= by)) throw new Error(`${found} should be within ${by} of ${wanted}`);
}

// Values are compared as text, in which what JSON would lose is spelled out.
function text(value) {
  return JSON.stringify(value, (_, one) => {
    if (one === undefined) return "undefined";
    if (typeof one === "number" && !Number.isFinite(one)) return String(one);
    if (one instanceof Set || ArrayBuffer.isView(one)) return [...one];
    return one instanceof URLSearchParams ? one.toString() : one;
  });
}
