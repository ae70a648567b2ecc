// The induction laboratory: a two-layer transformer that trains in three stages. Chen et al. (2024).

import { Random } from "./engine/random.js";
import { DirichletPrior } from "./engine/chains.js";
import { copyingGapThreshold, informationOfSubsets, informationSet } from "./engine/information.js";
import { BayesOptimal, GeneralizedInductionHead, Unigram, bestReport, meanLoss } from "./engine/induction.js";
import { WindowCounts } from "./engine/windows.js";
import { StagedModel, attention, reader } from "./engine/staged.js";
import { PAPER_DURATIONS, flow, shares, threeStages } from "./engine/dynamics.js";
import { choice, nearest, seed, slider, text } from "./controls.js";
import { bars, heat, lines, shown, strips, tilesIn } from "./draw.js";
import { kept } from "./worker.js";

const OTHER = 0.01; // logit of the lags that are not a head's own, as in the paper
const TOLERANCE = 1e-4; // relative, of the flow: below what a picture shows
const ALPHAS = [0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3];
const GAPS = [0, 0.5, 1, 1.5, 2, 2.5, 2.99, 3.5, 3.99, 4.5, 4.99, 6, 7, 8, 9, 10];
const MAP_ALPHAS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2];
const MAP_GAPS = [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8];
const MAP_CHAINS = 500;
const LENGTHS = [10, 20, 50, 100, 200, 400, 1000];
const LENGTH_CHAINS = 400;
const STEPS = 15; // moments kept of each stage
const STAGE_NAMES = ["I", "II", "III"];
const WON = 0.95; // share from which a set has won Stage I
const FAINT = 0.1; // scale a up to which matches hardly change the output
const PATIENT = 300; // ms of training after which a stage that is done is shown by itself

const SET_LOOKS = {
  "": ["grey", "2 3"], 1: ["sky", "7 4"], 2: ["green", "7 4"], 3: ["orange", "7 4"],
  "1,2": ["blue", ""], "1,3": ["purple", ""], "2,3": ["vermilion", ""],
  "1,4": ["purple", "9 3 2 3"], "2,4": ["purple", "9 3 2 3"], "1,2,3": ["purple", "9 3 2 3"],
};
const MORE_COLORS = ["sky", "green", "orange", "purple", "vermilion", "blue"];

const setName = (set) => (set.length ? `{${set.join(", ")}}` : "∅");
const setColor = (set) => (SET_LOOKS[set] ?? [MORE_COLORS[set.reduce((sum, lag) => sum + lag * lag, 0) % 6]])[0];
const setDash = (set) => (SET_LOOKS[set] ?? ["", "9 3 2 3"])[1];
const percent = (share) => `${shown(Math.round(1000 * share) / 10)} %`;
const rounded = (share) => Math.round(1000 * share) / 1000;
const indexOfLargest = (values) => values.indexOf(Math.max(...values));
const geometric = (from, to, n) => Array.from({ length: n }, (_, i) => from * (to / from) ** (i / (n - 1)));
const parentsOf = (s) => s.lags.split(",").map(Number);

// What runs in the worker ----------------------------------------------------------------------------

