// Small pieces of a page: elements, numbers, words as buttons, words marked in a text.
const formatted = new Intl.NumberFormat("en"); // made once: toLocaleString makes one at every call
const number = (value) => formatted.format(value);
const percent = (share) => `${+(100 * share).toPrecision(share >= 0.1 ? 3 : 2)} %`;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// A text of the data, which may run from right to left.
const isolated = (text) => element("bdi", {}, text);

// A word that opens its panel; a plain text if the explorer does not know it.
function wordButton(word) {
  if (wordPlace(word) < 0) return isolated(word);
  return element("button", { type: "button", class: "word", onclick: () => openWord(word) }, isolated(word));
}

// How a word may stand in a text: as it is named, or, if words were stemmed or joined, in its forms.
function formsOf(word) {
  const forms = Object.hasOwn(store.forms, word) ? store.forms[word] : [];
  return [word, ...forms].filter(Boolean);
}

function patternOf(words) {
  const literal = (text) => text.replace(/[\\^$.*+?()[\]{}|\-/]/g, "\\$&");
  const forms = words.flatMap(formsOf).sort((a, b) => b.length - a.length);
  if (!forms.length) return null;
  return new RegExp(`(?<![\\p{L}\\p{N}_])(?:${forms.map(literal).join("|")})(?![\\p{L}\\p{N}_])`, "giu");
}

// The text with all occurrences of a pattern as elements that `mark` makes.
function marked(text, pattern, mark = (found) => element("mark", {}, found)) {
  const parts = [];
  let last = 0;
  for (const match of pattern ? text.matchAll(pattern) : []) {
    if (!match[0]) continue;
    parts.push(text.slice(last, match.index), mark(match[0]));
    last = match.index + match[0].length;
  }
  return [...parts, text.slice(last)];
}

// The documents from the most typical on, and their texts in lower case.
function prepareDocuments() {
  store.typical ??= [...store.docs].sort((a, b) => b.s - a.s);
  store.lower ??= store.typical.map((doc) => doc.t.toLowerCase());
}

// What the first click would have to wait for is made while the page is idle.
function warmUp() {
  wordPlace("");
  prepareDocuments();
}

// The most typical documents in this file that contain a word, at least `most` of each class if there are as many,
// each with the place where the word stands first.
function documentsWith(word, most) {
  prepareDocuments();
  const forms = formsOf(word);
  const pattern = patternOf([word]);
  const found = [];
  const ofClass = new Array(store.classes.length + 1).fill(0); // the last one: documents without a class
  store.typical.forEach((doc, i) => {
    const classes = doc.c.length ? doc.c : [store.classes.length];
    if (classes.every((c) => ofClass[c] >= most) || !forms.some((form) => store.lower[i].includes(form))) return;
    const at = doc.t.search(pattern);
    if (at < 0) return;
    found.push({ doc, at });
    for (const c of classes) ofClass[c] += 1;
  });
  return found;
}
