// Pictures as SVG text, each with its alternative text and the table of its numbers.

// Light and dark shade of each color; on a light page those of the book's figures (Okabe and Ito).
export const COLORS = {
  blue: ["#0072b2", "#4fa8e0"],
  vermilion: ["#d55e00", "#ff7f33"],
  green: ["#009e73", "#2cc197"],
  orange: ["#e69f00", "#f0b63a"],
  purple: ["#cc79a7", "#dd99c0"],
  sky: ["#56b4e9", "#9bd3f7"],
  ink: ["#1a1a1a", "#ececec"],
  grey: ["#595959", "#b4b4b4"],
  line: ["#d4d4d4", "#41464f"],
  paper: ["#ffffff", "#14181e"],
};
export const paint = (color) => `var(--mt-${color})`;
const CIVIDIS = [
  "00224e",
  "123570",
  "3b496c",
  "575d6d",
  "707173",
  "8a8678",
  "a59c74",
  "c3b369",
  "e1cc55",
  "fee838",
].map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
const LETTER = 6.6; // mean width of a letter, in pixels
const TILE = 19; // pixels of a token's tile
const RULE = "5 4"; // dashes of a line across the picture
const MOST_CELLS = 600; // above it a heat map is one image

const escaped = (value) => String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const near = (value) => Math.round(value * 10) / 10; // tenths of a pixel are enough

// A number as the reader sees it, to some significant digits.
export function shown(value, digits = 3) {
  if (typeof value !== "number") return String(value ?? "");
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "none" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 1e-3 && size < 1e6);
  const written = plain ? String(Number(value.toPrecision(digits))) : value.toExponential(digits - 1);
  const [head, power] = written.split("e");
  return (power === undefined ? head : `${Number(head)}e${power.replace("+", "")}`).replaceAll("-", "−");
}

export function cividis(share) {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const low = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return CIVIDIS[low].map((c, i) => Math.round(c + (at - low) * (CIVIDIS[low + 1][i] - c)));
}
const rgb = (share) => `rgb(${cividis(share)})`;
const inkOn = (share) => (share > 0.5 ? "#000" : "#fff");

// An element of a picture. fill and stroke are names of COLORS or shades that stay the same in the dark.
function shape(name, { fill, stroke, ...attributes }, content = "") {
  const shade = (color) => (color in COLORS ? paint(color) : color);
  const style = (fill ? `fill:${shade(fill)};` : "") + (stroke ? `stroke:${shade(stroke)}` : "");
  let text = `<${name}`;
  for (const [key, value] of Object.entries(style ? { ...attributes, style } : attributes)) {
    text += ` ${key}="${typeof value === "number" ? near(value) : value}"`;
  }
  return `${text}>${content}</${name}>`;
}

function words(x, y, content, { anchor = "start", color = "ink", size = 12, weight = 400 } = {}) {
  const look = { fill: color };
  if (anchor !== "start") look["text-anchor"] = anchor;
  if (size !== 12) look["font-size"] = size;
  if (weight !== 400) look["font-weight"] = weight;
  return shape("text", { x, y, ...look }, escaped(content));
}

function stroke(x1, y1, x2, y2, color, { dash = "", width = 1 } = {}) {
  const look = dash ? { "stroke-dasharray": dash } : {};
  return shape("line", { x1, y1, x2, y2, stroke: color, "stroke-width": width, ...look });
}

function block(x, y, width, height, fill) {
  return shape("rect", { x, y, width, height, fill });
}

function outline(x, y, width, height, color, thick = 2.5) {
  return shape("rect", { x, y, width, height, rx: 2, fill: "none", stroke: color, "stroke-width": thick });
}

function disc(cx, cy, r, fill, ring = {}) {
  return shape("circle", { cx, cy, r, fill, ...ring });
}

function picture(width, height, body, alt, table) {
  const size = { width, height, viewBox: `0 0 ${near(width)} ${near(height)}` };
  const look = { role: "img", "aria-label": escaped(alt), "font-family": "system-ui, sans-serif", "font-size": 12 };
  return { svg: shape("svg", { xmlns: "http://www.w3.org/2000/svg", ...size, ...look }, body), alt, table };
}

// Axes ---------------------------------------------------------------------------------------------

function extent(numbers, log) {
  let low = Infinity,
    high = -Infinity;
  for (const row of numbers)
    for (const v of row) {
      if (!Number.isFinite(v) || (log && v <= 0)) continue;
      if (v < low) low = v;
      if (v > high) high = v;
    }
  return low > high ? [log ? 0.1 : 0, 1] : [low, high];
}

