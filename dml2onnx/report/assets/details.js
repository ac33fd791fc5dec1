// Details of the chosen node.

const { report, onnx, tensorOf, descriptorOf, findingsOf, memoryOf, onnxMemory } = about(data.report);

const MOST_LISTED = 40;
const MOST_READERS = 6;

const goTo = (kind, place, text) =>
  make("button", { type: "button", className: "link", on: { click: () => select(kind, place, true) } }, named(text));

function tensorPart(access, verb) {
  const value = report.values[access.value];
  const tensor = tensorOf(access);
  const writer = verb === "from" ? makers.get(access.value) : undefined;
  const origin = writer ? goTo(writer[0], writer[1], value.name) : named(value.name);
  const offset = access.offset ? `, byte ${access.offset}` : "";
  const base = access.base === undefined ? [] : [", over ", named(report.values[access.base].name)];
  const part = make("div", { className: "tensor" },
    make("div", { className: "head" }, make("span", { className: "field" }, access.field),
      make("span", { className: "kind" }, tensor ? `${tensor.data_type}, ${layoutWords[tensor.layout]}${tensor.bytes ? `, ${bytes(tensor.bytes)}` : ""}` : "unreadable")),
    make("p", { className: "from" }, `${verb} ${value.kind === "node" ? "" : `${value.kind} `}`, origin, offset, ...base),
    verb === "to" ? make("p", { className: "from" }, ...readBy(access.value)) : null);
  if (!tensor) return part;
  part.append(make("table", { className: "axes" }, ["Sizes", "Strides"].map((name) =>
    make("tr", {}, make("th", { scope: "row" }, name), tensor[name.toLowerCase()].map((number) => make("td", {}, String(number)))))));
  if (tensor.layout !== "invalid") {
    const { svg, text } = memoryDrawing(tensor);
    part.append(svg, make("p", { className: "caption" }, text));
  }
  return part;
}

/** Links to the readers of a value. */
function readBy(value) {
  const found = readers.get(value) ?? [];
  const named = found.slice(0, MOST_READERS).flatMap(([kind, place, name], number) =>
    [number ? ", " : "", kind === "output" ? "output " : "", goTo(kind, place, name)]);
  if (found.length > MOST_READERS) named.push(` and ${found.length - MOST_READERS} more`);
  return found.length ? ["read by ", ...named] : ["read by nothing"];
}

// --- Parts of a node -------------------------------------------------------------------------------------------------

function becamePart(node) {
  if (!onnx) return [heading("Became"), make("p", {}, "Nothing: the graph cannot be compiled.")];
  const made = node.onnx ?? [];
  const notes = node.notes ?? [];
  const nothing = node.is_live === false ? "Nothing: no output of the graph needs it." : "No node: it was folded or passed on.";
  return [heading("Became"),
    made.length
      ? make("div", { className: "chips" }, made.slice(0, MOST_LISTED).map((place) => chip("onnx", place, onnx.nodes[place].operator)),
        made.length > MOST_LISTED ? `and ${made.length - MOST_LISTED} more` : null)
      : make("p", {}, nothing),
    notes.length ? make("ul", { className: "notes" }, notes.map((note) => make("li", {}, note))) : null];
}

const chip = (kind, place, text) => {
  const button = goTo(kind, place, text);
  button.className = "chip";
  return button;
};

/** The change that would allow a lower level, in few words. */
function levelReason({ field, found, expected, message }) {
  if (!field || !found || !expected) return message;
  return `${field}: ${expected.split(", ").join(" or ")} instead of ${found}`;
}

function levelPart(descriptor) {
  const parts = [heading("Feature level")];
  if (descriptor.level === undefined) {
    parts.push(make("p", {}, "No feature level allows it."));
    return parts;
  }
  parts.push(make("p", {}, "Needs ", make("span", { className: "level" }, descriptor.level), `: ${shipsWith(descriptor.level)}.`));
  const reasons = descriptor.level_reasons ?? [];
  if (reasons.length) {
    parts.push(make("p", {}, "A lower level would suffice with these changes:"), make("ul", { className: "notes" },
      reasons.map((item) => make("li", {}, levelReason(item)))));
  } else if (descriptor.level === descriptor.introduced && descriptor.level !== levels[0].name) {
    parts.push(make("p", {}, "The operator came with that level."));
  }
  return parts;
}

