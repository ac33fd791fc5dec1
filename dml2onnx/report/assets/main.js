// The page: maps, details and tables that show the same choice; search, colours, theme.

const status = document.getElementById("status");
const details = document.getElementById("details");
const announce = (text) => { status.textContent = visible(text); };

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
for (const button of document.querySelectorAll("[data-map]")) {
  const map = maps[button.dataset.map];
  button.disabled = !map;
  button.addEventListener("click", () => (button.dataset.zoom === "fit" ? map.fit() : map.zoom(button.dataset.zoom === "in" ? 1.5 : 1 / 1.5)));
}

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
  details.replaceChildren(...parts.flat().filter((part) => part !== null));
  details.scrollTop = 0;
  for (const table of allTables) table.mark(kind, place);
  const title = kind === "directml" ? descriptorOf(item).operator : kind === "onnx" ? item.operator : kind;
  const problems = kind === "directml" && item.findings ? `, ${plural(item.findings.length, "finding")}` : "";
  announce(`${title} ${item.name}${problems}`);
}

function onScreen(map, places) {
  return places.every((place) => {
    const [, , x, y] = map.scene.boxes[place];
    const [seenX, seenY] = map.transform.apply([x, y]);
    return seenX > 0 && seenY > 0 && seenX < map.width && seenY < map.height;
  });
}

// --- Colours ---------------------------------------------------------------------------------------------------------

const measures = {
  findings: { title: "findings" },
  level: { title: "feature level", of: (node) => levelRank.get(descriptorOf(node).level) ?? null, words: (rank) => report.levels[rank].name,
    onnx: (node) => (node.node === undefined ? null : measures.level.of(report.nodes[node.node])) },
  error: { title: "error", of: errorOf, words: (part) => `${short(100 * part)} %`, absent: !report.verification,
    onnx: (node) => (node.node === undefined ? null : errorOf(report.nodes[node.node])) },
  time: { title: "time", of: (node) => node.microseconds ?? null, words: microseconds, absent: !report.profile, scale: Math.sqrt,
    onnx: (node) => node.microseconds ?? null },
  memory: { title: "memory of outputs", of: memoryOf, words: bytes, scale: (value) => Math.log2(1 + value), onnx: (node) => onnxMemory(node) },
};

function paint() {
  const measure = measures[document.getElementById("colour").value];
  const style = getComputedStyle(document.documentElement);
  const ramp = d3.interpolateRgb(style.getPropertyValue("--low").trim(), style.getPropertyValue("--high").trim());
  const wrong = style.getPropertyValue("--error").trim();
  const scale = measure.scale ?? ((value) => value);
  const lists = { directml: [report.nodes, measure.of], onnx: [onnx?.nodes ?? [], measure.onnx] };
  const known = Object.values(lists).flatMap(([list, of]) => (of ? list.map(of) : [])).filter((value) => value !== null && Number.isFinite(value));
  const least = known.reduce((a, b) => Math.min(a, b), Infinity);
  const most = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const part = (value) => (most > least ? (scale(value) - scale(least)) / (scale(most) - scale(least)) : 0.5);
  let anyWrong = false;
  for (const [name, map] of Object.entries(maps)) {
    const [list, of] = lists[name];
    map.fills = new Map();
    list.forEach((node, place) => {
      const value = of ? of(node) : null;
      if (value === null) return;
      anyWrong ||= value === Infinity;
      map.fills.set(box(name, "node", place), value === Infinity ? wrong : ramp(part(value)));
    });
    map.theme();
  }
  legend(measure, known.length ? [least, most] : null, anyWrong);
}

function legend(measure, range, anyWrong) {
  const parts = !range ? [] : range[0] === range[1] ? [`all ${measure.words(range[0])}`]
    : [measure.words(range[0]), make("i"), measure.words(range[1])];
  if (anyWrong) parts.push(make("i", { className: "chip wrong" }), "wrong");
  document.getElementById("legend").replaceChildren(...parts.map((part) => (part instanceof Node ? part : make("span", {}, part))));
}

const colour = document.getElementById("colour");
for (const [name, measure] of Object.entries(measures)) {
  colour.append(make("option", { value: name, disabled: Boolean(measure.absent) }, `by ${measure.title}`));
}
colour.addEventListener("change", paint);

report.nodes.forEach((node, place) => {
  const severities = findingsOf(node).map((finding) => finding.severity);
  const at = box("directml", "node", place);
  if (severities.length) maps.directml.marks.set(at, severities.includes("error") ? "error" : "warning");
  if (node.is_live === false) maps.directml.faded.add(at);
});

