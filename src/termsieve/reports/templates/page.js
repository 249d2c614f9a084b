// The page: which variant of each figure is chosen, and its drawing.
const options = (chooser) => all("option, input[type=radio]", chooser);

function variantOf(figure) {
  const keys = figure.dataset.by.split(" ").filter(Boolean);
  const at = keys.reduce((at, key) => {
    const chooser = document.querySelector(`.chooser[data-key="${key}"]`);
    return chooser ? at * options(chooser).length + chosen[key] : at;
  }, 0);
  return { at, variant: figures[figure.dataset.id][at] };
}

// The parameters of a chart that a reader changes under it: k, the search, the part of the plane, ...
const controls = (spec) => (spec.params || []).filter((param) => param.bind && !param.select);

function fromAddress(param) {
  const text = address.get(param.name);
  if (text === null) return param.value;
  const known = param.bind.options || (typeof param.value === "boolean" ? [true, false] : [text]);
  return known.find((value) => String(value) === text) ?? param.value;
}

async function draw(figure) {
  const id = figure.dataset.id;
  if (figure.dataset.script) {
    if (store.words.length) fillMap();
    return;
  }
  const { variant } = variantOf(figure);
  const place = figure.querySelector(".chart");
  if (views[id]) views[id].finalize();
  delete views[id];
  if (place && variant.spec) {
    const spec = JSON.parse(JSON.stringify(variant.spec));
    const usual = Object.fromEntries(controls(spec).map((param) => [param.name, param.value]));
    for (const param of controls(spec)) param.value = fromAddress(param);
    const width = place.clientWidth;
    const config = {
      legend: { columns: Math.max(1, Math.floor(width / 190)) },
      axis: { labelLimit: Math.min(190, width * 0.3) },
      title: { limit: width },
    };
    views[id] = (await vegaEmbed(place, spec, { actions: false, renderer: "svg", config })).view;
    if (hasExplorer) views[id].addEventListener("click", (_, item) => item?.datum?.term && openWord(item.datum.term));
    for (const name of Object.keys(usual)) {
      views[id].addSignalListener(name, (_, value) => remember(name, value, usual[name]));
    }
    window.dispatchEvent(new Event("resize"));
  } else if (place) {
    place.replaceChildren();
  }
  if (figure.querySelector("details").open) fillTable(figure, variant);
}

async function drawAll(selected) {
  for (const figure of selected) {
    await draw(figure);
    await new Promise((resume) => setTimeout(resume)); // the page stays alive in between
  }
  document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
}

function choose(key, at) {
  chosen[key] = at;
  for (const chooser of all(`.chooser[data-key="${key}"]`)) {
    const option = options(chooser)[at];
    if (option.type === "radio") option.checked = true;
    else chooser.querySelector("select").value = String(at);
    remember(key, option.dataset.name, options(chooser)[Number(chooser.dataset.first)].dataset.name);
  }
  for (const place of all(`.says[data-key="${key}"]`)) place.textContent = JSON.parse(place.dataset.notes)[at];
}

function chooseFromAddress() {
  for (const chooser of all(".chooser")) {
    const at = options(chooser).findIndex((option) => option.dataset.name === address.get(chooser.dataset.key));
    choose(chooser.dataset.key, at < 0 ? Number(chooser.dataset.first) : at);
  }
  for (const place of all(".says")) {
    if (!(place.dataset.key in chosen)) [place.textContent] = JSON.parse(place.dataset.notes);
  }
}

async function saveFigure(figure, button) {
  const id = figure.dataset.id;
  const kind = button.dataset.save;
  const { at, variant } = variantOf(figure);
  const name = figures[id].length > 1 ? `${id}-${at + 1}.${kind}` : `${id}.${kind}`;
  const rows = visibleRows(figure, variant);
  if (kind === "copy") copyTable(button, separated(variant, rows, "\t"));
  else if (kind === "csv") download(name, "text/csv;charset=utf-8", separated(variant, rows, ","));
  else if (kind === "svg") download(name, "image/svg+xml", await views[id].toSVG());
  else {
    const objects = rows.map((row) => Object.fromEntries(variant.columns.map((column, i) => [column, row[i]])));
    download(name, "application/json", JSON.stringify(objects, null, 1));
  }
}

for (const figure of all("figure:not([data-script])")) {
  const refill = () => figures[figure.dataset.id] && fillTable(figure, variantOf(figure).variant);
  figure.querySelector("details").addEventListener("toggle", (event) => event.target.open && refill());
  figure.querySelector(".tools input").addEventListener("input", refill);
  figure.querySelector(".table").addEventListener("scroll", () => hintAtColumns(figure));
  for (const button of all("button[data-save]", figure)) {
    button.addEventListener("click", () => saveFigure(figure, button));
  }
}
for (const chooser of all(".chooser")) {
  chooser.addEventListener("change", (event) => {
    const key = chooser.dataset.key;
    choose(key, Number(event.target.value));
    if (hasExplorer && !panel().hidden) fillPanel(address.get("word"));
    drawAll(all("figure").filter((figure) => figure.dataset.by.split(" ").includes(key)));
  });
}
window.addEventListener("resize", () => all("details[open]").forEach((each) => hintAtColumns(each.closest("figure"))));

// The explorer's data are unpacked while the first figures are drawn.
const loaded = loadFigures();
const unpacked = hasExplorer ? unpackStore(document.getElementById("store").textContent) : null;

// The box that a text goes into, where the page has a classifier.
const hasModel = document.getElementById("model") !== null;
const tried = hasModel ? unpackedText("model").then((text) => liveBox(document.getElementById("live"), JSON.parse(text))) : null;

async function open() {
  readAddress();
  anchored();
  chooseFromAddress();
  if (hasExplorer) {
    tilesFromAddress();
    await unpacked;
    mapFromAddress();
    searchFromAddress();
    mistakesFromAddress();
    wordFromAddress();
  }
  await tried;
  await loaded;
  await drawAll(all("figure"));
  const place = address.get("at") && document.getElementById(address.get("at"));
  if (place) place.scrollIntoView({ behavior: "instant" });
  if (hasExplorer) (window.requestIdleCallback ?? setTimeout)(warmUp);
}
window.addEventListener("hashchange", () => anchored() || open());
open();
