// Training as an ordinary differential equation, or as gradient descent. Chen et al. (2024), (3.4).
//
// The flow conserves C_D, so c is followed in the coordinates theta_S = log c_S^2. There Stage I is
//   d theta_S / dt = (4 a / C_D) (g_S - sum_S' p_S' g_S'),  p = softmax(theta),
// the replicator equation, of which a solver needs some hundred evaluations; in c it is stiff.
//
// What takes long is a generator: it yields now and then, and returns its result.

const MOST_EXPLICIT = 63; // evaluations, times rtol^(-1/5): 400 at 1e-4, where the paper's stages take up to 200

export const PAPER_DURATIONS = [2000, 50000, 5000];

// How the parameters moved. Each piece covers a stage: { start, stop, read(time) }.
export class Trajectory {
  constructor(times, pieces) {
    Object.assign(this, { times, pieces });
  }

  get stageEnds() {
    return this.pieces.map((piece) => piece.stop);
  }

  // The parameters at a time, to the accuracy of the run.
  at(time) {
    const piece = this.pieces.find(({ stop }) => time <= stop) ?? this.pieces.at(-1);
    return piece.read(time);
  }

  get end() {
    return this.at(this.pieces.at(-1).stop);
  }

  // This run followed by one that starts where it ends.
  then(following) {
    const shift = this.pieces.at(-1).stop;
    const moved = following.pieces.map(({ start, stop, read }) => ({
      start: start + shift, stop: stop + shift, read: (time) => read(time - shift),
    }));
    const times = following.times.slice(1).map((time) => time + shift);
    return new Trajectory([...this.times, ...times], [...this.pieces, ...moved]);
  }
}

// Follow the gradient flow of one parameter, "c", "w" or "a".
export function* flow(model, start, duration, name, { rtol = 1e-6, atol = 1e-8 } = {}) {
  const { [name]: moving, ...frozen } = start;
  const evaluate = model.evaluator(frozen), chart = chartOf(name, moving);
  const exact = (value) => evaluate({ [name]: value }, false).pulls[name];
  const pull = name === "a" ? interpolated(exact) : exact;
  const velocity = (state) => chart.velocity(pull(chart.read(state)));
  const tolerance = { rtol, atol };
  const most = MOST_EXPLICIT * rtol ** -0.2;
  const steps = (yield* dormandPrince(velocity, chart.origin, duration, tolerance, most))
    ?? (yield* rosenbrock(velocity, chart.origin, duration, tolerance));
  const read = (time) => {
    let low = 0, high = steps.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time <= steps[middle].stop) high = middle;
      else low = middle + 1;
    }
    const state = steps.length ? steps[low].interpolate(time) : chart.origin;
    return { ...start, [name]: chart.read(state) };
  };
  const times = [0, ...steps.map((step) => step.stop)];
  return new Trajectory(times, [{ start: 0, stop: duration, read }]);
}

// Steps of plain gradient descent on the whole data set.
export function* descend(model, start, nSteps, name, { learningRate = 1 } = {}) {
  const { [name]: moving, ...frozen } = start;
  const evaluate = model.evaluator(frozen), path = [moving];
  let now = moving;
  for (let step = 0; step < nSteps; step++) {
    const pull = evaluate({ [name]: now }, false).pulls[name];
    if (name === "a") now += learningRate * pull;
    else {
      const scale = name === "c" ? overTotal(now) : null;
      now = now.map((value, i) => value + learningRate * pull[i] * (scale ? scale[i] : 1));
    }
    path.push(now);
    yield;
  }
  if (!Number.isFinite(name === "a" ? now : now.reduce((x, y) => x + y)))
    throw new Error("Gradient descent ran to infinity: choose the flow");
  const read = (time) => { // in straight lines from step to step
    const place = Math.min(time / learningRate, nSteps), left = Math.min(Math.floor(place), Math.max(nSteps - 1, 0));
    const from = path[left], to = path[Math.min(left + 1, nSteps)], between = (x, y) => x + (place - left) * (y - x);
    return { ...start, [name]: name === "a" ? between(from, to) : from.map((value, i) => between(value, to[i])) };
  };
  const times = path.map((_, step) => step * learningRate);
  return new Trajectory(times, [{ start: 0, stop: nSteps * learningRate, read }]);
}