function linearTicks(low, high, room) {
  const rough = (high - low) / Math.max(room, 1),
    power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough * 0.999) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) {
    ticks.push(Number((i * step).toPrecision(12)));
  }
  return ticks;
}

function logTicks(low, high, room) {
  const first = Math.ceil(Math.log10(low) - 1e-9),
    last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(room, 1)));
  const ticks = [];
  for (let power = first; power <= last; power += step) ticks.push(10 ** power);
  return ticks.length > 1 ? ticks : [low, high];
}

// Where values of an axis stand between two pixels.
function axis({ log = false, min, max }, numbers, from, to, room) {
  let [low, high] = extent(numbers, log);
  low = min ?? low;
  high = max ?? high;
  if (!(high > low)) [low, high] = log ? [low / 2, low * 2] : [low - 0.5, low + 0.5];
  const scale = log ? (v) => Math.log10(Math.max(v, 1e-300)) : (v) => v;
  const a = scale(low),
    b = scale(high);
  return {
    at: (value) => from + ((scale(value) - a) / (b - a)) * (to - from),
    ticks: (log ? logTicks : linearTicks)(low, high, room),
  };
}

const power = (value) =>
  value >= 0.01 && value < 10000 ? shown(value) : `1e${Math.round(Math.log10(value))}`.replace("-", "−");

// One line of keys after the other, as many as the width needs: [svg, height].
function legend(entries, width) {
  let x = 4,
    y = 12,
    body = "";
  for (const { label, color, dash = "", marker, filled } of entries) {
    const room = 28 + LETTER * label.length;
    if (x > 4 && x + room > width) [x, y] = [4, y + 17];
    if (filled) body += block(x + 4, y - 10, 12, 12, color);
    else body += stroke(x, y - 4, x + 18, y - 4, color, { dash, width: 2.2 });
    if (marker) body += disc(x + 9, y - 4, 3.5, color);
    body += words(x + 23, y, label);
    x += room + 10;
  }
  return [body, entries.length ? y + 8 : 0];
}

// The frame that line plots and bars share. Returns the parts and where the plot lies.
function frame({ width, height, x, y, keys, xNumbers, yNumbers, xLabels }) {
  const [keyText, keyHeight] = legend(keys, width);
  const top = keyHeight + (y.label ? 22 : 8),
    bottom = height - (x.label ? 38 : 22);
  const room = Math.max(2, Math.floor((bottom - top) / 34));
  const vertical = axis(y, yNumbers, bottom, top, room);
  const written = vertical.ticks.map((v) => (y.log ? power(v) : shown(v, 6)));
  const left = 12 + LETTER * longest(written),
    right = width - 18;
  const horizontal = xLabels ? null : axis(x, xNumbers, left, right, Math.floor((right - left) / 64));
  let body = keyText;
  vertical.ticks.forEach((v, i) => {
    body += stroke(left, vertical.at(v), right, vertical.at(v), "line");
    body += words(left - 6, vertical.at(v) + 4, written[i], { anchor: "end", color: "grey" });
  });
  if (horizontal) {
    for (const v of horizontal.ticks) {
      body += stroke(horizontal.at(v), bottom, horizontal.at(v), bottom + 4, "grey");
      body += words(horizontal.at(v), bottom + 17, x.log ? power(v) : shown(v, 6), {
        anchor: "middle",
        color: "grey",
      });
    }
  }
  body += stroke(left, bottom, right, bottom, "grey");
  if (y.label) body += words(4, top - 9, y.label, { color: "grey" });
  if (x.label) body += words((left + right) / 2, height - 5, x.label, { anchor: "middle", color: "grey" });
  return { body, left, right, top, bottom, horizontal, vertical };
}

// Pictures -----------------------------------------------------------------------------------------

