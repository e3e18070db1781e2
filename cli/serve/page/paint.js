// Painting a mask over a photo: a byte for each pixel, 1 where it must not matter. Strokes are exact to the pixel, as
// what is saved has no grey.

const TINT = [255, 0, 170], MOST_UNDO = 64 << 20;

export class Painter {
  // changed(): after each stroke, undo and redo.
  constructor(canvas, changed) {
    this.canvas = canvas;
    this.changed = changed;
    this.tool = 'brush';
    this.size = 20; // of 100: for the brush, and how alike colours are that fill takes
    this.pointers = new Map();
    this.polygon = [];
    this.clear();
    for (const [what, f] of [['pointerdown', this.down], ['pointermove', this.move], ['pointerup', this.up],
      ['pointercancel', this.cancel], ['wheel', this.wheel], ['dblclick', this.closePolygon]])
      canvas.addEventListener(what, f.bind(this), { passive: false });
    canvas.addEventListener('contextmenu', (e) => e.preventDefault());
    new ResizeObserver(() => this.fit()).observe(canvas);
  }

  clear() {
    this.photo = null;
    this.draw();
  }

  // photo: an ImageBitmap; mask: as many bytes as it has pixels, which become the painter's.
  load(photo, mask) {
    this.photo = photo;
    this.width = photo.width;
    this.height = photo.height;
    this.mask = mask;
    this.undone = [];
    this.done = [];
    this.polygon = [];
    this.stroke = null;
    this.tinted = new OffscreenCanvas(this.width, this.height);
    this.colours = null;
    this.tint(0, 0, this.width, this.height);
    this.fit();
  }

  // ---- Looking ----