function* computeInduction(s, memory) {
  const began = performance.now(), parents = parentsOf(s);
  if (s.descent === "descent" && s.two > PAPER_DURATIONS[1])
    throw new Error("Gradient descent takes one step in each unit of time: for so long a Stage II choose the flow");
  const source = [s.d, s.lags, s.alpha, s.chains, s.length, s.seed];
  const sequences = yield* kept(memory, "sequences", source, () => draw(s, parents));
  const counts = yield* kept(memory, "counts", [source, s.window], function* () {
    const all = new WindowCounts(s.window, s.d);
    for (const tokens of sequences) {
      all.add(tokens);
      yield;
    }
    return all;
  });
  const model = new StagedModel(counts, s.degree, { epsilon: s.epsilon });
  const start = model.initialParameters({ own: OTHER + s.gap, other: OTHER, a: s.a });
  const durations = [PAPER_DURATIONS[0], s.two, PAPER_DURATIONS[2]];
  const settings = s.descent === "descent" ? { learningRate: 1 } : { rtol: TOLERANCE };
  const result = { settings: s, parents, sets: model.sets, durations };
  const training = threeStages(model, start, durations, settings);
  for (let step = training.next(); ; step = training.next()) {
    const slow = performance.now() - began > PATIENT;
    if (step.done || (step.value && slow)) Object.assign(result, followed(model, step.value, durations));
    yield step.value && slow ? result : undefined;
    if (step.done) break;
  }
  result.examples = sequences.slice(0, 4);
  result.took = performance.now() - began;
  yield result;
  const information = yield* kept(memory, "information", [source, s.window, s.degree], function* () {
    return informationOfSubsets(sequences, s.window, s.d, s.degree);
  });
  yield;
  const rivals = rivalsOf(s, parents, informationSet(information).subset);
  const compared = [source, s.window, s.epsilon, rivals.map(({ label }) => label)];
  result.losses = yield* kept(memory, "losses", compared, function* () {
    const losses = [];
    for (const { predict } of rivals) {
      losses.push(meanLoss(predict, sequences, s.epsilon));
      yield;
    }
    return losses;
  });
  result.information = information;
  result.rivals = rivals.map(({ label, set }) => ({ label, set }));
  yield result;
  result.lengths = yield* overLengths(s, parents, rivals, model.sets, result.states.at(-1));
  yield result;
  yield* selectionMap(s, parents, memory, result);
  return result;
}

function* draw(s, parents) {
  const prior = new DirichletPrior(s.d, parents, s.alpha), rng = new Random(s.seed), sequences = [];
  for (let n = 0; n < s.chains; n++) {
    sequences.push(prior.sampleChain(rng).sample(s.length + 1, rng));
    yield;
  }
  return sequences;
}

// The run as the pictures need it: the states at some moments of each stage, and curves.
function followed(model, run, durations) {
  const moments = [{ stage: 0, time: 0 }], ends = run.stageEnds;
  ends.forEach((end, stage) => {
    for (const time of geometric([0.1, 10, 0.5][stage], durations[stage], STEPS)) moments.push({ stage, time });
  });
  const began = [0, ...ends];
  const states = moments.map(({ stage, time }) => {
    const state = run.at(Math.min(began[stage] + time, ends[stage]));
    const sigma = attention(state.w, model.counts.window);
    return { ...state, stage, time, loss: model.loss(state), p: shares(state.c), attention: sigma };
  });
  const raceTimes = geometric(0.03, durations[0], 120), growthTimes = geometric(0.3, durations[2], 100);
  const p = raceTimes.map((time) => shares(run.at(time).c));
  const race = { times: raceTimes, shares: model.sets.map((_, S) => p.map((row) => row[S])) };
  if (ends.length < 3) return { states, race };
  const a = growthTimes.map((time) => run.at(Math.min(ends[1] + time, ends[2])).a);
  return { states, race, growth: { times: growthTimes, a } };
}

// What the trained transformer is compared with. All but the last predict from the context alone.
function rivalsOf(s, parents, star) {
  const head = new GeneralizedInductionHead(star, s.window), bayes = new BayesOptimal(parents, s.alpha);
  return [
    { label: "frequencies", set: [], predict: (context) => new Unigram().predict(context, s.d) },
    { label: `induction head ${setName(star)}`, set: star, predict: (context) => head.predict(context, s.d) },
    { label: "best possible", predict: (context) => bestReport(bayes.predict(context, s.d), s.epsilon) },
  ];
}