export function lines({
  width,
  height = 230,
  alt,
  x = {},
  y = {},
  series,
  rules = [],
  marks = [],
  empty = "",
}) {
  const named = [...series, ...rules.map((r) => ({ dash: RULE, ...r }))].filter((s) => s.label);
  const keys = named.length > 1 ? named : [];
  const yNumbers = [...series.map((s) => s.y), rules.filter((r) => "y" in r).map((r) => r.y)];
  const at = frame({ width, height, x, y, keys, xNumbers: series.map((s) => s.x), yNumbers });
  const { left, right, top, bottom, horizontal, vertical } = at;
  let inner = "";
  for (const { x: value, y: level, color = "ink", dash = RULE } of rules) {
    inner +=
      level !== undefined
        ? stroke(left, vertical.at(level), right, vertical.at(level), color, { dash, width: 1.4 })
        : stroke(horizontal.at(value), top, horizontal.at(value), bottom, color, { dash, width: 1.4 });
  }
  for (const s of series) inner += curve(s, horizontal, vertical, y.log);
  for (const { x: px, y: py, color } of marks) {
    inner += disc(horizontal.at(px), vertical.at(py), 6, color, { stroke: "paper", "stroke-width": 2 });
  }
  if (empty)
    inner += words((left + right) / 2, (top + bottom) / 2, empty, { anchor: "middle", color: "grey" });
  const box = { x: left - 7, y: top - 7, width: right - left + 14, height: bottom - top + 14 };
  // A picture in the picture cuts off what lies outside.
  const plot = shape("svg", { ...box, viewBox: Object.values(box).map(near).join(" ") }, inner);
  return picture(width, height, at.body + plot, alt, seriesTable(x.label ?? "x", series, rules));
}

function curve({ x, y, color, dash = "", marker = false, thin = false }, horizontal, vertical, log) {
  let path = "",
    dots = "",
    open = false;
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i]) || (log && y[i] <= 0)) {
      open = false;
      continue;
    }
    const px = near(horizontal.at(x[i])),
      py = near(Math.min(Math.max(vertical.at(y[i]), -1e4), 1e4));
    path += `${open ? "L" : "M"}${px} ${py}`;
    open = true;
    if (marker) dots += disc(px, py, 3, color);
  }
  const look = { "stroke-width": thin ? 1.2 : 2.2, "stroke-linejoin": "round", "stroke-dasharray": dash };
  return shape("path", { d: path, fill: "none", stroke: color, ...look }) + dots;
}

// A level across the picture is a series that does not change.
function seriesTable(xLabel, series, rules) {
  const levels = rules.filter((rule) => rule.label && "y" in rule);
  if (series.every((s) => s.x === series[0].x)) {
    const row = (v, i) => [v, ...series.map((s) => s.y[i]), ...levels.map(({ y }) => y)];
    const columns = [xLabel, ...series.map((s) => s.label ?? "value"), ...levels.map(({ label }) => label)];
    return { columns, rows: Array.from(series[0]?.x ?? [], row) };
  }
  const rows = series.flatMap((s) => Array.from(s.x, (v, i) => [s.label, v, s.y[i]]));
  return {
    columns: ["series", xLabel, "value"],
    rows: [...rows, ...levels.map(({ label, y }) => [label, "", y])],
  };
}

export function bars({ width, height = 230, alt, labels, x = {}, y = {}, series, colors }) {
  const keys = series.length > 1 ? series.map((s) => ({ ...s, filled: true })) : [];
  const yNumbers = [[0], ...series.map((s) => s.values)];
  const { body, left, right, bottom, vertical } = frame({
    width,
    height,
    x,
    y,
    keys,
    yNumbers,
    xLabels: labels,
  });
  const slot = (right - left) / labels.length,
    bar = Math.max((slot * 0.8) / series.length, 0.8);
  const every = Math.ceil((LETTER * longest(labels) + 8) / slot);
  const base = vertical.at(0);
  let inner = "";
  series.forEach((s, k) =>
    s.values.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      const px = left + slot * (i + 0.1) + k * bar,
        py = vertical.at(v);
      inner += block(px, Math.min(py, base), bar, Math.abs(py - base), colors?.[i] ?? s.color);
    }),
  );
  labels.forEach((label, i) => {
    if (i % every) return;
    inner += words(left + slot * (i + 0.5), bottom + 17, label, { anchor: "middle", color: "grey" });
  });
  const rows = labels.map((label, i) => [label, ...series.map((s) => s.values[i])]);
  return picture(width, height, body + inner, alt, {
    columns: [x.name ?? x.label ?? "", ...series.map((s) => s.label ?? "value")],
    rows,
  });
}

