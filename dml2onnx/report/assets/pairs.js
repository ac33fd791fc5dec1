// Pairs of nodes, inputs and outputs of two graphs: details and tables.

const { comparison } = data;
const sides = { left: about(comparison.left), right: about(comparison.right) };
const sideNames = ["left", "right"];
const titles = { left: comparison.left_title, right: comparison.right_title };
const lists = { node: "nodes", input: "inputs", output: "outputs" };
const stateWords = { same: "the same", changed: "changed", left: `only in ${titles.left}`, right: `only in ${titles.right}` };
const aspectWords = {
  operator: "operator", attribute: "", tensor: "", layout: "", source: "source", constant: "contents", use: "needed",
  onnx: "became", notes: "why", findings: "findings", level: "feature level", error: "error", time: "time", name: "name",
};

/** Returns the node, input or output of a pair on one side, or null. */
const itemOf = (pair, side) => (pair[side] === null ? null : sides[side].report[lists[pair.kind]][pair[side]]);

/** The values of both sides, or one if they are equal. */
function both(pair, say) {
  const found = sideNames.filter((side) => pair[side] !== null).map((side) => say(itemOf(pair, side), side));
  return [...new Set(found)].join(" → ");
}

const operatorOf = (pair) => (pair.kind === "node" ? both(pair, (node, side) => sides[side].descriptorOf(node).operator) : `graph ${pair.kind}`);
const nameOf = (pair) => both(pair, (item) => item.name || "(no name)");
const aspectOf = ({ aspect, name }) => [aspectWords[aspect], name].filter(Boolean).join(" ");
const aspectsOf = (pair) => (pair.changes ?? []).map(aspectOf).join(", ");

// --- Details ---------------------------------------------------------------------------------------------------------

function valueText({ aspect }, value) {
  if (value === null) return "–";
  if (aspect === "onnx") return counted(value) || "nothing";
  if (aspect === "time") return microseconds(value);
  if (aspect === "level") return `${value}: ${shipsWith(value)}`;
  if (aspect === "use") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join("; ") || "–";
  return typeof value === "number" ? short(value) : written(value);
}

/** A table with a column for each side, and differences marked. */
function twoColumns(caption, rows) {
  const head = ["", titles.left, titles.right].map((text) => make("th", { scope: "col" }, named(text)));
  head[0].replaceChildren(make("span", { className: "hidden" }, "What"));
  return make("table", { className: "two" }, make("caption", { className: "hidden" }, caption), make("thead", {}, make("tr", {}, head)),
    make("tbody", {}, rows.map(([what, left, right]) => make("tr", { className: left === right ? "" : "differs" },
      make("th", { scope: "row" }, what), make("td", {}, left), make("td", {}, right)))));
}

function facts(pair) {
  const rows = new Map();
  const say = (what, side, text) => { if (!rows.has(what)) rows.set(what, { left: "–", right: "–" }); rows.get(what)[side] = text; };
  for (const side of sideNames) {
    const item = itemOf(pair, side);
    if (item === null) continue;
    const { onnx, report, descriptorOf, memoryOf } = sides[side];
    if (pair.kind !== "node") {
      tensorFacts(side, { ...item, field: "tensor" }, say);
      continue;
    }
    say("became", side, onnx ? counted((item.onnx ?? []).map((at) => onnx.nodes[at].operator)) || "nothing" : "not compiled");
    say("feature level", side, descriptorOf(item).level ?? "none");
    say("memory of outputs", side, bytes(memoryOf(item)));
    if (report.verification) say("error", side, errorText(errorOf(item)));
    if (report.profile) say("time", side, item.microseconds === undefined ? "not seen" : microseconds(item.microseconds));
    for (const access of [...(item.inputs ?? []), ...(item.outputs ?? [])]) tensorFacts(side, access, say);
  }
  return [...rows].map(([what, { left, right }]) => [what, left, right]);
}

