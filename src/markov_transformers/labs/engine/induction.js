// Predictors that look into the context: the generalized induction head and its rivals.
// Each has predict(context, vocabSize), from x_1 ... x_L to the law of the next token.

// Average the tokens that followed earlier matches at a set of lags. Chen et al. (2024), (3.3).
export class GeneralizedInductionHead {
  constructor(subset, window) {
    Object.assign(this, { subset, window });
  }

  predict(context, vocabSize) {
    const counts = countsAfterMatches(context, this.subset, this.window, vocabSize);
    const matched = counts.some((count) => count > 0);
    return normalized(matched ? counts : countsAfterMatches(context, [], this.window, vocabSize));
  }
}

// The frequencies of the tokens in the whole context.
export class Unigram {
  predict(context, vocabSize) {
    return normalized(countsAfterMatches(context, [], 0, vocabSize));
  }
}

// Posterior predictive under a Dirichlet prior with known lags.
export class BayesOptimal {
  constructor(lags, concentration) {
    Object.assign(this, { lags, concentration });
  }

  predict(context, vocabSize) {
    const counts = countsAfterMatches(context, this.lags, this.lags.at(-1), vocabSize);
    return normalized(counts.map((count) => count + this.concentration));
  }
}

// The report that the loss with epsilon rewards most when the law is known:
// max(0, lambda m_k - epsilon), with lambda such that the entries sum to one.
export function bestReport(law, epsilon) {
  const rising = Float64Array.from(law).sort();
  let kept = 0, sum = 0, running = 0;
  for (let k = 1; k <= rising.length; k++) {
    const mass = rising[rising.length - k];
    running += mass;
    if (k === 1 || mass + epsilon * (k * mass - running) > 0) [kept, sum] = [k, running];
  }
  return normalized(Float64Array.from(law, (mass) => Math.max(mass + epsilon * (kept * mass - sum), 0)));
}

// The mean of -log(y + epsilon), (2.1), of a predictor whose contexts end before the last token.
export function meanLoss(predict, sequences, epsilon) {
  let total = 0;
  for (const tokens of sequences)
    total -= Math.log(predict(tokens.subarray(0, -1))[tokens.at(-1)] + epsilon);
  return total / sequences.length;
}

function countsAfterMatches(context, subset, window, vocabSize) {
  const counts = new Float64Array(vocabSize), length = context.length;
  for (let l = window; l < length; l++) {
    let match = true;
    for (let n = 0; match && n < subset.length; n++)
      match = context[l - subset[n]] === context[length - subset[n]];
    if (match) counts[context[l]]++;
  }
  return counts;
}

function normalized(weights) {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / total);
}