// With categories, values are indices into [{ label, color }]; else shades from min to max.
export function heat({
  width,
  alt,
  values,
  rows,
  columns,
  x = "",
  y = "",
  digits = 2,
  categories,
  marked = [],
  ...options
}) {
  const { low, high, share } = shading(values, options);
  const named = categories
    ? legend(
        categories.map((c) => ({ ...c, filled: true })),
        width,
      )
    : ["", 0];
  const [keys, keyHeight] = options.bar ? colorBar(low, high) : named;
  const left = 12 + LETTER * longest(rows),
    top = keyHeight + (y ? 20 : 4),
    below = x ? 38 : 22;
  const { height } = options,
    most = (width - left - 18) / columns.length;
  const wide = height ? most : Math.min(most, 46),
    tall = height ? (height - top - below) / rows.length : Math.min(wide, 38);
  const right = left + wide * columns.length,
    bottom = top + tall * rows.length;
  let body = keys;
  if (rows.length * columns.length > MOST_CELLS && !categories) {
    const image = {
      preserveAspectRatio: "none",
      href: pixels(values, share),
      style: "image-rendering:pixelated",
    };
    body += shape("image", { x: left, y: top, width: right - left, height: bottom - top, ...image });
  } else {
    const written = !categories && wide >= 30 && tall >= 14,
      size = wide < 38 ? 10 : 11;
    values.forEach((row, i) =>
      row.forEach((v, j) => {
        if (v === null || !Number.isFinite(v)) return;
        const at = [left + j * wide, top + i * tall];
        body += block(...at, wide + 0.3, tall + 0.3, categories ? categories[v].color : rgb(share(v)));
        const look = { anchor: "middle", color: inkOn(share(v)), size };
        if (written) body += words(at[0] + wide / 2, at[1] + tall / 2 + 4, shown(v, digits), look);
      }),
    );
  }
  for (const [i, j] of marked) {
    const at = [left + j * wide + 1, top + i * tall + 1, wide - 2, tall - 2];
    body += outline(...at, "paper", 5) + outline(...at, "ink");
  }
  const everyRow = Math.ceil(15 / tall),
    everyColumn = Math.ceil((LETTER * longest(columns) + 6) / wide);
  rows.forEach((label, i) => {
    if (i % everyRow === 0)
      body += words(left - 6, top + (i + 0.5) * tall + 4, label, { anchor: "end", color: "grey" });
  });
  columns.forEach((label, j) => {
    if (j % everyColumn === 0)
      body += words(left + (j + 0.5) * wide, bottom + 16, label, { anchor: "middle", color: "grey" });
  });
  if (y) body += words(4, top - 7, y, { color: "grey" });
  if (x) body += words((left + right) / 2, bottom + 33, x, { anchor: "middle", color: "grey" });
  const told = (v) => (categories && v !== null && Number.isFinite(v) ? categories[v].label : v);
  const table = {
    columns: [y || "row", ...columns.map((c) => `${x} ${c}`.trim())],
    rows: rows.map((label, i) => [label, ...Array.from(values[i], told)]),
  };
  return picture(width, bottom + below, body, alt, table);
}

const longest = (labels) => Math.max(1, ...labels.map((label) => String(label).length));

// The shade of each value as a share from 0 to 1; values that are equal up to rounding share one.
function shading(values, { min, max }) {
  const [lowest, highest] = extent(values, false),
    low = min ?? lowest,
    high = max ?? highest;
  const flat = high - low <= 1e-9 * Math.max(Math.abs(low), Math.abs(high));
  return { low, high, share: (v) => (flat ? 0.5 : (v - low) / (high - low)) };
}

function colorBar(low, high) {
  const before = shown(low),
    from = 12 + LETTER * before.length;
  let body = words(4, 12, before, { color: "grey" });
  for (let i = 0; i < 24; i++) body += block(from + i * 4, 3, 4.3, 10, rgb(i / 23));
  return [body + words(from + 102, 12, shown(high), { color: "grey" }), 20];
}

// A picture with one pixel for each cell, as an address that holds it.
function pixels(values, share) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [values[0].length, values.length];
  const context = canvas.getContext("2d"),
    image = context.createImageData(canvas.width, canvas.height);
  let at = 0;
  for (const row of values)
    for (const v of row) {
      image.data.set(Number.isFinite(v) ? [...cividis(share(v)), 255] : [0, 0, 0, 0], at);
      at += 4;
    }
  context.putImageData(image, 0, 0);
  return canvas.toDataURL();
}

