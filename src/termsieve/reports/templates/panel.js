// The panel of a word: its rate in every class, its scores and ranks, its company, its documents.
const CONTEXT = 220; // characters before and after a word, until the whole text is asked for
const CONTRASTS = 4; // other classes of which documents are shown
let opener = null; // what had the focus before the panel opened

const panel = () => document.getElementById("word");
const classShown = () => chosen.class ?? 0;

function openWord(word) {
  if (wordPlace(word) < 0) return;
  if (!panel().contains(document.activeElement)) opener = document.activeElement;
  remember("word", word, "");
  fillPanel(word);
  panel().hidden = false;
  panel().scrollTop = 0;
  document.getElementById("word-title").focus({ preventScroll: true });
}

function closeWord() {
  panel().hidden = true;
  remember("word", "", "");
  if (opener?.isConnected) opener.focus({ preventScroll: true });
  opener = null;
}

// Shows the word of the address, or none.
function wordFromAddress() {
  const word = address.get("word");
  if (word !== null && wordPlace(word) >= 0) openWord(word);
  else if (word !== null) tellSearch(word);
  else panel().hidden = true;
}

function fillPanel(word) {
  const place = wordPlace(word);
  const title = element("h2", { id: "word-title", tabindex: "-1" }, isolated(word));
  const close = element("button", { type: "button", class: "close", "aria-label": "Close", onclick: closeWord }, "×");
  const rates = ratesOf(place);
  panel().replaceChildren(
    element("div", { class: "panel-head" }, title, close),
    element("p", {}, sentenceOf(place, rates)),
    element("h3", {}, "In every class"), ratesTable(rates),
    element("h3", {}, "Scores in ", isolated(store.classes[classShown()])), scoresTable(place),
    ...companyPart(place),
    element("h3", {}, "Documents"), ...documentsPart(word, rates),
  );
}

function ratesOf(place) {
  const df = store.array.df[place];
  return countsOf(place).map((tp, c) => {
    const [low, high] = rateInterval(tp, store.pos[c]);
    const outside = store.documents - store.pos[c];
    return { c, tp, pos: store.pos[c], rate: tp / Math.max(1, store.pos[c]), low, high, rest: (df - tp) / Math.max(1, outside) };
  }).sort((a, b) => b.rate - a.rate);
}

function sentenceOf(place, rates) {
  const df = store.array.df[place];
  const names = (found) => found.slice(0, 4).map((each) => store.classes[each.c]).join(", ") + (found.length > 4 ? `, and ${found.length - 4} more` : "");
  const higher = rates.filter((each) => each.low > each.rest);
  const lower = rates.filter((each) => each.high < each.rest).reverse();
  let text = `In ${number(df)} of ${number(store.documents)} documents (${percent(df / store.documents)}).`;
  text += higher.length ? ` It speaks for ${names(higher)}` : " It speaks for no class by more than chance";
  text += lower.length ? `, and against ${names(lower)}.` : ".";
  return text;
}

