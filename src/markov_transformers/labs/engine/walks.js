// Random walks on a circle. Shi and Cao (2025), section 2.
// Walks are Uint8Arrays of nodes 0 ... K - 1; the last node is the target.

// A step goes from node i to i + 1 (mod K) with probability p, to i - 1 otherwise.
export class CircleWalk {
  constructor(nNodes, p) {
    Object.assign(this, { nNodes, p });
  }

  get deterministic() {
    return this.p === 0 || this.p === 1;
  }

  // Row i is the law of the step from node i.
  transitionMatrix() {
    const { nNodes: K, p } = this;
    return Array.from({ length: K }, (_, i) => {
      const row = new Float64Array(K);
      row[(i + 1) % K] = p;
      row[(i + K - 1) % K] = 1 - p;
      return row;
    });
  }

  // Walks that start at a uniform node.
  sample(nSequences, length, rng) {
    const { nNodes: K, p } = this;
    return Array.from({ length: nSequences }, () => {
      const walk = new Uint8Array(length);
      walk[0] = rng.integer(K);
      for (let t = 1; t < length; t++) walk[t] = (walk[t - 1] + (rng.uniform() < p ? 1 : K - 1)) % K;
      return walk;
    });
  }

  // All walks at p in {0, 1}, one from each node and equally likely: the population.
  enumerate(length) {
    const { nNodes: K } = this,
      step = this.p === 1 ? 1 : K - 1;
    return Array.from({ length: K }, (_, start) =>
      Uint8Array.from({ length }, (_, t) => (start + t * step) % K),
    );
  }

  // The law of each walk's target given what comes before, f^OPT.
  predict(walks) {
    const laws = this.transitionMatrix();
    return walks.map((walk) => laws[walk.at(-2)]);
  }
}

// Walks that occur several times, once each with its count.
export function distinct(walks) {
  const found = new Map();
  for (const walk of walks) {
    const key = walk.join();
    if (found.has(key)) found.get(key).count++;
    else found.set(key, { walk, count: 1 });
  }
  const all = [...found.values()];
  return { walks: all.map((f) => f.walk), weights: all.map((f) => f.count) };
}