// Nodes on a circle, the walker at the top: its path with fading steps, and arrows from node to node.
export function ring({ width, height = 260, alt, nodes, path = [], arrows = [] }) {
  const here = path.at(-1),
    cx = width / 2,
    cy = height / 2,
    radius = Math.min(width, height) / 2 - 44;
  const size = Math.min(17, (2.2 * radius) / nodes);
  const place = (node, r = radius) => {
    const angle = (2 * Math.PI * (node - (here ?? 0))) / nodes;
    return [cx + r * Math.sin(angle), cy - r * Math.cos(angle)];
  };
  let body = disc(cx, cy, radius, "none", { stroke: "line", "stroke-width": 2 });
  for (let i = 1; i < path.length; i++) {
    const age = path.length - i,
      inset = radius - size - 1 - age * 3.2;
    const [[x1, y1], [x2, y2]] = [place(path[i - 1], inset), place(path[i], inset)];
    const look = { stroke: "blue", "stroke-width": 2, opacity: 1 - age / (path.length + 1) };
    if (inset > 4) body += shape("line", { x1, y1, x2, y2, ...look });
  }
  for (const { to, label, color } of arrows) {
    const step = (to - here + nodes) % nodes === 1 ? 1 : -1;
    body += arrow(place, here, step, label, color, radius + size + 8, width);
  }
  for (let node = 0; node < nodes; node++) {
    const [x, y] = place(node),
      filled = node === here;
    body += disc(x, y, size, filled ? "blue" : "paper", { stroke: "blue", "stroke-width": 2 });
    const look = { anchor: "middle", color: filled ? "paper" : "ink", weight: 600, size: size < 11 ? 9 : 13 };
    body += words(x, y + 4.5, node, look);
  }
  return picture(width, height, body, alt, {
    columns: ["step", "node"],
    rows: path.map((node, t) => [t + 1, node]),
  });
}

// An arrow outside the circle from a node to its neighbour above (step 1) or below (step -1).
function arrow(place, from, step, label, color, out, width) {
  const [x1, y1] = place(from + 0.16 * step, out),
    [x2, y2] = place(from + 0.84 * step, out);
  const [mx, my] = place(from + 0.5 * step, out + 10),
    [lx, ly] = place(from + 0.85 * step, out + 8);
  const angle = Math.atan2(y2 - my, x2 - mx),
    at = (...numbers) => numbers.map(near).join(" ");
  const head = (turn) => at(x2 - 9 * Math.cos(angle + turn), y2 - 9 * Math.sin(angle + turn));
  const bow = { d: `M${at(x1, y1)}Q${at(mx, my, x2, y2)}`, fill: "none", stroke: color, "stroke-width": 2.4 };
  const tip = { d: `M${at(x2, y2)}L${head(0.45)}L${head(-0.45)}Z`, fill: color };
  const room = LETTER * label.length, // which a label on either side must have
    look = step > 0 ? { anchor: "start", color } : { anchor: "end", color };
  const inside = step > 0 ? Math.min(lx, width - room) : Math.max(lx, room);
  return shape("path", bow) + shape("path", tip) + words(inside, ly, label, look);
}

export const tilesIn = (width, label) => Math.floor((width - 24 - LETTER * label.length) / TILE);

// Rows of tokens as little tiles, shaded by token or as given; where a row is too long, its end is shown.
// Tiles of one shade are one path and their digits one text: few elements are drawn fast.
export function strips({ width, alt, rows, vocabulary }) {
  const left = 8 + LETTER * longest(rows.map((r) => r.label ?? "")),
    gap = 30;
  const room = Math.floor((width - left - 16) / TILE),
    alike = new Map();
  let body = "",
    frames = "";
  rows.forEach(({ label = "", tokens, shades, marked = [], color = "vermilion" }, i) => {
    const first = Math.max(0, tokens.length - room),
      y = 4 + i * gap;
    body += words(left - 6, y + 14, label, { anchor: "end", color: "grey" });
    if (first) body += words(left, y + 14, "…", { color: "grey" });
    for (let t = first; t < tokens.length; t++) {
      const x = near(left + 14 + (t - first) * TILE),
        share = shades ? shades[t] : tokens[t] / Math.max(vocabulary - 1, 1);
      if (!alike.has(share)) alike.set(share, { tiles: "", x: [], y: [], digits: "" });
      const same = alike.get(share);
      same.tiles += `M${x} ${y}h${TILE - 2}v20h${2 - TILE}z`;
      same.x.push(x + (TILE - 2) / 2);
      same.y.push(y + 14.5);
      same.digits += tokens[t];
      if (marked.includes(t)) frames += outline(x - 1, y - 1.5, TILE, 23, color);
    }
  });
  for (const [share, { tiles, x, y, digits }] of alike) {
    const look = { anchor: "middle", color: inkOn(share) };
    body += shape("path", { d: tiles, fill: rgb(share) }) + words(x.join(" "), y.join(" "), digits, look);
  }
  const table = {
    columns: ["sequence", "tokens"],
    rows: rows.map((r) => [r.label ?? "", Array.from(r.tokens).join(" ")]),
  };
  return picture(width, rows.length * gap + 2, body + frames, alt, table);
}
