// The walk laboratory: the one-layer transformer of Shi and Cao (2025) learns a walk on a circle.

import { choice, seed, slider } from "./controls.js";
import { bars, heat, lines, ring, shown } from "./draw.js";
import { ExponentialLoss, HingeLoss, LogisticLoss, LogLoss, SquareLoss } from "./engine/losses.js";
import { OneLayerModel, oneLayerData } from "./engine/one_layer.js";
import { Random } from "./engine/random.js";
import { floatingGram, mixOf, unevenness } from "./engine/symmetry.js";
import { CircleWalk, distinct } from "./engine/walks.js";
import { kept } from "./worker.js";

const POSITION_DIM = 1000; // M, as in the paper
const MOST_RECORDS = 100; // iterations that a run keeps
const FOUND = 0.9; // attention from which a column counts as found
const LOSSES = {
  log: new LogLoss(0.1),
  square: new SquareLoss(),
  logistic: new LogisticLoss(),
  hinge: new HingeLoss(),
  exponential: new ExponentialLoss(),
};
const NAMES = {
  log: "log",
  square: "square",
  logistic: "logistic",
  hinge: "hinge",
  exponential: "exponential",
};
const FIGURE_6 = { start: "random", sigma: 0.01, embedding: "unit", T: 1000 };

const thousands = (n) => n.toLocaleString("en-GB");
const deterministic = ({ p }) => p === 0 || p === 1;
const population = (settings) => deterministic(settings) && settings.data === "all";
const symmetric = (settings) => population(settings) && settings.start === "zero";
const recordEvery = ({ T }) => Math.ceil(T / MOST_RECORDS);

// The iterations that are kept: 0, and on in even steps to T.
function records(settings) {
  const every = recordEvery(settings),
    all = [];
  for (let step = 0; step < settings.T; step += every) all.push(step);
  return [...all, settings.T];
}

