// Scores texts with an exported termsieve model, in a browser or in Node; it needs nothing else.
//
//   import { score } from "./scorer.js";
//   const found = score(model, "cheap pills now");   // model: the parsed JSON of `termsieve export`
//   found.class                                      // the class, or the list of the labels
//   found.values                                     // the decision values: one for two classes, else one each
//   found.terms                                      // [{term, count, adds, places}], what counts most first
//
// `adds` is what a term adds to each decision value; `places` are its [start, end) in the text as it was given.

const FORMAT = "termsieve portable model", VERSION = 1, LAST = 0x10ffff;
const KNOWN = {
  analyzer: ["word", "char", "char_wb"], stem: [null, "porter"], values: ["presence", "count", "log"],
  decision: ["two", "highest", "each"], probability: [null, "logistic", "softmax"],
};
const LEAST_SUM = 2.2250738585072014e-308; // of probabilities that are divided by their sum
const MOST_RANGES = 10000, MOST_N = 20, MOST_LEAST = 64;
const prepared = new WeakMap();

/** Return the class of a text, the decision values, and the terms that were found with what they add. */
export function score(model, text) {
  const made = ready(model), grams = made.grams(String(text)), found = new Map();
  for (const { term, start, end } of grams) {
    const number = made.numbers.get(term);
    if (number === undefined) continue;
    if (!found.has(number)) found.set(number, []);
    found.get(number).push([start, end]);
  }
  const inputs = inputsOf(model, found);
  const values = valuesOf(model, inputs);
  const terms = inputs.map(([number, value]) => ({
    term: model.terms[number],
    count: found.get(number).length,
    adds: model.weights[number].map((weight) => value * weight),
    places: found.get(number).sort((a, b) => a[0] - b[0]),
  }));
  const largest = (each) => Math.max(...each.adds.map(Math.abs));
  terms.sort((a, b) => largest(b) - largest(a));
  return { class: decided(model, values), values, probabilities: probable(model, values), terms };
}

/** Return the class and the decision values of a text, without where its terms are: several times as fast. */
export function decide(model, text) {
  const made = ready(model), found = new Map();
  made.each(String(text), (term) => {
    const number = made.numbers.get(term);
    if (number !== undefined) found.set(number, (found.get(number) ?? 0) + 1);
  });
  const values = valuesOf(model, inputsOf(model, found));
  return { class: decided(model, values), values };
}

function ready(model) {
  if (!prepared.has(model)) {
    check(model);
    const numbers = new Map(model.terms.map((term, number) => [term, number]));
    prepared.set(model, { numbers, ...analyser(model.text) });
  }
  return prepared.get(model);
}

/** Return [number, value] of each term in order, as the weights multiply it. */
function inputsOf(model, found) {
  const values = [...found.entries()].sort((a, b) => a[0] - b[0]).map(([number, places]) => {
    const count = typeof places === "number" ? places : places.length;
    const value = model.values === "presence" ? 1 : model.values === "count" ? count : 1 + Math.log(count);
    return [number, model.scales === null ? value : value * model.scales[number]];
  });
  if (model.unit_length) {
    let squares = 0;
    for (const [, value] of values) squares += value * value;
    const length = Math.sqrt(squares);
    if (length > 0) for (const pair of values) pair[1] /= length;
  }
  return values;
}

function valuesOf(model, inputs) {
  const totals = new Array(model.intercepts.length).fill(0);
  for (const [number, value] of inputs) {
    const weights = model.weights[number];
    for (let row = 0; row < totals.length; row++) totals[row] += value * weights[row];
  }
  return totals.map((total, row) => total + model.intercepts[row] - model.thresholds[row]);
}

function decided(model, values) {
  if (model.decision === "two") return model.classes[values[0] > 0 ? 1 : 0];
  if (model.decision === "each") return model.classes.filter((_, row) => values[row] > 0);
  let best = 0;
  for (let row = 1; row < values.length; row++) if (values[row] > values[best]) best = row;
  return model.classes[best];
}

