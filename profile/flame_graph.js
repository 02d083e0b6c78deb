// The graph of a tree, on a canvas of the size of its visible part. Frames of at
// least a pixel are drawn completely. Of narrower ones, one is drawn per pixel. The
// host gives the look of frames, and gets events.
class Graph {
  constructor(element, host) {
    this.element = element;
    this.host = host;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    this.space = document.createElement("div");
    this.space.append(this.canvas);
    element.append(this.space);
    element.tabIndex = 0;
    element.setAttribute("role", "tree");
    this.pen = this.canvas.getContext("2d");
    this.rowHeight = matchMedia("(pointer: coarse)").matches ? 28 : 21;
    this.flame = false; // callers below
    this.tree = null;
    this.selected = -1;
    this.hovered = -1;
    this.widths = new Map();
    this.spoken = 0;

    element.addEventListener("scroll", () => { this.hover(-1); this.redraw(); });
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("focus", () => {
      if (this.tree && this.selected < 0 && element.matches(":focus-visible")) this.select(0);
      this.redraw();
    });
    element.addEventListener("blur", () => this.redraw());
    this.pointers = new Map();
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) this.canvas.addEventListener(kind, (event) => this.up(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(-1));
    element.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    new ResizeObserver(() => this.resize()).observe(element);
  }

  show(tree, flame) {
    this.tree = tree;
    this.flame = flame;
    this.selected = this.hovered = -1;
    this.left = 0;
    this.width = tree.total[0];
    this.target = null;
    this.share = 1;
    this.resize();
    this.element.scrollTop = flame ? this.element.scrollHeight : 0;
    this.announce();
  }