// Loss over the context length on fresh chains, averaged over the target exactly.
function* overLengths(s, parents, rivals, sets, trained) {
  const prior = new DirichletPrior(s.d, parents, s.alpha), rng = new Random(s.seed + 1);
  const read = reader(sets, s.window, s.d, trained);
  const predictors = [(context) => read(context).law, ...rivals.map(({ predict }) => predict)];
  const losses = predictors.map(() => new Float64Array(LENGTHS.length));
  for (let n = 0; n < LENGTH_CHAINS; n++) {
    const chain = prior.sampleChain(rng), tokens = chain.sample(LENGTHS.at(-1), rng), law = chain.predict(tokens);
    LENGTHS.forEach((length, i) => predictors.forEach((predict, k) => {
      const report = predict(tokens.subarray(-length));
      const loss = law.reduce((sum, mass, x) => sum - mass * Math.log(report[x] + s.epsilon), 0);
      losses[k][i] += loss / LENGTH_CHAINS;
    }));
    yield;
  }
  return losses;
}

// Which set wins Stage I over the plane of concentration and copying gap; it fills in.
function* selectionMap(s, parents, memory, result) {
  const inputs = [s.d, s.lags, s.length, s.window, s.degree, s.a, s.epsilon, s.seed];
  const map = yield* kept(memory, "map", inputs, function* () {
    return { winners: MAP_GAPS.map(() => Array(MAP_ALPHAS.length).fill(null)), done: 0 };
  });
  result.map = map;
  for (; map.done < MAP_ALPHAS.length; map.done++) {
    const chains = s.window < 4 ? MAP_CHAINS : MAP_CHAINS / 5; // long windows have many kinds of key
    const sequences = yield* draw({ ...s, alpha: MAP_ALPHAS[map.done], chains }, parents);
    const counts = WindowCounts.fromTokens(sequences, s.window, s.d);
    const model = new StagedModel(counts, s.degree, { epsilon: s.epsilon });
    for (const [row, gap] of MAP_GAPS.entries()) {
      const start = model.initialParameters({ own: OTHER + gap, other: OTHER, a: s.a });
      const run = yield* flow(model, start, PAPER_DURATIONS[0], "c", { rtol: 1e-3 });
      const p = shares(run.end.c), best = indexOfLargest(p);
      map.winners[row][map.done] = p[best] < WON ? model.sets.length : best;
    }
    yield result;
  }
}

// What the page shows --------------------------------------------------------------------------------

// The transformer is trained; its rivals have yet to be measured.
const comparing = ({ growth, losses }) => Boolean(growth) && !losses;
const momentOf = (result, s) => result.states[Math.min(s.moment, result.states.length - 1)];

function momentName(moment) {
  if (moment === 0) return "start";
  const stage = Math.ceil(moment / STEPS) - 1, step = moment - stage * STEPS;
  return step === STEPS ? `end of Stage ${STAGE_NAMES[stage]}` : `Stage ${STAGE_NAMES[stage]}, ${step} of ${STEPS}`;
}

function describeInduction(result, s) {
  if (comparing(result)) return null;
  const { sets, states, losses, rivals } = result, { window } = result.settings, now = momentOf(result, s);
  if (now.time === 0) return describeStart(result, now);
  const best = indexOfLargest(Array.from(now.p));
  const looks = sets[best].map((h, n) => {
    const sigma = Array.from(now.attention.subarray((h - 1) * window, h * window)), lag = indexOfLargest(sigma);
    return `head ${h} gives ${percent(sigma[lag])} ${n ? "" : "of its attention "}to lag ${lag + 1}`;
  });
  if (now !== states.at(-1) || !losses) return describeMoment(result, now, looks.join(", "));
  const race = now.p[best] < WON ? `No set has won Stage I: ${leaders(sets, now.p, ["leads with", "lead with"])}`
    : `Stage I chose ${setName(sets[best])}, ${relation(sets[best], result)}`;
  const { a, loss } = states[2 * STEPS]; // where Stage III began
  return `${race}. After Stage II ${looks.join(" and ") || "no head matters"}. `
    + `Stage III ${moved("a", a, now.a)} and ${moved("the loss", loss, now.loss)}; `
    + `the ${rivals[1].label} has ${shown(losses[1])}, the best possible is ${shown(losses[2])}.`;
}

