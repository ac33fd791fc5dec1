// A graph on a canvas: only visible boxes are drawn, so that the number of nodes does not matter.

const FULL_TEXT = 0.45; // the least scale with lines of text,
const ANY_TEXT = 0.2; // with titles,
const LINES = 0.08; // and with curved edges
const FOCUS_SCALE = 0.85;
const READABLE = 0.6; // the least scale at which a graph is shown whole
const COMPARABLE = 0.3; // the same for two graphs, whose marks and titles show differences
const BEGIN_SCALE = 0.8;
const SIGN = 26; // the right end of a closed scope, which opens it

class GraphMap {
  /** `scene` has boxes [kind, place, x, y, width, height, title, ...lines] around their centres, and edges [from, to, points]. */
  constructor(host, scene, choose, toggle = null) {
    this.host = host;
    this.choose = choose;
    this.toggle = toggle; // opens or closes a scope
    this.beside = []; // maps that start at the same scale
    this.canvas = host.querySelector("canvas");
    this.context = this.canvas.getContext("2d");
    this.transform = d3.zoomIdentity;
    this.load(scene);
    this.behaviour = d3.zoom().on("zoom", (event) => {
      this.transform = event.transform;
      if (event.sourceEvent) this.ownView = null;
      this.request();
    });
    this.selection = d3.select(host).call(this.behaviour).on("dblclick.zoom", null);
    host.addEventListener("click", (event) => this.click(event));
    host.addEventListener("dblclick", (event) => this.click(event, true));
    host.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
  }

  /** Loads another graph, without a choice or colours. */
  load(scene) {
    this.scene = scene;
    this.chosen = -1;
    this.related = new Set();
    this.fills = new Map();
    this.marks = new Map(); // boxes with a coloured rim and dot: the name of the colour
    this.signs = new Map(); // the texts of the dots
    this.frames = scene.frames ?? []; // around open scopes
    this.faded = new Set();
    this.index();
    if (this.width) this.resize();
  }

  /** Boxes by layer, from left to right, and neighbours along edges. */
  index() {
    const rows = new Map();
    this.scene.boxes.forEach((box, place) => {
      if (!rows.has(box[3])) rows.set(box[3], []);
      rows.get(box[3]).push(place);
    });
    const x = (place) => this.scene.boxes[place][2];
    this.rows = [...rows].sort((a, b) => a[0] - b[0])
      .map(([y, places]) => ({ y, places: places.sort((a, b) => x(a) - x(b)) }));
    for (const row of this.rows) row.height = Math.max(...row.places.map((place) => this.scene.boxes[place][5]));
    this.tallest = Math.max(0, ...this.rows.map((row) => row.height));
    this.above = this.scene.boxes.map(() => []);
    this.below = this.scene.boxes.map(() => []);
    for (const [from, to] of this.scene.edges) { this.below[from].push(to); this.above[to].push(from); }
    this.spans = this.scene.edges.map(([, , points]) => {
      const ys = points.map((point) => point[1]);
      const xs = points.map((point) => point[0]);
      return [Math.min(...ys), Math.max(...ys), Math.min(...xs), Math.max(...xs)];
    });
  }

  resize() {
    const before = [this.width, this.height];
    this.width = this.host.clientWidth;
    this.height = this.host.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.max(1, Math.round(this.width * ratio));
    this.canvas.height = Math.max(1, Math.round(this.height * ratio));
    const fit = this.fitted();
    this.behaviour.scaleExtent([Math.min(fit.k, 0.05) / 1.5, 3]).extent([[0, 0], [this.width, this.height]])
      .translateExtent([[-this.width / fit.k, -this.height / fit.k],
        [this.scene.width + this.width / fit.k, this.scene.height + this.height / fit.k]]);
    if (this.width && this.ownView) this[this.ownView](false); // unless another part of the graph was shown
    else if (!before[0] && this.width) this.begin();
    for (const map of this.beside) if (map.width && map.ownView === "begin") map.begin();
    this.draw();
  }

