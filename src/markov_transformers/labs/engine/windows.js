// What the loss can see of a data set: how many keys of each kind a sequence has, and how many of
// them are followed by the target. Two keys are of one kind if their windows match the window
// before the target in the same places, because only the table of matches 1(q_i = W_j) enters the
// score. Windows have at most five tokens: their tables then fit into 25 bits.

// The table of each key l = M + 1 ... L of a context x_1 ... x_L: bit (j - 1) M + i - 1 is set
// where offset i of the query equals offset j of the key.
export function matchTables(context, window, vocabSize) {
  const length = context.length, every = 2 ** (window * window) - 1;
  const queryMask = new Int32Array(vocabSize), tables = new Int32Array(length - window);
  for (let i = 1; i <= window; i++) queryMask[context[length - i]] |= 1 << (i - 1);
  for (let l = 1, table = 0; l < length; l++) {
    table = ((table << window) | queryMask[context[l - 1]]) & every;
    if (l >= window) tables[l - window] = table;
  }
  return tables;
}

// Counts in compressed rows, one for each group of sequences with the same counts: entries
// starts[g] ... starts[g + 1] - 1 hold a kind, its count, and how many of these hit the target.
export class WindowCounts {
  constructor(window, vocabSize) {
    Object.assign(this, { window, vocabSize, nSequences: 0, tables: [], sizes: [], starts: [0] });
    Object.assign(this, { kinds: [], counts: [], hits: [] });
    this.kindOf = window < 5 ? new Int32Array(2 ** (window * window)).fill(-1) : new Map();
    this.groupOf = new Map();
    this.all = []; // of the sequence at hand, for each kind
    this.hit = [];
  }

  static fromTokens(sequences, window, vocabSize) {
    const counts = new WindowCounts(window, vocabSize);
    for (const tokens of sequences) counts.add(tokens);
    return counts;
  }

  add(tokens) {
    const { window, vocabSize, tables, kindOf, all, hit } = this, touched = [], target = tokens.at(-1);
    const dense = window < 5; // then one lookup in an array, else in a map
    const found = matchTables(tokens.subarray(0, -1), window, vocabSize);
    for (let place = 0; place < found.length; place++) {
      const table = found[place];
      let kind = dense ? kindOf[table] : (kindOf.get(table) ?? -1);
      if (kind < 0) {
        kind = tables.length;
        if (dense) kindOf[table] = kind;
        else kindOf.set(table, kind);
        tables.push(table);
        all.push(0);
        hit.push(0);
      }
      if (all[kind]++ === 0) touched.push(kind);
      if (tokens[window + place] === target) hit[kind]++;
    }
    touched.sort((a, b) => a - b);
    let row = "";
    for (const kind of touched) row += String.fromCharCode(kind >> 15, kind & 32767, all[kind], hit[kind]);
    let group = this.groupOf.get(row);
    if (group === undefined) {
      this.groupOf.set(row, (group = this.sizes.length));
      this.sizes.push(0);
      for (const kind of touched) {
        this.kinds.push(kind);
        this.counts.push(all[kind]);
        this.hits.push(hit[kind]);
      }
      this.starts.push(this.kinds.length);
    }
    this.sizes[group]++;
    this.nSequences++;
    for (const kind of touched) all[kind] = hit[kind] = 0;
  }

  // The counts so far, in arrays made for reading.
  byMatch() {
    return {
      window: this.window,
      tables: this.tables,
      starts: Int32Array.from(this.starts),
      kinds: Int32Array.from(this.kinds),
      counts: Float64Array.from(this.counts),
      hits: Float64Array.from(this.hits),
      weights: Float64Array.from(this.sizes, (size) => size / this.nSequences),
    };
  }
}
