// The page of one report: maps, details and tables show the same choice.

/** The writer of each DirectML value: ["directml", node] or ["input", port]. */
const makers = new Map();
report.inputs.forEach((port, place) => makers.set(port.value, ["input", place]));
report.nodes.forEach((node, place) => (node.outputs ?? []).forEach((access) => makers.set(access.value, ["directml", place])));

/** The readers of each value: ["directml", node, name] or ["output", port, name]. */
const readers = new Map();
function reads(value, ...reader) {
  if (!readers.has(value)) readers.set(value, []);
  readers.get(value).push(reader);
}
report.nodes.forEach((node, place) => new Set((node.inputs ?? []).map((access) => access.value)).forEach((value) => reads(value, "directml", place, node.name)));
report.outputs.forEach((port, place) => reads(port.value, "output", place, port.name));

// --- Maps ------------------------------------------------------------------------------------------------------------

const scopes = new Scopes(data.scopes, scenes);
const maps = {};
const boxPlaces = {};
const scopeOf = Object.fromEntries(Object.entries(scenes).map(([name, scene]) => // by the places of nodes
  [name, new Map(scene.boxes.flatMap((box, at) => (box[0] === "node" ? [[box[1], scene.inside[at]]] : [])))]));
if (scopes.all.length && Math.max(...Object.values(scenes).map((scene) => scene.boxes.length)) > MANY) scopes.closeAll();

for (const name of Object.keys(scenes)) {
  const scene = presented(name);
  maps[name] = new GraphMap(document.getElementById(name), scene, (at) => {
    const [kind, place] = maps[name].scene.boxes[at];
    select(kind === "node" ? name : kind, place, false, name);
  }, toggle);
}
if (!onnx) document.querySelector("main").classList.add("single");
document.getElementById("directml-count").textContent = plural(report.nodes.length, "node");
document.getElementById("onnx-count").textContent =
  onnx ? plural(onnx.nodes.length, "node") : "No ONNX model: the graph cannot be compiled.";
zoomButtons(maps);

/** The visible scene, with an index of its boxes. */
function presented(name) {
  const scene = scopes.visible(name);
  boxPlaces[name] = new Map(scene.boxes.map((box, at) => [`${box[0]} ${box[1]}`, at]));
  return scene;
}

/** The box of an item: that of a closed scope for a node in it. */
function box(map, kind, place) {
  const own = boxPlaces[map]?.get(`${kind} ${place}`);
  if (own !== undefined || kind !== "node") return own ?? -1;
  return boxPlaces[map]?.get(`scope ${scopes.hiddenBy(scopeOf[map].get(place) ?? -1)}`) ?? -1;
}

/** The boxes of a choice on a map: the item first, then related ones. */
function boxesOf(map, kind, place) {
  if (kind === "input" || kind === "output") return [box(map, kind, place)];
  if (kind === "scope") return boxesIn(map, place);
  if (kind === map) return [box(map, "node", place)];
  if (map === "onnx") return [...new Set((report.nodes[place].onnx ?? []).map((made) => box("onnx", "node", made)))];
  const origin = onnx.nodes[place].node;
  return origin === undefined ? [] : [box("directml", "node", origin)];
}

/** The boxes of a scope: its own, that of the scope that hides it, or those in it. */
function boxesIn(map, scope) {
  const hidden = scopes.hiddenBy(scope);
  if (hidden >= 0) return [box(map, "scope", hidden)];
  return maps[map].scene.inside.flatMap((own, at) => (scopes.isIn(own, scope) ? [at] : []));
}

// --- Scopes ----------------------------------------------------------------------------------------------------------

let choice = null;
const scopesButton = document.getElementById("scopes");

/** Opens or closes a scope in both graphs; it does not move on the screen. */
function toggle(scope) {
  const opens = scopes.closed.has(scope);
  changeScopes(() => (opens ? scopes.closed.delete(scope) : scopes.closed.add(scope)), scope);
  announce(`${scopes.path(scope)} ${opens ? "opened" : "closed"}`);
  if (choice?.[0] === "scope") show(scopeDetails(choice[1]));
}

function changeScopes(change, scope = -1) {
  const before = Object.fromEntries(Object.keys(maps).map((name) => {
    const [first] = scope < 0 ? [] : boxesIn(name, scope);
    return [name, first === undefined ? [0, 0] : maps[name].scene.boxes[first].slice(2, 4)];
  }));
  change();
  for (const [name, map] of Object.entries(maps)) {
    const scene = presented(name);
    const first = scope < 0 ? -1 : scopes.closed.has(scope) ? box(name, "scope", scope)
      : scene.inside.findIndex((own) => scopes.isIn(own, scope));
    map.exchange(scene, first, before[name]);
  }
  tellScopes();
  decorate();
  paint();
  if (choice) mark(...choice);
}

function tellScopes() {
  scopesButton.hidden = !scopes.all.length;
  scopesButton.textContent = scopes.closed.size ? "Expand scopes" : "Collapse scopes";
}

scopesButton.addEventListener("click", () => changeScopes(() => (scopes.closed.size ? scopes.openAll() : scopes.closeAll())));
tellScopes();

/** Marks a choice on the maps; returns its boxes by map. */
function mark(kind, place) {
  return Object.entries(maps).map(([name, map]) => {
    const found = boxesOf(name, kind, place).filter((at) => at >= 0);
    const own = kind === name || found.length === 1 && kind === "scope" || kind === "input" || kind === "output";
    map.show(own ? found[0] ?? -1 : -1, own ? [] : found);
    return [name, map, found];
  });
}

