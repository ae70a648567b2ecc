// How much the past tells about the next token, and what it costs to look. Chen et al. (2024),
// (3.1) and (3.2), from the frequencies of windows in data.

// Every set of at most maxSize of the lags 1 ... window, by size, then lexicographically.
export function lagSubsets(window, maxSize) {
  const sets = [[]];
  for (let size = 1, first = 0; size <= Math.min(maxSize, window); size++) {
    const shorter = sets.slice(first);
    first = sets.length;
    for (const set of shorter)
      for (let lag = (set.at(-1) ?? 0) + 1; lag <= window; lag++) sets.push([...set, lag]);
  }
  return sets;
}

// Modified chi-squared mutual information (3.1) of every set, averaged over the sequences, each
// of which is a chain of its own: sum over E, e of (mu(E, e) - mu(E) mu(e)) (mu(E | e) - mu(E)).
export function informationOfSubsets(sequences, window, vocabSize, maxSize) {
  const d = vocabSize, subsets = lagSubsets(window, maxSize), values = new Float64Array(subsets.length);
  const nCodes = d ** (window + 1), patternOf = subsets.map((subset) => patternsIn(subset, nCodes, d));
  const windows = new Float64Array(nCodes), codes = new Int32Array(nCodes), token = new Float64Array(d);
  const joint = new Float64Array(d ** (maxSize + 1)), past = new Float64Array(d ** maxSize);
  const patterns = new Int32Array(d ** maxSize);
  for (const tokens of sequences) {
    const share = 1 / (tokens.length - window);
    let nSeen = 0;
    token.fill(0);
    for (let t = 0, code = 0; t < tokens.length; t++) {
      code = (code * d + tokens[t]) % nCodes;
      if (t < window) continue;
      if (windows[code] === 0) codes[nSeen++] = code;
      windows[code] += share;
      token[tokens[t]] += share;
    }
    for (let S = 1; S < subsets.length; S++) {
      let nPatterns = 0, value = 0;
      for (let n = 0; n < nSeen; n++) {
        const code = codes[n], pattern = patternOf[S][code];
        if (past[pattern] === 0) patterns[nPatterns++] = pattern;
        past[pattern] += windows[code];
        joint[pattern * d + (code % d)] += windows[code];
      }
      for (let n = 0; n < nPatterns; n++) {
        const E = patterns[n];
        for (let e = 0; e < d; e++) {
          const both = joint[E * d + e];
          if (token[e] > 0) value += (both - past[E] * token[e]) * (both / token[e] - past[E]);
          joint[E * d + e] = 0;
        }
        past[E] = 0;
      }
      values[S] += Math.max(value, 0) / sequences.length;
    }
    for (let n = 0; n < nSeen; n++) windows[codes[n]] = 0;
  }
  return subsets.map((subset, S) => ({ subset, value: values[S] }));
}

// The tokens at some lags, as a number, for each window; the token i places back is the digit of d^i.
function patternsIn(subset, nCodes, d) {
  return Int32Array.from({ length: nCodes }, (_, code) =>
    subset.reduce((pattern, lag) => pattern * d + (Math.floor(code / d ** lag) % d), 0));
}

// The information set (3.2) and the gap (3.5) to the runner-up.
export function informationSet(information) {
  const [best, second] = [...information].sort((a, b) => b.value - a.value);
  return { subset: best.subset, value: best.value, gap: best.value - second.value };
}

// The copying gap (3.6) from which the theorem on training dynamics holds.
export function copyingGapThreshold(information, gap, window) {
  if (window === 1) return -Infinity;
  return Math.log(window - 1) - Math.log(Math.expm1(Math.log1p(gap / (14 * information)) / (2 * window)));
}
