import { close, equal, test } from "./check.js";
import { Cloud, Room, span, stamp } from "/static/cloud.js";

function cloud() {
  const canvas = document.createElement("canvas");
  canvas.style.cssText = "position: fixed; width: 400px; height: 200px";
  document.body.append(canvas);
  const made = new Cloud(canvas);
  made.set({ x: [0, 10, 5, 5], y: [0, 4, 2, 3], group: [0, 1, 0, 1], weight: [1, 50, 9, 2], names: ["a", "b", "c", "d"], ids: [1, 2, 3, 4] });
  made.visible = () => true;
  made.camera = made.whole();
  return made;
}

test("points are in the order of their weight", () => {
  const { names, ids, size } = cloud();
  equal([names, ids], [["b", "c", "d", "a"], ["2", "3", "4", "1"]]);
  equal([...size].every((value, i) => i === 0 || value <= size[i - 1]), true);
});

test("the whole of it is in sight, in the middle", () => {
  const made = cloud();
  equal([made.camera.x, made.camera.y], [5, 2]);
  for (let i = 0; i < made.n; i++) {
    const [x, y] = made.screen(i);
    equal([x > 0, x < 400, y > 0, y < 200], [true, true, true, true]);
  }
  close(made.screen(1)[0], 200);
  close(made.screen(1)[1], 100);
});

test("above in the data is above on the screen", () => {
  const made = cloud();
  equal(made.screen(2)[1] < made.screen(1)[1], true);
});

test("the nearest point is found under a place, and none where none is near", () => {
  const made = cloud();
  for (let i = 0; i < made.n; i++) {
    const [x, y] = made.screen(i);
    equal(made.find(x + 3, y - 3), i);
  }
  equal(made.find(2, 2), -1);
});

test("a point of a hidden group is not found", () => {
  const made = cloud();
  made.visible = (group) => group !== 0;
  equal(made.find(...made.screen(1)), -1);
  equal(made.find(...made.screen(2)), 2);
});

test("no points lie between nought and one", () => {
  equal([span([]), span([3, -1, 2])], [[0, 1], [-1, 3]]);
});

test("a full cover gives nearly the colour itself and none leaves what was there", () => {
  const pixels = Uint32Array.of(0xffffffff, 0xffffffff, 0xffffffff);
  stamp(pixels, { places: [0, 1], cover: [256, 128] }, 0, 0x000000, 0x0000);
  equal([...pixels].map((pixel) => pixel.toString(16)), ["ff000000", "ff7f7f7f", "ffffffff"]);
});

test("channels do not run into each other when they are blended", () => {
  const pixels = Uint32Array.of(0xff204060);
  stamp(pixels, { places: [0], cover: [128] }, 0, 0xa000e0, 0xc000);
  equal(pixels[0].toString(16), "ff6080a0");
});

test("a name is written where no other is, or where it is due", () => {
  const room = new Room(400, 200);
  equal(room.take(10, 10, 80, 30), true);
  equal(room.take(60, 20, 140, 40), false);
  equal(room.take(100, 10, 180, 30), true);
  equal(room.take(60, 20, 140, 40, true), true);
  equal(room.take(-30, 190, 20, 230), true);
});

// The names that are written when a cloud is drawn, in that order.
function written(made) {
  const names = [], text = made.text.bind(made);
  made.paint({ colours: [0x17627a, 0x2d55b4], visible: () => true, paper: 0xffffffff, ink: "#000", halo: "#fff" });
  made.home = made.camera.scale;
  made.text = (name, ...more) => (names.push(name), text(name, ...more));
  made.draw();
  return names;
}

test("the name of a chosen point is written once, and so are those of its nearest", () => {
  const made = cloud();
  equal(written(made).sort(), ["a", "b", "c", "d"]);
  Object.assign(made, { chosen: 1, lines: [[1, 0, 0.9], [1, 1, 0.5]] });
  equal(written(made), ["c", "b", "d", "a"]);
});

test("neighbourhoods are named where they lie, before the best sellers", () => {
  const made = cloud();
  made.titles = [{ title: "tea, cup", x: 8, y: 0, group: 0 }, { title: "christmas, tree", x: 2, y: 4, group: 1 }];
  equal(written(made).slice(0, 2), ["tea, cup", "christmas, tree"]);
});
