// The page of two reports: maps, details and tables show the same pair; keys visit all differences.

const { pairs } = comparison;
const NOTHING = { boxes: [], edges: [], width: 0, height: 0 };
const signs = { changed: ["warning", "≠"], left: ["error", "−"], right: ["good", "+"] };

/** The pair of each node, input and output. */
const pairOf = Object.fromEntries(sideNames.map((side) =>
  [side, new Map(pairs.flatMap((pair, number) => (pair[side] === null ? [] : [[`${pair.kind} ${pair[side]}`, number]])))]));

// --- Maps ------------------------------------------------------------------------------------------------------------

let shown = "directml"; // or onnx
let current = -1;
const maps = {};
const boxPlaces = {};

for (const side of sideNames) {
  maps[side] = new GraphMap(document.getElementById(side), NOTHING, (place) => {
    const [kind, at] = maps[side].scene.boxes[place];
    const origin = kind === "node" && shown === "onnx" ? sides[side].onnx.nodes[at].node : at;
    const number = pairOf[side].get(`${kind} ${origin}`);
    if (number !== undefined) select("pair", number, false, side);
  });
}
maps[sideNames[0]].beside = [maps[sideNames[1]]];
maps[sideNames[1]].beside = [maps[sideNames[0]]];
zoomButtons(maps);

/** Shows the DirectML graphs or the ONNX graphs in the maps. */
function present(kind) {
  shown = kind;
  for (const side of sideNames) {
    const map = maps[side];
    const scene = scenes[side][kind];
    map.load(scene ?? NOTHING);
    map.host.querySelector(".empty")?.remove();
    if (!scene) map.host.append(make("p", { className: "empty" }, "No ONNX model: the graph cannot be compiled."));
    boxPlaces[side] = new Map(map.scene.boxes.map((box, place) => [`${box[0]} ${box[1]}`, place]));
    document.getElementById(`${side}-count`).textContent =
      scene ? plural(sides[side][kind === "onnx" ? "onnx" : "report"].nodes.length, "node") : "";
    for (const pair of pairs) {
      if (pair.state === "same") continue;
      const [colour, sign] = signs[pair.state];
      for (const place of boxesOf(side, pair)) { map.marks.set(place, colour); map.signs.set(place, sign); }
    }
  }
  for (const map of Object.values(maps)) map.begin();
  paint();
  if (current >= 0) select("pair", current, true);
}

/** The boxes of a pair on one side. */
function boxesOf(side, pair) {
  if (pair[side] === null) return [];
  const found = pair.kind !== "node" || shown === "directml" ? [`${pair.kind} ${pair[side]}`]
    : (itemOf(pair, side).onnx ?? []).map((place) => `node ${place}`);
  return found.map((key) => boxPlaces[side].get(key)).filter((place) => place !== undefined);
}

/** Shows a pair everywhere. */
function select(kind, number, moves, from = null) {
  current = number;
  const pair = pairs[number];
  for (const side of sideNames) {
    const found = boxesOf(side, pair);
    const isOne = shown === "directml" || pair.kind !== "node";
    maps[side].show(isOne ? found[0] ?? -1 : -1, isOne ? [] : found);
    if (moves || side !== from || !onScreen(maps[side], found)) maps[side].center(found.slice(0, 12));
  }
  show(pairDetails(pair));
  for (const table of allTables) table.mark(kind, number);
  showPosition();
  const what = aspectsOf(pair);
  announce(`${operatorOf(pair)} ${nameOf(pair)}, ${stateWords[pair.state]}${what ? `: ${what}` : ""}`);
}

const graphs = document.getElementById("graphs");
const hasOnnx = sideNames.some((side) => sides[side].onnx);
graphs.append(make("option", { value: "directml" }, "DirectML"), make("option", { value: "onnx", disabled: !hasOnnx }, "ONNX"));
graphs.addEventListener("change", () => present(graphs.value));

// --- Steps between differences ---------------------------------------------------------------------------------------

const differing = pairs.flatMap((pair, number) => (pair.state === "same" ? [] : [number]));
const [previous, next] = ["previous", "next"].map((name) => document.getElementById(name));

function showPosition() {
  const at = differing.indexOf(current);
  document.getElementById("position").textContent = at < 0 ? plural(differing.length, "difference") : `${at + 1} of ${differing.length}`;
}

function step(forwards) {
  if (!differing.length) return;
  const at = differing.findIndex((number) => number >= current);
  const isOne = differing.includes(current);
  const place = at < 0 ? (forwards ? 0 : differing.length - 1) : forwards ? at + (isOne ? 1 : 0) : at - 1;
  select("pair", differing[(place + differing.length) % differing.length], true);
}

previous.addEventListener("click", () => step(false));
next.addEventListener("click", () => step(true));
previous.disabled = next.disabled = !differing.length;
document.addEventListener("keydown", (event) => {
  if (isWriting() || event.ctrlKey || event.metaKey || event.altKey || !["n", "p"].includes(event.key)) return;
  step(event.key === "n");
  event.preventDefault();
});

// --- Colours, tables, search -----------------------------------------------------------------------------------------

const anyOf = (has) => sideNames.some((side) => has(sides[side].report));
const measures = {
  difference: { title: "difference" },
  level: { title: "feature level", of: ({ descriptorOf }, node) => levelRank.get(descriptorOf(node).level) ?? null, words: (rank) => levels[rank].name },
  error: { title: "error", of: (_, node) => errorOf(node), words: (part) => `${short(100 * part)} %`, absent: !anyOf((report) => report.verification) },
  time: { title: "time", of: (_, node) => node.microseconds ?? null, words: microseconds, absent: !anyOf((report) => report.profile), scale: Math.sqrt },
  memory: { title: "memory of outputs", of: ({ memoryOf }, node) => memoryOf(node), words: bytes, scale: (value) => Math.log2(1 + value) },
};

/** Colours both sides on one scale; ONNX nodes have the colours of their DirectML nodes. */
function paint() {
  const measure = measures[document.getElementById("colour").value];
  colourBoxes(measure, sideNames.map((side) => {
    const values = !measure.of ? [] : sides[side].report.nodes.flatMap((node, place) =>
      boxesOf(side, { kind: "node", [side]: place }).map((box) => [box, measure.of(sides[side], node)]));
    return [maps[side], values];
  }));
}

colourList(measures, paint);
themeButton(paint);

const allTables = pairTables();
tabbed(allTables, allTables[0]);
searchBox(pairs.map((pair, number) => ({ choice: ["pair", number], title: operatorOf(pair), name: nameOf(pair), side: stateWords[pair.state], more: aspectsOf(pair) })));
show(comparisonOverview());
present("directml");
showPosition();
