// The page around a laboratory: controls, panels, presets, links, downloads, and the worker.
//
// HOW A LABORATORY IS MADE (see walk-lab.js for a whole one)
//
//   import { slider, choice, seed, text } from "./controls.js";
//   import { lines, heat, bars, ring, strips, COLORS } from "./draw.js";
//   import { kept } from "./worker.js";
//
//   export const lab = {
//     name: "walk",                          // letters; also in links: #lab-walk:p=0.5&eta=1
//     title: "Walk laboratory",
//     lead: "One sentence for the newcomer.",
//     source: "Whose figures and theorems the presets name:",
//     controls: {                            // in the order shown; keys are short, they go into links
//       p: slider("step up p", { values: [0, 0.1, ...], start: 0.7, show: (v) => v.toFixed(1) }),
//       loss: choice("loss", { values: { log: "log-loss", hinge: "hinge" }, start: "log" }),
//       seed: seed(),                        // whole number, default 0
//       typed: text("your sequence", { start: "0 1 2", most: 60 }),
//     },
//     presets: {                             // the other settings go to their start; "Reset" is added
//       "Theorem 3.1": { set: { p: 0.5 }, look: "One sentence: what to see there." },
//     },
//     *compute(settings, memory) { ... },    // in the worker, see below
//     describe(result, settings),            // one plain sentence: what is seen now
//     status(result, settings),              // e.g. "trained on 1,000 walks in 23 ms, on this computer"
//     panels: [{ name: "accuracy", title: "Accuracy", about: "how to read it", wide: false, control: "typed",
//                draw(result, settings, width) }],   // control: this one stands in the panel
//   };
//
// Control options besides those above, for any kind:
//   about: "…"             what it means, listed under "What the settings mean"
//   more: true             stands under "More settings"
//   when: (settings) => …  hidden while false
//   redraw: true           only draws anew from the last result; the worker is not asked
//   play: true             (slider) gets a Play button and stays in sight, to be used with redraw
//   check(text, settings)  (text) what is wrong with the text, in a sentence, or ""
//   note(settings)         (text) what stands below it when nothing is
//   values                 (slider) numbers in increasing order, or (settings) => numbers; a slider that
//                          stands at its end stays there when its numbers change
//
// compute is a generator that runs in the worker. It has the engine and everything else of the bundle
// in scope, no document. It gets plain settings by key, and `memory`, an object that lives from run to run.
//   yield { … }      the whole result so far: the page draws it; call it as pictures fill in
//   yield;           only a chance for a newer request; yield about every 10 ms
//   return { … }     the final result
//   throw new Error("…")   the message is shown to the reader, so it says in plain words what to change
// A newer request takes over at a yield as soon as this one has delivered a picture or has run 100 ms.
// `yield* kept(memory, "train", [inputs], function* () { …; return value; })` recomputes only when one
// of the inputs has changed. Results travel by structured clone: numbers, strings, arrays, typed arrays.
//
// describe returns null, and so keeps the old sentence, while a part it needs is still to come.
// A panel's draw runs on the page and returns one picture, or null if the result has nothing for it yet
// (the old picture is then dimmed). width is the room in pixels. Use the helpers of draw.js, which return
// { svg, alt, table: { columns, rows } }; alternative text, table view and both downloads follow from it.
//   lines({ width, height, alt, x: { label, log, min, max }, y: {…}, series: [{ label, x, y, color, dash,
//           marker }], rules: [{ x or y, label, color, dash }], marks: [{ x, y, color }],
//           empty: "text in place of curves" })
//   heat({ width, height, alt, values: [[…]], rows: [labels], columns: [labels], x: "label", y: "label",
//          min, max, digits, bar: true (a key to the shades), marked: [[row, column]],
//          categories: [{ label, color }] (values are then indices into it) })
//          NaN or null is an empty cell; numbers are written where there is room
//   bars({ width, height, alt, labels: […], x, y: { label, min, max }, series: [{ label, values, color }] })
//   ring({ width, height, alt, nodes, path: […], arrows: [{ to, label, color }] })
//   strips({ width, alt, rows: [{ label, tokens: […], marked: [indices], color }], vocabulary })
// A color is a name of COLORS: "blue", "vermilion", "green", "orange", "purple", "sky", "ink", "grey";
// they follow light and dark. Same thing, same color, in all panels.
//
// data-controls, data-panels and data-start of the place choose a part of a laboratory and its settings.
//
// All files are joined into one scope: top-level names must differ across engine and lab (the bundle
// refuses a clash), and only the forms `import { a, b } from "./x.js";` and `export const|function|class`
// at the start of a line are understood. No code at top level that touches the document.

