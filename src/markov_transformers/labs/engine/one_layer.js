// The exact reduction of the one-layer transformer, Shi and Cao (2025), (2.1).
//
// Column j of the input has the score
//   z_j = u_x[s_j] / rho_j + q_j,   q_j = p_j' u_p / rho_j,   u = W x~_N,
// and gradient descent on W moves nothing else that the loss can see. Training is exact on the value
// matrix V, on the content u_x and on the positions q.

const RANGE = 600; // exp() of a smaller difference does not underflow
const TIE = 1e-9; // scores this close, relative to the largest, are equal

export class OneLayerModel {
  constructor(vocabSize, length, positionDim = 1000, { unitLength = false } = {}) {
    const square = (positionDim + 1) / 2; // |p_j|^2 of the sine positions
    this.vocabSize = vocabSize;
    this.length = length;
    this.querySquare = unitLength ? 1 : square;
    this.tokenNorm = unitLength ? Math.sqrt(1 + square) : 1;
    this.norms = new Float64Array(length).fill(this.tokenNorm);
    this.norms[length - 1] = unitLength ? Math.sqrt(square) : 1;
    // Speed of each part when W takes a gradient step of size one; V has speed one.
    this.rates = {
      content: this.querySquare,
      position: this.norms.map((r) => (this.querySquare * square) / r ** 2),
    };
  }

  zero() {
    const { vocabSize: K, length: N } = this;
    return { value: new Float64Array(K * K), content: new Float64Array(K), position: new Float64Array(N) };
  }

  // The parameters that belong to V and W with Gaussian entries of a standard deviation.
  random(scale, rng) {
    const { value, content, position } = this.zero();
    const contentScale = scale * Math.sqrt(this.querySquare);
    return {
      value: value.map(() => scale * rng.normal()),
      content: content.map(() => contentScale * rng.normal()),
      position: position.map((_, j) => scale * Math.sqrt(this.rates.position[j]) * rng.normal()),
    };
  }

  lossAndGradients(parameters, data, loss) {
    const { vocabSize: K, length: N } = this,
      V = parameters.value,
      n = data.targets.length;
    const out = forward(this, parameters, data);
    const gradient = this.zero(),
      { pull } = data.room;
    let total = 0;
    for (let b = 0; b < n; b++) {
      const reward = data.targets[b] * K,
        at = b * K; // row y of V
      let f = 0;
      for (let x = 0; x < K; x++) f += out.mass[at + x] * V[reward + x];
      const slope = data.weights[b] * loss.derivative(f);
      for (let x = 0; x < K; x++) {
        const moved = slope * out.mass[at + x];
        gradient.value[reward + x] += moved;
        pull[at + x] = slope * (V[reward + x] - f);
        gradient.content[x] += out.mass[at + x] * pull[at + x];
      }
      gradient.position[N - 1] -= slope * out.last[b] * f;
      total += data.weights[b] * loss.value(f);
    }
    gradient.content.forEach((g, x) => {
      gradient.content[x] = g / this.tokenNorm;
    });
    out.overPositions(data, pull, gradient.position);
    return { loss: total, gradient };
  }

  // Gradient descent on V and W, (2.3), one iteration at a `next`; returns the run, which grows meanwhile.
  // `mix` replaces the speed of the positions: their inner products as some arithmetic gets them.
  *train(data, { learningRate, steps, loss, start = this.zero(), exam = data, recordEvery = 1, mix = null }) {
    let now = start;
    const run = new OneLayerRun();
    for (let step = 0; step <= steps; step++) {
      const { loss: value, gradient } = this.lossAndGradients(now, data, loss);
      const finite = Number.isFinite(value) && Object.values(gradient).every((g) => g.every(Number.isFinite));
      if (!finite || step % recordEvery === 0 || step === steps) run.add(this, step, value, now, exam);
      if (!finite) run.diverged = true;
      yield run;
      if (!finite) break;
      if (step < steps) now = this.stepped(now, gradient, learningRate, mix);
    }
    return run;
  }

