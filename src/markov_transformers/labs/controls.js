// What a reader can set, and how settings travel in a link.

export const MOST_SEED = 2 ** 31 - 1;

export const slider = (label, options) => ({ kind: "slider", label, show: String, ...options });
export const choice = (label, options) => ({ kind: "choice", label, ...options });
export const seed = (options) => ({ kind: "seed", label: "seed", start: 0, ...options });
export const text = (label, options) => ({ kind: "text", label, start: "", most: 100, ...options });

export function positions(control, settings) {
  return typeof control.values === "function" ? control.values(settings) : control.values;
}

// The place of a value on a slider, or of the position nearest to it.
export function nearest(values, value) {
  let best = 0;
  values.forEach((v, i) => {
    if (Math.abs(v - value) < Math.abs(values[best] - value)) best = i;
  });
  return best;
}

export function startOf(lab) {
  return settled(lab, Object.fromEntries(Object.entries(lab.controls).map(([key, c]) => [key, c.start])));
}

// Settings whose sliders stand on one of their positions, which may depend on the others.
export function settled(lab, settings) {
  const all = { ...settings };
  for (const [key, control] of Object.entries(lab.controls)) {
    if (control.kind !== "slider") continue;
    const values = positions(control, all);
    all[key] = values[nearest(values, all[key])];
  }
  return all;
}

// Settings after a change. A slider that stood at its end, and whose end moves, stays there.
export function changed(lab, old, change) {
  const all = { ...old, ...change };
  for (const [key, control] of movable(lab)) {
    if (!(key in change) && old[key] === control.values(old).at(-1)) all[key] = control.values(all).at(-1);
  }
  return settled(lab, all);
}

const movable = (lab) => Object.entries(lab.controls).filter(([, c]) => typeof c.values === "function");

export function presetsOf(lab) {
  const start = startOf(lab);
  const preset = ([name, { set, look }]) => ({ name, settings: withoutTexts(changed(lab, start, set)), look });
  const texts = Object.keys(lab.controls).filter((key) => lab.controls[key].kind === "text");
  const withoutTexts = (settings) => {
    for (const key of texts) delete settings[key]; // a preset leaves what the reader typed
    return settings;
  };
  return [{ name: "Reset", settings: start }, ...Object.entries(lab.presets).map(preset)];
}

// The value that a text in a link or a field stands for; throws a message fit for the reader.
export function read(control, written, settings) {
  const number = /^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(written) ? Number(written) : NaN;
  if (control.kind === "slider") {
    const values = positions(control, settings);
    const value = values[nearest(values, number)];
    if (!(Math.abs(value - number) <= 1e-9 * Math.abs(value))) {
      throw new Error(`${control.label} takes the slider's values from ${values[0]} to ${values.at(-1)}`);
    }
    return value;
  }
  if (control.kind === "choice") {
    if (!Object.hasOwn(control.values, written)) {
      throw new Error(`${control.label} is one of ${Object.keys(control.values).join("; ")}`);
    }
    return written;
  }
  if (control.kind === "seed") {
    if (!Number.isInteger(number) || number < 0 || number > MOST_SEED) {
      throw new Error(`${control.label} is a whole number from 0 to ${MOST_SEED}`);
    }
    return number;
  }
  if (written.length > control.most || /[\u0000-\u001f]/.test(written)) {
    throw new Error(`${control.label} is a text of at most ${control.most} characters`);
  }
  return written;
}

const opening = (lab) => `#lab-${lab.name}:`;

// The link's part after "#": only what differs from the start, so that links stay short.
export function writeLink(lab, settings) {
  const start = startOf(lab),
    parts = new URLSearchParams();
  for (const key of Object.keys(lab.controls))
    if (settings[key] !== start[key]) parts.set(key, settings[key]);
  return opening(lab) + parts;
}

// Settings from a link, and what in it could not be used; null if the link is not for this laboratory.
export function readLink(lab, hash) {
  if (!hash.startsWith(opening(lab))) return null;
  const given = new URLSearchParams(hash.slice(opening(lab).length));
  const unknown = [...new Set(given.keys())].filter((key) => !Object.hasOwn(lab.controls, key));
  const complaints = unknown.length
    ? [`there is no control called ${unknown.slice(0, 3).map(cut).join(", ")}`]
    : [];
  let settings = startOf(lab);
  const take = ([key, control]) => {
    const written = given.get(key);
    if (written === null) return;
    try {
      settings = changed(lab, settings, { [key]: read(control, written, settings) });
    } catch (error) {
      complaints.push(`${error.message}, not ${cut(written)}`);
    }
  };
  const last = movable(lab); // their positions depend on the other controls
  Object.entries(lab.controls)
    .filter(([key]) => !last.some(([other]) => other === key))
    .forEach(take);
  last.forEach(take);
  return { settings, complaints };
}

export const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1).replace(/\.$/, "")}.`;
const cut = (written) => `“${written.length > 20 ? `${written.slice(0, 20)}…` : written}”`;
