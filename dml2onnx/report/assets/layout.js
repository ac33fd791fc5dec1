// Places for boxes whose scopes have been collapsed, by the steps of layout.py: layers by longest paths, an order within
// them by the middle of neighbours, and places as close to the neighbours as the order lets them.

const GAP = 28;
const LAYER_GAP = 36;
const PASSAGE = 10; // width of a way point
const LONGEST_ROUTE = 24; // the most layers of an edge with way points
const SWEEPS = 6;

/** Returns centres of boxes {width, height}, points of edges [from, to], and the total width and height. */
function layOut(sizes, edges) {
  const layers = layersOf(sizes.length, withoutCycles(sizes.length, edges));
  const plan = waysOf(sizes, layers, edges);
  for (let turn = 0; turn < SWEEPS; turn += 1) sweep(plan, turn % 2 === 0, (row, middle) => {
    row.sort((a, b) => middle(a) - middle(b));
    row.forEach((spot, position) => { plan.spots[spot].x = position; });
  });
  for (const row of plan.rows) spread(plan, row, (spot) => plan.spots[spot].x * 100);
  for (let turn = 0; turn <= SWEEPS; turn += 1) sweep(plan, turn % 2 === 0, (row, middle) => spread(plan, row, middle));
  return finished(plan, sizes, layers, edges);
}

/** The edges, with those reversed that close a cycle: a collapsed scope may depend on its own outputs. */
function withoutCycles(count, edges) {
  const readers = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) readers[from].push(to);
  const state = new Uint8Array(count); // 1 on the path, 2 done
  const kept = [];
  for (let start = 0; start < count; start += 1) {
    if (state[start]) continue;
    const path = [[start, 0]];
    state[start] = 1;
    while (path.length) {
      const top = path[path.length - 1];
      const [box, next] = top;
      if (next === readers[box].length) { state[box] = 2; path.pop(); continue; }
      top[1] += 1;
      const reader = readers[box][next];
      kept.push(state[reader] === 1 ? [reader, box] : [box, reader]);
      if (!state[reader]) { state[reader] = 1; path.push([reader, 0]); }
    }
  }
  return kept;
}

function layersOf(count, edges) {
  const readers = Array.from({ length: count }, () => []);
  const waiting = new Array(count).fill(0);
  for (const [from, to] of edges) { readers[from].push(to); waiting[to] += 1; }
  const heads = waiting.flatMap((number, box) => (number ? [] : [box]));
  const layers = new Array(count).fill(0);
  const ready = [...heads];
  for (let at = 0; at < ready.length; at += 1) {
    for (const reader of readers[ready[at]]) {
      layers[reader] = Math.max(layers[reader], layers[ready[at]] + 1);
      waiting[reader] -= 1;
      if (!waiting[reader]) ready.push(reader);
    }
  }
  for (const box of heads) { // boxes without inputs are right above their first reader
    if (readers[box].length) layers[box] = readers[box].reduce((least, reader) => Math.min(least, layers[reader]), Infinity) - 1;
  }
  return layers;
}

/** Boxes and way points in rows; edges from one box share their way points. */
function waysOf(sizes, layers, edges) {
  const spots = sizes.map(({ width }) => ({ width, weight: 1, above: [], below: [], x: 0 }));
  const rows = Array.from({ length: Math.max(-1, ...layers) + 1 }, () => []);
  layers.forEach((layer, box) => rows[layer].push(box));
  const chains = new Map();
  const join = (upper, lower) => { spots[upper].below.push(lower); spots[lower].above.push(upper); };
  for (const [from, to] of edges) {
    const span = layers[to] - layers[from];
    if (!span || Math.abs(span) > LONGEST_ROUTE) continue;
    const [low, high] = span > 0 ? [from, to] : [to, from];
    if (!chains.has(low)) chains.set(low, [low]);
    const chain = chains.get(low);
    while (layers[low] + chain.length < layers[high]) {
      rows[layers[low] + chain.length].push(spots.length);
      spots.push({ width: PASSAGE, weight: 4, above: [], below: [], x: 0 });
      join(chain[chain.length - 1], spots.length - 1);
      chain.push(spots.length - 1);
    }
    join(chain[layers[high] - layers[low] - 1], high);
  }
  for (const row of rows) row.forEach((spot, position) => { spots[spot].x = position; });
  return { spots, rows, chains };
}

/** Sorts the rows downwards or upwards by the mean of neighbours in the previous row. */
function sweep({ spots, rows }, isDown, step) {
  const middle = (spot) => {
    const near = isDown ? spots[spot].above : spots[spot].below;
    return near.length ? near.reduce((sum, other) => sum + spots[other].x, 0) / near.length : spots[spot].x;
  };
  const order = isDown ? rows : [...rows].reverse();
  for (const row of order) step(row, middle);
}

/** Places each spot of a row at its target, or as near as the others allow. */
function spread({ spots }, row, wanted) {
  const offsets = [];
  const pools = []; // the closest increasing numbers: decreasing neighbours are pooled
  row.forEach((spot, at) => {
    offsets.push(at ? offsets[at - 1] + (spots[row[at - 1]].width + spots[spot].width) / 2 + GAP : 0);
    let [mean, total, count] = [wanted(spot) - offsets[at], spots[spot].weight, 1];
    while (pools.length && pools[pools.length - 1][0] > mean) {
      const [other, more, others] = pools.pop();
      mean = (mean * total + other * more) / (total + more);
      total += more;
      count += others;
    }
    pools.push([mean, total, count]);
  });
  let at = 0;
  for (const [mean, , count] of pools) for (const end = at + count; at < end; at += 1) spots[row[at]].x = mean + offsets[at];
}

function finished({ spots, rows, chains }, sizes, layers, edges) {
  const left = spots.reduce((least, spot) => Math.min(least, spot.x - spot.width / 2), Infinity);
  for (const spot of spots) spot.x -= left;
  const tops = [];
  let bottom = 0;
  for (const row of rows) {
    const height = row.reduce((most, spot) => Math.max(most, sizes[spot]?.height ?? 0), 0);
    tops.push(bottom + height / 2);
    bottom += height + LAYER_GAP;
  }
  const centres = sizes.map((_, box) => [spots[box].x, tops[layers[box]]]);
  const routes = edges.map(([from, to]) => {
    const span = layers[to] - layers[from];
    const side = span > 0 ? 1 : -1;
    const low = span > 0 ? from : to;
    const passed = !span || Math.abs(span) > LONGEST_ROUTE ? []
      : (chains.get(low) ?? []).slice(1, Math.abs(span)).map((spot, step) => [spots[spot].x, tops[layers[low] + 1 + step]]);
    return [[centres[from][0], centres[from][1] + (side * sizes[from].height) / 2], ...(span > 0 ? passed : passed.reverse()),
      [centres[to][0], centres[to][1] - (side * sizes[to].height) / 2]];
  });
  const width = spots.reduce((most, spot) => Math.max(most, spot.x + spot.width / 2), 0);
  return { centres, routes, width, height: Math.max(0, bottom - LAYER_GAP) };
}