function ratesTable(rates) {
  const most = Math.max(...rates.map((each) => each.high), 1e-9);
  const rows = rates.map((each) => element("tr", { class: each.c === classShown() ? "chosen" : "" },
    element("th", { scope: "row" },
      element("button", { type: "button", class: "word", onclick: () => chooseClass(each.c) }, isolated(store.classes[each.c])),
      element("div", { class: "bar", "aria-hidden": "true" },
        element("span", { class: "rate", style: `width:${(100 * each.rate / most).toFixed(2)}%` }),
        element("span", { class: "interval", style: `left:${(100 * each.low / most).toFixed(2)}%;width:${(100 * (each.high - each.low) / most).toFixed(2)}%` }))),
    element("td", { class: "number" }, percent(each.rate)),
    element("td", { class: "number" }, `${percent(each.low).replace(" %", "")} – ${percent(each.high)}`),
    element("td", { class: "number" }, `${number(each.tp)} of ${number(each.pos)}`)));
  const heads = ["class", "rate", "with 95 %", "documents"].map((name, i) => element("th", { scope: "col", class: i ? "number" : "" }, name));
  return scrolled("Rates by class", element("table", { class: "rates" }, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

const scrolled = (name, table) => element("div", { class: "table", tabindex: "0", role: "region", "aria-label": name }, table);

function scoresTable(place) {
  const c = classShown();
  const view = classView(c);
  const row = view.row[place];
  const rows = store.metrics.map((metric, m) => {
    const score = view.scores[m][row];
    const { rank, ties } = view.ranks[m];
    const sign = speaks(c, view.tp[place], store.array.df[place], m, score);
    const way = sign > 0 ? "for" : sign < 0 ? "against" : "neither";
    const tied = ties[row] > 1 ? ` (with ${number(ties[row] - 1)} more)` : "";
    return element("tr", {}, element("th", { scope: "row" }, metric.name),
      element("td", { class: "number" }, String(+score.toPrecision(4))),
      element("td", { class: "number" }, number(rank[row]) + tied),
      element("td", { "data-speaks": way }, way));
  });
  const heads = ["metric", "score", "rank", "speaks"].map((name, i) => element("th", { scope: "col", class: i === 1 || i === 2 ? "number" : "" }, name));
  return scrolled("Scores by metric", element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
}

function companyPart(place) {
  const found = companyOf(place);
  if (!found.length) return [];
  const chips = found.map(([other, both]) => element("li", {}, wordButton(store.words[other]), ` ${number(both)}`));
  return [
    element("h3", {}, "Goes with"),
    element("ul", { class: "chips" }, ...chips),
    element("p", { class: "hint" }, `Documents with both words, in ${number(store.companyDocuments)} documents; words that are everywhere are not listed.`),
  ];
}

// The documents of the class in view first, then those of the classes that have the word most often.
function documentsPart(word, rates) {
  if (!store.docs.length) return [element("p", { class: "hint" }, store.silent || "No documents are in this file.")];
  // A document of several classes stands below one of them only, so the others may need more.
  const found = documentsWith(word, store.several ? store.perClass * (CONTRASTS + 2) : store.perClass);
  if (!found.length) return [element("p", { class: "hint" }, "No document of the sample in this file has it. ", commandFor(word))];
  const order = [classShown(), ...rates.map((each) => each.c).filter((c) => c !== classShown())];
  const parts = [];
  const used = new Set();
  const add = (title, wanted) => {
    const own = found.filter((each) => wanted(each.doc) && !used.has(each)).slice(0, store.perClass);
    own.forEach((each) => used.add(each));
    if (own.length) parts.push(element("h4", {}, title), ...own.map((each) => exampleOf(each, word)));
    return own.length > 0;
  };
  let others = 0;
  for (const c of order) {
    if (others === CONTRASTS) break;
    if (add(isolated(store.classes[c]), (doc) => doc.c.includes(c)) && c !== classShown()) others += 1;
  }
  add("without one of these classes", (doc) => !doc.c.length);
  return [...parts, element("p", { class: "hint" }, "The most typical documents of each class, from a sample. ", commandFor(word))];
}

function commandFor(word) {
  return element("span", {}, "All documents: ", element("code", {}, `termsieve documents FILE --word ${JSON.stringify(word)}`));
}

function exampleOf({ doc, at }, word) {
  const pattern = patternOf([word]);
  const from = Math.max(0, at - CONTEXT);
  const to = Math.min(doc.t.length, at + word.length + CONTEXT);
  const whole = from === 0 && to === doc.t.length;
  const text = (from ? "…" : "") + doc.t.slice(from, to) + (to < doc.t.length ? "…" : "");
  const body = element("p", { class: "text", dir: "auto" }, ...marked(text, pattern));
  const labels = doc.c.map((c) => store.classes[c]).join(", ");
  const made = element("article", { "aria-label": `Document ${number(doc.n)}` }, body,
    element("p", { class: "source" }, `document ${number(doc.n)}`, labels ? ": " : "", isolated(labels)));
  if (!whole) {
    const more = element("button", { type: "button", onclick: () => { body.replaceChildren(...marked(doc.t, pattern)); more.remove(); } }, "Show more of it");
    made.lastChild.append(" ", more);
  }
  return made;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !panel().hidden && !event.defaultPrevented) closeWord();
});
