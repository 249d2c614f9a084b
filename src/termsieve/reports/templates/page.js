"use strict";
const figures = JSON.parse(document.getElementById("data").textContent);
const chosen = {}; // figure id -> the variant shown
const views = {}; // figure id -> the Vega view
const SHOWN_ROWS = 200;

function rowsOf(variant) {
  if (variant.rows) return variant.rows;
  return variant.spec.datasets[variant.data].map((row) => variant.columns.map((name) => row[name]));
}

function cellText(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
  return Array.isArray(value) ? value.join(", ") : String(value);
}

function fillTable(figure, variant) {
  const rows = rowsOf(variant);
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  for (const [at, name] of variant.columns.entries()) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (rows.some((row) => typeof row[at] === "number")) cell.className = "number";
    cell.textContent = name.replaceAll("_", " ");
    head.append(cell);
  }
  const body = table.createTBody();
  for (const row of rows.slice(0, SHOWN_ROWS)) {
    const line = body.insertRow();
    for (const value of row) {
      const cell = line.insertCell();
      if (typeof value === "number") cell.className = "number";
      const text = document.createElement("bdi");
      text.textContent = cellText(value);
      cell.append(text);
    }
  }
  const place = figure.querySelector(".table");
  place.replaceChildren(table);
  if (rows.length > SHOWN_ROWS) {
    const more = document.createElement("p");
    more.className = "more";
    more.textContent = `The first ${SHOWN_ROWS} of ${rows.length.toLocaleString("en")} rows; the CSV has all of them.`;
    place.append(more);
  }
}

// What was typed and chosen under a chart stays when the chart changes, where the new one knows it.
function keptSignals(view, spec) {
  const kept = {};
  for (const param of spec.params || []) {
    if (!param.bind || param.select) continue;
    try {
      const value = view.signal(param.name);
      const options = param.bind.options;
      if (!options || options.includes(value)) kept[param.name] = value;
    } catch { /* the old chart had no such control */ }
  }
  return kept;
}

async function draw(figure) {
  const id = figure.dataset.id;
  const variant = figures[id][chosen[id] || 0];
  const place = figure.querySelector(".chart");
  if (place && variant.spec) {
    const spec = JSON.parse(JSON.stringify(variant.spec));
    const kept = views[id] ? keptSignals(views[id], spec) : {};
    for (const param of spec.params || []) if (param.name in kept) param.value = kept[param.name];
    if (views[id]) views[id].finalize();
    const columns = Math.max(1, Math.floor(place.clientWidth / 190));
    const config = { legend: { columns }, axis: { labelLimit: Math.min(190, place.clientWidth * 0.3) } };
    const made = await vegaEmbed(place, spec, { actions: false, renderer: "svg", config });
    views[id] = made.view;
    window.dispatchEvent(new Event("resize"));
  } else if (place) {
    place.replaceChildren();
  }
  if (figure.querySelector("details").open) fillTable(figure, variant);
}

function csv(variant) {
  const quoted = (value) => {
    const text = value === null || value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [variant.columns, ...rowsOf(variant)].map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
}

function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function saveFigure(figure, kind) {
  const id = figure.dataset.id;
  const at = chosen[id] || 0;
  const variant = figures[id][at];
  const name = figures[id].length > 1 ? `${id}-${at + 1}.${kind}` : `${id}.${kind}`;
  if (kind === "csv") download(name, "text/csv;charset=utf-8", csv(variant));
  else if (kind === "svg") download(name, "image/svg+xml", await views[id].toSVG());
  else {
    const rows = rowsOf(variant).map((row) => Object.fromEntries(variant.columns.map((c, i) => [c, row[i]])));
    download(name, "application/json", JSON.stringify(rows, null, 1));
  }
}

for (const figure of document.querySelectorAll("figure")) {
  const id = figure.dataset.id;
  figure.querySelector("details").addEventListener("toggle", (event) => {
    if (event.target.open) fillTable(figure, figures[id][chosen[id] || 0]);
  });
  for (const button of figure.querySelectorAll("button")) {
    button.addEventListener("click", () => saveFigure(figure, button.dataset.save));
  }
}

for (const select of document.querySelectorAll("select[data-section]")) {
  select.addEventListener("change", async () => {
    for (const figure of document.getElementById(select.dataset.section).querySelectorAll("figure")) {
      if (figures[figure.dataset.id].length > 1) chosen[figure.dataset.id] = Number(select.value);
      await draw(figure);
    }
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn) + 1);
  });
}

(async () => {
  for (const figure of document.querySelectorAll("figure")) {
    await draw(figure);
    await new Promise((resume) => setTimeout(resume));
  }
  document.body.dataset.drawn = "1";
})();