/** Return the probability of each class, or null where the model gives none. */
function probable(model, values) {
  if (model.probability === null) return null;
  const high = Math.max(...values);
  // Slope and offset apply to the decision values before the thresholds.
  const odds = (value, row) => model.calibration === null ? value
    : (value + model.thresholds[row]) * model.calibration[row][0] + model.calibration[row][1];
  const shares = values.map((value, row) =>
    model.probability === "softmax" ? Math.exp(value - high) : 1 / (1 + Math.exp(-odds(value, row))));
  if (model.decision === "two") return [1 - shares[0], shares[0]];
  const whole = model.decision === "highest" ? Math.max(shares.reduce((a, b) => a + b, 0), LEAST_SUM) : 1;
  return shares.map((share) => share / whole);
}

/** Return two functions: one lists the terms of a text with their places, one only says the terms. */
function analyser(text) {
  const lower = text.lowercase === null ? (given) => ({ text: given }) : lowering(text.lowercase);
  const [least, most] = text.ngrams;
  const cut = text.analyzer === "word" ? tokeniser(text) : null;
  const spaces = text.analyzer === "word" ? null : characterClass(text.spaces);
  const gaps = spaces && new RegExp(`[${spaces}]{2,}`, "gu"), pieces = spaces && new RegExp(`[^${spaces}]+`, "gu");

  function each(given, say) {
    const lowered = lower(given), origin = lowered.origin;
    const at = origin ? (place) => origin.starts[place] : (place) => place;
    const to = origin ? (place) => (place === 0 ? 0 : origin.ends[place - 1]) : at;
    if (cut) {
      const tokens = cut(lowered.text);
      for (let n = least; n <= Math.min(most, tokens.length); n++) {
        for (let i = 0; i + n <= tokens.length; i++) {
          let term = tokens[i].term;
          for (let j = 1; j < n; j++) term += ` ${tokens[i + j].term}`;
          say(term, at(tokens[i].start), to(tokens[i + n - 1].end));
        }
      }
    } else if (text.analyzer === "char") {
      const { letters, starts } = withoutGaps(lowered.text, gaps);
      for (let n = least; n <= Math.min(most, letters.length); n++) {
        for (let i = 0; i + n <= letters.length; i++) {
          say(letters.slice(i, i + n).join(""), at(starts[i]), to(starts[i + n]));
        }
      }
    } else {
      for (const match of lowered.text.matchAll(pieces)) padded(match, say, at, to);
    }
  }

  function padded(match, say, at, to) {
    const letters = [" ", ...match[0], " "], starts = [match.index, match.index];
    for (const letter of match[0]) starts.push(starts.at(-1) + letter.length);
    starts.push(starts.at(-1));
    for (let n = least; n <= most; n++) {
      for (let i = 0; i <= Math.max(letters.length - n, 0); i++) {
        const stop = Math.min(i + n, letters.length);
        say(letters.slice(i, stop).join(""), at(starts[i]), to(starts[stop]));
      }
      if (letters.length <= n) break;
    }
  }

  function grams(given) {
    const found = [];
    each(given, (term, start, end) => found.push({ term, start, end }));
    return found;
  }
  return { each, grams };
}

/** Return the characters of a text with longer gaps as one space, and where each begins; the end is last. */
function withoutGaps(text, gaps) {
  const letters = [], starts = [];
  let place = 0;
  const take = (until) => {
    for (const letter of text.slice(place, until)) {
      letters.push(letter);
      starts.push(place);
      place += letter.length;
    }
  };
  for (const gap of text.matchAll(gaps)) {
    take(gap.index);
    letters.push(" ");
    starts.push(gap.index);
    place = gap.index + gap[0].length;
  }
  take(text.length);
  starts.push(text.length);
  return { letters, starts };
}

