// The search field: it lists the words that contain what is typed, and says so when there is none.
const HITS = 40;
const field = document.getElementById("search");
const hitList = document.getElementById("hits");
let hits = [];
let activeHit = -1;

// Equal words first, then those that begin so, then those that contain it; frequent ones before rare ones.
function found(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const places = [];
  for (let i = 0; i < store.words.length; i++) {
    const at = store.words[i].toLowerCase().indexOf(wanted);
    if (at >= 0) places.push([store.words[i].length === wanted.length ? 0 : at ? 2 : 1, i]);
  }
  const { df } = store.array;
  return places.sort((a, b) => a[0] - b[0] || df[b[1]] - df[a[1]] || a[1] - b[1]).map(([, i]) => i);
}

function search() {
  hits = found(field.value);
  activeHit = -1;
  remember("search", field.value, "");
  listHits();
  markHits(new Set(hits));
}

function listHits() {
  const rows = hits.slice(0, HITS).map((place, i) => element("li", {
    role: "option", id: `hit-${i}`, "aria-selected": "false",
    onmousedown: (event) => event.preventDefault(), // the field keeps the focus until the word is open
    onclick: () => chooseHit(i),
  }, isolated(store.words[place]), " ", element("span", {}, number(store.array.df[place]))));
  hitList.replaceChildren(...rows);
  hitList.hidden = !rows.length;
  field.removeAttribute("aria-activedescendant");
  tellSearch(field.value);
}

function tellSearch(text) {
  const place = document.getElementById("search-says");
  const typed = text.trim();
  const many = hits.length === 1 ? "1 word" : `${number(hits.length)} words`;
  if (!typed) place.textContent = "";
  else if (hits.length && typed === field.value.trim()) place.textContent = hits.length > HITS ? `${many}, the ${HITS} most frequent are listed` : many;
  else place.textContent = `“${typed}” not found${store.complete ? "" : " among the words in this file"}`;
}

function chooseHit(i) {
  hitList.hidden = true;
  openWord(store.words[hits[i]]);
}

function moveHit(step) {
  const rows = all("[role=option]", hitList);
  if (!rows.length) return;
  hitList.hidden = false;
  rows[activeHit]?.setAttribute("aria-selected", "false");
  activeHit = (activeHit + step + rows.length) % rows.length;
  rows[activeHit].setAttribute("aria-selected", "true");
  rows[activeHit].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", rows[activeHit].id);
}

field.addEventListener("input", search);
field.addEventListener("focus", () => { hitList.hidden = !hits.length; });
field.addEventListener("blur", () => { hitList.hidden = true; });
field.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") moveHit(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter" && hits.length) chooseHit(Math.max(0, activeHit));
  else if (event.key === "Escape" && !hitList.hidden) hitList.hidden = true;
  else return;
  event.preventDefault();
});

function searchFromAddress() {
  field.value = address.get("search") ?? "";
  hits = found(field.value);
  tellSearch(field.value);
  markHits(new Set(hits));
}