  /** The transform that shows the whole graph, at a scale of at most `most`. */
  fitted(most = 1.1) {
    const margin = 16;
    const k = Math.min(most, (this.width - 2 * margin) / this.scene.width, (this.height - 2 * margin) / this.scene.height);
    const scale = k > 0 && Number.isFinite(k) ? k : 1;
    return d3.zoomIdentity.translate((this.width - scale * this.scene.width) / 2, (this.height - scale * this.scene.height) / 2)
      .scale(scale);
  }

  /** Shows the whole graph. */
  fit(animated = true) { this.move(this.fitted(), animated); this.ownView = "fit"; }

  /** Shows the whole graph if it is readable, or else its start; at the scale of the maps beside it. */
  begin() {
    let target = this.fitted(Math.min(1.1, ...this.beside.map((map) => map.fitted().k)));
    if (target.k < (this.beside.length ? COMPARABLE : READABLE)) {
      const wide = Math.min(1, (this.width - 32) / this.scene.width); // shows the whole width
      const k = wide < READABLE ? BEGIN_SCALE : wide;
      const x = k * this.scene.width > this.width ? k * this.scene.boxes[0][2] : (k * this.scene.width) / 2;
      target = d3.zoomIdentity.translate(this.width / 2 - x, 16).scale(k);
    }
    this.move(target, false);
    this.ownView = "begin";
  }

  move(target, animated) {
    this.ownView = null; // the method that restores the view when the page is resized
    const calm = !animated || matchMedia("(prefers-reduced-motion: reduce)").matches;
    (calm ? this.selection : this.selection.transition().duration(260)).call(this.behaviour.transform, target);
  }

  zoom(factor) { this.ownView = null; this.behaviour.scaleBy(this.selection, factor); }

  /** Shows a box; keeps the scale `k` if text is readable. */
  center(places) {
    if (!places.length) return;
    const boxes = places.map((place) => this.scene.boxes[place]);
    const x = (Math.min(...boxes.map((b) => b[2] - b[4] / 2)) + Math.max(...boxes.map((b) => b[2] + b[4] / 2))) / 2;
    const y = (Math.min(...boxes.map((b) => b[3])) + Math.max(...boxes.map((b) => b[3]))) / 2;
    const k = this.transform.k < FULL_TEXT ? FOCUS_SCALE : this.transform.k;
    const [seenX, seenY] = this.transform.apply([x, y]);
    const inside = seenX > 60 && seenY > 40 && seenX < this.width - 60 && seenY < this.height - 40;
    if (inside && k === this.transform.k) return;
    this.move(d3.zoomIdentity.translate(this.width / 2 - k * x, this.height / 2 - k * y).scale(k), true);
  }

  /** Loads another scene of the same graph; `place` is shown where the point [x, y] of the old one was. */
  exchange(scene, place, [x, y]) {
    const view = this.ownView;
    const seen = this.transform.apply([x, y]);
    this.load(scene);
    if (view === "fit" || place < 0) { this.move(this.fitted(), false); this.ownView = "fit"; return; }
    const { k } = this.transform;
    const [, , newX, newY] = scene.boxes[place];
    this.move(d3.zoomIdentity.translate(seen[0] - k * newX, seen[1] - k * newY).scale(k), false);
  }

  /** Marks the chosen box and related ones. */
  show(chosen, related) {
    this.chosen = chosen;
    this.related = new Set(related);
    this.request();
  }

  // --- Input ---------------------------------------------------------------------------------------------------------

  at(x, y) {
    const [sceneX, sceneY] = this.transform.invert([x, y]);
    for (const row of this.rows) {
      if (Math.abs(row.y - sceneY) > row.height / 2) continue;
      for (const place of row.places) {
        const [, , boxX, boxY, width, height] = this.scene.boxes[place];
        if (Math.abs(boxX - sceneX) <= width / 2 && Math.abs(boxY - sceneY) <= height / 2) return place;
      }
    }
    return -1;
  }

