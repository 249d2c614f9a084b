// The explorer's data: unpacked once, then read by word and by class.
const store = { words: [], docs: [], forms: {}, places: null, views: [], lower: null };

async function unpackStore(text) {
  const buffer = await unzipped(text);
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const kinds = { Uint8Array, Uint16Array, Uint32Array, Float32Array };
  head.array = {};
  for (const [name, kind, at, n] of head.arrays) head.array[name] = new kinds[kind](buffer, 4 + length + at, n);
  Object.assign(store, head);
  store.first = new Uint32Array(store.words.length + 1); // where the classes of a word begin
  for (let i = 0; i < store.words.length; i++) store.first[i + 1] = store.first[i] + store.array.classesOf[i];
}

// The position of a word, or -1.
function wordPlace(word) {
  if (!store.places) store.places = new Map(store.words.map((name, i) => [name, i]));
  return store.places.get(word) ?? -1;
}

// The documents of every class that have the word.
function countsOf(word) {
  const counts = new Array(store.classes.length).fill(0);
  for (let at = store.first[word]; at < store.first[word + 1]; at++) counts[store.array.class[at]] = store.array.tp[at];
  return counts;
}

// All words of a class: their documents inside (tp), and the row of their table with its scores and ranks.
function classView(c) {
  if (store.views[c]) return store.views[c];
  const tp = new Uint32Array(store.words.length);
  for (let word = 0; word < tp.length; word++) {
    for (let at = store.first[word]; at < store.first[word + 1]; at++) {
      if (store.array.class[at] === c) tp[word] = store.array.tp[at];
    }
  }
  const tables = { tp: store.array[`tp${c}`], fp: store.array[`fp${c}`], n: store.array[`n${c}`] };
  const row = new Int32Array(tp.length);
  if (store.shared) {
    const key = (inside, outside) => inside * (store.documents + 1) + outside;
    const rows = new Map();
    for (let t = 0; t < tables.tp.length; t++) rows.set(key(tables.tp[t], tables.fp[t]), t);
    for (let word = 0; word < row.length; word++) row[word] = rows.get(key(tp[word], store.array.df[word] - tp[word]));
  } else {
    row.forEach((_, word) => { row[word] = word; });
  }
  const scores = store.metrics.map((_, m) => floatsOf(store.array[`high${c}.${m}`], store.array[`low${c}.${m}`]));
  store.views[c] = { tp, row, tables, scores, ranks: scores.map((values) => ranksOf(values, tables.n)) };
  return store.views[c];
}

// For each table of a class its most frequent word.
function firstWords(view) {
  if (view.first) return view.first;
  const { df } = store.array;
  view.first = new Int32Array(view.tables.tp.length).fill(-1);
  view.row.forEach((row, word) => {
    const best = view.first[row];
    if (best < 0 || df[word] > df[best]) view.first[row] = word;
  });
  return view.first;
}

// The tables of the best words for a class, or against it (sign -1), by a metric.
function bestTables(c, metric, sign, n) {
  const view = classView(c);
  const { rank } = view.ranks[metric];
  const first = firstWords(view);
  const told = (t) => speaks(c, view.tables.tp[t], view.tables.tp[t] + view.tables.fp[t], metric, view.scores[metric][t]) === sign;
  const upTo = (limit) => Array.from(rank.keys()).filter((t) => rank[t] <= limit && first[t] >= 0 && told(t));
  let found = upTo(50 * n); // usually enough, and there is little to sort
  if (found.length < n) found = upTo(Infinity);
  return found.sort((a, b) => rank[a] - rank[b] || view.tables.n[b] - view.tables.n[a]).slice(0, n);
}

// Numbers from the upper two bytes and the third byte of their float32 form.
function floatsOf(high, low) {
  const bits = new Uint32Array(high.length);
  for (let i = 0; i < bits.length; i++) bits[i] = (high[i] << 16) | (low[i] << 8);
  return new Float32Array(bits.buffer);
}

// 1 plus the number of words with a greater score; and how many words share it.
function ranksOf(scores, n) {
  const order = Uint32Array.from(scores.keys()).sort((a, b) => Math.abs(scores[b]) - Math.abs(scores[a]));
  const rank = new Uint32Array(scores.length);
  const ties = new Uint32Array(scores.length);
  let before = 0;
  for (let start = 0, stop; start < order.length; start = stop) {
    let words = 0;
    for (stop = start; stop < order.length && Math.abs(scores[order[stop]]) === Math.abs(scores[order[start]]); stop++) words += n[order[stop]];
    for (let i = start; i < stop; i++) { rank[order[i]] = before + 1; ties[order[i]] = words; }
    before += words;
  }
  return { rank, ties };
}

// +1 where the word speaks for the class, -1 where against it. A signed score says it itself.
function speaks(c, tp, df, metric, score) {
  if (metric !== undefined && store.metrics[metric].signed) return Math.sign(score);
  return Math.sign(tp * store.documents - df * store.pos[c]);
}

// Wilson's interval of a rate, with 95 %.
function rateInterval(hits, total) {
  if (!total) return [0, 1];
  const z = 1.959963984540054;
  const rate = hits / total;
  const middle = (rate + z * z / (2 * total)) / (1 + z * z / total);
  const half = z / (1 + z * z / total) * Math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// The words that most often go with a word, and the documents with both.
function companyOf(word) {
  const { companyOf: whose, companyWith: others, companyBoth: both } = store.array;
  const found = [];
  // The company of a word stands together.
  for (let at = whose?.indexOf(word) ?? -1; at >= 0 && whose[at] === word; at++) found.push([others[at], both[at]]);
  return found;
}
