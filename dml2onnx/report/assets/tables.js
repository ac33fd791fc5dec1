// The tables of a report: findings, nodes of both graphs, ports, and verification.

function tables() {
  const places = (list) => list.map((_, place) => place);
  const node = (place) => report.nodes[place];
  const descriptor = (place) => descriptorOf(node(place));
  const first = new Map();
  report.nodes.forEach((item, place) => (item.findings ?? []).forEach((finding) => first.set(finding, place)));
  const made = [];
  made.push(new Table("findings", "Findings", [
    { title: "Code", value: (place) => report.diagnostics[place].code },
    { title: "Severity", value: (place) => report.diagnostics[place].severity, tone: (place) => report.diagnostics[place].severity },
    { title: "Node", value: (place) => report.diagnostics[place].node ?? "", isName: true },
    ...(report.diagnostics.some((item) => item.line) ? [{ title: "Where", value: (place) => report.diagnostics[place].line ?? 0,
      text: (place) => whereText(report.diagnostics[place]) }] : []),
    { title: "What is wrong", value: (place) => report.diagnostics[place].message, isMain: true },
    { title: "What helps", value: (place) => helps(report.diagnostics[place]) },
    { title: "From level", value: (place) => report.diagnostics[place].since ?? "" },
  ], places(report.diagnostics), (place) => (first.has(place) ? ["directml", first.get(place)] : null)));
  const columns = [
    { title: "Node", value: (place) => node(place).name },
    { title: "Operator", value: (place) => descriptor(place).operator },
    { title: "Output", value: (place) => { const tensor = node(place).outputs?.length ? tensorOf(node(place).outputs[0]) : null;
      return tensor ? `${tensor.data_type} ${sizes(tensor.sizes)}` : ""; } },
    { title: "Became", value: (place) => counted((node(place).onnx ?? []).map((at) => onnx.nodes[at].operator)) },
    { title: "Level", value: (place) => levelRank.get(descriptor(place).level), text: (place) => descriptor(place).level ?? "none", right: true },
    { title: "Memory", value: (place) => memoryOf(node(place)), text: (place) => bytes(memoryOf(node(place))), right: true },
  ];
  if (report.multiply_accumulates) columns.push({ title: "MACs", right: true, value: (place) => descriptor(place).multiply_accumulates ?? 0,
    text: (place) => products(descriptor(place).multiply_accumulates) });
  if (report.verification) columns.push({ title: "Bounds used", right: true, value: (place) => errorOf(node(place)),
    text: (place) => { const error = errorOf(node(place)); return error === null ? "" : error === Infinity ? "wrong" : `${short(100 * error)} %`; },
    tone: (place) => (errorOf(node(place)) === Infinity ? "error" : "") });
  if (report.profile) columns.push({ title: "Time", right: true, value: (place) => node(place).microseconds,
    text: (place) => (node(place).microseconds === undefined ? "" : microseconds(node(place).microseconds)) });
  made.push(new Table("nodes", "DirectML nodes", columns, places(report.nodes), (place) => ["directml", place]));
  if (onnx) made.push(onnxTable(places(onnx.nodes)));
  made.push(portsTable());
  if (report.verification) made.push(verificationTable());
  return made;
}

/** The remedy of a finding, or else the expected value. */
const helps = ({ remedies = [], expected = "" }) => remedies.map(({ words }) => words).join(", or ") || expected;

/** Returns `model.json:12:7`, without directories. */
const whereText = (finding) =>
  (finding.line ? `${finding.file.split(/[\\/]/).pop()}:${finding.line}:${finding.column}` : "");

function verificationTable() {
  const outputs = new Map(report.outputs.map((port, place) => [port.name, place]));
  return new Table("verification", "Against the reference", [
    { title: "Output", value: (item) => item.output },
    { title: "Case", value: (item) => item.round },
    { title: "Elements", right: true, value: (item) => item.elements, text: (item) => item.elements.toLocaleString("en") },
    { title: "Wrong", right: true, value: (item) => item.wrong, tone: (item) => (item.wrong ? "error" : "") },
    { title: "Unspecified", right: true, value: (item) => item.unspecified, text: (item) => item.unspecified.toLocaleString("en") },
    { title: "Largest error", right: true, value: (item) => Number(item.worst_difference), text: (item) => short(item.worst_difference) },
  ], report.verification.outputs, (item) => (outputs.has(item.output) ? ["output", outputs.get(item.output)] : null));
}

function onnxTable(rows) {
  const node = (place) => onnx.nodes[place];
  const columns = [
    { title: "Node", value: (place) => node(place).name },
    { title: "Operator", value: (place) => node(place).operator },
    { title: "Output", value: (place) => { const at = (node(place).outputs ?? []).find((item) => item !== null);
      return at === undefined ? "" : `${onnx.values[at].data_type} ${shapeOf(onnx.values[at])}`; } },
    { title: "Comes from", value: (place) => (node(place).node === undefined ? "" : report.nodes[node(place).node].name), isName: true },
    { title: "Memory", value: (place) => onnxMemory(node(place)), text: (place) => bytes(onnxMemory(node(place))), right: true },
  ];
  if (report.profile) columns.push(
    { title: "Time", right: true, value: (place) => node(place).microseconds,
      text: (place) => (node(place).microseconds === undefined ? "" : microseconds(node(place).microseconds)) },
    { title: "Provider", value: (place) => node(place).provider ?? "" });
  return new Table("onnx", "ONNX nodes", columns, rows, (place) => ["onnx", place]);
}

function portsTable() {
  const rows = [...report.inputs.map((port, place) => ["input", place, port]), ...report.outputs.map((port, place) => ["output", place, port])];
  const tensor = ([, , port]) => tensorOf(port);
  return new Table("ports", "Inputs and outputs", [
    { title: "Name", value: ([, , port]) => port.name },
    { title: "Kind", value: ([kind]) => kind },
    { title: "Data type", value: (row) => tensor(row)?.data_type ?? "" },
    { title: "Sizes", value: (row) => (tensor(row) ? sizes(tensor(row).sizes) : "") },
    { title: "In memory", value: (row) => layoutWords[tensor(row)?.layout] ?? "" },
    { title: "Bytes", right: true, value: ([, , port]) => report.values[port.value].bytes },
    { title: "ONNX name", value: ([, , port]) => port.onnx_name ?? "", isName: true },
    { title: "ONNX shape", value: ([, , port]) => (port.onnx_name ? shapeOf(port) : "") },
  ], rows, ([kind, place]) => [kind, place]);
}
