// The documents that the classifier contradicts, with the words that decided.
const MISTAKES = 10; // shown at first, and more at each click
let mistakesShown = MISTAKES;

function wantedMistakes() {
  const [own, given] = ["own", "given"].map((key) => document.getElementById(`mistakes-${key}`)?.value ?? "");
  return (store.mistakes ?? []).filter((each) => (own === "" || each.own === Number(own)) && (given === "" || each.given === Number(given)));
}

const givenName = (each) => (each.given < 0 ? "none of its labels" : store.classes[each.given]);

function mistakeOf(each) {
  const doc = store.docs[each.doc];
  const added = new Map(each.words.flatMap(([word, value]) => formsOf(word).map((form) => [form.toLowerCase(), value])));
  const mark = (text) => element("mark", { class: (added.get(text.toLowerCase()) ?? 0) < 0 ? "own" : "" }, text);
  const words = each.words.map(([word, value]) => element("li", { class: value < 0 ? "own" : "" }, wordButton(word), ` ${value > 0 ? "+" : "−"}${Math.abs(value)}`));
  return element("article", { "aria-label": `Document ${number(doc.n)}` },
    element("h4", {}, `Document ${number(doc.n)}: labelled `, isolated(store.classes[each.own]), ", the classifier says ", isolated(givenName(each))),
    element("p", { class: "text clipped", dir: "auto", tabindex: "0", role: "region", "aria-label": `Text of document ${number(doc.n)}` }, ...marked(doc.t, patternOf(each.words.map(([word]) => word)), mark)),
    element("p", { class: "source" }, "Words that decided:"),
    element("ul", { class: "chips" }, ...words));
}

function listMistakes() {
  const place = document.getElementById("mistakes-list");
  if (!place) return;
  const wanted = wantedMistakes();
  place.replaceChildren(...wanted.slice(0, mistakesShown).map(mistakeOf));
  const more = element("button", { type: "button", onclick: () => { mistakesShown += MISTAKES; listMistakes(); } }, "Show more");
  if (wanted.length > mistakesShown) place.append(more);
  document.getElementById("mistakes-say").textContent = wanted.length
    ? `${number(wanted.length)} documents, the surest contradictions first` : store.docs.length ? "No such document is in this file." : store.silent;
  for (const key of ["own", "given"]) remember(`mistake-${key}`, document.getElementById(`mistakes-${key}`).value, "");
}

function mistakesFromAddress() {
  for (const key of ["own", "given"]) {
    const list = document.getElementById(`mistakes-${key}`);
    if (list && [...list.options].some((option) => option.value === address.get(`mistake-${key}`))) list.value = address.get(`mistake-${key}`);
  }
  listMistakes();
}

function saveMistakes(kind) {
  const columns = ["document", "label", "classifier says", "difference", "words", "text"];
  const rows = wantedMistakes().map((each) => [
    store.docs[each.doc].n, store.classes[each.own], givenName(each), each.margin,
    each.words.map(([word]) => word), store.docs[each.doc].t,
  ]);
  if (kind === "csv") download("mistakes.csv", "text/csv;charset=utf-8", separated({ columns }, rows, ","));
  else download("mistakes.json", "application/json", JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]]))), null, 1));
}

for (const key of ["own", "given"]) document.getElementById(`mistakes-${key}`)?.addEventListener("change", () => { mistakesShown = MISTAKES; listMistakes(); });
for (const button of all("button[data-mistakes]")) button.addEventListener("click", () => saveMistakes(button.dataset.mistakes));
for (const cell of all("#confusion button")) {
  cell.addEventListener("click", () => {
    document.getElementById("mistakes-own").value = cell.dataset.own;
    document.getElementById("mistakes-given").value = cell.dataset.own === cell.dataset.given ? "" : cell.dataset.given;
    mistakesShown = MISTAKES;
    listMistakes();
    document.getElementById("mistakes-list").scrollIntoView({ block: "center" });
  });
}
