// Markov chains with memory, and a Dirichlet prior over them. Chen et al. (2024), section 2.1.
// Sequences are Uint8Arrays of tokens 0 ... d - 1; the last token of a sequence is the target.

// One chain: kernel[x_(t-r_1), ..., x_(t-r_n), x_t] as a flat array, nearest lag first.
export class NGramChain {
  constructor(kernel, vocabSize, lags) {
    Object.assign(this, { kernel, vocabSize, lags });
  }

  // Where the row of the kernel begins that belongs to the parents of token t.
  row(tokens, t) {
    let context = 0;
    for (let n = 0; n < this.lags.length; n++)
      context = context * this.vocabSize + tokens[t - this.lags[n]];
    return context * this.vocabSize;
  }

  // A sequence whose first window is uniform.
  sample(length, rng) {
    const { kernel, vocabSize, lags } = this, memory = lags.at(-1);
    const tokens = new Uint8Array(length);
    for (let t = 0; t < length; t++) {
      if (t < memory) {
        tokens[t] = rng.integer(vocabSize);
        continue;
      }
      const row = this.row(tokens, t);
      let left = rng.uniform();
      for (let token = 0; token < vocabSize; token++) {
        const probability = kernel[row + token];
        if (probability === 0) continue;
        tokens[t] = token; // the last possible token also takes what rounding leaves over
        if (left < probability) break;
        left -= probability;
      }
    }
    return tokens;
  }

  // The law of the next token, for one who knows the kernel.
  predict(context) {
    const row = this.row(context, context.length);
    return this.kernel.slice(row, row + this.vocabSize);
  }
}

// Every row of a kernel is Dirichlet, all rows independent.
export class DirichletPrior {
  constructor(vocabSize, lags, concentration) {
    Object.assign(this, { vocabSize, lags, concentration });
  }

  sampleChain(rng) {
    const d = this.vocabSize, kernel = new Float64Array(d ** (this.lags.length + 1));
    for (let row = 0; row < kernel.length; row += d) rng.dirichlet(this.concentration, kernel, row, d);
    return new NGramChain(kernel, d, this.lags);
  }

  // Sequences, each from a kernel of its own.
  sample(nSequences, length, rng) {
    return Array.from({ length: nSequences }, () => this.sampleChain(rng).sample(length, rng));
  }
}
