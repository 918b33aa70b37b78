// A cloud of many points, drawn straight into the pixels of a picture: 70,000 of them in a few milliseconds, anywhere.
//
// Each point is a small disc, stamped from a mask made once for its size. Titles of its parts and the names of the
// best-selling products in sight are written over it, as many as find room.

import { FONT } from "./theme.js";
import { shorten } from "./format.js";

const SIZES = 28, TEXTS = 600, CELL = 12, LONGEST = 28;
const MANY = 20000;

export class Cloud {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d", { alpha: false });
    this.names = [];
    this.n = 0;
    this.camera = { x: 0, y: 0, scale: 1 };
    this.lines = [];
    this.titles = [];
    this.masks = new Map();
    this.texts = new Map();
  }

  // Points by column: places, group (an index into colours) and weight, best first, so that names can be taken in order.
  set({ x, y, group, weight, names, ids }) {
    const order = (this.order = Array.from(weight.keys()).sort((a, b) => weight[b] - weight[a]));
    this.n = order.length;
    this.x = Float32Array.from(order, (i) => x[i]);
    this.y = Float32Array.from(order, (i) => y[i]);
    this.group = Uint16Array.from(order, (i) => group[i]);
    this.names = order.map((i) => String(names[i]));
    this.ids = order.map((i) => String(ids[i]));
    // About half of how wide a name is written; capitals are wider.
    this.half = Float32Array.from(this.names, (name) => Math.min(name.length, LONGEST) * (name === name.toUpperCase() ? 3.5 : 2.9) + 6);
    const most = Math.log1p(weight[order[0]] ?? 1);
    this.size = Float32Array.from(order, (i) => 0.75 + 0.75 * (Math.log1p(weight[i]) / Math.max(most, 1e-9)));
  }

  // A column in the order of the points.
  take(column) {
    return this.order.map((i) => column[i]);
  }

  // Colours as 0xBBGGRR, as pixels hold them; groups that are not `visible` are faint.
  paint({ colours, visible, paper, ink, halo }) {
    this.hues = colours;
    this.visible = visible;
    this.paper = paper;
    this.ink = ink;
    this.halo = halo;
    this.texts.clear();
  }

  // Many points are drawn at the screen's coarser resolution while they move, and sharp once they rest.
  resize(moving = false) {
    const ratio = moving && this.n > MANY ? 1 : Math.min(2, devicePixelRatio || 1);
    const width = Math.round(this.canvas.clientWidth * ratio), height = Math.round(this.canvas.clientHeight * ratio);
    if (!width || !height || (width === this.image?.width && height === this.image.height)) return;
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
    const { x, y, group, camera: { scale } } = this;
    const atX = this.camera.x + (px - this.canvas.clientWidth / 2) / scale, atY = this.camera.y - (py - this.canvas.clientHeight / 2) / scale;
    let best = -1, nearest = (reach / scale) ** 2;
    for (let i = 0; i < this.n; i++) {
      const apart = (x[i] - atX) ** 2 + (y[i] - atY) ** 2;
      if (apart < nearest && this.visible(group[i])) [best, nearest] = [i, apart];
    }
    return best;
  }

  draw(moving = false) {
    this.resize(moving);
    if (!this.pixels || !this.n) return;
    this.stampAll();
    this.pen.putImageData(this.image, 0, 0);
    this.pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.join();
    this.write();
    this.pen.setTransform(1, 0, 0, 1, 0, 0);
  }

  stampAll() {
    const { pixels, image: { width, height }, camera, x, y, group, size, ratio } = this;
    pixels.fill(this.paper);
    const scale = camera.scale * ratio, cx = width / 2 - camera.x * scale, cy = height / 2 + camera.y * scale;
    // Points grow with the square root of the zoom, and start smaller where there are many of them.
    const base = Math.min(5, Math.max(1.1, 130 / Math.sqrt(this.n))) * Math.min(2.2, Math.sqrt(camera.scale / this.home)) * ratio;
    const groups = this.hues.map((hue, g) => ({ hue, faint: !this.visible(g) }));
    for (let i = this.n - 1; i >= 0; i--) {
      const px = Math.round(x[i] * scale + cx), py = Math.round(cy - y[i] * scale);
      const diameter = Math.min(SIZES, Math.max(2, Math.round(2 * base * size[i])));
      if (px < SIZES || py < SIZES || px >= width - SIZES || py >= height - SIZES) continue;
      const { hue, faint } = groups[group[i]];
      stamp(pixels, this.mask(diameter, faint), py * width + px, hue & 0xff00ff, hue & 0xff00);
    }
  }

  // A disc of a given diameter, soft at its edge: how far each of its pixels is from its middle in memory, and how much
  // of it, in 256ths, is covered. One for each diameter and width of the picture, faint or not.
  mask(diameter, faint) {
    const key = faint ? -diameter : diameter;
    let mask = this.masks.get(key);
    if (mask?.width !== this.image.width) {
      const { width } = this.image, radius = diameter / 2, reach = Math.ceil(radius), places = [], cover = [];
      for (let row = -reach; row <= reach; row++)
        for (let column = -reach; column <= reach; column++) {
          const share = Math.round((faint ? 26 : 205) * Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(row, column))));
          if (share > 1) places.push(row * width + column), cover.push(share);
        }
      this.masks.set(key, (mask = { width, places: Int32Array.from(places), cover: Int32Array.from(cover) }));
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

  // Titles, and names in order of importance, each where no other has been written yet.
  write() {
    const wide = this.canvas.clientWidth, tall = this.canvas.clientHeight;
    const room = new Room(wide, tall);
    const most = Math.max(12, Math.round((wide * tall) / 14000));
    const faint = this.hues.map((_, g) => !this.visible(g));
    const { x, y, camera: { scale, x: cx, y: cy } } = this;
    const written = new Set();
    const one = (i, strong) => {
      if (written.has(i)) return;
      const px = (x[i] - cx) * scale + wide / 2, py = tall / 2 - (y[i] - cy) * scale;
      if (px < 0 || py < 0 || px > wide || py > tall) return;
      const half = this.half[i];
      if (!room.take(px - half, py - 18, px + half, py + 4, i === this.chosen)) return;
      const drawn = this.text(shorten(this.names[i], LONGEST), strong);
      this.pen.drawImage(drawn, px - drawn.wide / 2, py - 20, drawn.wide, drawn.tall);
      written.add(i);
    };
    if (this.chosen >= 0) one(this.chosen, true);
    for (const [, to] of this.lines) one(to, true);
    for (const { title, x: at, y: up, group } of this.titles) {
      const px = (at - cx) * scale + wide / 2, py = tall / 2 - (up - cy) * scale, drawn = this.text(title, true, 13);
      if (faint[group] || px < 0 || py < 0 || px > wide || py > tall || !room.take(px - drawn.wide / 2, py - 10, px + drawn.wide / 2, py + 10)) continue;
      this.pen.drawImage(drawn, px - drawn.wide / 2, py - drawn.tall / 2, drawn.wide, drawn.tall);
    }
    for (let i = 0; i < this.n && written.size < most && i < 4000; i++) if (!faint[this.group[i]]) one(i, false);
  }

  // A name as a picture with a halo, made once: to write it anew for each frame would take longer than all the points.
  text(text, strong, size = 10.5) {
    const key = `${strong}${size}${text}`;
    let drawn = this.texts.get(key);
    if (drawn?.ratio !== this.ratio) {
      drawn = document.createElement("canvas");
      const pen = drawn.getContext("2d"), font = `${strong ? "600 " : ""}${size}px ${FONT}`;
      pen.font = font;
      Object.assign(drawn, { ratio: this.ratio, wide: Math.ceil(pen.measureText(text).width) + 8, tall: Math.ceil(size + 7.5) });
      drawn.width = drawn.wide * this.ratio;
      drawn.height = drawn.tall * this.ratio;
      pen.scale(this.ratio, this.ratio);
      Object.assign(pen, { font, lineJoin: "round", lineWidth: 3, strokeStyle: this.halo, fillStyle: this.ink });
      pen.strokeText(text, 4, size + 1.5);
      pen.fillText(text, 4, size + 1.5);
      this.texts.set(key, drawn);
      if (this.texts.size > TEXTS) this.texts.delete(this.texts.keys().next().value);
    }
    return drawn;
  }
}

