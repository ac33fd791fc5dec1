// Parts of details: findings, and drawings of memory.

const CELLS = 36; // the most elements in a drawing of memory
const COLUMNS = 12;

const heading = (text) => make("h3", {}, text);
const terms = (pairs) => make("dl", {}, pairs.map(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));

function findingCard(finding, known = "") {
  const parts = ["expected", "found"].filter((name) => finding[name]).map((name) => [name, finding[name]]);
  (finding.remedies ?? []).forEach((remedy, place) => parts.splice(place, 0, [place ? "or" : "help", remedy.words]));
  if (finding.since) parts.push(["allowed from", `${finding.since} (${shipsWith(finding.since)})`]);
  if (finding.pointer) parts.push(["place", finding.pointer]);
  return make("div", { className: `finding ${finding.severity}` },
    make("p", {}, make("b", {}, `${finding.code} ${finding.severity}`), ` ${finding.message}`),
    parts.length ? terms(parts) : null,
    finding.documentation && finding.documentation !== known ? page(finding.documentation, "The rule in DirectML’s documentation") : null);
}

/** A link to a page; nothing is loaded until it is clicked. */
function page(address, text) {
  return /^https:\/\//.test(address) ? make("p", {}, make("a", { href: address, rel: "noreferrer" }, text)) : null;
}

// --- Memory ----------------------------------------------------------------------------------------------------------

/** Returns the row-major indices of the elements in the first cells of memory, and their number. */
function memoryOfTensor(tensor) {
  const cells = Array.from({ length: CELLS }, () => null);
  const steps = tensor.sizes.map((_, axis) => tensor.sizes.slice(axis + 1).reduce((product, size) => product * size, 1));
  const walk = (axis, offset, number, copies) => {
    if (axis === tensor.sizes.length) {
      cells[offset] = { number: cells[offset]?.number ?? number, count: (cells[offset]?.count ?? 0) + copies };
      return;
    }
    const stride = tensor.strides[axis];
    if (stride === 0) { walk(axis + 1, offset, number, copies * tensor.sizes[axis]); return; }
    for (let at = 0; at < tensor.sizes[axis] && offset + at * stride < CELLS; at += 1) {
      walk(axis + 1, offset + at * stride, number + at * steps[axis], copies);
    }
  };
  walk(0, 0, 0, 1);
  return cells;
}

function memoryDrawing(tensor) {
  const cells = memoryOfTensor(tensor);
  const extent = 1 + tensor.sizes.reduce((sum, size, axis) => sum + (size - 1) * tensor.strides[axis], 0);
  const shown = Math.min(CELLS, extent);
  const [width, height] = [30, 17];
  const rows = Math.ceil(shown / COLUMNS);
  const svg = vector("svg", { viewBox: `0 0 ${COLUMNS * width} ${rows * height}`, role: "img" });
  const inner = tensor.sizes[tensor.sizes.length - 1] ?? 1;
  svg.append(vector("title", {}, `The first ${shown} elements of memory, with the row-major numbers of the tensor’s elements`));
  for (let place = 0; place < shown; place += 1) {
    const cell = cells[place];
    const [x, y] = [(place % COLUMNS) * width, Math.floor(place / COLUMNS) * height];
    const odd = cell && Math.floor(cell.number / inner) % 2 === 1;
    svg.append(vector("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 2,
      class: cell ? (odd ? "odd" : "own") : "gap" }));
    if (cell) svg.append(vector("text", { x: x + width / 2, y: y + height / 2 + 0.5 }, String(cell.number)));
  }
  return { svg, text: memoryCaption(tensor, cells, extent, shown) };
}

function memoryCaption(tensor, cells, extent, shown) {
  const most = Math.max(...cells.map((cell) => cell?.count ?? 0));
  const parts = [extent > shown ? `First ${shown} of ${extent.toLocaleString("en")} elements of memory` : "All of its memory"];
  if (cells.slice(0, shown).some((cell) => !cell)) parts.push("dashed ones are not the tensor’s");
  if (most > 1) parts.push(`each is read ${most === Infinity ? "very often" : `${most.toLocaleString("en")} times`}`);
  return `${parts.join("; ")}.`;
}

function vector(tag, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const layoutWords = {
  packed: "packed", permuted: "permuted", broadcast: "broadcast", padded: "with gaps", overlapping: "overlapping",
  invalid: "not valid",
};