import { changed, presetsOf, readLink, sentence, startOf, writeLink } from "./controls.js";
import { COLORS, shown } from "./draw.js";
import { box, button, element, field } from "./fields.js";
import { serve } from "./worker.js";

const MOST_ROWS = 200; // of a table on the page; the download has them all
const FRAME = 12; // ms of a frame that drawing may take
const CALM = 600; // ms without a change before links and screen readers are told

// Fills the laboratories of a page; in a worker, where there is no page, it computes for one.
export function start(lab, program) {
  if (typeof document === "undefined") return serve(lab.compute, self);
  for (const root of document.querySelectorAll(`.mt-lab[data-lab="${lab.name}"]:not([data-served])`)) {
    root.dataset.served = "";
    new Page(root, lab, program);
  }
}

// Connects to a worker that runs the program; where a page may have none, computes on the page.
function connect(program, compute, receive) {
  let port = null,
    asked = null;
  const listen = (to) => {
    port = to;
    port.onmessage = ({ data }) => receive(data);
    if (asked) port.postMessage(asked);
  };
  const onPage = () => {
    const channel = new MessageChannel();
    serve(compute, channel.port2);
    listen(channel.port1);
  };
  try {
    listen(new Worker(URL.createObjectURL(new Blob([`(${program})();`], { type: "text/javascript" }))));
    port.onerror = (event) => {
      event.preventDefault();
      onPage();
    };
  } catch {
    onPage();
  }
  return (request) => {
    asked = request;
    port.postMessage(request);
  };
}

class Page {
  constructor(root, lab, program) {
    const place = document.querySelectorAll(".mt-lab[data-served]").length; // so that all ids differ
    [this.root, this.lab, this.id] = [root, lab, `mt-lab-${lab.name}-${place}`];
    const linked = readLink(lab, here()),
      begun = linked ?? readLink(lab, root.dataset.start ?? "");
    this.settings = begun?.settings ?? startOf(lab);
    this.asked = 0;
    this.stop = () => {}; // what ends Play, where there is one
    this.waiting = new Set(); // panels that have yet to be drawn
    this.shown = { id: 0, result: null, done: true };
    this.pictures = 0; // drawn so far
    this.build();
    this.sync();
    this.complain(begun?.complaints ?? []);
    if (linked) root.scrollIntoView();
    this.ask = connect(program, lab.compute, (answer) => this.receive(answer));
    this.request();
    window.addEventListener("hashchange", () => this.follow());
  }

  // The page's parts -------------------------------------------------------------------------------