  fit() {
    const { clientWidth: w, clientHeight: h } = this.canvas, ratio = devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(w * ratio));
    this.canvas.height = Math.max(1, Math.round(h * ratio));
    if (this.photo) {
      this.scale = Math.min(this.canvas.width / this.width, this.canvas.height / this.height);
      this.x = (this.canvas.width - this.scale * this.width) / 2;
      this.y = (this.canvas.height - this.scale * this.height) / 2;
    }
    this.draw();
  }

  // By a factor, around a point of the canvas, or its middle.
  zoom(factor, cx = this.canvas.width / 2, cy = this.canvas.height / 2) {
    if (!this.photo) return;
    const least = Math.min(this.canvas.width / this.width, this.canvas.height / this.height) / 2;
    const scale = Math.min(64, Math.max(least, this.scale * factor)), by = scale / this.scale;
    this.x = cx - (cx - this.x) * by;
    this.y = cy - (cy - this.y) * by;
    this.scale = scale;
    this.draw();
  }

  draw() {
    const c = this.canvas.getContext('2d');
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    if (!this.photo) return;
    c.setTransform(this.scale, 0, 0, this.scale, this.x, this.y);
    c.imageSmoothingEnabled = this.scale < 2;
    c.drawImage(this.photo, 0, 0);
    c.imageSmoothingEnabled = false;
    c.globalAlpha = 0.45;
    c.drawImage(this.tinted, 0, 0);
    c.globalAlpha = 1;
    this.drawShape(c);
  }

  drawShape(c) {
    const box = this.stroke?.box, line = box ? [[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1], [box.x0, box.y0]] : this.polygon;
    if (!line.length) return;
    for (const [colour, width] of [['#000', 4], ['#fff', 2]]) {
      c.strokeStyle = colour;
      c.lineWidth = width / this.scale;
      c.beginPath();
      line.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
      c.stroke();
      c.strokeRect(line[0][0] - 4 / this.scale, line[0][1] - 4 / this.scale, 8 / this.scale, 8 / this.scale);
    }
  }

  // The mask in colour, where it has changed.
  tint(x, y, w, h) {
    if (w <= 0 || h <= 0) return;
    const part = new ImageData(w, h);
    for (let j = 0, to = 0; j < h; j++)
      for (let i = 0; i < w; i++, to += 4)
        if (this.mask[(y + j) * this.width + x + i]) part.data.set([...TINT, 255], to);
    this.tinted.getContext('2d').putImageData(part, x, y);
  }

  // ---- Strokes ----

  begin(value) {
    this.stroke = { value, before: this.mask.slice(), x0: this.width, y0: this.height, x1: 0, y1: 0 };
  }

  touch(x0, y0, x1, y1) {
    const s = this.stroke;
    s.x0 = Math.min(s.x0, x0), s.y0 = Math.min(s.y0, y0), s.x1 = Math.max(s.x1, x1), s.y1 = Math.max(s.y1, y1);
    this.tint(x0, y0, x1 - x0, y1 - y0);
  }

  end() {
    const s = this.stroke;
    this.stroke = null;
    if (s && s.x1 > s.x0 && s.y1 > s.y0) {
      const cut = (from) => {
        const part = new Uint8Array((s.x1 - s.x0) * (s.y1 - s.y0));
        for (let y = s.y0; y < s.y1; y++) part.set(from.subarray(y * this.width + s.x0, y * this.width + s.x1), (y - s.y0) * (s.x1 - s.x0));
        return part;
      };
      const one = { ...s, before: cut(s.before), after: cut(this.mask) };
      if (one.before.some((v, k) => v !== one.after[k])) {
        this.done.push(one);
        this.undone = [];
        for (let held = this.done.reduce((sum, d) => sum + 2 * d.before.length, 0); held > MOST_UNDO && this.done.length > 1;)
          held -= 2 * this.done.shift().before.length;
        this.changed();
      }
    }
    this.draw();
  }

  restore(one, part) {
    const w = one.x1 - one.x0;
    for (let y = one.y0; y < one.y1; y++) this.mask.set(part.subarray((y - one.y0) * w, (y - one.y0 + 1) * w), y * this.width + one.x0);
    this.tint(one.x0, one.y0, w, one.y1 - one.y0);
    this.draw();
  }

  undo() {
    if (this.polygon.length) {
      this.polygon.pop();
      this.draw();
    } else if (this.photo && this.done.length) {
      const one = this.done.pop();
      this.undone.push(one);
      this.restore(one, one.before);
      this.changed();
    }
  }

  redo() {
    if (!this.photo || !this.undone.length) return;
    const one = this.undone.pop();
    this.done.push(one);
    this.restore(one, one.after);
    this.changed();
  }

  // Another mask, as a stroke that can be undone.
  replace(mask) {
    this.begin(1);
    this.mask = mask;
    this.touch(0, 0, this.width, this.height);
    this.end();
  }

  // ---- Shapes ----

  radius() {
    return Math.max(0.5, (this.size / 100) ** 1.5 * Math.min(this.width, this.height) / 4);
  }

  disc(x, y, r) {
    const x0 = Math.max(0, Math.floor(x - r)), x1 = Math.min(this.width, Math.ceil(x + r) + 1);
    const y0 = Math.max(0, Math.floor(y - r)), y1 = Math.min(this.height, Math.ceil(y + r) + 1);
    for (let j = y0; j < y1; j++)
      for (let i = x0; i < x1; i++)
        if ((i + 0.5 - x) ** 2 + (j + 0.5 - y) ** 2 <= r * r) this.mask[j * this.width + i] = this.stroke.value;
    if (x1 > x0 && y1 > y0) this.touch(x0, y0, x1, y1);
  }

  // Discs so close that they are a line.
  line(x0, y0, x1, y1) {
    const r = this.radius(), n = Math.ceil(Math.hypot(x1 - x0, y1 - y0) / Math.max(0.5, r / 3));
    for (let k = n ? 1 : 0; k <= n; k++) this.disc(x0 + (x1 - x0) * (n ? k / n : 0), y0 + (y1 - y0) * (n ? k / n : 0), r);
  }

  // Pixels whose centre is inside: a ray from it crosses the outline an odd number of times.
  area(points) {
    const ys = points.map((p) => p[1]), xs = points.map((p) => p[0]);
    const y0 = Math.max(0, Math.floor(Math.min(...ys))), y1 = Math.min(this.height, Math.ceil(Math.max(...ys)));
    const x0 = Math.max(0, Math.floor(Math.min(...xs))), x1 = Math.min(this.width, Math.ceil(Math.max(...xs)));
    for (let y = y0; y < y1; y++) {
      const cross = [];
      points.forEach(([ax, ay], k) => {
        const [bx, by] = points[(k + 1) % points.length], c = y + 0.5;
        if ((ay <= c) !== (by <= c)) cross.push(ax + (c - ay) / (by - ay) * (bx - ax));
      });
      cross.sort((a, b) => a - b);
      for (let k = 0; k + 1 < cross.length; k += 2) {
        const from = Math.max(0, Math.ceil(cross[k] - 0.5)), to = Math.min(this.width, Math.ceil(cross[k + 1] - 0.5));
        if (to > from) this.mask.fill(this.stroke.value, y * this.width + from, y * this.width + to);
      }
    }
    if (x1 > x0 && y1 > y0) this.touch(x0, y0, x1, y1);
  }

  // From a pixel to all that are reached over pixels of a colour like its own.
  fill(x, y) {
    if (!this.colours) {
      const c = new OffscreenCanvas(this.width, this.height).getContext('2d', { willReadFrequently: true });
      c.drawImage(this.photo, 0, 0);
      this.colours = c.getImageData(0, 0, this.width, this.height).data;
    }
    const { colours, width, height } = this, start = y * width + x, most = (this.size * 2) ** 2;
    const own = [0, 1, 2].map((k) => colours[4 * start + k]), seen = new Uint8Array(width * height), stack = [start];
    let x0 = x, x1 = x, y0 = y, y1 = y;
    const alike = (at) => [0, 1, 2].reduce((sum, k) => sum + (colours[4 * at + k] - own[k]) ** 2, 0) <= most;
    seen[start] = 1;
    while (stack.length) {
      const at = stack.pop(), i = at % width, j = (at - i) / width;
      this.mask[at] = this.stroke.value;
      x0 = Math.min(x0, i), x1 = Math.max(x1, i), y0 = Math.min(y0, j), y1 = Math.max(y1, j);
      for (const [to, inside] of [[at - 1, i > 0], [at + 1, i < width - 1], [at - width, j > 0], [at + width, j < height - 1]]) {
        if (!inside || seen[to]) continue;
        seen[to] = 1;
        if (alike(to)) stack.push(to);
      }
    }
    this.touch(x0, y0, x1 + 1, y1 + 1);
  }

  closePolygon() {
    if (this.polygon.length > 2) {
      this.begin(this.erases ? 0 : 1);
      this.area(this.polygon);
    }
    this.polygon = [];
    this.end();
  }

  dropPolygon() {
    this.polygon = [];
    this.draw();
  }

  // ---- Hands ----

  place(e) {
    const b = this.canvas.getBoundingClientRect();
    const cx = (e.clientX - b.left) * this.canvas.width / b.width, cy = (e.clientY - b.top) * this.canvas.height / b.height;
    return { cx, cy, x: (cx - this.x) / this.scale, y: (cy - this.y) / this.scale };
  }

  down(e) {
    if (!this.photo) return;
    e.preventDefault();
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(e.pointerId);
    const at = this.place(e);
    this.pointers.set(e.pointerId, at);
    if (this.pointers.size === 2) { // two fingers look; what the first began to paint is taken back
      if (this.stroke) this.takeBack();
      return;
    }
    if (this.pointers.size > 2 || this.tool === 'hand' || e.button === 1) return;
    this.erases = e.shiftKey || e.button === 2 || this.tool === 'eraser';
    if (this.tool === 'polygon') {
      this.addCorner(at);
      return;
    }
    this.begin(this.erases ? 0 : 1);
    if (this.tool === 'box') this.stroke.box = { x0: at.x, y0: at.y, x1: at.x, y1: at.y };
    else if (this.tool === 'fill') this.fillAt(at);
    else this.line(at.x, at.y, at.x, at.y);
    this.draw();
  }

  addCorner(at) {
    const [first] = this.polygon, near = 10 * (devicePixelRatio || 1) / this.scale;
    if (this.polygon.length > 2 && Math.hypot(at.x - first[0], at.y - first[1]) < near) this.closePolygon();
    else this.polygon.push([at.x, at.y]);
    this.draw();
  }

  fillAt(at) {
    const x = Math.floor(at.x), y = Math.floor(at.y);
    if (x >= 0 && y >= 0 && x < this.width && y < this.height) this.fill(x, y);
  }

  takeBack() {
    const s = this.stroke;
    this.stroke = null;
    this.mask = s.before;
    this.tint(0, 0, this.width, this.height);
    this.draw();
  }

  move(e) {
    const was = this.pointers.get(e.pointerId);
    if (!was || !this.photo) return;
    const at = this.place(e);
    this.pointers.set(e.pointerId, at);
    if (this.pointers.size === 2) this.pinch(e.pointerId, was, at);
    else if (this.stroke?.box) Object.assign(this.stroke.box, { x1: at.x, y1: at.y });
    else if (this.stroke && this.tool !== 'fill') this.line(was.x, was.y, at.x, at.y);
    else if (this.tool === 'hand' || e.buttons === 4) this.x += at.cx - was.cx, this.y += at.cy - was.cy;
    this.pointers.set(e.pointerId, this.place(e)); // the photo may have moved below
    this.draw();
  }

  pinch(id, was, at) {
    const [, other] = [...this.pointers].find(([k]) => k !== id);
    const before = Math.hypot(was.cx - other.cx, was.cy - other.cy), after = Math.hypot(at.cx - other.cx, at.cy - other.cy);
    this.x += (at.cx - was.cx) / 2;
    this.y += (at.cy - was.cy) / 2;
    if (before > 0) this.zoom(after / before, (at.cx + other.cx) / 2, (at.cy + other.cy) / 2);
  }

  up(e) {
    if (!this.pointers.delete(e.pointerId) || !this.stroke) return;
    const { box } = this.stroke;
    if (box) this.area([[box.x0, box.y0], [box.x1, box.y0], [box.x1, box.y1], [box.x0, box.y1]].map(([x, y]) => [Math.round(x), Math.round(y)]));
    this.end();
  }

  cancel(e) {
    this.pointers.delete(e.pointerId);
    if (this.stroke) this.takeBack();
  }

  wheel(e) {
    if (!this.photo) return;
    e.preventDefault();
    const at = this.place(e);
    this.zoom(Math.exp(-e.deltaY / 400), at.cx, at.cy);
  }

  // White on black.
  async png() {
    const to = new OffscreenCanvas(this.width, this.height), pixels = new ImageData(this.width, this.height);
    for (let k = 0; k < this.mask.length; k++) pixels.data.set(this.mask[k] ? [255, 255, 255, 255] : [0, 0, 0, 255], 4 * k);
    to.getContext('2d').putImageData(pixels, 0, 0);
    return to.convertToBlob({ type: 'image/png' });
  }
}

// The bytes of a mask out of a picture of it.
export async function bytesOf(blob) {
  const picture = await createImageBitmap(blob), { width, height } = picture;
  const c = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
  c.drawImage(picture, 0, 0);
  const { data } = c.getImageData(0, 0, width, height), mask = new Uint8Array(width * height);
  for (let k = 0; k < mask.length; k++) mask[k] = data[4 * k] >= 128 ? 1 : 0;
  return mask;
}
