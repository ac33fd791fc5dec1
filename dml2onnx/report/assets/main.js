// The page of one report: maps, details and tables that show the same choice.

/** What makes each DirectML value: ["directml", node] or ["input", port]. */
const makers = new Map();
report.inputs.forEach((port, place) => makers.set(port.value, ["input", place]));
report.nodes.forEach((node, place) => (node.outputs ?? []).forEach((access) => makers.set(access.value, ["directml", place])));

// --- Maps ------------------------------------------------------------------------------------------------------------

const maps = {};
const boxPlaces = {};
for (const [name, scene] of Object.entries(scenes)) {
  const host = document.getElementById(name);
  boxPlaces[name] = new Map(scene.boxes.map((box, place) => [`${box[0]} ${box[1]}`, place]));
  maps[name] = new GraphMap(host, scene, (place) => {
    const [kind, at] = scene.boxes[place];
    select(kind === "node" ? name : kind, at, false, name);
  });
}
if (!onnx) document.getElementById("onnx").append(make("p", { className: "empty" }, "No ONNX model: the graph cannot be compiled."));
document.getElementById("directml-count").textContent = plural(report.nodes.length, "node");
document.getElementById("onnx-count").textContent = onnx ? plural(onnx.nodes.length, "node") : "";
zoomButtons(maps);

const box = (map, kind, place) => boxPlaces[map]?.get(`${kind} ${place}`) ?? -1;

/** Boxes that stand for a choice on a map: the thing itself first, then what belongs to it. */
function boxesOf(map, kind, place) {
  if (kind === "input" || kind === "output") return [box(map, kind, place)];
  if (kind === map) return [box(map, "node", place)];
  if (map === "onnx") return (report.nodes[place].onnx ?? []).map((made) => box("onnx", "node", made));
  const origin = onnx.nodes[place].node;
  return origin === undefined ? [] : [box("directml", "node", origin)];
}

/** Shows one thing everywhere: kind is directml, onnx, input or output. */
function select(kind, place, moves, from = null) {
  for (const [name, map] of Object.entries(maps)) {
    const found = boxesOf(name, kind, place).filter((at) => at >= 0);
    const own = kind === name || kind === "input" || kind === "output";
    map.show(own ? found[0] ?? -1 : -1, own ? [] : found);
    if (moves || name !== from || !onScreen(map, found)) map.center(found.slice(0, 12));
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
  time: { title: "time", of: (node) => node.microseconds ?? null, words: microseconds, absent: !report.profile, scale: Math.sqrt,
    onnx: (node) => node.microseconds ?? null },
  memory: { title: "memory of outputs", of: memoryOf, words: bytes, scale: (value) => Math.log2(1 + value), onnx: (node) => onnxMemory(node) },
};

function paint() {
  const measure = measures[document.getElementById("colour").value];
  const lists = { directml: [report.nodes, measure.of], onnx: [onnx?.nodes ?? [], measure.onnx] };
  colourBoxes(measure, Object.entries(maps).map(([name, map]) => {
    const [list, of] = lists[name];
    return [map, of ? list.map((node, place) => [box(name, "node", place), of(node)]) : []];
  }));
}

colourList(measures, paint, report.profile ? "time" : "kind");

report.nodes.forEach((node, place) => {
  const severities = findingsOf(node).map((finding) => finding.severity);
  const at = box("directml", "node", place);
  if (severities.length) maps.directml.marks.set(at, severities.includes("error") ? "error" : "warning");
  if (node.is_live === false) maps.directml.faded.add(at);
});

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