  stepped(now, gradient, learningRate, mix) {
    const { content, position } = this.rates;
    const g = mix ? times(mix, gradient.position) : gradient.position.map((v, j) => position[j] * v);
    return {
      value: now.value.map((v, i) => v - learningRate * gradient.value[i]),
      content: now.content.map((v, i) => v - learningRate * content * gradient.content[i]),
      position: now.position.map((v, j) => v - learningRate * g[j]),
    };
  }
}

// What a run leaves behind: one entry for each recorded iteration.
export class OneLayerRun {
  iterations = [];
  loss = [];
  accuracy = [];
  kl = [];
  attention = [];
  value = [];
  content = [];
  position = [];
  diverged = false;

  add(model, step, loss, parameters, exam) {
    const { vocabSize: K, length: N } = model,
      n = exam.targets.length;
    const out = forward(model, parameters, exam),
      scores = new Float64Array(K);
    const { mass } = out,
      V = parameters.value;
    let accuracy = 0,
      kl = 0;
    for (let b = 0; b < n; b++) {
      for (let y = 0; y < K; y++) {
        let score = 0;
        for (let x = 0; x < K; x++) score += mass[b * K + x] * V[y * K + x];
        scores[y] = score;
      }
      if (highest(scores) === exam.targets[b]) accuracy += exam.weights[b];
      if (exam.truth) kl += exam.weights[b] * divergence(exam.truth[b], scores);
    }
    const attention = new Float64Array(N),
      equal = exam.room.pull;
    for (let b = 0; b < n; b++) equal.fill(exam.weights[b], b * K, (b + 1) * K);
    out.overPositions(exam, equal, attention);
    for (let b = 0; b < n; b++) attention[N - 1] += exam.weights[b] * out.last[b];
    this.iterations.push(step);
    this.loss.push(loss);
    this.accuracy.push(accuracy);
    this.kl.push(exam.truth ? kl : NaN);
    this.attention.push(attention);
    this.value.push(parameters.value);
    this.content.push(parameters.content);
    this.position.push(parameters.position);
  }
}

// Sequences as training needs them: sorted by target, so that symmetric data give exactly symmetric
// sums, and column by column. A cell is a place in the n x K tables of a number per sequence and token.
// truth holds the law of each target, if it is known.
export function oneLayerData(sequences, vocabSize, { weights = null, truth = null } = {}) {
  const n = sequences.length,
    last = sequences[0].length - 1;
  const order = sequences.map((_, b) => b).sort((a, b) => sequences[a][last] - sequences[b][last] || a - b);
  const total = weights ? weights.reduce((sum, w) => sum + w, 0) : n;
  const cells = new Uint32Array(last * n);
  order.forEach((from, b) => {
    for (let j = 0; j < last; j++) cells[j * n + b] = b * vocabSize + sequences[from][j];
  });
  return {
    cells,
    targets: Uint8Array.from(order, (b) => sequences[b][last]),
    weights: Float64Array.from(order, (b) => (weights ? weights[b] : 1) / total),
    truth: truth && order.map((b) => truth[b]),
    // Room for what a pass works out (n x K each), so that no pass asks for memory.
    room: {
      mass: new Float64Array(n * vocabSize),
      unit: new Float64Array(n * vocabSize),
      terms: new Float64Array(n * vocabSize),
      pull: new Float64Array(n * vocabSize),
    },
  };
}

// Attention: mass on all places of each token (n x K) and on the empty column N; that on a single
// place is place[j] times unit at the token that stands there.
class Forward {
  constructor(mass, last, place, unit) {
    Object.assign(this, { mass, last, place, unit });
  }

  // Add to `sums` a number per token (n x K), averaged with the attention on each position.
  overPositions({ cells, targets, room }, perToken, sums) {
    const { unit, place } = this,
      n = targets.length,
      { terms } = room;
    for (let i = 0; i < terms.length; i++) terms[i] = unit[i] * perToken[i];
    for (let j = 0; j < place.length; j++) {
      if (place[j] === 0) continue;
      let sum = 0;
      for (let i = j * n; i < (j + 1) * n; i++) sum += terms[cells[i]];
      sums[j] += place[j] * sum;
    }
  }
}

