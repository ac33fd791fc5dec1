// Tables that sort and filter; rows lead to what they are about.

const ROWS = 200; // shown at first, and more at a time when asked for
const WHOLE = 32; // characters of a cell that is kept on one line

class Table {
  /** Columns are {title, value(row), text?(row), right?, tone?(row)}; rows are any values; `go(row)` leads to one. */
  constructor(name, title, columns, rows, go) {
    Object.assign(this, { name, title, columns, rows, go, limit: ROWS, column: -1, descending: false, filter: "" });
    this.texts = null;
    this.body = make("tbody");
    this.heads = columns.map((column, place) => make("th", { scope: "col", className: column.right ? "right" : "" },
      make("button", { type: "button", on: { click: () => this.sort(place) } }, column.title)));
    this.rest = make("button", { type: "button", className: "more", on: { click: () => { this.limit += 5 * ROWS; this.render(); } } });
    this.none = make("p", { className: "none" });
    this.element = make("div", { className: "panel", role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0" },
      make("table", {}, make("thead", {}, make("tr", {}, this.heads)), this.body), this.none, this.rest);
  }

  text(row, column) { return String((column.text ?? column.value)(row) ?? ""); }

  sort(place) {
    this.descending = place === this.column ? !this.descending : Boolean(this.columns[place].right);
    this.column = place;
    this.heads.forEach((head, at) => {
      if (at === place) head.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    announce(`Sorted by ${this.columns[place].title}, ${this.descending ? "descending" : "ascending"}`);
    this.render();
  }

  matching() {
    const wanted = this.filter.toLowerCase().split(/\s+/).filter(Boolean);
    this.texts ??= this.rows.map((row) => this.columns.map((column) => this.text(row, column)).join("\n").toLowerCase());
    const found = this.rows.filter((_, place) => wanted.every((word) => this.texts[place].includes(word)));
    if (this.column < 0) return found;
    const { value } = this.columns[this.column];
    const sign = this.descending ? -1 : 1;
    const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    const absent = (item) => item === null || item === undefined;
    return found.map((row) => [value(row), row])
      .sort(([a], [b]) => (absent(a) || absent(b) ? absent(a) - absent(b) : sign * compare(a, b))).map(([, row]) => row);
  }

  render() {
    const found = this.matching();
    this.shown = found.slice(0, this.limit).map((row) => [row, this.row(row)]);
    this.body.replaceChildren(...this.shown.map(([, element]) => element));
    this.rest.hidden = found.length <= this.limit;
    this.rest.textContent = `Show more of ${plural(found.length, "row")}`;
    this.none.hidden = found.length > 0;
    this.none.textContent = this.rows.length ? "Nothing matches the filter." : "There are none.";
  }

  /** Marks the rows that lead to what has been chosen. */
  mark(kind, place) {
    this.chosen = String([kind, place]);
    for (const [row, element] of this.shown ?? []) element.classList.toggle("chosen", String(this.go(row)) === this.chosen);
  }

  row(row) {
    const cells = this.columns.map((column, place) => {
      const text = this.text(row, column);
      const inner = place === 0 && this.go(row)
        ? make("button", { type: "button", className: "link", on: { click: () => select(...this.go(row), true) } }, text || "(no name)")
        : column.isName ? named(text) : text;
      const whole = text.length <= WHOLE ? "whole" : "wide"; // short ones are not broken
      return make("td", { className: `${column.right ? "right" : whole} ${column.tone?.(row) ?? ""}`.trim() }, inner);
    });
    return make("tr", { className: String(this.go(row)) === this.chosen ? "chosen" : "" }, cells);
  }
}

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
    { title: "What is wrong", value: (place) => report.diagnostics[place].message },
    { title: "Expected", value: (place) => report.diagnostics[place].expected ?? "" },
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
  if (report.verification) columns.push({ title: "Error", right: true, value: (place) => errorOf(node(place)),
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
      return at === undefined ? "" : `${onnx.values[at].data_type} ${sizes(onnx.values[at].shape)}`; } },
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
    { title: "ONNX shape", value: ([, , port]) => (port.onnx_name ? sizes(port.shape ?? []) : "") },
  ], rows, ([kind, place]) => [kind, place]);
}

/** `2 × Conv, Relu`. */
function counted(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name)).join(", ");
}