export const lab = {
  name: "walk",
  title: "Walk laboratory",
  lead:
    "A walker steps round a circle, up with probability p and down otherwise. A small transformer " +
    "sees a walk and must name the next node. It trains here, in your browser, at every move of a slider.",
  source: "Figures and theorems of Shi and Cao (2025):",
  controls: {
    at: slider("iteration", {
      about: "The moment of training that the pictures show.",
      values: records, start: 50, redraw: true, play: true, show: thousands }),
    p: slider("step up p", {
      about: "How often the walk steps up; otherwise it steps down. At 0 and 1 nothing is left to chance.",
      values: Array.from({ length: 21 }, (_, i) => i / 20),
      start: 0.7,
      show: (v) => v.toFixed(2),
    }),
    eta: slider("learning rate η", {
      about: "How far one iteration moves the weights.",
      values: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 1000],
      start: 1,
      show: thousandsOrLess,
    }),
    T: slider("iterations T", {
      about: "How many steps of gradient descent it trains for.",
      values: [5, 10, 20, 50, 100, 200, 500, 1000, 2000],
      start: 50,
      show: thousands,
    }),
    K: slider("nodes K", {
      about: "How many nodes the circle has.",
      values: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12], start: 6 }),
    N: slider("length N", {
      about: "The last node of a walk is the one to name; it sees the N − 1 before it.",
      values: Array.from({ length: 145 }, (_, i) => i + 5), start: 97 }),
    loss: choice("loss", {
      about: "What training makes small: a function of the score that the right node gets.",
      values: NAMES, start: "log" }),
    start: choice("start", {
      about: "All weights zero, as in the theorems, or small random numbers of size σ.",
      values: { zero: "zero", random: "random" }, start: "zero" }),
    sigma: slider("scale σ", {
      about: "How large the random numbers of the start are.",
      values: [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1],
      start: 0.01,
      when: ({ start }) => start === "random",
      show: (v) => shown(v),
    }),
    data: choice("training data", {
      about: "A walk with p = 0 or 1 is known from its first node: there are K in all.",
      values: { sample: "random walks", all: "all walks, exactly" },
      start: "all",
      when: deterministic,
    }),
    arithmetic: choice("inner products of positions", {
      about: "Positions are waves whose inner products a computer rounds. Exact ones keep the symmetry, rounded ones do not.",
      values: { exact: "exact", float64: "as in float64", float32: "as in float32" },
      start: "exact",
      when: symmetric,
    }),
    walks: slider("training walks", {
      about: "How many random walks it learns from; as many new ones test it.",
      values: [30, 100, 300, 1000, 3000, 9000],
      start: 1000,
      more: true,
      show: thousands,
      when: (s) => !population(s),
    }),
    embedding: choice("embeddings", {
      about: "Whether nodes and positions enter as they are or scaled to length one.",
      values: { raw: "raw", unit: "of unit length" },
      start: "raw",
      more: true,
    }),
    seed: seed({ about: "Which random walks and which random start are drawn.", more: true }),
  },
  presets: {
    "After one step": { set: { at: 1 }, look: "One step of training makes all entries of V a little larger and leaves the attention even." },
    "Figure 4, Theorem 3.1": { set: { p: 0.5 }, look: "Half the steps go up. It still finds the last node, and says both neighbours alike." },
    "Square root of Πᵀ": { set: { T: 1000, K: 5 }, look: "On five nodes and trained for longer, V comes to the square root of the true law, not to the law that the theorem names." },
    "Figure 5, Theorem 4.1": { set: { p: 1 }, look: "Every step goes up: the easiest walk of all. It never learns, and its attention stays exactly even." },
    "Any loss: hinge": { set: { p: 1, loss: "hinge" }, look: "The same with another loss: what fails is the symmetry of the start, not the loss." },
    "One node more": { set: { p: 1, N: 98 }, look: "One node more in each walk, and the walks no longer look alike: now it learns." },
    "Rounding, float32": { set: { p: 1, arithmetic: "float32" }, look: "The same failure, with the rounding errors of 32-bit numbers: they break the symmetry, and it learns." },
    "Rounding, float64": { set: { p: 1, arithmetic: "float64" }, look: "With 64-bit numbers the errors are smaller, and yet they are enough." },
    "Figure 6 as printed": { set: { ...FIGURE_6, p: 1, data: "sample", eta: 0.01 }, look: "A random start, and the step size that the paper prints: in 1,000 iterations hardly anything happens." },
    "Figure 6, summed loss": { set: { ...FIGURE_6, p: 1, data: "sample", eta: 10 }, look: "A step 1,000 times larger, as if the loss were summed over the walks: it escapes and looks at one node." },
    "Figure 6, summed, p = 0.5": { set: { ...FIGURE_6, p: 0.5, eta: 10 }, look: "The same start and step on a random walk: it finds the last node." },
  },

  *compute(settings, memory) {
    const { p, eta, T, K, N, walks, seed } = settings;
    const began = performance.now();
    const walk = new CircleWalk(K, p);
    const inputs = [p, K, N, seed, population(settings) || walks];
    const { train, exam, path, sequences } = yield* kept(memory, "data", inputs, function* () {
      return walksFor(walk, settings, new Random(seed));
    });
    const model = new OneLayerModel(K, N, POSITION_DIM, { unitLength: settings.embedding === "unit" });
    const begin =
      settings.start === "zero" ? model.zero() : model.random(settings.sigma, new Random(seed + 1));
    const mix =
      symmetric(settings) && settings.arithmetic !== "exact"
        ? mixOf(
            model,
            yield* kept(memory, settings.arithmetic, [N], function* () {
              return floatingGram(N, POSITION_DIM, settings.arithmetic);
            }),
          )
        : null;
    const answer = (run) => ({
      settings,
      sequences,
      path,
      run: { ...run },
      law: walk.transitionMatrix().map((row) => [...row]),
      best: Math.max(p, 1 - p),
      ms: performance.now() - began,
    });
    const training = model.train(train, {
      learningRate: eta,
      steps: T,
      loss: LOSSES[settings.loss],
      start: begin,
      exam,
      mix,
      recordEvery: recordEvery(settings),
    });
    let told = began;
    for (let step = training.next(); ; step = training.next()) {
      if (step.done) return answer(step.value);
      const late = performance.now() - told > 150;
      if (late) told = performance.now();
      yield late ? answer(step.value) : undefined;
    }
  },

  describe({ settings, run, best }, { at }) {
    const i = record(run, at);
    const ended = run.diverged && i === run.iterations.length - 1;
    const now =
      `After ${thousands(run.iterations[i])} of ${thousands(settings.T)} iterations the transformer names ` +
      `the next node in ${percent(run.accuracy[i])} of new walks; the best possible on average is ${percent(best)}. `;
    if (!ended) return now + looks(settings, run.attention[i], run.accuracy[i]);
    if (i === 0)
      return "Training cannot begin: from this start some loss is infinite. Try another seed, a smaller σ or another loss.";
    return `${now}Training ended there: its numbers are no longer finite. Try a smaller learning rate.`;
  },

  status({ settings, sequences, run, ms }) {
    const data = `${population(settings) ? "all " : ""}${thousands(sequences)} walks of length ${settings.N}`;
    const time = ms < 2000 ? `${Math.round(ms)} ms` : `${shown(ms / 1000, 2)} s`;
    const effort = `${thousands(run.iterations.at(-1))} iterations, in ${time}`;
    return `trained on ${data}, ${effort}, on this computer`;
  },

  panels: [
    { name: "walk", title: "A new walk, and what comes next",
      about: "The transformer sees the nodes so far and gives each node a share. Arrows: its share for either neighbour and, in brackets, the truth.", draw: drawWalk },
    { name: "accuracy", title: "How often it is right",
      about: "Share of new walks whose next node it names. Walks are random, so a sample can beat the best possible by a little.", draw: drawAccuracy },
    {
      name: "attention",
      title: "Where it looks: mean attention on each position",
      about: "It says what stands at the places it looks at. Orange: the last node seen. The last column is empty, for the answer.",
      wide: true,
      draw: drawAttention,
    },
    { name: "value", title: "What it says: value matrix V",
      about: "What it says for each node that it looks at; the largest entry of a column is its answer.", draw: drawValue },
    { name: "profile", title: "V beside Πᵀ and its square root",
      about: "How V goes on from the node it looks at. Π holds the true probabilities; all are scaled to length one.", draw: drawProfile },
    { name: "history", title: "Where it looked, iteration by iteration",
      about: "From top to bottom the iterations that were recorded, at most 101.", wide: true, draw: drawHistory },
    { name: "kl", title: "Distance from the true law (KL)",
      about: "Zero would be the true law. It stays above zero as long as shares go to nodes that cannot come next.", draw: drawDivergence },
    { name: "uneven", title: "How uneven the attention is",
      about: "Zero would be attention exactly alike on all nodes. From there training goes on by itself, unless all walks look alike: p is 0 or 1 and N − 1 a multiple of K.", draw: drawUnevenness },
  ],
};