// Who has how much of the weight; a lead that no reader could see in the picture is none.
function leaders(sets, p, [one, several]) {
  const most = Math.max(...p), level = sets.filter((_, S) => p[S] > 0.98 * most).map(setName);
  if (level.length === 1) return `${level[0]} ${one} ${percent(most)}`;
  return `${level.slice(0, -1).join(", ")} and ${level.at(-1)} ${several} ${percent(most)} each`;
}

function describeStart({ sets, settings: { gap, a } }, { loss }) {
  const heads = gap > 0 ? "every head leans towards its own lag" : "every head looks at all lags alike";
  const output = a <= FAINT ? "the output is nearly the frequencies of the tokens"
    : `with a scale a of ${shown(a)} matches have votes already`;
  return `Before training. All ${sets.length} sets of lags have the same weight, ${heads}, and ${output}. `
    + `The loss is ${shown(loss)}.`;
}

function moved(what, from, to) {
  const [before, after] = [shown(from), shown(to)];
  if (before === after) return `left ${what} at ${after}`;
  return `${to > from ? "raised" : "lowered"} ${what} from ${before} to ${after}`;
}

function describeMoment(result, { stage, time, p, a, loss }, looks) {
  const elapsed = time < 100 ? shown(time, 2) : Math.round(time).toLocaleString("en");
  const weight = `of the weight ${leaders(result.sets, p, ["has", "have"])}`;
  const what = [weight, looks || "no head matters", `the scale a is ${shown(a)}`];
  const clock = `Stage ${STAGE_NAMES[stage]} at time ${elapsed} of ${result.durations[stage].toLocaleString("en")}`;
  return `${clock}: ${what[stage]}. The loss is ${shown(loss)}.`;
}

function relation(set, { parents, settings: { window, degree } }) {
  const [noun, verb] = parents.length > 1 ? ["parents", "are"] : ["parent", "is"];
  if (String(set) === String(parents)) return `the ${noun}`;
  const far = parents.filter((lag) => lag > window);
  const why = far.length ? `, of which no head can see lag ${far.join(" and ")}`
    : parents.length > degree ? `, too many for one set` : "";
  return `while the ${noun} ${verb} ${setName(parents)}${why}`;
}

function drawRace(result, s, width) {
  const { sets, race } = result, now = momentOf(result, s), best = indexOfLargest(Array.from(now.p));
  const familiar = (set) => set.length < 3 && set.every((lag) => lag < 4);
  const named = sets.map((set, S) => familiar(set) || Math.max(...race.shares[S]) > 0.3);
  const series = sets.map((set, S) => ({
    label: named[S] ? setName(set) : S === named.indexOf(false) ? "others" : undefined, x: race.times, y: race.shares[S],
    color: named[S] ? setColor(set) : "line", dash: setDash(set), thin: !named[S],
  }));
  const final = race.shares.map((values) => values.at(-1)), winner = indexOfLargest(final);
  return lines({
    width, height: 250, series,
    alt: `Shares of ${sets.length} sets of lags over the time of Stage I. ${setName(sets[winner])} ends with `
      + `${percent(final[winner])}.`,
    x: { label: "time in Stage I", log: true }, y: { label: "share p_S", min: 0, max: 1 },
    marks: now.stage ? [] : [{ x: Math.max(now.time, race.times[0]), y: now.p[best], color: setColor(sets[best]) }],
  });
}

function drawHeads(result, s, width) {
  const { window } = result.settings, [start] = result.states, now = momentOf(result, s);
  const lags = Array.from({ length: window }, (_, i) => i + 1);
  const looks = ({ attention }, h) => Array.from(attention.subarray((h - 1) * window, h * window), rounded);
  const changes = (h) => `head ${h} from ${percent(looks(start, h)[h - 1])} to ${percent(looks(now, h)[h - 1])}`;
  const picture = heat({
    width, x: "lag", columns: lags, min: 0, max: 1,
    values: lags.flatMap((h) => [looks(start, h), looks(now, h)]),
    rows: lags.flatMap((h) => [`head ${h}, start`, "now"]),
    alt: `Attention of each head, at the start and now. On its own lag: ${lags.map(changes).join(", ")}.`,
  });
  const line = (when, state) => (h) => [h, when, ...state.attention.subarray((h - 1) * window, h * window)];
  const rows = lags.flatMap((h) => [line("start", start)(h), line("now", now)(h)]);
  return { ...picture, table: { columns: ["head", "when", ...lags.map((lag) => `lag ${lag}`)], rows } };
}