  resize() {
    if (!this.tree) return;
    const below = this.lines > 0 ? this.height - this.lines - this.element.scrollTop : 0; // none while hidden
    this.columns = this.element.clientWidth;
    this.lines = this.element.clientHeight;
    this.height = Math.max(this.tree.rows * this.rowHeight, this.lines);
    this.space.style.height = this.height + "px";
    if (this.flame && below >= 0) this.element.scrollTop = this.height - this.lines - below;
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.columns * scale);
    this.canvas.height = Math.round(this.lines * scale);
    this.canvas.style.width = this.columns + "px";
    this.canvas.style.height = this.lines + "px";
    this.draw();
  }

  redraw() {
    if (this.drawing) return;
    this.drawing = true;
    requestAnimationFrame(() => { this.drawing = false; this.draw(); });
  }

  top(depth) { return this.flame ? this.height - (depth + 1) * this.rowHeight : depth * this.rowHeight; }

  draw() {
    if (!this.tree || this.columns === 0 || this.lines === 0) return;
    const {tree, pen, host, rowHeight} = this;
    const scale = devicePixelRatio || 1;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, this.columns, this.lines);
    pen.textBaseline = "middle";
    const above = this.element.scrollTop, below = above + this.lines;
    const depthAt = (y) => Math.floor((this.flame ? this.height - y : y) / rowHeight);
    const from = Math.max(0, Math.min(depthAt(above), depthAt(below)));
    const to = Math.min(tree.rows - 1, Math.max(depthAt(above), depthAt(below)));
    const perPixel = this.width / this.columns;
    const right = this.left + this.width;
    for (let depth = from; depth <= to; depth++) {
      const y = this.top(depth) - above;
      const end = tree.rowStart[depth + 1];
      for (let place = tree.firstAfter(depth, this.left); place < end;) {
        const n = tree.rowNodes[place];
        if (tree.start[n] >= right) break;
        const x = (tree.start[n] - this.left) / perPixel;
        const w = tree.total[n] / perPixel;
        if (w >= 1) {
          this.box(n, Math.max(x, 0), y, Math.min(x + w, this.columns) - Math.max(x, 0));
          place++;
        } else {
          pen.fillStyle = host.fill(tree, n);
          pen.fillRect(Math.floor(x), y, 1, rowHeight - 1);
          place = tree.firstAfter(depth, this.left + (Math.floor(x) + 1) * perPixel, place + 1);
        }
      }
    }
    this.outline(this.hovered, host.colours.ink, 1);
    this.outline(this.selected, host.colours.accent, 2);
    // The canvas covers an outline of the style.
    if (this.element.matches(":focus-visible")) {
      pen.strokeStyle = host.colours.accent;
      pen.lineWidth = 2;
      pen.strokeRect(1, 1, this.columns - 2, this.lines - 2);
    }
  }

  box(n, x, y, w) {
    const {pen, host} = this;
    const frame = this.tree.frame[n];
    const look = host.look(frame);
    const h = this.rowHeight - 1;
    pen.fillStyle = host.fill(this.tree, n);
    pen.fillRect(x, y, w > 3 ? w - 1 : w, h);
    if (look.marked) {
      pen.fillStyle = host.colours.mark;
      pen.fillRect(x, y + h - 3, w > 3 ? w - 1 : w, 3);
    }
    if (w < 24) return;
    const text = this.fit(frame, w - 10, look.italic);
    if (text === "") return;
    pen.fillStyle = look.ink;
    pen.fillText(text, x + 5, y + h / 2 + 0.5);
  }

  // Returns the part of a frame's name that fits into a width.
  fit(frame, width, italic) {
    const {pen, host} = this;
    const name = host.names[frame];
    pen.font = italic ? host.italic : host.font;
    let full = this.widths.get(frame);
    if (full === undefined) {
      // A long name does not fit on any screen, so it is not measured.
      full = name.length > 600 ? name.length * 5 : pen.measureText(name).width;
      this.widths.set(frame, full);
    }
    if (full <= width) return name;
    let length = Math.min(name.length, Math.floor(name.length * width / full) + 4);
    for (; length > 1; length--) {
      const text = name.slice(0, length) + "…";
      if (pen.measureText(text).width <= width) return text;
    }
    return "";
  }

  outline(n, colour, thickness) {
    if (n < 0) return;
    const {tree, pen} = this;
    const perPixel = this.width / this.columns;
    const x = Math.max((tree.start[n] - this.left) / perPixel, 0);
    const end = Math.min((tree.start[n] + tree.total[n] - this.left) / perPixel, this.columns);
    if (end < 0 || x > this.columns) return;
    pen.strokeStyle = colour;
    pen.lineWidth = thickness;
    const half = thickness / 2;
    pen.strokeRect(x + half, this.top(tree.depth[n]) - this.element.scrollTop + half,
      Math.max(end - x - 1 - thickness, 1), this.rowHeight - 1 - thickness);
  }

  // Moves the view to a range of weights.
  look(left, width, at = -1) {
    const all = this.tree.total[0];
    width = Math.min(all, Math.max(width, all * 1e-9));
    left = Math.max(0, Math.min(left, all - width));
    this.aim(left, width, at);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.left = left;
      this.width = width;
      this.redraw();
      return;
    }
    const from = {left: this.left, width: this.width}, start = performance.now();
    const step = (now) => {
      if (this.target?.left !== left || this.target.width !== width) return;
      const t = Math.max(0, Math.min(1, (now - start) / 160)), eased = 1 - (1 - t) ** 3;
      this.left = from.left + (left - from.left) * eased;
      this.width = from.width + (width - from.width) * eased;
      this.draw();
      if (t < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  // Sets the target of the view, and its node.
  aim(left, width, at) {
    this.target = {left, width};
    this.zoomed = at;
    this.share = width / this.tree.total[0];
    this.host.zoomed();
  }

  zoomTo(n) {
    this.look(this.tree.start[n], this.tree.total[n], n);
    this.select(n);
  }

  zoomBy(factor, middle = -1) {
    const seen = this.target && this.target.width < this.tree.total[0] ? this.target : {left: this.left, width: this.width};
    if (middle < 0) {
      const n = this.selected;
      const inside = n >= 0 && this.tree.start[n] < seen.left + seen.width && this.tree.start[n] + this.tree.total[n] > seen.left;
      const [a, b] = inside ? [Math.max(this.tree.start[n], seen.left), Math.min(this.tree.start[n] + this.tree.total[n], seen.left + seen.width)] :
        [seen.left, seen.left + seen.width];
      middle = (a + b) / 2;
    }
    this.look(middle - (middle - seen.left) * factor, seen.width * factor);
  }

  whole() { this.look(0, this.tree.total[0], 0); }

  select(n) {
    this.selected = n;
    if (n >= 0) {
      const y = this.top(this.tree.depth[n]), margin = this.rowHeight;
      const {scrollTop} = this.element;
      if (y < scrollTop + margin) this.element.scrollTop = y - margin;
      else if (y + 2 * margin > scrollTop + this.lines) this.element.scrollTop = y + 2 * margin - this.lines;
    }
    this.announce();
    this.host.selected(this, n);
    this.redraw();
  }

  // Describes the selection for screen readers, which read a new element.
  announce() {
    const {tree, element} = this, n = this.selected;
    this.item?.remove();
    if (n < 0) {
      element.removeAttribute("aria-activedescendant");
      return;
    }
    this.item = document.createElement("div");
    this.item.id = element.id + "-" + ++this.spoken;
    this.item.className = "reader";
    this.item.setAttribute("role", "treeitem");
    this.item.setAttribute("aria-selected", "true");
    this.item.setAttribute("aria-level", tree.depth[n] + 1);
    this.item.textContent = this.host.describe(tree, n).join(", ");
    element.append(this.item);
    element.setAttribute("aria-activedescendant", this.item.id);
  }

  hover(n, x, y) {
    if (n !== this.hovered) this.redraw();
    this.hovered = n;
    this.host.hovered(this, n, x, y);
  }

  nodeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top + this.element.scrollTop;
    const depth = Math.floor((this.flame ? this.height - y : y) / this.rowHeight);
    return this.tree.at(depth, this.weightAt(event.clientX));
  }

  weightAt(clientX) {
    return this.left + (clientX - this.canvas.getBoundingClientRect().left) * this.width / this.columns;
  }

  down(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, event);
    this.dragged = this.pointers.size > 1;
    this.grip = this.grasp();
    this.hover(-1);
  }

  // Returns the middle of the pointers, and their distance.
  grasp() {
    const all = [...this.pointers.values()].map((event) => event.clientX);
    const low = Math.min(...all), high = Math.max(...all);
    return {middle: (low + high) / 2, spread: Math.max(high - low, 24), left: this.left, width: this.width};
  }

  move(event) {
    if (!this.pointers.has(event.pointerId)) {
      if (event.pointerType === "mouse") this.hover(this.nodeAt(event), event.clientX, event.clientY);
      return;
    }
    this.pointers.set(event.pointerId, event);
    const now = this.grasp(), grip = this.grip;
    if (Math.abs(now.middle - grip.middle) > 4) this.dragged = true;
    if (!this.dragged) return;
    const all = this.tree.total[0];
    const width = Math.min(all, this.pointers.size > 1 ? grip.width * grip.spread / now.spread : grip.width);
    const edge = this.canvas.getBoundingClientRect().left;
    const held = grip.left + (grip.middle - edge) * grip.width / this.columns;
    this.width = width;
    this.left = Math.max(0, Math.min(held - (now.middle - edge) * width / this.columns, all - width));
    this.aim(this.left, width, -1);
    this.redraw();
  }

  up(event) {
    if (!this.pointers.delete(event.pointerId)) return;
    if (this.pointers.size > 0) {
      this.grip = this.grasp();
      return;
    }
    if (event.type === "pointerup" && !this.dragged) {
      const n = this.nodeAt(event);
      if (n >= 0) this.zoomTo(n);
    }
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoomBy(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 120), this.weightAt(event.clientX));
    } else if (event.deltaX !== 0 && this.width < this.tree.total[0]) {
      event.preventDefault();
      this.look(this.left + event.deltaX * this.width / this.columns, this.width);
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.tree) return;
    const {tree} = this, n = Math.max(this.selected, 0);
    const [inward, outward] = this.flame ? ["ArrowUp", "ArrowDown"] : ["ArrowDown", "ArrowUp"];
    let to = -1;
    switch (event.key) {
    case inward: to = tree.end[n] > n + 1 ? n + 1 : -1; break;
    case outward: to = tree.parent[n]; break;
    case "ArrowLeft": to = tree.neighbour(n, -1); break;
    case "ArrowRight": to = tree.neighbour(n, 1); break;
    case "Home": to = 0; break;
    case "Enter": case " ": this.zoomTo(n); break;
    case "Escape": this.whole(); break;
    case "+": case "=": this.zoomBy(1 / 1.6); break;
    case "-": case "_": this.zoomBy(1.6); break;
    default: return;
    }
    event.preventDefault();
    if (to < 0) return;
    this.select(to);
    // What is selected is seen.
    if (tree.start[to] + tree.total[to] <= this.left || tree.start[to] >= this.left + this.width) this.look(tree.start[to], tree.total[to], to);
  }
}
