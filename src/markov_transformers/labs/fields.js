// The fields of a page: what a reader moves, chooses and types.

import { MOST_SEED, nearest, positions, read, sentence } from "./controls.js";

const TICK = 300; // ms between two steps of Play

// A new element: properties, among them children, and attributes with a hyphen or a role.
export function element(tag, { children = [], ...properties } = {}) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (key.includes("-") || key === "role" || key === "for") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children);
  return made;
}

export const box = (className, children = [], more = {}) => element("div", { className, children, ...more });
export const button = (textContent, onclick, more = {}) =>
  element("button", { type: "button", textContent, onclick, ...more });

// A control's row, and how it shows a value. The page has settings, change() and complain().
export function field(page, key, control) {
  const id = `${page.id}-${key}`;
  const row = box(`mt-lab-row mt-lab-${control.kind}`, [
    element("label", { for: id, textContent: control.label }),
  ]);
  const kinds = { slider: sliderField, choice: choiceField, seed: textField, text: textField };
  return { row, show: kinds[control.kind](page, key, control, id, row) };
}

function sliderField(page, key, control, id, row) {
  const input = element("input", { id, type: "range", min: 0, step: 1 });
  const output = element("output", { for: id });
  const values = () => positions(control, page.settings);
  input.addEventListener("input", () => page.change({ [key]: values()[input.value] }));
  row.append(output, input);
  if (control.play) row.append(playButton(page, key, values, input));
  return (value) => {
    input.max = values().length - 1;
    input.value = nearest(values(), value);
    output.textContent = control.show(value);
    input.setAttribute("aria-valuetext", control.show(value));
  };
}

function choiceField(page, key, control, id, row) {
  const option = ([value, textContent]) => element("option", { value, textContent });
  const input = element("select", { id, children: Object.entries(control.values).map(option) });
  input.addEventListener("change", () => page.change({ [key]: input.value }));
  row.append(input);
  return (value) => {
    input.value = value;
  };
}

// A field to type in: a text, or a seed, which also has a button for the next one. What is wrong with
// what stands in it stands below it.
function textField(page, key, control, id, row) {
  const hint = element("p", { className: "mt-lab-hint", id: `${id}-hint` });
  const input = element("input", {
    id,
    type: "text",
    autocomplete: "off",
    spellcheck: false,
    "aria-describedby": hint.id,
  });
  const judge = (complaint) => {
    hint.textContent = complaint || (control.note?.(page.settings) ?? "");
    hint.classList.toggle("mt-lab-wrong", complaint !== "");
    input.setAttribute("aria-invalid", String(complaint !== ""));
  };
  input.addEventListener("input", () => {
    try {
      page.change({ [key]: read(control, input.value.trim(), page.settings) });
    } catch (error) {
      judge(sentence(error.message));
    }
  });
  row.append(input);
  if (control.kind === "text") input.maxLength = control.most;
  else {
    input.inputMode = "numeric";
    const another = () => page.change({ [key]: (page.settings[key] + 1) % MOST_SEED });
    row.append(button("Another", another, { "aria-label": `Another ${control.label}` }));
  }
  row.append(hint);
  return (value) => {
    if (document.activeElement !== input) input.value = value;
    judge(control.check?.(value, page.settings) ?? "");
  };
}

// Runs a slider to its end; for those who want calm it takes one step.
function playButton(page, key, values, input) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.setAttribute("aria-pressed", "false");
    play.textContent = calm ? "Step" : "Play";
  };
  const step = () => {
    const all = values(),
      next = (nearest(all, page.settings[key]) + 1) % all.length;
    page.change({ [key]: all[next] });
    if (next === all.length - 1 || !page.root.isConnected) stop();
  };
  const play = button("", () => {
    if (timer) return stop();
    if (!calm) {
      timer = setInterval(step, TICK);
      play.setAttribute("aria-pressed", "true");
      play.textContent = "Stop";
    }
    step();
  });
  for (const moved of ["pointerdown", "keydown", "input"]) input.addEventListener(moved, stop);
  page.stop = stop;
  stop();
  return play;
}