function verifiedPart(node) {
  const items = node.verified ?? [];
  if (!items.length) return [];
  return [heading("Against the reference"), ...items.map((item) => make("div", {},
    make("p", {}, make("b", {}, item.output), item.wrong
      ? `: ${item.wrong.toLocaleString("en")} of ${item.elements.toLocaleString("en")} elements are wrong`
      : ": agrees"),
    terms([
      ["largest error", short(item.worst_difference)], ["in ULPs", short(item.worst_ulps)],
      ["bounds", boundsText(item)],
      ...(item.unspecified ? [["unspecified", plural(item.unspecified, "element")]] : []),
      ...(item.first_wrong ? firstWrong(item.first_wrong) : []),
    ])))];
}

/** Whether the errors of an output are within their bounds, and the used part of these. */
function boundsText(item) {
  if (item.exact) return item.wrong ? "outside: only equality is allowed" : "equal, as it has to be";
  if (typeof item.worst_of_bound !== "number") return item.worst_of_bound;
  const used = `${short(100 * item.worst_of_bound)} %`;
  return item.wrong ? `outside: ${used} of them` : `within bounds, ${used} of them used`;
}

const firstWrong = ({ round, index, expected, got, bound }) => [
  ["first wrong", `[${index.join(", ")}], case ${round}`], ["expected", String(expected)], ["got", String(got)], ["allowed", `± ${short(bound)}`],
];

function timePart(node, provider) {
  if (!report.profile) return [];
  const share = node.microseconds === undefined ? 0 : (100 * node.microseconds) / report.profile.microseconds;
  return [heading("Time"), make("p", {}, node.microseconds === undefined
    ? "Not seen in the profile: ONNX Runtime merged it into another node, or folded it."
    : `${microseconds(node.microseconds)}, ${short(share)} % of the run${provider ? `, on ${provider}` : ""}`)];
}

function openPart(descriptor) {
  const lines = descriptor.left_open;
  return lines.length ? [heading("Left open by a default model"),
    make("ul", { className: "notes" }, lines.map((line) => make("li", {}, line)))] : [];
}

function directmlDetails(node) {
  const descriptor = descriptorOf(node);
  const attributes = Object.entries(descriptor.attributes);
  return [
    make("h2", {}, descriptor.operator),
    make("p", { className: "under" }, named(node.name), node.source ? ` at ${node.source}` : ""),
    page(descriptor.documentation, "DirectML’s page on the operator"),
    ...findingsOf(node).map((finding) => findingCard(finding, descriptor.documentation)),
    ...becamePart(node),
    ...levelPart(descriptor), ...openPart(descriptor), ...verifiedPart(node), ...timePart(node, providersOf(node)),
    heading("Inputs"), ...(node.inputs ?? []).map((access) => tensorPart(access, "from")),
    heading("Outputs"), ...(node.outputs ?? []).map((access) => tensorPart(access, "to")),
    ...(attributes.length ? [heading("Attributes"), terms(attributes.map(([name, value]) => [name, written(value)]))] : []),
  ];
}

const providersOf = (node) =>
  [...new Set((node.onnx ?? []).map((place) => onnx?.nodes[place].provider).filter(Boolean))].join(", ");

function onnxDetails(node) {
  const list = (places) => places.map((place) => {
    if (place === null) return make("p", { className: "from" }, "(left out)");
    const value = onnx.values[place];
    const kind = value.kind === "node" ? "" : `, ${value.kind}`;
    return make("p", {}, named(value.name), make("span", { className: "from" }, ` ${value.data_type} ${shapeOf(value)}${kind}`));
  });
  const origin = node.node === undefined ? null : report.nodes[node.node];
  const attributes = Object.entries(node.attributes ?? {});
  return [
    make("h2", {}, node.operator), make("p", { className: "under" }, named(node.name)),
    heading("Comes from"),
    origin ? make("div", { className: "chips" }, chip("directml", node.node, descriptorOf(origin).operator), named(origin.name))
      : make("p", {}, "No node: an output of the graph needs it."),
    origin?.notes ? make("ul", { className: "notes" }, origin.notes.map((note) => make("li", {}, note))) : null,
    ...timePart(node, node.provider),
    heading("Inputs"), ...list(node.inputs ?? []), heading("Outputs"), ...list(node.outputs ?? []),
    ...(attributes.length ? [heading("Attributes"), terms(attributes.map(([name, value]) => [name, written(value)]))] : []),
  ];
}