function drawGrowth(result, s, width) {
  if (!result.growth) return null;
  const { times, a } = result.growth, now = momentOf(result, s), began = result.states[2 * STEPS];
  return lines({
    width, height: 200, alt: `Stage III ${moved("the scale a", began.a, a.at(-1))}.`,
    x: { label: "time in Stage III", log: true }, y: { label: "scale a", min: 0 },
    series: [{ label: "scale a", x: times, y: a, color: "ink" }],
    marks: now.stage === 2 ? [{ x: now.time, y: now.a, color: "ink" }] : [],
  });
}

const rivalLooks = ({ set }) => (set ? { color: setColor(set), dash: "5 4" } : { color: "ink", dash: "2 3" });

function drawLoss(result, s, width) {
  if (comparing(result)) return null;
  const { states, losses, rivals } = result, at = Math.min(s.moment, states.length - 1);
  const rules = (losses ?? []).map((y, k) => ({ y, label: rivals[k].label, ...rivalLooks(rivals[k]) }));
  return lines({
    width, height: 250,
    alt: `Loss from ${shown(states[0].loss)} before training to ${shown(states.at(-1).loss)} after it. `
      + `${rules.map(({ label, y }) => `${label}: ${shown(y)}`).join("; ")}.`,
    x: { label: `moment: Stage I to ${STEPS}, II to ${2 * STEPS}, III to ${3 * STEPS}`, min: 0, max: 3 * STEPS },
    y: { label: "loss" },
    series: [{ label: "transformer", x: states.map((_, i) => i), y: states.map(({ loss }) => loss), color: "ink" }],
    rules: [...rules, ...[STEPS, 2 * STEPS].map((x) => ({ x, color: "line", dash: "" }))],
    marks: [{ x: at, y: states[at].loss, color: "ink" }],
  });
}

function drawInformation(result, s, width) {
  if (!result.information) return null;
  const fit = Math.max(4, Math.floor(width / 46));
  const some = [...result.information].sort((x, y) => y.value - x.value).slice(0, fit);
  const { subset, value, gap } = informationSet(result.information);
  const needed = copyingGapThreshold(value, gap, result.settings.window);
  return bars({
    width,
    alt: `Modified information of the sets of lags. The information set is ${setName(subset)} with ${shown(value)}; `
      + `Theorem 3.6 asks for a copying gap of ${shown(needed)}.`,
    labels: some.map((entry) => entry.subset.join(",") || "∅"),
    x: { label: `Theorem 3.6 asks for a copying gap of ${shown(needed)}`, name: "set of lags" },
    y: { label: "modified χ²-information of each set" },
    series: [{ label: "modified information", values: some.map((entry) => entry.value), color: "blue" }],
    colors: some.map((entry) => setColor(entry.subset)),
  });
}

function drawLengths(result, s, width) {
  if (!result.lengths) return null;
  const [transformer, ...others] = result.lengths;
  return lines({
    width, height: 250,
    alt: `Loss on fresh chains over the context length. The transformer has ${shown(transformer[0])} at `
      + `${LENGTHS[0]} tokens and ${shown(transformer.at(-1))} at ${LENGTHS.at(-1)}.`,
    x: { label: "context length L", log: true, min: 9, max: 1200 }, y: { label: "loss" },
    series: [
      { label: "transformer", x: LENGTHS, y: transformer, color: "ink", marker: true },
      ...others.map((y, k) => ({ label: result.rivals[k].label, x: LENGTHS, y, ...rivalLooks(result.rivals[k]) })),
    ],
  });
}