function tensorFacts(side, access, say) {
  const tensor = sides[side].tensorOf(access);
  say(access.field, side, tensor ? `${tensor.data_type} ${sizes(tensor.sizes)}, ${layoutWords[tensor.layout]}` : "unreadable");
}

const errorText = (error) => (error === null ? "–" : error === Infinity ? "wrong" : `${short(100 * error)} %`);

/** Drawings of tensors with different layouts. */
function memoryParts(pair) {
  const fields = new Set((pair.changes ?? []).filter(({ aspect }) => aspect === "layout").map(({ name }) => name.split(/[. ]/)[0]));
  return [...fields].flatMap((field) => sideNames.flatMap((side) => {
    const item = itemOf(pair, side);
    const access = [...(item?.inputs ?? []), ...(item?.outputs ?? [])].find((one) => one.field === field);
    const tensor = access && sides[side].tensorOf(access);
    if (!tensor || tensor.layout === "invalid") return [];
    const { svg, text } = memoryDrawing(tensor);
    return [heading(`${field} in memory: ${titles[side]}`), make("div", { className: "tensor" }, svg, make("p", { className: "caption" }, text))];
  }));
}

function findingParts(pair) {
  if (pair.kind !== "node") return [];
  return sideNames.flatMap((side) => {
    const found = pair[side] === null ? [] : sides[side].findingsOf(itemOf(pair, side));
    return found.length ? [heading(`Findings: ${titles[side]}`), ...found.map((finding) => findingCard(finding))] : [];
  });
}

function pairDetails(pair) {
  const by = pair.matched === "structure" ? ", found by its place in the graph" : "";
  const changes = pair.changes ?? [];
  return [
    make("h2", {}, operatorOf(pair)), make("p", { className: "under" }, named(nameOf(pair)), ": ",
      make("span", { className: `state ${pair.state}` }, stateWords[pair.state]), by),
    ...(changes.length ? [heading("What differs"), twoColumns("What differs",
      changes.map((change) => [aspectOf(change), valueText(change, change.left), valueText(change, change.right)]))] : []),
    ...memoryParts(pair), ...findingParts(pair),
    heading("Both"), twoColumns("What is known of both", facts(pair)),
  ];
}

function comparisonOverview() {
  return [
    make("h2", {}, "The two graphs"),
    make("p", { className: "under" }, "Choose a node, or go from difference to difference with the keys n and p."),
    heading("Nodes"), terms([["the same", comparison.same.toLocaleString("en")], ["changed", comparison.changed.toLocaleString("en")],
      [stateWords.left, comparison.only_left.toLocaleString("en")], [stateWords.right, comparison.only_right.toLocaleString("en")]]),
    heading("Totals"), twoColumns("Totals", totalRows().filter(({ isSum }) => isSum).map(({ what, text, left, right }) => [what, text(left), text(right)])),
    ...sideNames.flatMap((side) => {
      const general = sides[side].report.diagnostics.filter((finding) => !finding.node);
      return general.length ? [heading(`Findings: ${titles[side]}`), ...general.map((finding) => findingCard(finding))] : [];
    }),
  ];
}

// --- Totals ----------------------------------------------------------------------------------------------------------

/** Totals of both sides: {what, left, right, text(number), isSum}; null is unknown. */
function totalRows() {
  const [left, right] = [comparison.left_totals, comparison.right_totals];
  const number = (value) => (value === null ? "–" : value.toLocaleString("en"));
  const size = (value) => (value === null ? "–" : bytes(value));
  const time = (value) => (value === null ? "–" : microseconds(value));
  const sums = [
    ["DirectML nodes", "directml_nodes", number], ["ONNX nodes", "onnx_nodes", number], ["constants", "constant_bytes", size],
    ["weights of the ONNX model", "weight_bytes", size], ["errors", "errors", number], ["warnings", "warnings", number],
    ["nodes that differ from the reference", "wrong_nodes", number], ["time of one run", "microseconds", time],
  ].filter(([, key]) => left[key] !== null || right[key] !== null);
  const counts = ["onnx_operators", "directml_operators"].flatMap((key) =>
    [...new Set([...Object.keys(left[key]), ...Object.keys(right[key])])].map((name) => ({ what: `${key === "onnx_operators" ? "ONNX" : "DirectML"} ${name}`,
      left: left[key][name] ?? 0, right: right[key][name] ?? 0, text: number, isSum: false })));
  return [...sums.map(([what, key, text]) => ({ what, left: left[key], right: right[key], text, isSum: true })), ...counts];
}