class ForwardPlaceByPlace extends Forward {
  overPositions({ cells, targets }, perToken, sums) {
    const n = targets.length;
    for (let i = 0; i < cells.length; i++) sums[Math.floor(i / n)] += this.place[i] * perToken[cells[i]];
  }
}

function forward(model, parameters, data) {
  const { vocabSize: K, length: N } = model,
    { cells } = data,
    n = data.targets.length;
  const content = parameters.content.map((u) => u / model.tokenNorm),
    q = parameters.position.subarray(0, N - 1);
  const highestContent = Math.max(...content),
    top = Math.max(...q),
    empty = parameters.position[N - 1];
  if (highestContent - Math.min(...content) > RANGE) return forwardPlaceByPlace(content, q, empty, data);
  // Each token's places are added up first; what remains is a softmax over K + 1 numbers.
  const place = q.map((z) => Math.exp(z - top)),
    { mass, unit } = data.room;
  mass.fill(0);
  for (let j = 0; j < N - 1; j++) {
    const here = place[j];
    if (here === 0) continue;
    for (let i = j * n; i < (j + 1) * n; i++) mass[cells[i]] += here;
  }
  const peak = Math.max(highestContent + top, empty);
  const token = content.map((u) => Math.exp(u + top - peak));
  const last = new Float64Array(n).fill(Math.exp(empty - peak));
  for (let b = 0; b < n; b++) {
    let Z = last[b];
    for (let x = 0; x < K; x++) Z += mass[b * K + x] * token[x];
    last[b] /= Z;
    for (let x = 0; x < K; x++) {
      unit[b * K + x] = token[x] / Z;
      mass[b * K + x] *= unit[b * K + x];
    }
  }
  return new Forward(mass, last, place, unit);
}

// The same where a sum over places first would underflow.
function forwardPlaceByPlace(content, q, empty, { cells, targets }) {
  const n = targets.length,
    K = content.length,
    attention = new Float64Array(cells.length);
  const mass = new Float64Array(n * K),
    last = new Float64Array(n);
  for (let b = 0; b < n; b++) {
    const score = (j) => q[j] + content[cells[j * n + b] - b * K];
    let peak = empty,
      Z = 0;
    for (let j = 0; j < q.length; j++) peak = Math.max(peak, score(j));
    for (let j = 0; j < q.length; j++) Z += attention[j * n + b] = Math.exp(score(j) - peak);
    Z += last[b] = Math.exp(empty - peak);
    last[b] /= Z;
    for (let j = 0; j < q.length; j++) mass[cells[j * n + b]] += attention[j * n + b] /= Z;
  }
  return new ForwardPlaceByPlace(mass, last, attention, new Float64Array(n * K).fill(1));
}

// The smallest token of the highest score.
function highest(scores) {
  let best = -Infinity,
    size = 0,
    y = 0;
  for (let i = 0; i < scores.length; i++) {
    best = Math.max(best, scores[i]);
    size = Math.max(size, Math.abs(scores[i]));
  }
  while (!(scores[y] >= best - TIE * size)) y++;
  return y;
}

// KL(truth || prediction); the prediction is the positive part of the scores, normalized.
function divergence(truth, scores) {
  let total = 0,
    sum = 0;
  for (const s of scores) total += Math.max(s, 0);
  for (let y = 0; y < scores.length; y++) {
    if (truth[y] === 0) continue;
    const guess = total > 0 ? Math.max(scores[y], 0) / total : 1 / scores.length;
    sum += truth[y] * (Math.log(truth[y]) - Math.log(guess));
  }
  return sum;
}

export function times(matrix, vector) {
  return Float64Array.from(matrix, (row) => row.reduce((sum, m, j) => sum + m * vector[j], 0));
}