/** Return the function from a text in lower case to its tokens, without stop words, stemmed. */
function tokeniser({ token, stop_words: stopWords, stem }) {
  const pattern = new RegExp(`[${characterClass(token.characters)}]{${token.least},}`, "gu");
  const word = token.word === null ? null : new RegExp(`[${characterClass(token.word)}]`, "u");
  const stops = new Set(stopWords);
  return (text) => {
    const tokens = [];
    for (const match of text.matchAll(pattern)) {
      const term = match[0], start = match.index, end = start + term.length;
      if (word && token.starts_word && word.test(characterBefore(text, start))) continue;
      if (word && token.ends_word && end < text.length && word.test(characterAt(text, end))) continue;
      if (!stops.has(term)) tokens.push({ term: stem === null ? term : porterStem(term), start, end });
    }
    return tokens;
  };
}

const characterAt = (text, place) => String.fromCodePoint(text.codePointAt(place));

function characterBefore(text, place) {
  if (place === 0) return "";
  const low = text.charCodeAt(place - 1);
  const pair = low >= 0xdc00 && low <= 0xdfff && place > 1 && (text.charCodeAt(place - 2) & 0xfc00) === 0xd800;
  return pair ? text.slice(place - 2, place) : text[place - 1];
}

function characterClass(ranges) {
  let made = "";
  for (let i = 0; i < ranges.length; i += 2) {
    made += `\\u{${ranges[i].toString(16)}}-\\u{${ranges[i + 1].toString(16)}}`;
  }
  return made;
}

/** Return the function that lower-cases by the model's own table; `origin` maps places where lengths change. */
function lowering(table) {
  const map = new Map();
  for (const [first, last, step, distance] of table.runs) {
    for (let point = first; point <= last; point += step) {
      map.set(String.fromCodePoint(point), String.fromCodePoint(point + distance));
    }
  }
  for (const [point, text] of table.longer) map.set(String.fromCodePoint(point), text);
  const sigma = table.final_sigma && {
    cased: new RegExp(`[${characterClass(table.final_sigma.cased)}]`, "u"),
    ignored: new RegExp(`[${characterClass(table.final_sigma.ignored)}]`, "u"),
  };
  return (given) => {
    if (/^[\0-\x7f]*$/.test(given)) return { text: given.toLowerCase() };
    const letters = [...given];
    if (sigma && given.includes("\u03a3")) finalSigmas(letters, sigma);
    let changed = false;
    const lowered = letters.map((letter) => {
      const low = map.get(letter) ?? letter;
      changed ||= low.length !== letter.length;
      return low;
    });
    return { text: lowered.join(""), origin: changed ? origins(letters, lowered) : undefined };
  };
}

function finalSigmas(letters, { cased, ignored }) {
  const hasCase = (at, step) => {
    let i = at + step;
    while (i >= 0 && i < letters.length && ignored.test(letters[i])) i += step;
    return i >= 0 && i < letters.length && cased.test(letters[i]);
  };
  for (let i = 0; i < letters.length; i++) {
    if (letters[i] === "\u03a3" && hasCase(i, -1) && !hasCase(i, 1)) letters[i] = "\u03c2";
  }
}

/** Return for each code unit of the lower-cased text where its character begins and ends in the original. */
function origins(letters, lowered) {
  const starts = [], ends = [];
  let place = 0;
  letters.forEach((letter, i) => {
    for (let j = 0; j < lowered[i].length; j++) {
      starts.push(place);
      ends.push(place + letter.length);
    }
    place += letter.length;
  });
  starts.push(place);
  return { starts, ends };
}

// Porter's algorithm of 1980, in the form of the Snowball project.
const STEP_2 = {
  tional: "tion", enci: "ence", anci: "ance", abli: "able", entli: "ent", eli: "e", izer: "ize", ization: "ize",
  ational: "ate", ation: "ate", ator: "ate", alism: "al", aliti: "al", alli: "al", fulness: "ful", ousli: "ous",
  ousness: "ous", iveness: "ive", iviti: "ive", biliti: "ble",
};
const STEP_3 = { icate: "ic", iciti: "ic", ical: "ic", ative: "", alize: "al", ful: "", ness: "" };
const STEP_4 = [
  "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti",
  "ous", "ive", "ize", "ion",
];
const WIDE = /[\u{10000}-\u{10ffff}]/gu;
const isVowel = (letter) => letter !== undefined && letter !== "" && "aeiouy".includes(letter);
const hasVowel = (stem) => /[aeiouy]/.test(stem);