  click(event, isDouble = false) {
    if (event.defaultPrevented) return; // the end of a drag
    const bounds = this.host.getBoundingClientRect();
    const [x, y] = [event.clientX - bounds.left, event.clientY - bounds.top];
    const place = this.at(x, y);
    if (place < 0) {
      const frame = isDouble ? undefined : this.frameAt(x, y);
      if (frame) this.toggle?.(frame.scope);
      return;
    }
    const [kind, number, middle, , width] = this.scene.boxes[place];
    const isSign = this.transform.invertX(x) > middle + width / 2 - SIGN; // of a closed scope
    if (kind === "scope" && isDouble !== isSign) this.toggle?.(number); // the first click handled the sign
    else if (!isDouble) this.choose(place);
  }

  /** Returns the frame whose title is at a point. */
  frameAt(x, y) {
    if (this.transform.k < ANY_TEXT) return undefined;
    const [sceneX, sceneY] = this.transform.invert([x, y]);
    return this.frames.findLast(({ left, top, tab }) => sceneX > left && sceneX < left + tab && Math.abs(sceneY - top) < 10);
  }

  key(event) {
    const moves = {
      ArrowDown: () => this.follow(this.below), ArrowUp: () => this.follow(this.above),
      ArrowRight: () => this.aside(1), ArrowLeft: () => this.aside(-1),
      Home: () => 0, End: () => this.scene.boxes.length - 1,
    };
    const zooms = { "+": 1.4, "=": 1.4, "-": 1 / 1.4 };
    if (event.ctrlKey || event.metaKey || event.altKey || !this.scene.boxes.length) return;
    if (event.key in moves) {
      const place = this.chosen < 0 ? 0 : moves[event.key]();
      if (place >= 0) this.choose(place);
    } else if (event.key in zooms) this.zoom(zooms[event.key]);
    else if (event.key === "0") this.fit();
    else if (event.key === "Enter" && this.toggle && this.chosen >= 0) {
      const [kind, number] = this.scene.boxes[this.chosen];
      const scope = kind === "scope" ? number : this.scene.inside?.[this.chosen] ?? -1;
      if (scope >= 0) this.toggle(scope);
    }
    else return;
    event.preventDefault();
  }

  follow(neighbours) {
    const x = this.scene.boxes[this.chosen][2];
    const distance = (place) => Math.abs(this.scene.boxes[place][2] - x);
    return neighbours[this.chosen].reduce((best, place) =>
      (best < 0 || distance(place) < distance(best) ? place : best), -1);
  }

  aside(step) {
    const { places } = this.rows.find((row) => row.y === this.scene.boxes[this.chosen][3]);
    return places[places.indexOf(this.chosen) + step] ?? -1;
  }

  // --- Drawing -------------------------------------------------------------------------------------------------------