// Train c, then w, then a, each for its own time: Algorithm 1. With a learning rate, by descent.
// At the end of each stage it yields the run so far.
export function* threeStages(model, start, durations = PAPER_DURATIONS, { learningRate, rtol } = {}) {
  let run = null;
  for (const [stage, name] of ["c", "w", "a"].entries()) {
    const now = run ? run.end : start, duration = durations[stage];
    const part = learningRate
      ? yield* descend(model, now, Math.round(duration / learningRate), name, { learningRate })
      : yield* flow(model, now, duration, name, { rtol });
    run = run ? run.then(part) : part;
    yield run;
  }
  return run;
}

// A smooth function of one number from its values on a grid, each computed when it is first needed:
// the polynomial through the ten nearest nodes, in barycentric form.
function interpolated(f, spacing = 0.25) {
  const known = new Map();
  const at = (node) => known.get(node) ?? known.set(node, f(node * spacing)).get(node);
  return (x) => {
    const first = Math.floor(x / spacing) - 4;
    let above = 0, below = 0, weight = 1;
    for (let j = 0; j < 10; j++) {
      const gap = x / spacing - first - j;
      if (gap === 0) return at(first + j);
      above += (weight / gap) * at(first + j);
      below += weight / gap;
      weight *= (j - 9) / (j + 1);
    }
    return above / below;
  };
}

// Coordinates of the flow: the logarithm of c squared, every other parameter as it is.
function chartOf(name, start) {
  if (name === "a")
    return { origin: Float64Array.of(start), read: (state) => state[0], velocity: (pull) => Float64Array.of(pull) };
  if (name === "w") return { origin: start, read: (state) => state, velocity: (pull) => pull };
  const total = start.reduce((sum, value) => sum + value * value, 0);
  return {
    origin: start.map((value) => 2 * Math.log(Math.abs(value))),
    read: (state) => softmax(state).map((share, S) => Math.sign(start[S]) * Math.sqrt(total * share)),
    velocity: (pull) => pull.map((value) => (2 * value) / total),
  };
}

