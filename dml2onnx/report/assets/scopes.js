// Scopes that collapse: a closed one is a single box. Both graphs have the same scopes.

const MANY = 150; // with this many boxes, all scopes start closed
const FRAME = 9; // padding around the boxes of an open scope

class Scopes {
  /** `all` is [[title, parent], ...], parents first; `scenes` by name, with the scope of each box in `inside`. */
  constructor(all, scenes) {
    this.all = all;
    this.scenes = scenes;
    this.closed = new Set();
    this.counts = Object.fromEntries(Object.entries(scenes).map(([name, scene]) => [name, this.counted(scene.inside)]));
  }

  /** The number of boxes in each scope, including inner scopes. */
  counted(inside) {
    const counts = new Array(this.all.length).fill(0);
    for (const scope of inside) if (scope >= 0) counts[scope] += 1;
    for (let scope = this.all.length - 1; scope >= 0; scope -= 1) {
      const parent = this.all[scope][1];
      if (parent >= 0) counts[parent] += counts[scope];
    }
    return counts;
  }

  closeAll() { this.closed = new Set(this.all.keys()); }
  openAll() { this.closed.clear(); }

  /** Opens a scope and its outer ones. */
  reveal(scope) {
    let opened = false;
    for (; scope >= 0; [, scope] = this.all[scope]) opened = this.closed.delete(scope) || opened;
    return opened;
  }

  /** The outermost closed scope that hides `scope`; -1 if it is visible. */
  hiddenBy(scope) {
    let found = -1;
    for (; scope >= 0; [, scope] = this.all[scope]) if (this.closed.has(scope)) found = scope;
    return found;
  }

  isIn(scope, outer) {
    while (scope >= 0 && scope !== outer) [, scope] = this.all[scope];
    return scope === outer && scope >= 0;
  }

  /** `encoder/layer1`. */
  path(scope) {
    const parts = [];
    for (; scope >= 0; [, scope] = this.all[scope]) parts.unshift(this.all[scope][0]);
    return parts.join("/");
  }

  /** A scene with one box for each closed scope: boxes of kind "scope", whose place is its number. */
  visible(name) {
    const full = this.scenes[name];
    const hidden = full.inside.map((scope) => this.hiddenBy(scope));
    if (hidden.every((scope) => scope < 0)) return { ...full, frames: this.frames(full.boxes, full.inside) };
    const places = new Map(); // of visible boxes and scopes
    const boxes = [];
    const inside = [];
    const at = full.boxes.map((box, place) => {
      const scope = hidden[place];
      const key = scope < 0 ? `box ${place}` : `scope ${scope}`;
      if (!places.has(key)) {
        places.set(key, boxes.length);
        boxes.push(scope < 0 ? [...box] : this.box(scope, this.counts[name][scope]));
        inside.push(scope < 0 ? full.inside[place] : this.all[scope][1]);
      }
      return places.get(key);
    });
    const pairs = new Map();
    for (const [from, to] of full.edges) if (at[from] !== at[to]) pairs.set(`${at[from]} ${at[to]}`, [at[from], at[to]]);
    const edges = [...pairs.values()];
    const { centres, routes, width, height } = layOut(boxes.map((box) => ({ width: box[4], height: box[5] })), edges);
    boxes.forEach((box, place) => { [box[2], box[3]] = centres[place]; });
    return { boxes, edges: edges.map(([from, to], edge) => [from, to, routes[edge]]), width, height, inside,
      frames: this.frames(boxes, inside) };
  }

  box(scope, count) {
    const title = shortened(this.all[scope][0]);
    return ["scope", scope, 0, 0, Math.max(96, 9 * title.length + 44), 42, title, plural(count, "node")];
  }

  /** Frames of open scopes without other boxes between theirs, outer ones first. */
  frames(boxes, inside) {
    const edges = new Map();
    boxes.forEach(([, , x, y, width, height], place) => {
      let depth = 0;
      for (let scope = inside[place]; scope >= 0; [, scope] = this.all[scope]) {
        const frame = edges.get(scope) ?? { scope, left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity, depth: 0 };
        frame.left = Math.min(frame.left, x - width / 2);
        frame.right = Math.max(frame.right, x + width / 2);
        frame.top = Math.min(frame.top, y - height / 2);
        frame.bottom = Math.max(frame.bottom, y + height / 2);
        frame.depth = Math.max(frame.depth, depth);
        edges.set(scope, frame);
        depth += 1;
      }
    });
    const byHeight = boxes.map((box, place) => [box[3], place]).sort((a, b) => a[0] - b[0]);
    const isAlone = (frame) => {
      let [low, high] = [0, byHeight.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (byHeight[middle][0] < frame.top) low = middle + 1; else high = middle;
      }
      for (; low < byHeight.length && byHeight[low][0] <= frame.bottom; low += 1) {
        const [, place] = byHeight[low];
        const [, , x, , width] = boxes[place];
        if (x + width / 2 > frame.left && x - width / 2 < frame.right && !this.isIn(inside[place], frame.scope)) return false;
      }
      return true;
    };
    return [...edges.values()].filter(isAlone).sort((a, b) => a.scope - b.scope).map((frame) => {
      const padding = Math.min(FRAME + 3 * frame.depth, LAYER_GAP / 2 - 1);
      return { scope: frame.scope, title: shortened(this.all[frame.scope][0]), left: frame.left - padding, top: frame.top - padding,
        right: frame.right + padding, bottom: frame.bottom + padding };
    });
  }
}

const shortened = (text) => (text.length > 34 ? `${text.slice(0, 20)}…${text.slice(-12)}` : text);
