// Shared by all pages: tables that sort and filter, tabs, search, colours, theme. Pages define select(), which shows a choice.

const status = document.getElementById("status");
const details = document.getElementById("details");
const announce = (text) => { status.textContent = visible(text); };
const show = (parts) => { details.replaceChildren(...parts.flat().filter((part) => part !== null)); details.scrollTop = 0; };

// --- Tables ----------------------------------------------------------------------------------------------------------

const ROWS = 200; // shown at first
const FEW = 6; // the most columns of a table whose short cells do not wrap
const WHOLE = 32; // the most characters of a cell that does not wrap

class Table {
  /** Columns are {title, value(row), text?(row), right?, tone?(row), isName?, isMain?}; rows are any values; `go(row)` is the choice of a row. */
  constructor(name, title, columns, rows, go) {
    Object.assign(this, { name, title, columns, rows, go, limit: ROWS, column: -1, descending: false, filter: "" });
    this.texts = null;
    this.body = make("tbody");
    this.heads = columns.map((column, place) => make("th", { scope: "col", className: column.right ? "right" : "" },
      make("button", { type: "button", on: { click: () => this.sort(place) } }, column.title)));
    this.rest = make("button", { type: "button", className: "more", on: { click: () => { this.limit += 5 * ROWS; this.render(); } } });
    this.none = make("p", { className: "none" });
    this.element = make("div", { className: columns.length > FEW ? "panel many" : "panel", role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0" },
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

  /** Marks the rows of a choice. */
  mark(kind, place) {
    this.chosen = String([kind, place]);
    for (const [row, element] of this.shown ?? []) element.classList.toggle("chosen", String(this.go(row)) === this.chosen);
  }

  row(row) {
    const cells = this.columns.map((column, place) => {
      const text = this.text(row, column);
      const inner = place === 0 && this.go(row)
        ? make("button", { type: "button", className: "link", on: { click: () => select(...this.go(row), true) } }, breakable(text || "(no name)"))
        : column.isName ? make("bdi", {}, breakable(text || "(no name)")) : column.right ? text : breakable(text);
      const whole = column.isMain ? "main" : text.length <= WHOLE ? "whole" : "wide"; // short cells do not wrap
      const name = `${column.right ? "right" : whole} ${column.tone?.(row) ?? ""}${text ? "" : " empty"}`.trim();
      return make("td", { className: name, "data-column": column.title }, inner); // narrow screens show the title in front
    });
    return make("tr", { className: String(this.go(row)) === this.chosen ? "chosen" : "" }, cells);
  }
}

/** Tables in tabs, with a filter for the rows of the open one. */
function tabbed(made, first) {
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
  open(first);
}

// --- Search ----------------------------------------------------------------------------------------------------------

const isWriting = () => /^(input|select|textarea)$/i.test(document.activeElement?.tagName ?? "");

/** Entries are {title, name, side, more, choose}; a match has all words in title, name or more. */
function searchBox(entries) {
  const input = document.getElementById("search");
  const list = document.getElementById("matches");
  const most = 50;
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
  const take = (entry) => { close(); select(...entry.choice, true); };
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
    if (event.key === "/" && !isWriting()) { input.focus(); event.preventDefault(); }
  });
}

// --- Maps and colours ------------------------------------------------------------------------------------------------

function onScreen(map, places) {
  return places.every((place) => {
    const [, , x, y] = map.scene.boxes[place];
    const [seenX, seenY] = map.transform.apply([x, y]);
    return seenX > 0 && seenY > 0 && seenX < map.width && seenY < map.height;
  });
}

function zoomButtons(maps) {
  for (const button of document.querySelectorAll("[data-map]")) {
    const map = maps[button.dataset.map];
    button.disabled = !map;
    button.addEventListener("click", () => (button.dataset.zoom === "fit" ? map.fit() : map.zoom(button.dataset.zoom === "in" ? 1.5 : 1 / 1.5)));
  }
}

/** Colours boxes by a measure {words, scale?}; layers are [map, [[box, value], ...]], all on one scale. */
function colourBoxes(measure, layers) {
  if (measure.classes) { colourClasses(measure, layers); return; }
  const style = getComputedStyle(document.documentElement);
  const ramp = d3.interpolateRgb(style.getPropertyValue("--low").trim(), style.getPropertyValue("--high").trim());
  const wrong = style.getPropertyValue("--error").trim();
  const scale = measure.scale ?? ((value) => value);
  const known = layers.flatMap(([, values]) => values.map(([, value]) => value)).filter((value) => value !== null && Number.isFinite(value));
  const least = known.reduce((a, b) => Math.min(a, b), Infinity);
  const most = known.reduce((a, b) => Math.max(a, b), -Infinity);
  const part = (value) => (most > least ? (scale(value) - scale(least)) / (scale(most) - scale(least)) : 0.5);
  let anyWrong = false;
  for (const [map, values] of layers) {
    map.fills = new Map();
    for (const [place, value] of values) {
      if (value === null) continue;
      anyWrong ||= value === Infinity;
      map.fills.set(place, value === Infinity ? wrong : ramp(part(value)));
    }
    map.theme();
  }
  legend(measure, known.length ? [least, most] : null, anyWrong);
}

/** Colours boxes by classes, with a legend of those in use. */
function colourClasses(measure, layers) {
  const seen = new Set();
  for (const [map, values] of layers) {
    map.fills = new Map();
    for (const [place, value] of values) {
      if (value === null) continue;
      seen.add(value);
      map.fills.set(place, measure.classes[value].colour());
    }
    map.theme();
  }
  const chips = measure.classes.flatMap((item, value) => {
    if (!seen.has(value)) return [];
    const chip = make("i", { className: "chip" });
    chip.style.background = item.colour();
    return [make("span", { className: "class" }, chip, item.title)];
  });
  document.getElementById("legend").replaceChildren(...chips);
}

function legend(measure, range, anyWrong) {
  const parts = !range ? [] : range[0] === range[1] ? [`all ${measure.words(range[0])}`]
    : [measure.words(range[0]), make("i"), measure.words(range[1])];
  if (anyWrong) parts.push(make("i", { className: "chip wrong" }), "wrong");
  document.getElementById("legend").replaceChildren(...parts.map((part) => (part instanceof Node ? part : make("span", {}, part))));
}

/** Fills the list of measures; calls `paint` when another is chosen. */
function colourList(measures, paint, first = null) {
  const list = document.getElementById("colour");
  for (const [name, measure] of Object.entries(measures)) {
    list.append(make("option", { value: name, disabled: Boolean(measure.absent) }, `by ${measure.title}`));
  }
  if (first) list.value = first;
  list.addEventListener("change", paint);
}

// --- Theme -----------------------------------------------------------------------------------------------------------

function themeButton(paint) {
  const button = document.getElementById("theme");
  const themes = ["system", "light", "dark"];
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme ?? "system") + 1) % themes.length];
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    button.textContent = `Theme: ${next}`;
    paint();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
}