function walksFor(walk, settings, rng) {
  const { K, N, walks } = settings;
  const path = walk.sample(1, N, rng)[0];
  if (population(settings)) {
    const all = walk.enumerate(N),
      data = oneLayerData(all, K, { truth: walk.predict(all) });
    return { train: data, exam: data, path, sequences: all.length };
  }
  const some = () => {
    const sample = walk.sample(walks, N, rng);
    if (!deterministic(settings)) return oneLayerData(sample, K, { truth: walk.predict(sample) });
    const { walks: few, weights } = distinct(sample); // at most K of them
    return oneLayerData(few, K, { weights, truth: walk.predict(few) });
  };
  return { train: some(), exam: some(), path, sequences: walks };
}

function percent(share) {
  return `${shown(100 * share, share > 0.9995 && share < 1 ? 5 : 3)} %`;
}

function thousandsOrLess(v) {
  return v >= 1000 ? thousands(v) : String(v);
}

// The last record that is not after an iteration.
function record(run, at) {
  let i = run.iterations.length - 1;
  while (i > 0 && run.iterations[i] > at) i--;
  return i;
}

// Where the transformer looks, in a sentence.
function looks(settings, attention, accuracy) {
  const { K, N } = settings,
    tokens = attention.subarray(0, N - 1),
    empty = attention[N - 1],
    most = Math.max(...tokens);
  const guess = accuracy > 1.2 / K ? "" : "That is a guess. ";
  if (empty > FOUND)
    return `${guess}It looks at the empty column, where no node is (${percent(empty)} of its attention).`;
  const back = N - 1 - tokens.indexOf(most),
    best = Math.max(settings.p, 1 - settings.p);
  const parting = accuracy < 0.8 * best ? ", and has yet to learn what follows it" : "";
  if (most > FOUND) {
    if (back === 1)
      return `It looks at the last node alone (${percent(most)} of its attention): it has found the parent${parting}.`;
    return `It looks at one node alone (${percent(most)} of its attention), ${back} steps before the answer.`;
  }
  const { lags, share } = bestClasses(tokens, K);
  if (lags.length === 1) {
    const [lag] = lags;
    const same = deterministic(settings)
      ? `: on this walk they are all the same node, from which the answer is ${steps(lag)} on`
      : "";
    const places = `${lag}, ${lag + K}, ${lag + 2 * K}, … steps before the answer`;
    return `It looks at the nodes ${places} (${percent(share)} of its attention)${same}.`;
  }
  if (lags.length < 0.75 * K)
    return `${guess}It looks at ${lags.length} of every ${K} places (${percent(share)} of its attention).`;
  const uneven = unevenness(attention);
  const beside = empty > most ? `, and the empty column gets ${percent(empty)}` : "";
  if (uneven > 1e-9) {
    const largest = `the largest share on one node is ${percent(most)}`;
    return `${guess}Its attention is spread over the whole walk; ${largest}${beside}.`;
  }
  if (uneven > 0) {
    const digits = Math.floor(-Math.log10(uneven));
    return `${guess}Its attention on the nodes is even to ${digits} digits${beside}.`;
  }
  const round = population(settings) && (N - 1) % K === 0;
  const alike = round
    ? " So all walks look alike: N − 1 is a multiple of K, and each node occurs equally often in each."
    : "";
  return `${guess}Its attention on the nodes is exactly even${beside}.${alike}`;
}

