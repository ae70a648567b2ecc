// The simplified two-layer transformer of Chen et al. (2024) on compressed counts. A key and a
// query have the score
//   s = sum_S p_S prod_(h in S) K^h,  K^h = sum_ij sigma^h_i sigma^h_j 1(q_i = W_j),
//   p_S = c_S^2 / C_D,  sigma^h = softmax(w^h).
// Parameters are { c, w, a }: c has one entry for each set, w is flat with w[h * M + i], a is a number.

import { lagSubsets } from "./information.js";
import { overTotal, shares, softmax } from "./dynamics.js";
import { matchTables } from "./windows.js";

const NEGLIGIBLE = 1e-40; // shares below it change no digit of a score

export class StagedModel {
  constructor(counts, degree, { heads = counts.window, epsilon = 0.1 } = {}) {
    Object.assign(this, { counts: counts.byMatch(), heads, epsilon });
    this.sets = lagSubsets(heads, degree);
    this.matches = matchesOf(this.counts.tables, counts.window);
  }

  // The paper's initialization, section B.1.
  initialParameters({ own = 3, other = 0.01, c = 0.01, a = 0.01 } = {}) {
    const M = this.counts.window, w = new Float64Array(this.heads * M).fill(other);
    for (let h = 0; h < Math.min(this.heads, M); h++) w[h * M + h] = own;
    return { c: new Float64Array(this.sets.length).fill(c), w, a };
  }

  // Loss (2.1) and its partial derivatives, (E.4), (E.15) and section D.4.
  lossAndGradients(parameters) {
    const { loss, pulls } = this.evaluator({})(parameters);
    const scale = overTotal(parameters.c);
    return {
      loss,
      c: pulls.c.map((pull, S) => -pull * scale[S]),
      w: pulls.w.map((pull) => -pull),
      a: -pulls.a,
    };
  }

  // The loss (2.1) alone.
  loss({ c, w, a }) {
    const k = new Products(w, this.matches, this.counts.window);
    return this.readout(this.scores(shares(c), k), a, { gradient: false }).loss;
  }

  // A function of the moving parameters that gives the loss and their pulls: gradients with the
  // sign changed, that of c divided by c / C_D, so that it stays finite while c underflows.
  evaluator(frozen) {
    const keptP = frozen.c && shares(frozen.c);
    const keptK = frozen.w && new Products(frozen.w, this.matches, this.counts.window);
    const keptS = frozen.c && frozen.w && this.scores(keptP, keptK);
    return (moving, withLoss = true) => {
      const a = moving.a ?? frozen.a;
      const p = keptP ?? shares(moving.c);
      const k = keptK ?? new Products(moving.w, this.matches, this.counts.window);
      const s = keptS ?? this.scores(p, k);
      const { loss, R } = this.readout(s, a, { loss: withLoss });
      const pulls = {};
      if (moving.c) {
        const g = Float64Array.from(this.sets, (set) => dot(k.over(set), R)), f = dot(p, g);
        pulls.c = g.map((value) => 2 * a * (value - f)); // (E.4)
      }
      if (moving.w) pulls.w = this.copierPull(moving.w, p, k, R, a);
      if (moving.a !== undefined) pulls.a = dot(R, s); // section D.4
      return { loss, pulls };
    };
  }

  scores(p, k) {
    const s = new Float64Array(this.counts.tables.length);
    this.sets.forEach((set, S) => {
      if (p[S] > NEGLIGIBLE) addProduct(s, p[S], k.over(set));
    });
    return s;
  }

  // The loss, and R = -(1/a) dL/ds for each kind: two passes over the counts.
  readout(s, a, { loss: withLoss = true, gradient = true }) {
    const { starts, kinds, counts, hits, weights } = this.counts, epsilon = this.epsilon;
    let top = -Infinity;
    for (const score of s) top = Math.max(top, a * score);
    const E = s.map((score) => Math.exp(a * score - top)), R = new Float64Array(s.length);
    let loss = 0;
    for (let group = 0; group < weights.length; group++) {
      const first = starts[group], stop = starts[group + 1];
      let Z = 0, hit = 0;
      for (let n = first; n < stop; n++) {
        const e = E[kinds[n]];
        Z += counts[n] * e;
        hit += hits[n] * e;
      }
      const y = hit / Z; // (2.4)
      if (withLoss) loss -= weights[group] * Math.log(y + epsilon);
      if (!gradient || y + epsilon === 0) continue; // an infinite loss that no parameter can help
      const pull = weights[group] / (Z * (y + epsilon));
      for (let n = first; n < stop; n++) R[kinds[n]] += pull * (hits[n] - counts[n] * y);
    }
    for (let kind = 0; kind < R.length; kind++) R[kind] *= E[kind];
    return { loss, R };
  }