function portDetails(port, kind) {
  const tensor = tensorOf(port);
  return [
    make("h2", {}, kind === "input" ? "Graph input" : "Graph output"), make("p", { className: "under" }, named(port.name)),
    heading("Tensor"), tensorPart({ ...port, field: tensor ? "As the caller sees it" : "Buffer" }, kind === "input" ? "bound to" : "of"),
    ...(port.onnx_name ? [heading("In the ONNX model"), terms([["name", port.onnx_name], ["shape", shapeOf(port)]])] : []),
  ];
}

/** Totals of a scope. */
function scopeDetails(scope) {
  const places = report.nodes.flatMap((_, place) => (scopes.isIn(scopeOf.directml.get(place) ?? -1, scope) ? [place] : []));
  const nodes = places.map((place) => report.nodes[place]);
  const sum = (of) => nodes.reduce((total, node) => total + (of(node) ?? 0), 0);
  const findings = sum((node) => (node.findings ?? []).length);
  const arithmetic = sum((node) => descriptorOf(node).multiply_accumulates);
  const closed = scopes.closed.has(scope);
  return [
    make("h2", {}, named(scopes.all[scope][0])),
    make("p", { className: "under" }, "Scope ", named(scopes.path(scope)), ` of ${plural(nodes.length, "DirectML node")}`),
    make("p", {}, make("button", { type: "button", className: "chip", on: { click: () => toggle(scope) } }, closed ? "Expand" : "Collapse")),
    terms([
      ...(onnx ? [["ONNX nodes", sum((node) => (node.onnx ?? []).length).toLocaleString("en")]] : []),
      ["memory of outputs", bytes(sum(memoryOf))],
      ...(arithmetic ? [["multiply-accumulates", products(arithmetic)]] : []),
      ...(report.profile ? [["time", microseconds(sum((node) => node.microseconds))]] : []),
      ...(findings ? [["findings", String(findings)]] : []),
    ]),
    heading("Operators"), make("p", {}, counted(nodes.map((node) => descriptorOf(node).operator))),
    heading("Nodes"), make("div", { className: "chips" }, places.slice(0, MOST_LISTED).map((place) => chip("directml", place, report.nodes[place].name)),
      places.length > MOST_LISTED ? `and ${places.length - MOST_LISTED} more` : null),
  ];
}

function verdict({ passed, rounds, finished, outputs }) {
  const cases = finished < rounds ? ` The time limit ended after ${finished} of ${plural(rounds, "case")}.` : "";
  const differs = outputs.some((item) => item.wrong) || report.nodes.some((node) => errorOf(node) === Infinity);
  return (passed ? "Every node and every output agrees." : differs ? "Something differs: see the tables." : "No element could be compared.") + cases;
}

function overview() {
  const general = report.diagnostics.filter((finding) => !finding.node);
  const elsewhere = report.diagnostics.length - general.length;
  const needed = report.minimum_feature_level
    ? `Needs feature level ${report.minimum_feature_level}: ${shipsWith(report.minimum_feature_level)}.` : "No feature level allows the graph.";
  return [
    make("h2", {}, "The graph"), make("p", { className: "under" }, "Choose a node to see all that is known of it."),
    ...general.map((finding) => findingCard(finding)),
    elsewhere ? make("p", {}, `${plural(elsewhere, general.length ? "further finding" : "finding")} at nodes: see the table.`) : null,
    heading("Feature level"), make("p", {}, needed), make("p", {}, `Checked against ${report.feature_level}.`),
    ...(report.multiply_accumulates
      ? [heading("Arithmetic"), make("p", {}, `${products(report.multiply_accumulates)} multiply-accumulates in convolutions, matrix products and recurrent layers.`)] : []),
    heading("ONNX model"), onnx
      ? terms([["nodes", onnx.nodes.length.toLocaleString("en")], ["opset", String(onnx.opset)], ["target", onnx.target],
        ["weights", bytes(onnx.weight_bytes)]])
      : make("p", {}, "None: the graph cannot be compiled."),
    ...(report.verification ? [heading("Against the reference"), make("p", {}, verdict(report.verification))] : []),
    ...(report.profile ? [heading("Time of one run"), terms([["all nodes", microseconds(report.profile.microseconds)],
      ["made by ONNX Runtime", microseconds(report.profile.unplaced)], ["provider", report.profile.provider]])] : []),
  ];
}