// The screen cut into cells: a name takes those that it covers.
export class Room {
  constructor(width, height) {
    this.columns = Math.ceil(width / CELL) + 1;
    this.rows = Math.ceil(height / CELL) + 1;
    this.taken = new Uint8Array(this.columns * this.rows);
  }

  // Takes a box if all of it is free, or in any case where it is `due`. False where another was there before.
  take(left, top, right, bottom, due = false) {
    const { columns, taken } = this;
    const first = Math.max(0, Math.floor(left / CELL)), last = Math.min(columns - 1, Math.floor(right / CELL));
    const from = Math.max(0, Math.floor(top / CELL)), to = Math.min(this.rows - 1, Math.floor(bottom / CELL));
    if (!due)
      for (let row = from; row <= to; row++) for (let k = row * columns + first; k <= row * columns + last; k++) if (taken[k]) return false;
    for (let row = from; row <= to; row++) taken.fill(1, row * columns + first, row * columns + last + 1);
    return true;
  }
}

// Blends a disc into the pixels around a place. Red and blue are blended in one multiplication, green in another.
export function stamp(pixels, { places, cover }, middle, redBlue, green) {
  for (let k = 0; k < places.length; k++) {
    const at = middle + places[k], a = cover[k], b = 256 - a, under = pixels[at];
    pixels[at] = 0xff000000
      | (((Math.imul(redBlue, a) + Math.imul(under & 0xff00ff, b)) >>> 8) & 0xff00ff)
      | (((Math.imul(green, a) + Math.imul(under & 0xff00, b)) >>> 8) & 0xff00);
  }
}

export function span(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}
