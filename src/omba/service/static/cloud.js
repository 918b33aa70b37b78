// A cloud of many points, drawn straight into the pixels of a picture: 70,000 of them in a few milliseconds, anywhere.
//
// Each point is a small disc, stamped from a mask made once for its size. Names of the best-selling products in sight are
// written over it, as many as find room.

import { FONT } from "./theme.js";

const SIZES = 14;

export class Cloud {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d", { alpha: false });
    this.names = [];
    this.n = 0;
    this.camera = { x: 0, y: 0, scale: 1 };
    this.lines = [];
    this.masks = new Map();
  }

  // Points by column: places, group (an index into colours) and weight, best first, so that names can be taken in order.
  set({ x, y, group, weight, names }) {
    const order = Array.from(weight.keys()).sort((a, b) => weight[b] - weight[a]);
    this.n = order.length;
    this.x = Float32Array.from(order, (i) => x[i]);
    this.y = Float32Array.from(order, (i) => y[i]);
    this.group = Uint16Array.from(order, (i) => group[i]);
    this.names = order.map((i) => String(names[i]));
    const most = Math.log1p(weight[order[0]] ?? 1);
    this.size = Float32Array.from(order, (i) => 0.75 + 0.75 * (Math.log1p(weight[i]) / Math.max(most, 1e-9)));
  }

  // Colours as [red, green, blue]; groups that are not `visible` are faint.
  paint({ colours, visible, paper, ink, halo }) {
    this.hues = colours;
    this.visible = visible;
    this.paper = paper;
    this.ink = ink;
    this.halo = halo;
    this.masks.clear();
  }

  resize() {
    const ratio = Math.min(2, devicePixelRatio || 1);
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height || (width === this.canvas.width && height === this.canvas.height)) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.ratio = ratio;
    this.image = new ImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  // The camera from which all points are in sight.
  whole() {
    const [left, right] = span(this.x), [low, high] = span(this.y);
    const room = 0.92, wide = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    return { x: (left + right) / 2, y: (low + high) / 2,
      scale: room * Math.min(wide / Math.max(right - left, 1e-6), tall / Math.max(high - low, 1e-6)) };
  }

  screen(i) {
    return [(this.x[i] - this.camera.x) * this.camera.scale + this.canvas.clientWidth / 2,
      this.canvas.clientHeight / 2 - (this.y[i] - this.camera.y) * this.camera.scale];
  }

  // The point under a place on the screen, −1 where there is none near.
  find(px, py, reach = 12) {
    let best = -1, nearest = reach * reach;
    for (let i = 0; i < this.n; i++) {
      if (!this.visible(this.group[i])) continue;
      const dx = (this.x[i] - this.camera.x) * this.camera.scale + this.canvas.clientWidth / 2 - px;
      const dy = this.canvas.clientHeight / 2 - (this.y[i] - this.camera.y) * this.camera.scale - py;
      const apart = dx * dx + dy * dy;
      if (apart < nearest) [best, nearest] = [i, apart];
    }
    return best;
  }

  draw({ names = true } = {}) {
    if (!this.pixels || !this.n) return;
    this.stampAll();
    this.pen.putImageData(this.image, 0, 0);
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.join();
    if (names) this.write();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  stampAll() {
    const { pixels, image: { width, height }, camera, x, y, group, size, ratio } = this;
    pixels.fill(this.paper);
    const scale = camera.scale * ratio, cx = width / 2 - camera.x * scale, cy = height / 2 + camera.y * scale;
    // Points grow with the square root of the zoom, and start smaller where there are many of them.
    const base = Math.min(5, Math.max(1.1, 130 / Math.sqrt(this.n))) * Math.min(2.2, Math.sqrt(camera.scale / this.home)) * ratio;
    for (let i = this.n - 1; i >= 0; i--) {
      const px = Math.round(x[i] * scale + cx), py = Math.round(cy - y[i] * scale);
      const mask = this.mask(Math.min(SIZES * 2, Math.max(2, Math.round(2 * base * size[i]))));
      const r = mask.reach;
      if (px < r || py < r || px >= width - r || py >= height - r) continue;
      const lit = this.visible(group[i]);
      this.stamp(mask, (py - r) * width + px - r, width, this.hues[group[i]], lit ? 1 : 0.12);
    }
  }

  stamp({ reach, alpha }, corner, width, [red, green, blue], strength) {
    const side = 2 * reach + 1, { pixels } = this;
    for (let row = 0, k = 0; row < side; row++) {
      for (let column = 0, at = corner + row * width; column < side; column++, k++, at++) {
        const a = alpha[k] * strength;
        if (a <= 0.004) continue;
        const under = pixels[at], b = 1 - a;
        pixels[at] = 0xff000000 | ((((under >>> 16) & 255) * b + blue * a) << 16) | ((((under >>> 8) & 255) * b + green * a) << 8) | ((under & 255) * b + red * a);
      }
    }
  }

  // A disc of a given diameter in half pixels, soft at its edge.
  mask(diameter) {
    let mask = this.masks.get(diameter);
    if (!mask) {
      const radius = diameter / 2, reach = Math.ceil(radius);
      const alpha = new Float32Array((2 * reach + 1) ** 2);
      for (let row = -reach, k = 0; row <= reach; row++)
        for (let column = -reach; column <= reach; column++, k++) alpha[k] = 0.8 * Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(row, column)));
      this.masks.set(diameter, (mask = { reach, alpha }));
    }
    return mask;
  }

  // Lines from the chosen product to its nearest, and a ring around it.
  join() {
    const { pen } = this;
    pen.strokeStyle = this.ink;
    for (const [from, to, weight] of this.lines) {
      pen.globalAlpha = 0.25 + 0.6 * weight;
      pen.beginPath();
      pen.moveTo(...this.screen(from));
      pen.lineTo(...this.screen(to));
      pen.stroke();
    }
    pen.globalAlpha = 1;
    if (this.chosen >= 0) {
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(...this.screen(this.chosen), 9, 0, 7);
      pen.stroke();
      pen.lineWidth = 1;
    }
  }

  // Names in order of importance, each where no other has been written yet.
  write() {
    const { pen } = this, wide = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    const most = Math.max(12, Math.round((wide * tall) / 14000)), taken = new Set();
    pen.textAlign = "center";
    pen.lineJoin = "round";
    let written = 0;
    const first = [this.chosen, ...this.lines.map(([, to]) => to)].filter((i) => i >= 0);
    const one = (i, strong) => {
      const [px, py] = this.screen(i);
      if (px < 0 || py < 0 || px > wide || py > tall || (!strong && !this.visible(this.group[i]))) return;
      const text = this.names[i].length > 28 ? this.names[i].slice(0, 27) + "…" : this.names[i];
      const half = text.length * 2.9 + 6;
      const cells = [];
      for (let column = Math.floor((px - half) / 12); column <= (px + half) / 12; column++)
        for (let row = Math.floor((py - 18) / 12); row <= (py + 4) / 12; row++) cells.push(column * 4096 + row);
      if (i !== this.chosen && cells.some((cell) => taken.has(cell))) return;
      cells.forEach((cell) => taken.add(cell));
      pen.font = `${strong ? "600 " : ""}10.5px ${FONT}`;
      pen.lineWidth = 3;
      pen.strokeStyle = this.halo;
      pen.fillStyle = this.ink;
      pen.strokeText(text, px, py - 8);
      pen.fillText(text, px, py - 8);
      written++;
    };
    first.forEach((i) => one(i, true));
    for (let i = 0; i < this.n && written < most && i < 4000; i++) one(i, false);
    pen.lineWidth = 1;
  }
}

function span(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