const steps = (n) => (n === 1 ? "one step" : `${n} steps`);

// The fewest lags such that the nodes lag, lag + K, lag + 2 K ... steps before the answer have nearly all attention.
function bestClasses(tokens, K) {
  const shares = new Array(K).fill(0);
  tokens.forEach((a, j) => {
    shares[(tokens.length - j) % K] += a;
  });
  const falling = shares.map((share, lag) => ({ share, lag: lag || K })).sort((x, y) => y.share - x.share);
  const lags = [];
  let share = 0;
  for (const next of falling) {
    if (share > FOUND) break;
    lags.push(next.lag);
    share += next.share;
  }
  return { lags, share };
}

// What the transformer says after the shown walk: its scores, positive part, adding up to one.
function prediction({ settings, run, path }, i) {
  const { K, N } = settings,
    norm = settings.embedding === "unit" ? Math.sqrt(1 + (POSITION_DIM + 1) / 2) : 1;
  const z = Array.from(run.position[i], (q, j) => (j < N - 1 ? q + run.content[i][path[j]] / norm : q));
  const peak = Math.max(...z),
    weights = z.map((v) => Math.exp(v - peak)),
    total = weights.reduce((a, b) => a + b);
  const scores = Array.from({ length: K }, (_, y) =>
    weights.slice(0, N - 1).reduce((sum, w, j) => sum + (w / total) * run.value[i][y * K + path[j]], 0),
  );
  const positive = scores.map((s) => Math.max(s, 0)),
    sum = positive.reduce((a, b) => a + b);
  return positive.map((s) => (sum > 0 ? s / sum : 1 / K));
}