// The explicit method of Dormand and Prince, order 5(4), with its interpolant of order 4.
const STAGES = [
  [1 / 5],
  [3 / 40, 9 / 40],
  [44 / 45, -56 / 15, 32 / 9],
  [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
  [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
  [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
];
const ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40];
const DENSE = [
  -12715105075 / 11282082432, 0, 87487479700 / 32700410799, -10690763975 / 1880347072,
  701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
];

// Returns steps { stop, interpolate }, or null if it takes more evaluations than `most`: the
// equation is stiff then, and an explicit method the wrong one.
function* dormandPrince(velocity, origin, duration, tolerance, most) {
  const attempt = (state, first, h) => {
    const k = [first];
    let next = null;
    for (const row of STAGES) k.push(velocity((next = combined(state, h, row, k))));
    const change = combined(null, h, ERROR, k), last = k[6];
    let bend = null;
    const interpolate = (theta) => {
      bend ??= combined(null, h, DENSE, k);
      return state.map((y, i) => {
        const whole = next[i] - y, left = h * first[i] - whole, right = whole - h * last[i] - left;
        return y + theta * (whole + (1 - theta) * (left + theta * (right + (1 - theta) * bend[i])));
      });
    };
    return { next, change, last, interpolate };
  };
  return yield* adaptive(attempt, velocity, origin, duration, tolerance, { order: 5, cost: 6, most });
}

// The linearly implicit method of Shampine and Reichelt, order 2(3), for stiff equations.
function* rosenbrock(velocity, origin, duration, tolerance) {
  const d = 1 / (2 + Math.SQRT2), e = 6 + Math.SQRT2;
  const attempt = (state, first, h) => {
    const solve = solverOf(jacobian(velocity, state, first), h * d);
    const k1 = solve(first);
    const middle = velocity(state.map((y, i) => y + (h / 2) * k1[i]));
    const k2 = solve(middle.map((f, i) => f - k1[i])).map((x, i) => x + k1[i]);
    const next = state.map((y, i) => y + h * k2[i]);
    const last = velocity(next);
    const k3 = solve(last.map((f, i) => f - e * (k2[i] - middle[i]) - 2 * (k1[i] - first[i])));
    const change = k1.map((x, i) => (h / 6) * (x - 2 * k2[i] + k3[i]));
    const interpolate = (theta) => state.map((y, i) =>
      y + (h * theta * ((1 - theta) * k1[i] + (theta - 2 * d) * k2[i])) / (1 - 2 * d));
    return { next, change, last, interpolate };
  };
  const cost = origin.length + 2;
  return yield* adaptive(attempt, velocity, origin, duration, tolerance, { order: 3, cost, most: Infinity });
}

// Steps of such a size that each one's error is about the tolerance.
function* adaptive(attempt, velocity, origin, duration, { rtol, atol }, { order, cost, most }) {
  const steps = [];
  let time = 0, state = origin, first = velocity(state), evaluations = 1;
  const scaled = (values, y) => // the root of the mean square
    Math.sqrt(values.reduce((sum, value, i) => sum + (value / (atol + rtol * Math.abs(y[i]))) ** 2, 0) / y.length);
  let h = Math.min(duration, 0.01 * (scaled(state, state) / (scaled(first, state) || 1e-12)) || duration);
  while (time < duration) {
    if ((evaluations += cost) > most) return null;
    const { next, change, last, interpolate } = attempt(state, first, h);
    const size = next.map((value, i) => Math.max(Math.abs(value), Math.abs(state[i])));
    const error = scaled(change, size);
    if (error <= 1) {
      const from = time, span = h;
      time = h >= duration - time ? duration : time + h;
      steps.push({ stop: time, interpolate: (at) => interpolate((at - from) / span) });
      [state, first] = [next, last];
    }
    h *= Number.isFinite(error) ? Math.min(error <= 1 ? 8 : 1, Math.max(0.2, 0.9 * error ** (-1 / order))) : 0.2;
    if (!(h > 1e-14 * duration)) throw new Error("The flow runs to infinity in a finite time");
    h = Math.min(h, duration - time);
    yield;
  }
  return steps;
}

// state + h sum_j row[j] k[j]
function combined(state, h, row, k) {
  const sum = new Float64Array(k[0].length);
  row.forEach((weight, j) => {
    for (let i = 0; i < sum.length; i++) sum[i] += weight * k[j][i];
  });
  return sum.map((value, i) => (state ? state[i] : 0) + h * value);
}

function jacobian(velocity, state, here) {
  return Array.from(state, (y, j) => {
    const moved = state.slice(), small = 1e-7 * Math.max(1, Math.abs(y));
    moved[j] += small;
    return velocity(moved).map((value, i) => (value - here[i]) / small); // column j
  });
}

// Solves (1 - gamma J) x = b, by elimination with pivots.
function solverOf(columns, gamma) {
  const n = columns.length;
  const matrix = Array.from({ length: n }, (_, i) =>
    Float64Array.from(columns, (column, j) => (i === j ? 1 : 0) - gamma * column[i]));
  return (b) => {
    const rows = matrix.map((row, i) => Float64Array.of(...row, b[i]));
    for (let k = 0; k < n; k++) {
      let pivot = k;
      for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
      [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
      for (let i = k + 1; i < n; i++) {
        const factor = rows[i][k] / rows[k][k];
        if (factor) for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
      }
    }
    const x = new Float64Array(n);
    for (let i = n - 1; i >= 0; i--) {
      let rest = rows[i][n];
      for (let j = i + 1; j < n; j++) rest -= rows[i][j] * x[j];
      x[i] = rest / rows[i][i];
    }
    return x;
  };
}

export function softmax(values) {
  const top = values.reduce((most, value) => Math.max(most, value), -Infinity);
  const exponentials = values.map((value) => Math.exp(value - top));
  const total = exponentials.reduce((sum, value) => sum + value, 0);
  return exponentials.map((value) => value / total);
}

// p_S = c_S^2 / C_D along c, without overflow or underflow of the squares.
export function shares(c) {
  const scaled = overLargest(c), total = scaled.reduce((sum, x) => sum + x * x, 0);
  return scaled.map((x) => (x * x) / total);
}

// c / C_D without forming C_D.
export function overTotal(c) {
  const scaled = overLargest(c), total = scaled.reduce((sum, x) => sum + x * x, 0);
  return scaled.map((x, S) => (c[S] === 0 ? 0 : (x * x) / total / c[S]));
}

function overLargest(c) {
  const largest = c.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return c.map((value) => value / largest);
}