  // (E.15): the derivative of the score in each kernel, then of the kernel in the head's logits.
  copierPull(w, p, k, R, a) {
    const M = this.counts.window, { sets } = this, { starts, pairs } = this.matches;
    const sigma = attention(w, M), pull = new Float64Array(w.length);
    for (let h = 0; h < this.heads; h++) {
      const force = new Float64Array(R.length), T = new Float64Array(M * M);
      const live = sets.map((_, S) => S).filter((S) => p[S] > NEGLIGIBLE && sets[S].includes(h + 1));
      if (live.length === 0) continue; // a head that no set uses stays as it is
      for (const S of live) addProduct(force, p[S], k.over(sets[S].filter((head) => head !== h + 1)));
      for (let kind = 0, at = 0; kind < R.length; kind++)
        for (; at < starts[kind + 1]; at++) T[pairs[at]] += force[kind] * R[kind];
      const shared = new Float64Array(M); // of offset i, as the query's and as the key's
      let mean = 0;
      for (let i = 0; i < M; i++) {
        for (let j = 0; j < M; j++) shared[i] += (T[j * M + i] + T[i * M + j]) * sigma[h * M + j];
        mean += sigma[h * M + i] * shared[i];
      }
      for (let i = 0; i < M; i++) pull[h * M + i] = a * sigma[h * M + i] * (shared[i] - mean);
    }
    return pull;
  }
}

// A function that reads one context x_1 ... x_L with trained parameters: it gives the weights of
// the second attention (2.4) on the positions M + 1 ... L, and the law of the next token.
export function reader(sets, window, vocabSize, { c, w, a }) {
  const p = shares(c), votes = new Map(); // e^(a s) of a key by its table of matches
  const voteOf = (table) => {
    if (!votes.has(table)) {
      const k = new Products(w, matchesOf([table], window), window);
      const s = sets.reduce((sum, set, S) => sum + p[S] * k.over(set)[0], 0);
      votes.set(table, Math.exp(a * (s - 1)));
    }
    return votes.get(table);
  };
  return (context) => {
    const weights = Float64Array.from(matchTables(context, window, vocabSize), voteOf);
    const Z = weights.reduce((sum, weight) => sum + weight, 0), law = new Float64Array(vocabSize);
    weights.forEach((weight, place) => (law[context[window + place]] += weight / Z));
    return { weights: weights.map((weight) => weight / Z), law };
  };
}

// The bits of the tables of matches: those of a kind are pairs[starts[kind]] ... pairs[starts[kind + 1] - 1].
function matchesOf(tables, window) {
  const starts = [0], pairs = [];
  for (const table of tables) {
    for (let pair = 0; pair < window ** 2; pair++) if ((table >> pair) & 1) pairs.push(pair);
    starts.push(pairs.length);
  }
  return { starts: Int32Array.from(starts), pairs: Uint8Array.from(pairs) };
}

// Products k_S of the kernels K^h over sets of heads, each made when it is first asked for: one
// number for each kind of key.
class Products {
  constructor(w, matches, window) {
    Object.assign(this, { sigma: attention(w, window), matches, window, made: new Map() });
  }

  over(set) {
    const name = String(set);
    if (!this.made.has(name)) this.made.set(name, this.make(set));
    return this.made.get(name);
  }

  make(set) {
    if (set.length === 0) return new Float64Array(this.matches.starts.length - 1).fill(1);
    if (set.length === 1) return this.kernel(set[0] - 1);
    const product = this.over(set.slice(0, -1)).slice(), last = this.over(set.slice(-1));
    for (let kind = 0; kind < product.length; kind++) product[kind] *= last[kind];
    return product;
  }

  // K^h, the inner product of the copies that a head makes for the query and for a key.
  kernel(h) {
    const { sigma, window, matches: { starts, pairs } } = this, both = new Float64Array(window ** 2);
    for (let j = 0; j < window; j++)
      for (let i = 0; i < window; i++) both[j * window + i] = sigma[h * window + i] * sigma[h * window + j];
    const K = new Float64Array(starts.length - 1);
    for (let kind = 0, at = 0; kind < K.length; kind++)
      for (; at < starts[kind + 1]; at++) K[kind] += both[pairs[at]];
    return K;
  }
}

// Attention of each head on each offset, flat as w.
export function attention(w, window) {
  const sigma = new Float64Array(w.length);
  for (let start = 0; start < w.length; start += window)
    sigma.set(softmax(w.subarray(start, start + window)), start);
  return sigma;
}

export function dot(x, y) {
  let sum = 0;
  for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
  return sum;
}

// sum += factor * values
function addProduct(sum, factor, values) {
  for (let i = 0; i < sum.length; i++) sum[i] += factor * values[i];
}