function drawWalk(result, { at }, width) {
  const { settings, path, run } = result,
    { K, N, p } = settings;
  const says = prediction(result, record(run, at)),
    here = path[N - 2],
    up = (here + 1) % K,
    down = (here + K - 1) % K;
  const text = (node, chance) => `${shown(says[node], 2)} (${shown(chance, 2)})`;
  return {
    ...ring({
      width,
      nodes: K,
      path: [...path.subarray(Math.max(0, N - 9), N - 1)],
      arrows: [
        { to: up, label: text(up, p), color: "vermilion" },
        { to: down, label: text(down, 1 - p), color: "green" },
      ],
      alt:
        `The last eight nodes of a new walk, which stands at node ${here}. The transformer says: ` +
        `up to node ${up} with ${shown(says[up], 2)}, truly ${shown(p, 2)}; ` +
        `down to node ${down} with ${shown(says[down], 2)}, truly ${shown(1 - p, 2)}.`,
    }),
    table: {
      columns: ["next node", "transformer", "truth"],
      rows: says.map((v, y) => [y, v, result.law[here][y]]),
    },
  };
}

function drawAccuracy({ settings, run, best }, { at }, width) {
  const i = record(run, at),
    guess = 1 / settings.K;
  return lines({
    width,
    x: { label: "iteration", min: 0, max: settings.T },
    y: { min: 0, max: 1 },
    series: [{ label: "on new walks", x: run.iterations, y: run.accuracy, color: "blue" }],
    rules: [
      { y: best, label: "best possible", color: "ink" },
      { y: guess, label: "a guess", color: "grey", dash: "2 3" },
    ],
    marks: [{ x: run.iterations[i], y: run.accuracy[i], color: "blue" }],
    alt:
      `Accuracy over iterations: from ${shown(run.accuracy[0])} to ${shown(run.accuracy.at(-1))}, ` +
      `${shown(run.accuracy[i])} at iteration ${run.iterations[i]}. ` +
      `The best possible is ${shown(best)}, a guess ${shown(guess)}.`,
  });
}

function drawAttention({ settings, run }, { at }, width) {
  const { N } = settings,
    i = record(run, at),
    attention = run.attention[i];
  const most = attention.indexOf(Math.max(...attention));
  return bars({
    width,
    height: 190,
    labels: Array.from(attention, (_, j) => j + 1),
    colors: Array.from(attention, (_, j) => (j === N - 2 ? "vermilion" : "blue")),
    x: { label: `position (the last node seen is at ${N - 1})` },
    y: { min: 0, max: Math.max(...attention) > 0.3 ? 1 : undefined },
    series: [{ label: "attention", values: [...attention], color: "blue" }],
    alt:
      `Mean attention on ${N} positions: largest, ${shown(attention[most])}, at position ${most + 1}; ` +
      `${shown(attention[N - 2])} on the last node, position ${N - 1}; ` +
      `${shown(attention[N - 1])} on the empty column.`,
  });
}

function drawValue({ settings, run }, { at }, width) {
  const { K } = settings,
    i = record(run, at),
    V = run.value[i],
    nodes = Array.from({ length: K }, (_, x) => x);
  const mean = byOffset(V, K),
    up = mean[1],
    down = mean[K - 1];
  return heat({
    width,
    values: nodes.map((y) => [...V.subarray(y * K, y * K + K)]),
    rows: nodes,
    columns: nodes,
    x: "from node",
    y: "to node",
    alt:
      `Value matrix of ${K} times ${K} numbers, from ${shown(Math.min(...V))} to ${shown(Math.max(...V))}. ` +
      `Mean entry for a step up ${shown(up)}, for a step down ${shown(down)}.`,
  });
}