  /** Reads the colours of the page's theme. */
  theme() {
    const style = getComputedStyle(document.documentElement);
    const names = ["surface", "ink", "dim", "line", "edge", "accent", "soft", "error", "warning", "good", "end", "back"];
    this.colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.fonts = style.getPropertyValue("--sans");
    this.request();
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  draw() {
    if (!this.colours) return;
    const { context, transform } = this;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.translate(transform.x, transform.y);
    context.scale(transform.k, transform.k);
    const [left, top] = transform.invert([0, 0]);
    const [right, bottom] = transform.invert([this.width, this.height]);
    const frames = this.frames.filter((frame) => frame.bottom > top && frame.top < bottom && frame.right > left && frame.left < right);
    this.drawFrames(frames);
    this.drawEdges(left, top, right, bottom);
    if (transform.k >= ANY_TEXT) this.drawTabs(frames);
    let low = 0;
    let high = this.rows.length;
    while (low < high) { // the first visible row
      const middle = (low + high) >> 1;
      if (this.rows[middle].y + this.tallest / 2 < top) low = middle + 1; else high = middle;
    }
    const seen = [];
    for (; low < this.rows.length && this.rows[low].y - this.tallest / 2 <= bottom; low += 1) {
      for (const place of this.rows[low].places) {
        const box = this.scene.boxes[place];
        if (box[2] + box[4] / 2 >= left && box[2] - box[4] / 2 <= right) seen.push(place);
      }
    }
    if (transform.k >= ANY_TEXT) for (const place of seen) this.drawBox(place, this.scene.boxes[place]);
    else this.drawSmall(seen);
  }

  drawFrames(frames) {
    const { context, colours } = this;
    for (const { left, top, right, bottom } of frames) {
      context.beginPath();
      context.roundRect(left, top, right - left, bottom - top, 8);
      context.globalAlpha = 0.35;
      context.fillStyle = colours.line;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = Math.max(1, 0.6 / this.transform.k);
      context.strokeStyle = colours.line;
      context.stroke();
    }
  }

  /** Draws the titles of frames, which close them. */
  drawTabs(frames) {
    const { context, colours } = this;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.font = `600 11px ${this.fonts}`;
    for (const frame of frames) {
      const text = `− ${frame.title}`;
      frame.tab = context.measureText(text).width + 16;
      context.beginPath();
      context.roundRect(frame.left, frame.top - 9, frame.tab, 18, 5);
      context.fillStyle = colours.surface;
      context.fill();
      context.strokeStyle = colours.edge;
      context.lineWidth = 1;
      context.stroke();
      context.fillStyle = colours.dim;
      context.fillText(text, frame.left + 8, frame.top + 0.5);
    }
  }

  /** Draws boxes without text: those of one colour together, and then marked ones. */
  drawSmall(places) {
    const { context, colours } = this;
    const groups = new Map();
    for (const place of places) {
      const fill = this.fills.get(place) ?? (this.marks.has(place) ? colours[this.marks.get(place)] : colours.edge);
      if (!groups.has(fill)) groups.set(fill, []);
      groups.get(fill).push(place);
    }
    for (const [fill, group] of groups) {
      context.beginPath();
      for (const place of group) {
        const [, , x, y, width, height] = this.scene.boxes[place];
        context.rect(x - width / 2, y - height / 2, width, height);
      }
      context.fillStyle = fill;
      context.fill();
    }
    for (const place of places) {
      if (place === this.chosen || this.related.has(place)) this.drawBox(place, this.scene.boxes[place]);
    }
  }

  drawEdges(left, top, right, bottom) {
    const { context, scene } = this;
    const own = [];
    context.lineWidth = Math.max(1.1, 0.6 / this.transform.k);
    context.strokeStyle = this.colours.edge;
    context.beginPath();
    for (let place = 0; place < scene.edges.length; place += 1) {
      const [low, high, first, last] = this.spans[place];
      if (high < top || low > bottom || last < left || first > right) continue;
      const [from, to, points] = scene.edges[place];
      if (from === this.chosen || to === this.chosen) own.push(points);
      else this.trace(points);
    }
    context.stroke();
    if (!own.length) return;
    context.strokeStyle = this.colours.accent;
    context.lineWidth = Math.max(2, 1.2 / this.transform.k);
    context.beginPath();
    own.forEach((points) => this.trace(points));
    context.stroke();
  }

  /** Draws an edge as curves that leave and enter vertically, or at a small scale as a line. */
  trace(points) {
    if (!points.length) return;
    const { context } = this;
    context.moveTo(points[0][0], points[0][1]);
    if (this.transform.k < LINES) {
      context.lineTo(...points[points.length - 1]);
      return;
    }
    for (let step = 1; step < points.length; step += 1) {
      const [x, y] = points[step];
      const [beforeX, beforeY] = points[step - 1];
      const middle = (y + beforeY) / 2;
      if (x === beforeX) context.lineTo(x, y);
      else context.bezierCurveTo(beforeX, middle, x, middle, x, y);
    }
  }

  drawBox(place, box) {
    const { context, colours, transform } = this;
    const [kind, , x, y, width, height, title, ...lines] = box;
    const isScope = kind === "scope";
    const isEnd = kind !== "node" && !isScope;
    const fill = this.fills.get(place) ?? (isEnd ? colours.end : colours.surface);
    const chosen = place === this.chosen;
    const related = this.related.has(place);
    const mark = this.marks.get(place);
    if (isScope) this.drawStack(x, y, width, height, fill);
    context.globalAlpha = this.faded.has(place) ? 0.45 : 1;
    context.beginPath();
    context.roundRect(x - width / 2, y - height / 2, width, height, isEnd ? height / 2.4 : 6);
    context.fillStyle = related && !this.fills.has(place) ? colours.soft : fill;
    context.fill();
    context.lineWidth = Math.max(mark ? 1.8 : 1, 0.7 / transform.k);
    context.strokeStyle = mark ? colours[mark] : colours.edge;
    context.stroke();
    if (chosen || related) this.drawRing(x, y, width, height, isEnd ? height / 2.4 : 6, chosen);
    if (mark) {
      context.beginPath();
      const sign = this.signs.get(place);
      const [signX, signY] = [x + width / 2 - 2, y - height / 2 + 2];
      context.arc(signX, signY, Math.max(sign ? 9 : 4.5, 2.5 / transform.k), 0, 2 * Math.PI);
      context.fillStyle = colours[mark];
      context.fill();
      if (sign && transform.k >= ANY_TEXT) this.drawSign(sign, signX, signY);
    }
    if (transform.k >= ANY_TEXT) {
      const shift = isScope ? SIGN / 2 - 4 : 0;
      this.drawText(x - shift, y, width - 2 * shift, title, transform.k >= FULL_TEXT ? lines : [], this.fills.get(place));
      if (isScope) context.fillText("+", x + width / 2 - SIGN / 2 - 2, y);
    }
    context.globalAlpha = 1;
  }

  /** Draws the sign of a box for several nodes. */
  drawStack(x, y, width, height, fill) {
    const { context, colours } = this;
    for (const step of [2, 1]) {
      context.beginPath();
      context.roundRect(x - width / 2 + 3 * step, y - height / 2 + 3 * step, width, height, 6);
      context.fillStyle = fill;
      context.fill();
      context.lineWidth = 1;
      context.strokeStyle = colours.edge;
      context.stroke();
    }
  }

  /** Draws rims around chosen and related boxes, at a distance, so that they are visible on every colour. */
  drawRing(x, y, width, height, radius, chosen) {
    const { context, colours, transform } = this;
    const gap = Math.max(3, 1.5 / transform.k);
    context.beginPath();
    context.roundRect(x - width / 2 - gap, y - height / 2 - gap, width + 2 * gap, height + 2 * gap, radius + gap);
    context.lineWidth = Math.max(chosen ? 3 : 1.6, (chosen ? 2.4 : 1.2) / transform.k);
    context.strokeStyle = colours.accent;
    context.stroke();
  }

  drawSign(sign, x, y) {
    const { context, colours } = this;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = colours.surface;
    context.font = `700 13px ${this.fonts}`;
    context.fillText(sign, x, y + 0.5);
  }

  drawText(x, y, width, title, lines, fill) {
    const { context, colours } = this;
    const strong = fill ? readable(fill) : colours.ink;
    const weak = fill ? strong : colours.dim;
    let baseline = y - (16 * lines.length) / 2 + 1;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillStyle = strong;
    context.font = `600 13px ${this.fonts}`;
    context.fillText(title, x, baseline, width - 12);
    context.fillStyle = weak;
    context.font = `11px ${this.fonts}`;
    for (const line of lines) context.fillText(line, x, (baseline += 16), width - 12);
  }
}

/** Returns black or white, whichever is more readable on a colour. */
function readable(colour) {
  const { r, g, b } = d3.rgb(colour);
  const linear = (part) => ((part / 255 + 0.055) / 1.055) ** 2.4;
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) > 0.2 ? "#14171c" : "#ffffff";
}
