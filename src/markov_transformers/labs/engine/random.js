// Randomness from a seed. The counterpart of NumPy's Generator: same laws, other numbers.

export class Random {
  #state = new Int32Array(4);
  #spareNormal = null;

  constructor(seed) {
    // The seed, spread over the state by the mixing function of SplitMix.
    const next = () => {
      seed = (seed + 0x9e3779b9) | 0;
      let z = Math.imul(seed ^ (seed >>> 16), 0x21f0aaad);
      z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
      return z ^ (z >>> 15);
    };
    this.#state.set([next(), next(), next(), 1]);
    for (let i = 0; i < 12; i++) this.#bits();
  }

  // 32 random bits: "small fast counting" of Chris Doty-Humphrey, sfc32.
  #bits() {
    const state = this.#state, b = state[1], c = state[2], sum = (state[0] + b + state[3]++) | 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  }

  // Uniform in [0, 1), with all 53 bits of a double.
  uniform() {
    return ((this.#bits() >>> 5) * 67108864 + (this.#bits() >>> 6)) / 9007199254740992;
  }

  // Uniform among 0 ... n - 1.
  integer(n) {
    return Math.floor(this.uniform() * n);
  }

  // Standard normal, by the polar method of Marsaglia.
  normal() {
    if (this.#spareNormal !== null) {
      const spare = this.#spareNormal;
      this.#spareNormal = null;
      return spare;
    }
    for (;;) {
      const u = 2 * this.uniform() - 1, v = 2 * this.uniform() - 1, square = u * u + v * v;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      this.#spareNormal = v * scale;
      return u * scale;
    }
  }

  exponential() {
    return -Math.log(1 - this.uniform());
  }

  // Gamma with shape at least 1 and scale 1, by the squeeze of Marsaglia and Tsang.
  gamma(shape) {
    const d = shape - 1 / 3, c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal(), root = 1 + c * x, v = root * root * root;
      if (v <= 0) continue;
      const u = this.uniform();
      if (u < 1 - 0.0331 * x * x * x * x) return d * v; // nearly always, and without a logarithm
      if (Math.log(u) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  // Symmetric Dirichlet, written to row[start] ... row[start + size - 1]. In logarithms, with
  // log G_alpha = log G_(alpha + 1) - exponential / alpha, so that a tiny concentration leaves
  // at least one entry of the row.
  dirichlet(concentration, row, start = 0, size = row.length) {
    let largest = -Infinity, total = 0;
    for (let i = start; i < start + size; i++) {
      row[i] = Math.log(this.gamma(concentration + 1)) - this.exponential() / concentration;
      largest = Math.max(largest, row[i]);
    }
    for (let i = start; i < start + size; i++) total += row[i] = Math.exp(row[i] - largest);
    for (let i = start; i < start + size; i++) row[i] /= total;
  }
}