// Mean entry for each step from x to x + offset (mod K).
function byOffset(V, K) {
  const mean = new Array(K).fill(0);
  V.forEach((v, i) => {
    mean[(Math.floor(i / K) - (i % K) + K) % K] += v / K;
  });
  return mean;
}

function drawProfile({ settings, run, law }, { at }, width) {
  const { K } = settings,
    V = byOffset(run.value[record(run, at)], K),
    half = Math.floor((K - 1) / 2);
  const steps = Array.from({ length: K }, (_, k) => k - half),
    at0 = steps.map((s) => (s + K) % K);
  const unit = (v) => {
    const size = Math.hypot(...v) || 1;
    return at0.map((k) => v[k] / size);
  };
  const series = [
    { label: "V", color: "blue", values: unit(V) },
    { label: "Πᵀ", color: "orange", values: unit(law[0]) },
    { label: "√Πᵀ", color: "purple", values: unit(law[0].map(Math.sqrt)) },
  ];
  const told = (k) => series.map((s) => `${s.label} ${shown(s.values[steps.indexOf(k)], 2)}`).join(", ");
  return bars({
    width,
    labels: steps.map((s) => shown(s)),
    x: { label: "step from node to node" },
    y: {},
    series,
    alt: `Mean entries by step, each scaled to length one. Step up: ${told(1)}. Step down: ${told(-1)}.`,
  });
}

function drawHistory({ settings, run }, _, width) {
  const first = Math.max(0, settings.N - 60),
    columns = Array.from({ length: settings.N - first }, (_, j) => first + j + 1);
  const top = Math.max(...run.attention.flatMap((a) => [...a]));
  const i = run.attention.findIndex((a) => Math.max(...a) > FOUND),
    found = run.attention[i];
  const told = found
    ? `From iteration ${run.iterations[i]} on more than nine tenths of it lie on position ${1 + found.indexOf(Math.max(...found))}.`
    : "No position gets more than nine tenths of it.";
  return heat({
    width,
    height: 250,
    values: run.attention.map((a) => [...a.subarray(first)]),
    rows: run.iterations,
    columns,
    min: 0,
    max: top > 0.3 ? 1 : top,
    x: first ? "position (the last 60)" : "position",
    y: "iteration",
    bar: true,
    alt: `Attention over iterations and positions. ${told}`,
  });
}

function drawDivergence({ settings, run }, { at }, width) {
  const i = record(run, at);
  return lines({
    width,
    x: { label: "iteration", min: 0, max: settings.T },
    y: { label: "nats", min: 0 },
    series: [{ label: "KL divergence", x: run.iterations, y: run.kl, color: "blue" }],
    marks: Number.isFinite(run.kl[i]) ? [{ x: run.iterations[i], y: run.kl[i], color: "blue" }] : [],
    alt:
      "Mean divergence of the prediction from the true law, in nats: " +
      `${shown(run.kl[0])} at first, ${shown(run.kl.at(-1))} at the end.`,
  });
}

function drawUnevenness({ settings, run }, { at }, width) {
  const uneven = run.attention.map(unevenness),
    i = record(run, at),
    some = uneven.filter((u) => u > 0);
  return lines({
    width,
    x: { label: "iteration", min: 0, max: settings.T },
    y: { label: "(largest − smallest) / mean", log: true, min: Math.min(1e-2, ...some), max: settings.N },
    series: [{ label: "unevenness", x: run.iterations, y: uneven, color: "vermilion" }],
    marks: uneven[i] > 0 ? [{ x: run.iterations[i], y: uneven[i], color: "vermilion" }] : [],
    alt: some.length
      ? `Largest less smallest attention on a token, over the mean: ${shown(uneven.at(-1))} at the end.`
      : "The attention on all tokens is exactly even at every iteration, so there is nothing to draw.",
    empty: some.length ? "" : "exactly even at every iteration",
  });
}