/** Return the stem of an English word in lower case. */
export function porterStem(word) {
  // A character of two code units stands for itself as "Z", which no word in lower case has.
  const wide = [...word.matchAll(WIDE)], letters = [...word.replace(WIDE, "Z")];
  letters.forEach((letter, i) => {
    if (letter === "y" && (i === 0 || isVowel(letters[i - 1]))) letters[i] = "Y";
  });
  let stem = letters.join("");
  const first = afterSyllable(stem, 0), second = afterSyllable(stem, first);
  stem = withoutPlurals(stem, first);
  if (/[yY]$/.test(stem) && hasVowel(stem.slice(0, -1))) stem = `${stem.slice(0, -1)}i`;
  for (const endings of [STEP_2, STEP_3]) {
    const found = ending(stem, Object.keys(endings));
    if (found && stem.length - found.length >= first) stem = stem.slice(0, -found.length) + endings[found];
  }
  const found = ending(stem, STEP_4);
  if (found && stem.length - found.length >= second && (found !== "ion" || /[st]ion$/.test(stem))) {
    stem = stem.slice(0, -found.length);
  }
  if (stem.endsWith("e")) {
    const at = stem.length - 1;
    if (at >= second || (at >= first && !isShort(stem.slice(0, -1)))) stem = stem.slice(0, -1);
  }
  if (stem.endsWith("ll") && stem.length - 1 >= second) stem = stem.slice(0, -1);
  return stem.replaceAll("Y", "y").replace(/Z/g, () => wide.shift()[0]);
}

function withoutPlurals(stem, first) {
  let found = ending(stem, ["sses", "ies", "ss", "s"]);
  if (found === "sses" || found === "ies") stem = stem.slice(0, -2);
  if (found === "s") stem = stem.slice(0, -1);
  found = ending(stem, ["eed", "ed", "ing"]);
  if (found === "eed") return stem.length - 3 >= first ? stem.slice(0, -1) : stem;
  if (!found || !hasVowel(stem.slice(0, -found.length))) return stem;
  stem = stem.slice(0, -found.length);
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(stem)) return stem.slice(0, -1);
  return stem.length === first && isShort(stem) ? `${stem}e` : stem;
}

function afterSyllable(stem, start) {
  let i = start;
  while (i < stem.length && !isVowel(stem[i])) i++;
  while (i < stem.length && isVowel(stem[i])) i++;
  return Math.min(i + 1, stem.length);
}

const isShort = (stem) =>
  stem.length >= 3 && !isVowel(stem.at(-1)) && !"wxY".includes(stem.at(-1)) &&
  isVowel(stem.at(-2)) && !isVowel(stem.at(-3));

const ending = (stem, endings) =>
  endings.filter((each) => stem.endsWith(each)).reduce((a, b) => (b.length > a.length ? b : a), "");