  build() {
    for (const [name, [light, dark]] of Object.entries(COLORS)) {
      this.root.style.setProperty(`--mt-${name}`, `light-dark(${light}, ${dark})`);
    }
    const listed = this.chosen("controls"),
      parts = this.chosen("panels");
    const every = Object.entries(this.lab.controls),
      controls = listed?.map((key) => [key, this.lab.controls[key]]) ?? every;
    this.fields = Object.fromEntries(every.map(([key, control]) => [key, field(this, key, control)]));
    this.presets = presetsOf(this.lab).map(({ name, settings, look }) => {
      const pressed = button(name, () => {
        this.stop();
        this.change(settings);
      });
      return { settings, look, button: pressed };
    });
    this.preset = null;
    const panels = parts?.map((part) => this.lab.panels.find(({ name }) => name === part));
    this.panels = (panels ?? this.lab.panels).map((panel) => this.panel(panel));
    this.message = element("p", { className: "mt-lab-message", role: "alert", hidden: true });
    this.look = element("p", { className: "mt-lab-look", role: "status" });
    this.said = element("p", { className: "mt-lab-said" }); // for the eye
    this.heard = element("p", { className: "mt-lab-heard", role: "status" }); // the same, once it has settled
    this.status = element("p", { className: "mt-lab-status" });
    const placed = this.lab.panels.map((panel) => panel.control);
    const rows = (belongs) => {
      const some = controls.filter(([key, control]) => !placed.includes(key) && belongs(control));
      return some.map(([key]) => this.fields[key].row);
    };
    const rare = rows((c) => c.more && !listed);
    const side = box("mt-lab-side", [
      box("mt-lab-controls", rows((c) => (listed || !c.more) && !c.play)),
      ...(rare.length ? [details("mt-lab-more", "More settings", [box("mt-lab-controls", rare)])] : []),
      details("mt-lab-more", "What the settings mean", [meanings(controls)]),
    ]);
    const main = box("mt-lab-main", [
      this.message,
      box("mt-lab-now", [...rows((c) => c.play), this.said]),
      this.heard,
      box(
        "mt-lab-panels",
        this.panels.map((panel) => panel.figure),
      ),
    ]);
    const presets = this.presets.map((preset) => preset.button);
    this.root.querySelector(".mt-lab-wait").remove();
    const opening = [
      element("p", { className: "mt-lab-lead", textContent: this.lab.lead }),
      box("mt-lab-presets", [element("span", { textContent: this.lab.source }), ...presets], {
        role: "group",
        "aria-label": "Presets",
      }),
      this.look,
    ];
    const whole = !listed && !parts; // a part stands in a text that says what it is
    this.root.append(
      ...(whole ? opening : []),
      box(whole ? "mt-lab-body" : "mt-lab-part", [side, main]),
      box("mt-lab-foot", [this.status, this.linkRow()]),
    );
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (Math.abs(contentRect.width - width) > 1) this.later();
      width = contentRect.width;
    }).observe(this.root);
  }

  // The names of the controls or panels that the page asks for, where it does not want all.
  chosen(kind) {
    return this.root.dataset[kind]?.split(" ").filter(Boolean);
  }

  panel({ name, title, about, wide, control, draw }) {
    const view = box("mt-lab-view");
    const table = box("mt-lab-table", [], {
      tabIndex: 0,
      role: "region",
      "aria-label": `Numbers of ${title}`,
    });
    const save = (kind) =>
      button(kind, () => this.save(name, kind), { "aria-label": `${kind}: download ${title}` });
    const numbers = details("mt-lab-numbers", "Numbers", [save("CSV"), save("SVG"), table], {
      "aria-label": `Numbers and downloads: ${title}`,
    });
    numbers.addEventListener("toggle", () => this.tabulate(name));
    const figure = element("figure", {
      className: `mt-lab-panel${wide ? " mt-lab-wide" : ""}`,
      "data-panel": name,
      children: [
        element("figcaption", { textContent: title }),
        ...(about ? [element("p", { className: "mt-lab-about", textContent: about })] : []),
        ...(control ? [this.fields[control].row] : []),
        view,
        numbers,
      ],
    });
    return { name, draw, figure, view, numbers, table, picture: null, drawn: 0 };
  }

  linkRow() {
    const invitation = "Link with these settings";
    const label = { "aria-label": "Link with all settings" };
    const link = element("input", { type: "text", readOnly: true, hidden: true, ...label });
    this.link = link;
    const copy = button(invitation, async () => {
      this.address();
      link.value = this.linkNow();
      link.hidden = false;
      link.select();
      const allowed = window.top === window; // browsers let no frame write to the clipboard
      const copied =
        allowed &&
        (await navigator.clipboard?.writeText(link.value).then(
          () => true,
          () => false,
        ));
      if (copied) copy.textContent = "Copied";
      setTimeout(() => {
        copy.textContent = invitation;
      }, 1500);
    });
    return box("mt-lab-link", [copy, link]);
  }

  linkNow() {
    return location.href.split("#")[0] + writeLink(this.lab, this.settings);
  }

  // Settings ---------------------------------------------------------------------------------------

  change(change) {
    const old = this.settings;
    this.settings = changed(this.lab, old, change);
    this.complain([]);
    this.sync();
    clearTimeout(this.calm);
    this.calm = setTimeout(() => this.address(), CALM);
    const moved = Object.keys(this.lab.controls).filter((key) => this.settings[key] !== old[key]);
    if (moved.length && moved.every((key) => this.lab.controls[key].redraw)) this.later();
    else if (moved.length) this.request();
  }

  // Bring fields and buttons in line with the settings.
  sync() {
    for (const [key, control] of Object.entries(this.lab.controls)) {
      this.fields[key].show(this.settings[key]);
      this.fields[key].row.hidden = Boolean(control.when) && !control.when(this.settings);
    }
    this.choosePreset();
    if (this.link && !this.link.hidden) this.link.value = this.linkNow();
  }

  // A preset stands for as long as the reader only looks around in what it trained.
  choosePreset() {
    const agrees = ({ settings }, keys) => keys.every((key) => settings[key] === this.settings[key]);
    const trained = ([key]) => !this.lab.controls[key].redraw;
    const keys = (preset, filter) => Object.entries(preset.settings).filter(filter).map(([key]) => key);
    const exact = this.presets.find((preset) => agrees(preset, keys(preset, () => true)));
    if (exact) this.preset = exact;
    else if (this.preset && !agrees(this.preset, keys(this.preset, trained))) this.preset = null;
    for (const preset of this.presets)
      preset.button.setAttribute("aria-pressed", String(preset === this.preset));
    this.look.textContent = this.preset?.look ?? "";
  }

  complain(sentences) {
    this.message.hidden = sentences.length === 0;
    this.message.textContent = sentences.map(sentence).join(" ");
  }

  address() {
    try {
      const link = writeLink(this.lab, this.settings);
      if (here() !== link) history.replaceState(history.state, "", link);
    } catch {
      /* A frame without an address of its own, as in some notebooks. */
    }
  }

  follow() {
    const linked = readLink(this.lab, here());
    if (!linked) return;
    this.change(linked.settings);
    this.complain(linked.complaints);
    this.root.scrollIntoView();
  }

  // Results ----------------------------------------------------------------------------------------

  request() {
    this.root.setAttribute("aria-busy", "true");
    this.ask({ id: ++this.asked, settings: this.settings });
    this.sent = this.settings;
  }

  receive({ id, result, done = true, error }) {
    if (id < this.shown.id) return;
    if (error === undefined) {
      this.shown = { id, result, done };
      this.waiting = new Set(this.panels);
      if (!this.frame) this.draw(); // so that it is in the next frame
    } else if (id === this.asked) {
      this.complain([error]);
      this.root.setAttribute("aria-busy", "false");
    }
  }

  later() {
    this.waiting = new Set(this.panels);
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  // Draws what fits into a slice of a frame and goes on in the next: what is in sight first, and of
  // that what has waited longest, so that under many moves no picture waits for ever.
  draw() {
    this.frame = 0;
    if (!this.shown.result) return;
    const { id, result, done } = this.shown,
      began = performance.now();
    const places = new Map(this.panels.map((panel) => [panel, panel.view.getBoundingClientRect()]));
    const hidden = (panel) => places.get(panel).bottom < 0 || places.get(panel).top > window.innerHeight;
    const order = [...this.waiting].sort((x, y) => hidden(x) - hidden(y) || x.drawn - y.drawn);
    for (const panel of order) {
      if (performance.now() - began > FRAME) break;
      this.drawPanel(panel, result, Math.max(places.get(panel).width, 240));
      this.waiting.delete(panel);
      panel.drawn = ++this.pictures;
    }
    this.said.textContent = this.lab.describe(result, this.settings) ?? this.said.textContent;
    this.status.textContent = this.lab.status(result, this.settings);
    if (this.waiting.size) this.frame = requestAnimationFrame(() => this.draw());
    else this.drawn(id, done);
  }

  // All panels show a result: say so to whoever measures, and, if it is the last one, to the reader.
  drawn(id, done) {
    this.root.dispatchEvent(new CustomEvent("drawn", { detail: { id, done } }));
    if (!done || id < this.asked) return;
    this.root.setAttribute("aria-busy", "false");
    clearTimeout(this.quiet);
    this.quiet = setTimeout(() => {
      this.heard.textContent = this.said.textContent;
    }, CALM);
  }

  drawPanel(panel, result, width) {
    const drawn = panel.draw(result, this.settings, width);
    panel.figure.classList.toggle("mt-lab-old", drawn === null);
    if (drawn === null) return;
    if (panel.picture?.svg !== drawn.svg) panel.view.innerHTML = drawn.svg;
    panel.picture = drawn;
    if (panel.numbers.open) this.tabulate(panel.name);
  }

  tabulate(name) {
    const { numbers, table, picture } = this.panels.find((p) => p.name === name);
    if (!numbers.open || !picture) return;
    const { columns, rows } = picture.table;
    const cell = (value, tag) => element(tag, { textContent: shown(value, 5) });
    const line = (cells, tag) => element("tr", { children: cells.map((value) => cell(value, tag)) });
    const head = element("thead", { children: [line(columns, "th")] });
    const body = element("tbody", { children: rows.slice(0, MOST_ROWS).map((row) => line(row, "td")) });
    table.replaceChildren(element("table", { children: [head, body] }));
    if (rows.length <= MOST_ROWS) return;
    table.append(
      element("p", {
        textContent: `The first ${MOST_ROWS} of ${rows.length} rows; the CSV file has them all.`,
      }),
    );
  }

  save(name, kind) {
    const { picture } = this.panels.find((p) => p.name === name);
    if (!picture) return;
    const [content, type] =
      kind === "CSV"
        ? [commaSeparated(picture.table), "text/csv"]
        : [standalone(picture.svg), "image/svg+xml"];
    const href = URL.createObjectURL(new Blob([content], { type }));
    const link = element("a", { href, download: `${this.lab.name}-${name}.${kind.toLowerCase()}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
}

function details(className, summary, children, naming = {}) {
  const opener = element("summary", { textContent: summary, ...naming });
  return element("details", { className, children: [opener, ...children] });
}

function meanings(controls) {
  const told = controls.filter(([, control]) => control.about);
  const pair = ([, { label, about }]) => [
    element("dt", { textContent: label }),
    element("dd", { textContent: about }),
  ];
  return element("dl", { className: "mt-lab-meanings", children: told.flatMap(pair) });
}

function here() {
  try {
    return location.hash;
  } catch {
    return "";
  }
}

function commaSeparated({ columns, rows }) {
  const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const cell = (value) => quoted(String(value ?? ""));
  return `${[columns, ...rows].map((row) => row.map(cell).join(",")).join("\n")}\n`;
}

// A picture that needs no page around it: light shades in place of the page's, on white.
function standalone(svg) {
  return svg
    .replace(/var\(--mt-(\w+)\)/g, (_, name) => COLORS[name][0])
    .replace(">", `><rect width="100%" height="100%" fill="${COLORS.paper[0]}"/>`);
}
