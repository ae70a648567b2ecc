// Rounding against the symmetry of the deterministic walk. Shi and Cao (2025), Theorem 4.1.

// Inner products of the sine positions as a computer gets them in "float32" or "float64". Exact ones
// would be (M + 1) / 2 times the identity.
export function floatingGram(length, dim, precision) {
  const round = precision === "float32" ? Math.fround : (v) => v;
  const positions = Array.from({ length }, (_, j) =>
    Float64Array.from({ length: dim }, (_, m) =>
      round(Math.sin((Math.PI * (((m + 1) * (j + 1)) % (2 * dim + 2))) / (dim + 1))),
    ),
  );
  const gram = positions.map(() => new Float64Array(length));
  for (let i = 0; i < length; i++)
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let m = 0; m < dim; m++) sum = round(sum + round(positions[i][m] * positions[j][m]));
      gram[i][j] = gram[j][i] = sum;
    }
  return gram;
}

// What given inner products of the positions make of a gradient in q, for OneLayerModel.train.
export function mixOf(model, gram) {
  return gram.map((row, i) => row.map((g, j) => (model.querySquare * g) / (model.norms[i] * model.norms[j])));
}

// How uneven the attention on the tokens is: largest less smallest, over the mean.
export function unevenness(attention) {
  const tokens = attention.subarray(0, attention.length - 1);
  const range = Math.max(...tokens) - Math.min(...tokens);
  return range && range / (tokens.reduce((sum, a) => sum + a) / tokens.length);
}