function drawMap(result, s, width) {
  if (!result.map) return null;
  const { winners } = result.map, { alpha, gap } = result.settings;
  const seen = [...new Set(winners.flat().filter((S) => S !== null))].sort((x, y) => x - y);
  const look = (S) => result.sets[S] ? { label: setName(result.sets[S]), color: setColor(result.sets[S]) }
    : { label: "none", color: "line" };
  const row = MAP_GAPS.length - 1 - nearest(MAP_GAPS, gap);
  const column = nearest(MAP_ALPHAS.map(Math.log), Math.log(alpha));
  return heat({
    width, height: 300, marked: [[row, column]],
    alt: "Which set wins Stage I over concentration and copying gap. "
      + `Winners: ${seen.map((S) => look(S).label).join(", ")}. The framed cell is nearest to the settings.`,
    x: "concentration α", y: "copying gap Δw", rows: [...MAP_GAPS].reverse(), columns: MAP_ALPHAS,
    values: [...winners].reverse().map((line) => line.map((S) => (S === null ? null : seen.indexOf(S)))),
    categories: seen.map(look),
  });
}

function drawExamples(result, s, width) {
  if (!result.examples) return null;
  return strips({
    width, vocabulary: result.settings.d,
    alt: "The ends of four training chains; the last token of each is to be predicted.",
    rows: result.examples.map((tokens, n) => ({
      label: `chain ${n + 1}`, tokens: Array.from(tokens), marked: [tokens.length - 1], color: "ink",
    })),
  });
}

const isToken = (d) => (x) => x >= "0" && x < String(d);
const typedTokens = (result, s) => Uint8Array.from([...s.typed].filter(isToken(result.settings.d)));

// What is wrong with a sequence that a reader types, in a sentence.
function checkTyped(typed, { d, window }) {
  const signs = [...typed].filter((x) => !/[\s,;]/.test(x)), others = signs.filter((x) => !isToken(d)(x));
  const left = [...new Set(others)].join(" ");
  if (left) return `Only digits from 0 to ${d - 1} are tokens here; left out: ${left}`;
  return signs.length > window ? "" : `Type at least ${window + 1} digits from 0 to ${d - 1}.`;
}

function reading(result, s) {
  const context = typedTokens(result, s), { window, d } = result.settings;
  if (context.length < window + 1) return null;
  return { context, ...reader(result.sets, window, d, momentOf(result, s))(context) };
}

function drawLook(result, s, width) {
  const found = reading(result, s);
  if (!found) return null;
  const { context, weights } = found, { window, d } = result.settings, tokens = Array.from(context);
  const attention = [...Array(window).fill(0), ...weights], most = Math.max(...attention);
  const fit = tilesIn(width, "100 to 100"), rows = [];
  for (let first = 0; first < tokens.length; first += fit) {
    const row = tokens.slice(first, first + fit), label = `${first + 1} to ${first + row.length}`;
    rows.push({ label, tokens: row, shades: attention.slice(first, first + fit).map((share) => share / most) });
  }
  const told = attention.map((share, place) => (place < window ? "none" : percent(share)));
  const picture = strips({
    width, rows, vocabulary: d,
    alt: `Attention of the second layer on each token of ${tokens.join(" ")}: ${told.join(", ")}.`,
  });
  const line = (token, place) => [place + 1, token, place < window ? "" : attention[place]];
  return { ...picture, table: { columns: ["place", "token", "attention"], rows: tokens.map(line) } };
}

function drawNext(result, s, width) {
  const found = reading(result, s);
  if (!found) return null;
  const { d, window } = result.settings, now = momentOf(result, s);
  const chosen = result.sets[indexOfLargest(Array.from(now.p))];
  const head = new GeneralizedInductionHead(chosen, window).predict(found.context, d);
  const labels = Array.from({ length: d }, (_, x) => String(x));
  const told = (x) => `transformer ${percent(found.law[x])}, induction head ${percent(head[x])}`;
  return bars({
    width, labels, x: { label: "next token" }, y: { label: "probability", min: 0, max: 1 },
    alt: `Next token. ${labels.map((x) => `${x}: ${told(x)}`).join("; ")}.`,
    series: [
      { label: "transformer", values: Array.from(found.law), color: "ink" },
      { label: `induction head ${setName(chosen)}`, values: Array.from(head), color: setColor(chosen) },
    ],
  });
}

