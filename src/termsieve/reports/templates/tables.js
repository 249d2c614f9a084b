// The table behind a figure: sorted by a click on a heading, filtered by what is typed, copied, downloaded.
const SHOWN_ROWS = 200;
const orders = {}; // figure id -> { column, falling }
const shownRows = {}; // figure id -> how many rows the table shows at most

function rowsOf(variant) {
  if (variant.rows) return variant.rows;
  return variant.spec.datasets[variant.data].map((row) => variant.columns.map((name) => row[name]));
}

function cellText(value, decimals = null) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "number") return Array.isArray(value) ? value.join(", ") : String(value);
  if (decimals !== null) return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return Number.isInteger(value) ? value.toLocaleString("en") : String(+value.toPrecision(4));
}

// The decimals that all numbers of a column share, so that their points stand below each other; null where
// small and large ones, such as p-values, need their own.
function sharedDecimals(values) {
  const sizes = values.filter((value) => typeof value === "number" && value !== 0).map(Math.abs);
  if (sizes.every(Number.isInteger)) return 0;
  const least = Math.min(...sizes);
  const greatest = Math.max(...sizes);
  if (least < 0.001) return null;
  return greatest < 10 ? 4 : greatest < 1000 ? 2 : 1;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return cellText(a).localeCompare(cellText(b), "en", { numeric: true });
}

// The rows that pass the filter, in the order chosen: what is shown, copied and downloaded.
function visibleRows(figure, variant) {
  const words = figure.querySelector(".tools input").value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (row) => row.map(cellText).join("\n").toLowerCase();
  let rows = rowsOf(variant);
  if (words.length) rows = rows.filter((row) => words.every((word) => text(row).includes(word)));
  const order = orders[figure.dataset.id];
  const at = order ? variant.columns.indexOf(order.column) : -1;
  if (at < 0) return rows;
  const empty = (row) => row[at] === null || row[at] === undefined;
  const sign = order.falling ? -1 : 1;
  // Rows without a value stand last, whichever way the others are sorted.
  return [...rows].sort((a, b) => empty(a) - empty(b) || sign * compare(a[at], b[at]));
}

function heading(figure, variant, at, numeric) {
  const id = figure.dataset.id;
  const name = variant.columns[at];
  const order = orders[id] && orders[id].column === name ? orders[id] : null;
  const cell = document.createElement("th");
  cell.scope = "col";
  if (numeric) cell.className = "number";
  cell.ariaSort = order ? (order.falling ? "descending" : "ascending") : "none";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name.replaceAll("_", " ");
  button.title = "Sort by this column";
  button.addEventListener("click", () => {
    // Numbers are wanted from the greatest down first, names from A to Z.
    orders[id] = { column: name, falling: order ? !order.falling : numeric };
    fillTable(figure, variant);
    figure.querySelectorAll("th button")[at].focus();
  });
  cell.append(button);
  return cell;
}

const WORD_COLUMNS = ["term", "for_first", "for_second"];

// Words open their panel, where the page has one; everything else is a text.
function cellContent(column, value, decimals) {
  if (hasExplorer && store.words.length && WORD_COLUMNS.includes(column) && value) {
    const words = column === "term" ? [value] : value.split(", ");
    return words.flatMap((word, i) => (i ? [", ", wordButton(word)] : [wordButton(word)]));
  }
  const text = document.createElement("bdi");
  text.textContent = cellText(value, decimals);
  return [text];
}

function fillTable(figure, variant) {
  const every = rowsOf(variant);
  const rows = visibleRows(figure, variant);
  const limit = shownRows[figure.dataset.id] || SHOWN_ROWS;
  const numeric = variant.columns.map((_, at) => every.some((row) => typeof row[at] === "number"));
  const decimals = variant.columns.map((_, at) => (numeric[at] ? sharedDecimals(every.map((row) => row[at])) : null));
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  head.append(...variant.columns.map((_, at) => heading(figure, variant, at, numeric[at])));
  const body = table.createTBody();
  for (const row of rows.slice(0, limit)) {
    const line = body.insertRow();
    for (const [at, value] of row.entries()) {
      const cell = line.insertCell();
      if (numeric[at]) cell.className = "number";
      if (value === "for" || value === "against") cell.dataset.speaks = value;
      cell.append(...cellContent(variant.columns[at], value, decimals[at]));
    }
  }
  figure.querySelector(".table").replaceChildren(table);
  countRows(figure, variant, rows.length, every.length, limit);
  hintAtColumns(figure);
}

function countRows(figure, variant, found, total, limit) {
  const place = figure.querySelector(".count");
  const number = (n) => n.toLocaleString("en");
  const rows = `${number(total)} ${total === 1 ? "row" : "rows"}`;
  place.textContent = found < total ? `${number(found)} of ${rows}` : rows;
  if (found <= limit) return;
  place.textContent += `, the first ${number(limit)} are shown`;
  const more = document.createElement("button");
  more.type = "button";
  more.textContent = "Show all";
  more.addEventListener("click", () => {
    shownRows[figure.dataset.id] = Infinity;
    fillTable(figure, variant);
  });
  place.append(" ", more);
}

// Names the columns that are out of sight, for on many screens nothing else says that a table scrolls.
function hintAtColumns(figure) {
  const place = figure.querySelector(".table");
  const hint = figure.querySelector(".hint");
  const edge = place.getBoundingClientRect().right;
  const hidden = [...place.querySelectorAll("th")].filter((cell) => cell.getBoundingClientRect().right > edge + 2);
  hint.hidden = hidden.length === 0;
  hint.textContent = hidden.length ? `Scroll right for: ${hidden.map((cell) => cell.textContent).join(", ")}` : "";
}

// How a cell begins that a spreadsheet runs as a formula; an apostrophe before it keeps it a text.
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

function separated(variant, rows, mark) {
  const quoted = (value) => {
    const plain = value === null || value === undefined ? "" : Array.isArray(value) ? value.join(" ") : String(value);
    const text = typeof value !== "number" && FORMULA.test(plain) ? `'${plain}` : plain;
    return /[",\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [variant.columns, ...rows].map((row) => row.map(quoted).join(mark)).join("\r\n") + "\r\n";
}

const download = (name, type, text) => saveBlob(name, new Blob([text], { type }));

function saveBlob(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Tab-separated, as spreadsheets paste it. A file opened from disk may not use the newer clipboard interface.
function copyTable(button, text) {
  const put = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", put);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", put);
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}