/** Throw an error of one sentence if a model cannot be used, whatever it holds. */
export function check(model) {
  is(isObject(model) && model.format === FORMAT, `this is no ${FORMAT}`);
  is(isWhole(model.version, 1, 2 ** 30), "the model's version is no number");
  is(model.version <= VERSION, `the model has version ${model.version} and this scorer reads ${VERSION}`);
  checkText(model.text);
  is(isTexts(model.terms) && model.terms.length > 0, "the model's terms are no list of texts");
  is(new Set(model.terms).size === model.terms.length, "the model has a term twice");
  const { classes } = model;
  is(Array.isArray(classes) && classes.every((each) => typeof each === "string" || isFinite_(each)),
    "the model's classes are no list of labels");
  is(new Set(classes).size === classes.length, "the model has a class twice");
  for (const name of ["values", "decision", "probability"]) isKnown(model, name);
  is(typeof model.unit_length === "boolean", "the model's unit_length is not true or false");
  is(model.decision === "two" ? classes.length === 2 : classes.length > 0, "the model has other classes");
  is(model.probability !== "softmax" || model.decision === "highest", "the model's probability does not fit");
  const rows = model.decision === "two" ? 1 : classes.length;
  for (const name of ["intercepts", "thresholds"]) {
    is(isNumbers(model[name], rows), `the model's ${name} are not ${rows} finite numbers`);
  }
  is(model.calibration === null || (Array.isArray(model.calibration) && model.calibration.length === rows &&
    model.probability === "logistic" && model.calibration.every((pair) => isNumbers(pair, 2))),
    "the model's calibration does not fit");
  is(model.scales === null || isNumbers(model.scales, model.terms.length), "the model's scales do not fit");
  is(Array.isArray(model.weights) && model.weights.length === model.terms.length &&
    model.weights.every((each) => isNumbers(each, rows)), `the model's weights are not ${rows} per term`);
}

function checkText(text) {
  is(isObject(text), "the model does not say how a text becomes terms");
  isKnown(text, "analyzer");
  isKnown(text, "stem");
  is(isTexts(text.stop_words), "the model's stop words are no list of texts");
  const { ngrams, token } = text;
  is(Array.isArray(ngrams) && ngrams.length === 2 && ngrams.every((n) => isWhole(n, 1, MOST_N)) &&
    ngrams[0] <= ngrams[1], "the model's ngrams are no pair");
  if (text.analyzer === "word") {
    is(isObject(token) && isRanges(token.characters) && isWhole(token.least, 1, MOST_LEAST) &&
      (token.word === null || isRanges(token.word)) && typeof token.starts_word === "boolean" &&
      typeof token.ends_word === "boolean", "the model does not say what a token is");
  } else {
    is(isRanges(text.spaces), "the model does not say what a space is");
  }
  is(text.lowercase === null || isLowerTable(text.lowercase), "the model's lower-casing table is damaged");
}

function isLowerTable(table) {
  if (!isObject(table) || !Array.isArray(table.runs) || !Array.isArray(table.longer)) return false;
  if (table.runs.length > MOST_RANGES || JSON.stringify(table.runs[0]) !== "[65,90,1,32]") return false;
  let points = 0;
  for (const run of table.runs) {
    if (!Array.isArray(run) || run.length !== 4 || !run.every((n) => isWhole(n, -LAST, LAST))) return false;
    const [first, last, step, distance] = run;
    if (first < 0 || last < first || ![1, 2].includes(step)) return false;
    if (first + distance < 0 || last + distance > LAST) return false;
    points += (last - first) / step + 1;
  }
  const sigma = table.final_sigma;
  return points <= LAST && table.longer.length <= MOST_RANGES && table.longer.every((pair) =>
    Array.isArray(pair) && isWhole(pair[0], 128, LAST) && typeof pair[1] === "string" && pair[1].length <= 8) &&
    (sigma === null || (isObject(sigma) && isRanges(sigma.cased) && isRanges(sigma.ignored)));
}

function isRanges(found) {
  return Array.isArray(found) && found.length > 0 && found.length % 2 === 0 &&
    found.length <= 2 * MOST_RANGES && found.every((n, i) =>
      isWhole(n, 0, LAST) && (i === 0 || (i % 2 ? found[i - 1] <= n : found[i - 1] < n)));
}

function is(true_, said) {
  if (!true_) throw new Error(said);
}

const isObject = (found) => typeof found === "object" && found !== null && !Array.isArray(found);
const isWhole = (found, low, high) => Number.isInteger(found) && low <= found && found <= high;
const isFinite_ = (found) => typeof found === "number" && Math.abs(found) < 1e300;
const isTexts = (found) => Array.isArray(found) && found.every((each) => typeof each === "string");
const isNumbers = (found, n) => Array.isArray(found) && found.length === n && found.every(isFinite_);
const isKnown = (found, name) => is(KNOWN[name].includes(found[name]), `the model's ${name} is unknown`);
