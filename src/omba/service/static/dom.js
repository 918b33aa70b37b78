// Elements made from names and values. Text is always set as text, so a product's name can never become markup.

const SVG = "http://www.w3.org/2000/svg";

// h("p.soft", {id: "x"}, "words", node): tag and classes, properties, children; null and false are left out.
export function h(name, properties, ...children) {
  return build(document.createElement(name.split(".")[0]), name, properties, children);
}

export function svg(name, properties, ...children) {
  return build(document.createElementNS(SVG, name.split(".")[0]), name, properties, children);
}

function build(element, name, properties, children) {
  const classes = name.split(".").slice(1);
  if (classes.length) element.classList.add(...classes);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value == null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "value") element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// Runs a function once calls have stopped coming for some time.
export function debounce(run, milliseconds) {
  let timer = 0;
  const call = (...values) => {
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds, ...values);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

export const reducedMotion = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