function differenceText({ left, right, text }) {
  if (left === null || right === null) return "";
  return left === right ? "0" : `${right > left ? "+" : "−"}${text(Math.abs(right - left))}`;
}

// --- Tables ----------------------------------------------------------------------------------------------------------

const tone = ({ state }) => ({ changed: "warning", left: "error", right: "good" }[state] ?? "");

function pairTables() {
  const { pairs } = comparison;
  const numbers = pairs.map((_, place) => place);
  const go = (place) => ["pair", place];
  const common = [
    { title: "Node", value: (place) => nameOf(pairs[place]) },
    { title: "Operator", value: (place) => operatorOf(pairs[place]) },
    { title: "State", value: (place) => stateWords[pairs[place].state], tone: (place) => tone(pairs[place]) },
    { title: "Differs in", value: (place) => aspectsOf(pairs[place]) },
  ];
  return [
    new Table("differences", "Differences", common, numbers.filter((place) => pairs[place].state !== "same"), go),
    new Table("nodes", "Nodes", [...common, ...sideNames.flatMap(sideColumns)], numbers.filter((place) => pairs[place].kind === "node"), go),
    new Table("totals", "Totals", [
      { title: "What", value: ({ what }) => what },
      ...sideNames.map((side) => ({ title: titles[side], right: true, value: (row) => row[side], text: (row) => row.text(row[side]) })),
      { title: "Difference", right: true, value: ({ left, right }) => (left === null || right === null ? null : right - left), text: differenceText },
    ], totalRows(), () => null),
    findingsTable(),
  ];
}

/** Facts of the nodes of one side, one column for each. */
function sideColumns(side) {
  const { report, onnx, descriptorOf } = sides[side];
  const node = (place) => itemOf(comparison.pairs[place], side);
  const of = (say) => (place) => (node(place) === null ? null : say(node(place)));
  const columns = [{ title: `Level, ${titles[side]}`, right: true, value: of((item) => levelRank.get(descriptorOf(item).level)),
    text: of((item) => descriptorOf(item).level ?? "none") }];
  if (onnx) columns.push({ title: `Became, ${titles[side]}`, value: of((item) => counted((item.onnx ?? []).map((at) => onnx.nodes[at].operator))) });
  if (report.verification) columns.push({ title: `Error, ${titles[side]}`, right: true, value: of(errorOf), text: of((item) => errorText(errorOf(item))) });
  if (report.profile) columns.push({ title: `Time, ${titles[side]}`, right: true, value: of((item) => item.microseconds),
    text: of((item) => (item.microseconds === undefined ? "" : microseconds(item.microseconds))) });
  return columns;
}

function findingsTable() {
  const rows = sideNames.flatMap((side) => sides[side].report.diagnostics.map((finding, place) => ({ side, finding, place })));
  const at = { left: new Map(), right: new Map() };
  comparison.pairs.forEach((pair, number) => {
    if (pair.kind !== "node") return;
    for (const side of sideNames) for (const place of itemOf(pair, side)?.findings ?? []) at[side].set(place, number);
  });
  return new Table("findings", "Findings", [
    { title: "Code", value: ({ finding }) => finding.code },
    { title: "Severity", value: ({ finding }) => finding.severity, tone: ({ finding }) => finding.severity },
    { title: "Graph", value: ({ side }) => titles[side] },
    { title: "Node", value: ({ finding }) => finding.node ?? "", isName: true },
    { title: "What is wrong", value: ({ finding }) => finding.message, isMain: true },
  ], rows, ({ side, place }) => (at[side].has(place) ? ["pair", at[side].get(place)] : null));
}