/** Shows a choice everywhere: kind is directml, onnx, input, output or scope. */
function select(kind, place, moves, from = null) {
  choice = [kind, place];
  const scope = scopeOf[kind]?.get(place) ?? -1;
  if (moves && scopes.hiddenBy(scope) >= 0) changeScopes(() => scopes.reveal(scope), scope);
  for (const [name, map, found] of mark(kind, place)) {
    if (moves || name !== from || !onScreen(map, found)) map.center(found.slice(0, 12));
  }
  if (kind === "scope") {
    show(scopeDetails(place));
    for (const table of allTables) table.mark(kind, place);
    announce(`scope ${scopes.path(place)}, ${scopes.closed.has(place) ? "closed" : "open"}`);
    return;
  }
  const lists = { directml: report.nodes, onnx: onnx?.nodes, input: report.inputs, output: report.outputs };
  const item = lists[kind][place];
  const parts = kind === "directml" ? directmlDetails(item) : kind === "onnx" ? onnxDetails(item) : portDetails(item, kind);
  show(parts);
  for (const table of allTables) table.mark(kind, place);
  const title = kind === "directml" ? descriptorOf(item).operator : kind === "onnx" ? item.operator : kind;
  const problems = kind === "directml" && item.findings ? `, ${plural(item.findings.length, "finding")}` : "";
  announce(`${title} ${item.name}${problems}`);
}

// --- Colours ---------------------------------------------------------------------------------------------------------

const measures = {
  kind: { title: "operator class", classes: operatorClasses, of: (node) => classOf(descriptorOf(node).operator),
    onnx: (node) => classOf(node.operator) },
  findings: { title: "findings" },
  level: { title: "feature level", of: (node) => levelRank.get(descriptorOf(node).level) ?? null, words: (rank) => levels[rank].name,
    onnx: (node) => (node.node === undefined ? null : measures.level.of(report.nodes[node.node])) },
  error: { title: "bounds used", of: errorOf, words: (part) => `${short(100 * part)} %`, absent: !report.verification,
    onnx: (node) => (node.node === undefined ? null : errorOf(report.nodes[node.node])) },
  time: { title: "time", of: (node) => node.microseconds ?? null, words: microseconds, absent: !report.profile, scale: Math.sqrt, adds: true,
    onnx: (node) => node.microseconds ?? null },
  memory: { title: "memory of outputs", of: memoryOf, words: bytes, scale: (value) => Math.log2(1 + value), adds: true, onnx: (node) => onnxMemory(node) },
};

function paint() {
  const measure = measures[document.getElementById("colour").value];
  const lists = { directml: [report.nodes, measure.of], onnx: [onnx?.nodes ?? [], measure.onnx] };
  colourBoxes(measure, Object.entries(maps).map(([name, map]) => {
    const [list, of] = lists[name];
    return [map, of ? gathered(measure, list.map((node, place) => [box(name, "node", place), of(node)])) : []];
  }));
}

/** Returns a value for each box: for a closed scope the sum or maximum of its nodes, or their common class. */
function gathered(measure, pairs) {
  const found = new Map();
  for (const [at, value] of pairs) {
    const other = found.get(at);
    if (at < 0 || other === undefined) { if (at >= 0) found.set(at, value); continue; }
    if (measure.classes) found.set(at, other === value ? value : null);
    else if (value !== null) found.set(at, other === null ? value : measure.adds ? other + value : Math.max(other, value));
  }
  return [...found];
}

colourList(measures, paint, report.profile ? "time" : "kind");

/** Marks nodes with findings, and dead nodes. */
function decorate() {
  report.nodes.forEach((node, place) => {
    const severities = findingsOf(node).map((finding) => finding.severity);
    const at = box("directml", "node", place);
    const { marks, faded, scene } = maps.directml;
    if (severities.length && marks.get(at) !== "error") marks.set(at, severities.includes("error") ? "error" : "warning");
    if (node.is_live === false && scene.boxes[at]?.[0] === "node") faded.add(at);
  });
}

decorate();
themeButton(paint);

// --- Tables and search -----------------------------------------------------------------------------------------------

const allTables = tables();
tabbed(allTables, allTables[report.diagnostics.length ? 0 : 1]);

const outputNames = (node) => (node.outputs ?? []).map((access) => report.values[access.value].name).join(" ");
const onnxNames = (node) => (node.outputs ?? []).map((at) => (at === null ? "" : onnx.values[at].name)).join(" ");
searchBox([
  ...report.nodes.map((node, place) => ({ choice: ["directml", place], title: descriptorOf(node).operator, name: node.name,
    side: "DirectML", more: outputNames(node) })),
  ...report.inputs.map((port, place) => ({ choice: ["input", place], title: "input", name: port.name, side: "graph", more: "" })),
  ...report.outputs.map((port, place) => ({ choice: ["output", place], title: "output", name: port.name, side: "graph", more: "" })),
  ...(onnx?.nodes ?? []).map((node, place) => ({ choice: ["onnx", place], title: node.operator, name: node.name, side: "ONNX",
    more: onnxNames(node) })),
]);

show(overview());
paint();
for (const map of Object.values(maps)) map.begin();