export const lab = {
  name: "induction",
  title: "Induction laboratory",
  lead: "A two-layer transformer learns to predict random sequences from their own past. At every move of a "
    + "slider it trains again from scratch, in your browser. Stage I decides which earlier tokens matter, Stage II "
    + "makes each head look at one of them, Stage III makes matching places vote.",
  source: "Figures and theorems of Chen et al. (2024):",
  controls: {
    alpha: slider("concentration α", {
      about: "How random the chains are. Near 0 the parents nearly decide the next token; above 1 they say little about it.",
      values: ALPHAS, start: 0.1 }),
    gap: slider("copying gap Δw", {
      about: "How much more each head likes its own lag than the others before training. At 0 it looks at all lags alike.",
      values: GAPS, start: 2.99 }),
    chains: slider("chains", {
      about: "How many sequences it learns from, each from a chain of its own.",
      values: [100, 300, 1000, 3000, 9000], start: 1000, show: (n) => n.toLocaleString("en") }),
    length: slider("length L", {
      about: "How many tokens it sees before the one that it must name.",
      values: [20, 50, 100, 200, 400], start: 100 }),
    lags: choice("lags of the parents", {
      about: "How far back the tokens stand that decide the next one. The transformer is not told.",
      start: "1,2", values: Object.fromEntries(
      ["1", "2", "3", "1,2", "1,3", "2,3", "1,4", "1,2,3"].map((lags) => [lags, lags.replaceAll(",", ", ")])) }),
    seed: seed({ start: 2, about: "Which random chains are drawn." }),
    moment: slider("moment of training", {
      about: "The moment that the pictures show: 15 in each of the three stages.",
      values: Array.from({ length: 3 * STEPS + 1 }, (_, i) => i), start: 3 * STEPS, show: momentName,
      redraw: true, play: true,
    }),
    typed: text("your sequence", {
      start: "2 0 1 2 0 2 1 0 1 1 2 2 0 1 2 1 0 0 1", most: 120, redraw: true, check: checkTyped,
      note: ({ d }) => `Digits from 0 to ${d - 1}.`,
    }),
    d: slider("vocabulary size d", {
      about: "How many different tokens there are.",
      values: [2, 3, 4, 5], start: 3, more: true }),
    window: slider("window and heads M = H", {
      about: "How many lags a head can look at. There is one head for each lag.",
      values: [2, 3, 4, 5], start: 3, more: true }),
    degree: slider("degree D", {
      about: "How many lags a set may have that takes part in the race of Stage I.",
      values: (s) => [1, 2, 3].filter((D) => D <= s.window), start: 2, more: true }),
    a: slider("scale a(0)", {
      about: "How much a match counts before training. The attention of the second layer is the softmax of a times the matches.",
      values: [0.001, 0.01, 0.1, 0.3, 1, 3, 10], start: 0.01, more: true }),
    epsilon: slider("shift ε of the loss", {
      about: "The loss is the mean of −log(y + ε), where y is the probability given to the token that came. Without ε one token that never came before would make it infinite.",
      values: [0.001, 0.01, 0.03, 0.1, 0.3, 1], start: 0.1, more: true }),
    descent: choice("training", {
      about: "The flow is descent in infinitely small steps. Both take the whole data set in every step.",
      values: { flow: "gradient flow", descent: "gradient descent, rate 1" }, start: "flow", more: true,
    }),
    two: slider("time of Stage II", {
      about: "How long Stage II trains. Stage I has 2,000 units of time, Stage III has 5,000.",
      values: [5e4, 5e5, 5e6, 5e7, 5e8], start: 5e4, show: (t) => t.toLocaleString("en"), more: true,
    }),
  },
  presets: {
    "Figure 3 as printed": { set: { alpha: 0.01, chains: 9000, descent: "descent" }, look: "The settings that the paper prints: nearly certain chains, gradient descent. Stage I picks a wrong set: heads that look a little at wrong lags blur a pair more than a single lag." },
    "Figure 3, α of the code": { set: { chains: 9000 }, look: "With the α of the authors’ code the pair of parents wins, as in their figure." },
    "Repaired: wider gap": { set: { alpha: 0.01, chains: 9000, gap: 3.99 }, look: "Chains as nearly certain as printed (the flow saves time), but each head begins closer to its own lag: the pair wins." },
    "Repaired: larger a(0)": { set: { alpha: 0.01, chains: 9000, a: 1 }, look: "Chains as nearly certain as printed (the flow saves time), but matches count from the start: the pair wins." },
    "Too large an a(0)": { set: { alpha: 1, a: 10 }, look: "In random chains, with α = 1, matches count too much too early: the race has no winner, and yet the loss ends close to the best." },
    "Figure 3(b): heads as sharp": { set: { two: 5e7 }, look: "Stage II runs a thousand times longer, and the heads become as sharp as in the paper’s figure." },
    "Theorem 3.6": { set: { gap: 8, a: 0.001 }, look: "A gap as wide as the theorem asks for. Stage II finds hardly anything left to do." },
    "Figure 7": { set: { alpha: 0.2, chains: 9000 }, look: "See the last picture: trained on 100 tokens, the transformer profits from longer contexts." },
    "One parent": { set: { lags: "2", alpha: 0.5 }, look: "The only parent stands two back. Its set wins, and head 2 alone sharpens." },
    "Blurred heads": { set: { gap: 0.5 }, look: "Heads that hardly prefer a lag: with this seed {1} wins the race, with others {1, 3}, and the loss stays far above that of the pair." },
    "Growth that ends": { set: { alpha: 2 }, look: "In chains this random a match says little, and the scale a comes to rest near 4." },
  },
  compute: computeInduction,
  describe: describeInduction,
  status: ({ settings: { chains, length }, took }) => took === undefined ? "training …"
    : `trained on ${chains.toLocaleString("en")} chains of ${length} tokens in ${took < 2000 ? `${Math.round(took)} ms` : `${shown(took / 1000, 2)} s`}, on this computer`,
  panels: [
    { name: "chains", title: "The chains it learns from; it predicts the framed token",
      about: "Every row is a chain of its own, with its own rules.", wide: true, draw: drawExamples },
    { name: "race", title: "Stage I: sets of lags race for weight",
      about: "A place matches if its tokens at all lags of a set are those of now. The weights say which sets count.", draw: drawRace },
    { name: "heads", title: "Stage II: where each head looks",
      about: "A head copies the token at the lag it looks at, so that tokens of the past can be compared with those of now.", draw: drawHeads },
    { name: "growth", title: "Stage III: matches get votes",
      about: "Places that match get e to the power a times as much attention as those that do not.", draw: drawGrowth },
    { name: "loss", title: "Loss during training, and rivals",
      about: "How far its predictions are from what came. The best possible knows the lags and the law of the chains, not the chain; frequencies are those of the tokens alone. On a sample another can be a little ahead of the best possible.", draw: drawLoss },
    { name: "information", title: "Information: which set should win",
      about: "How much a set of lags tells about the next token, times how often it matches.", draw: drawInformation },
    { name: "map", title: "Which set wins Stage I, over the whole plane",
      about: "500 chains for each column (100 from M = 4 on). The frame marks the cell nearest to your settings.", draw: drawMap },
    { name: "look", title: "Your sequence: where the transformer looks now",
      about: "The brighter a token, the more attention it gets. At the start all are alike; after Stage III the bright ones came after a match.", control: "typed", wide: true, draw: drawLook },
    { name: "next", title: "Your sequence: what comes next",
      about: "The induction head averages what followed the same tokens before.", draw: drawNext },
    { name: "lengths", title: "Longer and shorter contexts, fresh chains",
      about: "The same transformer, reading more or fewer tokens than it was trained on.", draw: drawLengths },
  ],
};