// --- Theme -----------------------------------------------------------------------------------------------------------

const theme = document.getElementById("theme");
const themes = ["system", "light", "dark"];
theme.addEventListener("click", () => {
  const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "system") + 1) % themes.length];
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  theme.textContent = `Theme: ${next}`;
  paint();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);

// --- Tables ----------------------------------------------------------------------------------------------------------

const allTables = tables();
{
  const made = allTables;
  const filter = make("input", { type: "search", className: "filter", placeholder: "Filter rows", "aria-label": "Filter the rows of the table" });
  const tabs = made.map((table) => make("button", { type: "button", role: "tab", id: `tab-${table.name}`, "aria-controls": `panel-${table.name}`,
    on: { click: () => open(table) } }, `${table.title} ${table.rows.length.toLocaleString("en")}`));
  const list = make("div", { role: "tablist", "aria-label": "Tables" }, tabs);
  let current = null;
  const open = (table) => {
    current = table;
    made.forEach((item, place) => {
      item.element.hidden = item !== table;
      tabs[place].setAttribute("aria-selected", String(item === table));
      tabs[place].tabIndex = item === table ? 0 : -1;
    });
    filter.value = table.filter;
    table.render();
  };
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (made.indexOf(current) + step + made.length) % made.length;
    open(made[next]);
    tabs[next].focus();
    event.preventDefault();
  });
  filter.addEventListener("input", () => {
    current.filter = filter.value;
    current.limit = ROWS;
    current.render();
    announce(plural(current.matching().length, "row"));
  });
  document.getElementById("tables").append(make("div", { className: "tabs" }, list, filter), ...made.map((table) => table.element));
  open(report.diagnostics.length ? made[0] : made[1]);
}

// --- Search ----------------------------------------------------------------------------------------------------------

{
  const input = document.getElementById("search");
  const list = document.getElementById("matches");
  const most = 50;
  const entries = [
    ...report.nodes.map((node, place) => ({ kind: "directml", place, title: descriptorOf(node).operator, name: node.name, side: "DirectML",
      more: (node.outputs ?? []).map((access) => report.values[access.value].name).join(" ") })),
    ...report.inputs.map((port, place) => ({ kind: "input", place, title: "input", name: port.name, side: "graph", more: "" })),
    ...report.outputs.map((port, place) => ({ kind: "output", place, title: "output", name: port.name, side: "graph", more: "" })),
    ...(onnx?.nodes ?? []).map((node, place) => ({ kind: "onnx", place, title: node.operator, name: node.name, side: "ONNX",
      more: (node.outputs ?? []).map((at) => (at === null ? "" : onnx.values[at].name)).join(" ") })),
  ];
  for (const entry of entries) entry.text = `${entry.title} ${entry.name} ${entry.more}`.toLowerCase();
  let found = [];
  let active = -1;
  const mark = (place) => {
    active = place;
    [...list.children].forEach((item, at) => item.setAttribute("aria-selected", String(at === place)));
    if (place >= 0) { input.setAttribute("aria-activedescendant", `match-${place}`); list.children[place].scrollIntoView({ block: "nearest" }); }
    else input.removeAttribute("aria-activedescendant");
  };
  const close = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); mark(-1); };
  const take = (entry) => { close(); select(entry.kind, entry.place, true); };
  const look = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const all = words.length ? entries.filter((entry) => words.every((word) => entry.text.includes(word))) : [];
    found = all.slice(0, most);
    list.replaceChildren(...found.map((entry, place) => make("li", { role: "option", id: `match-${place}`, "aria-selected": "false",
      on: { mousedown: (event) => { event.preventDefault(); take(entry); } } },
    make("span", {}, entry.title), named(entry.name), make("span", { className: "side" }, entry.side))));
    list.hidden = !found.length;
    input.setAttribute("aria-expanded", String(found.length > 0));
    mark(found.length ? 0 : -1);
    if (words.length) announce(all.length > most ? `${most} of ${plural(all.length, "match")}es shown` : `${all.length} found`);
  };
  input.addEventListener("input", look);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && found[active]) take(found[active]);
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      if (list.hidden) look();
      mark((active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length);
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(input|select|textarea)$/i.test(document.activeElement?.tagName ?? "")) { input.focus(); event.preventDefault(); }
  });
}

details.replaceChildren(...overview().flat().filter((part) => part !== null));
paint();
for (const map of Object.values(maps)) map.begin();
