// The data of the page, and its words. Texts of a model are only set as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
const scenes = data.maps;
const { levels } = data.report ?? data.comparison.left;

/** Escapes characters that are invisible or change the direction of text. */
function visible(text) {
  return String(text).replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === " " ? char : `\\u${char.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/** An element; text among the children is escaped by visible(). */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
    else if (name in element && typeof value !== "string") element[name] = value;
    else if (value !== null) element.setAttribute(name === "className" ? "class" : name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) element.append(child instanceof Node ? child : visible(child));
  }
  return element;
}

/** A name of the model, isolated so that it does not change the direction of other text. */
const named = (text) => make("bdi", {}, text === "" ? "(no name)" : text);

const BREAKS = 16; // the least characters of a text that may wrap after separators
/** Text for a narrow column, which may wrap between words. */
const breakable = (text) => (text.length < BREAKS ? text
  : text.split(/(?<=[_/])|(?<=[a-z])(?=[A-Z])/).flatMap((part, place) => (place ? [make("wbr"), part] : [part])));

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const sizes = (shape) => shape.join("×") || "scalar";
const shapeOf = (item) => sizes(item.names ?? item.shape ?? []);
const levelRank = new Map(levels.map((level, rank) => [level.name, rank]));
const shipsWith = (name) => levels[levelRank.get(name)]?.ships_with ?? "";

function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB"];
  let unit = 0;
  let value = count;
  while (value >= 1024 && unit < 3) { value /= 1024; unit += 1; }
  return unit ? `${value.toFixed(1)} ${units[unit]}` : plural(count, "byte");
}

function short(value) {
  if (typeof value !== "number") return value;
  return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : String(Number(value.toPrecision(3)));
}

/** Multiply-accumulates, or nothing. */
const products = (count) => (count === undefined ? "" : count.toLocaleString("en"));

const microseconds = (value) => (value >= 999500 ? `${(value / 1e6).toPrecision(3)} s`
  : value >= 999.5 ? `${(value / 1000).toPrecision(3)} ms` : `${Math.round(value)} µs`);

/** JSON on one line, with usual spaces. */
function written(value) {
  if (value === null) return "unreadable";
  if (Array.isArray(value)) return `[${value.map(written).join(", ")}]`;
  if (typeof value === "object") return Object.entries(value).map(([key, item]) => `${key}: ${written(item)}`).join(", ");
  return String(value);
}

// --- Facts of a node -------------------------------------------------------------------------------------------------

const widths = { float: 4, double: 8, bool: 1, int4: 0.5, uint4: 0.5 };
const bitsOf = (type) => (widths[type] ?? Number(type.match(/\d+$/)?.[0] ?? 0) / 8);
const onnxBytes = (value) => Math.ceil(value.shape.reduce((product, size) => product * size, bitsOf(value.data_type)));

/** The largest error as a part of its bound; null if unknown. */
function errorOf(node) {
  const found = (node.verified ?? []).map((item) => (item.wrong ? Infinity : Number(item.worst_of_bound)));
  return found.length ? Math.max(...found) : null;
}

/** A report, with lookups for its nodes. */
function about(report) {
  const onnx = report.onnx ?? null;
  const tensorOf = (access) => (access.tensor === undefined ? null : report.tensors[access.tensor]);
  return {
    report, onnx, tensorOf,
    descriptorOf: (node) => report.descriptors[node.descriptor],
    findingsOf: (node) => (node.findings ?? []).map((place) => report.diagnostics[place]),
    memoryOf: (node) => (node.outputs ?? []).reduce((sum, access) => sum + (tensorOf(access)?.bytes ?? 0), 0),
    onnxMemory: (node) =>
      (node.outputs ?? []).reduce((sum, place) => sum + (place === null ? 0 : onnxBytes(onnx.values[place])), 0),
  };
}

/** `2 × Conv, Relu`. */
function counted(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name)).join(", ");
}

// --- Classes of operators --------------------------------------------------------------------------------------------

const isDark = () => {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

/** Returns a colour for canvases from hue, saturation and lightness. */
function rgb(hue, saturation, lightness) {
  const chroma = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return `rgb(${part(0)}, ${part(8)}, ${part(4)})`;
}

/** A class: its name, its operators in DirectML or ONNX, and its hue. */
const operatorClass = (title, names, hue, saturation = 62) => ({ title, names,
  colour: () => rgb(hue, (isDark() ? saturation * 0.6 : saturation) / 100, isDark() ? 0.26 : 0.87) });

/** The first matching class counts; the last one has all other operators. */
const operatorClasses = [
  operatorClass("quantisation", /QUANTIZ|^CAST$|INTEGER|^(De)?Quantize|^DynamicQuantize|^QLinear|Integer$|^Cast$|^BitCast$/, 182),
  operatorClass("convolution", /CONVOLUTION|^Conv/, 214),
  operatorClass("matrices", /^GEMM|MATRIX|ATTENTION|^MatMul|^Gemm|^Einsum|Attention$/, 258),
  operatorClass("recurrent", /^(RNN|LSTM|GRU)$/, 300),
  operatorClass("normalisation", /NORMALIZATION|Normalization$|^LRN$|^Lp/, 44),
  operatorClass("pooling, reduction", /POOL|REDUCE|ARG(MAX|MIN)|TOP_K|CUMULATIVE|^Reduce|Pool$|^Arg|^TopK|^Cum/, 150),
  operatorClass("activation", /ACTIVATION|CLIP|^(Relu|LeakyRelu|PRelu|Sigmoid|Tanh|Softmax|LogSoftmax|Hardmax|Elu|Selu|Celu|Clip|Gelu|Mish|HardS\w+|Softplus|Softsign|Shrink|ThresholdedRelu)$/, 8),
  operatorClass("movement", /JOIN|SPLIT|SLICE|PADDING|TILE|GATHER|SCATTER|RESAMPLE|UPSAMPLE|SPACE|ROI|REVERSE|FOLD|FILL|ONE_HOT|DIAGONAL|NON_?ZERO|^(Concat|Split|Slice|Pad|Tile|Gather|Scatter|Resize|Transpose|Reshape|Expand|Squeeze|Unsqueeze|Identity|RoiAlign|OneHot|Shape|Range|Constant)/, 90, 34),
  operatorClass("element by element", /^/, 220, 12),
];

const classOf = (name) => operatorClasses.findIndex((item) => item.names.test(name));
