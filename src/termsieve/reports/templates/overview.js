// The classes at a glance: sorted and searched; a click shows the class in full, a word its panel.
const tiles = all("#tiles > li");

function chooseClass(c) {
  choose("class", c);
  const word = address.get("word");
  if (word !== null && !panel().hidden) fillPanel(word);
  return drawClass();
}

// After the panel had its turn: whoever clicked looks there first.
const drawClass = async () => {
  await new Promise((resume) => requestAnimationFrame(() => setTimeout(resume)));
  await drawAll(all("figure").filter((figure) => figure.dataset.by.split(" ").includes("class")));
};

function arrangeTiles() {
  const key = document.getElementById("tiles-order").value;
  const typed = document.getElementById("tiles-search").value.trim().toLowerCase();
  const value = (tile) => Number(tile.dataset[key] || Infinity);
  const sign = key === "f1" ? 1 : -1; // the classes that are told worst come first
  const sorted = key === "name" ? [...tiles].sort((a, b) => compare(a.dataset.name, b.dataset.name)) : [...tiles].sort((a, b) => sign * (value(a) - value(b)));
  document.getElementById("tiles").append(...sorted);
  let visible = 0;
  for (const tile of tiles) {
    tile.hidden = Boolean(typed) && !tile.textContent.toLowerCase().includes(typed);
    visible += !tile.hidden;
  }
  document.getElementById("tiles-say").textContent = visible < tiles.length ? `${visible} of ${tiles.length} classes` : `${tiles.length} classes`;
  remember("order", key, "documents");
}

function tilesFromAddress() {
  const order = document.getElementById("tiles-order");
  if ([...order.options].some((option) => option.value === address.get("order"))) order.value = address.get("order");
  arrangeTiles();
}

for (const tile of tiles) {
  tile.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button?.dataset.word !== undefined) {
      // It is the best word of this class, so its scores are shown for this class.
      const c = Number(tile.dataset.class);
      const other = c !== classShown();
      choose("class", c);
      openWord(button.dataset.word);
      if (other) drawClass();
    } else if (button?.dataset.class !== undefined) {
      chooseClass(Number(button.dataset.class));
      document.getElementById("words").scrollIntoView();
    }
  });
}
document.getElementById("tiles-order")?.addEventListener("change", arrangeTiles);
document.getElementById("tiles-search")?.addEventListener("input", arrangeTiles);
