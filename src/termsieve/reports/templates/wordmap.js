// The word map, drawn on a canvas of its own: Vega's marks are too slow for a hundred thousand words.
const MARGIN = { left: 62, right: 14, top: 12, bottom: 46 };
const BEST = 12; // words of each list beside the map
const LABELS = 200; // most labels at a time
const TRIED = 2000; // words that a label is tried for
const LABEL_GAP = 5; // pixels between two labels of a line, so that they are not read as one word
const REACH = 14; // pixels around the pointer where a word is looked for
const LISTED = 200; // words of a point that are listed at first
const LINES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"];
const LINE_STEPS = 65535;
const mapCanvas = document.getElementById("wordmap");
const pen = mapCanvas.getContext("2d");
const map = { points: null, view: null, marked: new Set(), widths: new Map(), waiting: false, box: null };

// What is chosen under the map, from the address or as it is at first.
const mapChoice = (name) => document.getElementById(`map-${name}`).value;
const near = () => mapChoice("near") === "near";
const mapMetric = () => chosen.metric ?? 0;
const otherClass = () => Number(mapChoice("other") || 0);
const signedLog = (value, most) => Math.log1p(value) / Math.log1p(Math.max(1, most));

// One point per distinct place. Words with the same counts share one, unless two classes are compared.
function mapPoints() {
  const c = classShown();
  const view = classView(c);
  const axes = mapChoice("axes");
  if (axes === "ranks") return rankPoints(c, view);
  const m = mapMetric();
  const n = view.tables.tp.length;
  const outside = store.documents - store.pos[c];
  const x = new Float32Array(n);
  const y = new Float32Array(n);
  const most = view.scores[m].reduce((greatest, score) => Math.max(greatest, Math.abs(score)), 1e-12);
  for (let t = 0; t < n; t++) {
    const tp = view.tables.tp[t];
    const fp = view.tables.fp[t];
    if (axes === "rates") {
      x[t] = near() ? signedLog(fp, outside) : fp / Math.max(1, outside);
      y[t] = near() ? signedLog(tp, store.pos[c]) : tp / Math.max(1, store.pos[c]);
    } else {
      x[t] = signedLog(tp + fp - 1, store.documents - 1);
      y[t] = 0.5 + 0.5 * speaks(c, tp, tp + fp, m, view.scores[m][t]) * Math.abs(view.scores[m][t]) / most;
    }
  }
  return finished({ x, y, row: Uint32Array.from({ length: n }, (_, t) => t), of: view.row, axes, c, m, most });
}

function rankPoints(c, view) {
  const m = mapMetric();
  const other = classView(otherClass());
  const places = new Map();
  const of = new Int32Array(store.words.length);
  const rows = [];
  for (let word = 0; word < of.length; word++) {
    const key = view.row[word] * (other.tables.tp.length + 1) + other.row[word];
    if (!places.has(key)) { places.set(key, rows.length); rows.push([view.row[word], other.row[word]]); }
    of[word] = places.get(key);
  }
  const best = (from, t) => 1 - Math.log(from.ranks[m].rank[t]) / Math.log(Math.max(2, store.words.length));
  const way = (from, at, t) => speaks(at, from.tables.tp[t], from.tables.tp[t] + from.tables.fp[t], m, from.scores[m][t]);
  // The best words for a class stand at its end of the axis, the best against it at the other.
  const place = (from, at, t) => 0.5 + 0.5 * way(from, at, t) * Math.max(0, best(from, t));
  const x = Float32Array.from(rows, ([a]) => place(view, c, a));
  const y = Float32Array.from(rows, ([, b]) => place(other, otherClass(), b));
  return finished({ x, y, row: Uint32Array.from(rows, ([a]) => a), of, axes: "ranks", c, m });
}

// Adds how many words a point has, its first word, the order of labels, and whether the method selects it.
function finished(points) {
  const { row, of, c, m } = points;
  const view = classView(c);
  const n = row.length;
  points.n = new Uint32Array(n);
  points.word = new Int32Array(n).fill(-1);
  for (let word = 0; word < of.length; word++) {
    const p = of[word];
    points.n[p] += 1;
    if (points.word[p] < 0 || store.array.df[word] > store.array.df[points.word[p]]) points.word[p] = word;
  }
  const { rank } = view.ranks[m];
  points.way = Int8Array.from(row, (t) => speaks(c, view.tables.tp[t], view.tables.tp[t] + view.tables.fp[t], m, view.scores[m][t]));
  points.rank = Uint32Array.from(row, (t) => rank[t]);
  points.stop = [...new Set(Array.from(store.array.stop, (word) => of[word]))];
  points.order = Uint32Array.from(row.keys()).filter((p) => points.n[p]).sort((a, b) => points.rank[a] - points.rank[b]);
  return points;
}

const span = () => ({ x0: map.view.x, x1: map.view.x + map.view.size, y0: map.view.y, y1: map.view.y + map.view.size });
// The plane without its margins; asking the page for its sizes at every point would be slow.
const plot = () => map.box ?? measureMap();
function measureMap() {
  map.box = { w: mapCanvas.clientWidth - MARGIN.left - MARGIN.right, h: mapCanvas.clientHeight - MARGIN.top - MARGIN.bottom };
  return map.box;
}
const toX = (x) => MARGIN.left + (x - map.view.x) / map.view.size * plot().w;
const toY = (y) => MARGIN.top + (1 - (y - map.view.y) / map.view.size) * plot().h;

function resetView() { map.view = { x: -0.015, y: -0.015, size: 1.03 }; }

function zoomMap(factor, px = 0.5, py = 0.5) {
  const size = Math.min(1.03, Math.max(1e-4, map.view.size * factor));
  map.view.x += px * (map.view.size - size);
  map.view.y += py * (map.view.size - size);
  map.view.size = size;
  moveMap(0, 0);
}

function moveMap(dx, dy) {
  const edge = (at) => Math.min(1.015 - map.view.size, Math.max(-0.015, at));
  map.view.x = edge(map.view.x + dx * map.view.size);
  map.view.y = edge(map.view.y + dy * map.view.size);
  redrawMap();
}

function redrawMap() {
  if (map.waiting || !map.points) return;
  map.waiting = true;
  requestAnimationFrame(() => { map.waiting = false; drawMap(); });
}

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function rgb(colour) {
  pen.fillStyle = colour;
  const hex = pen.fillStyle.slice(1);
  return [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function drawMap() {
  const scale = window.devicePixelRatio || 1;
  const width = mapCanvas.clientWidth;
  const height = mapCanvas.clientHeight;
  if (!width) return;
  measureMap();
  if (mapCanvas.width !== Math.round(width * scale) || mapCanvas.height !== Math.round(height * scale)) {
    mapCanvas.width = Math.round(width * scale);
    mapCanvas.height = Math.round(height * scale);
  }
  const look = Object.fromEntries(["card", "ink", "soft", "line", "for", "against"].map((name) => [name, colourOf(`--${name}`)]));
  drawPoints(look, scale);
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  drawAxes(look);
  if (map.points.axes === "rates") drawLines(look);
  if (map.points.axes !== "ranks" && isShown("cutoffs")) drawCutoffs(look);
  if (isShown("stop")) drawStopWords(look);
  drawLabels(look);
}

// Points are written into the picture itself, the selected ones last, so that they lie on top.
function drawPoints(look, scale) {
  const { width, height } = mapCanvas;
  const image = pen.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const packedColour = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
  pixels.fill(packedColour(rgb(look.card)));
  const { x, y, n, way, rank } = map.points;
  const k = Number(mapChoice("k"));
  const faint = packedColour(rgb(look.line));
  const colours = { 1: packedColour(rgb(look.for)), [-1]: packedColour(rgb(look.against)), 0: faint };
  const box = plot();
  const left = MARGIN.left * scale, right = left + box.w * scale, top = MARGIN.top * scale, bottom = top + box.h * scale;
  const sx = box.w * scale / map.view.size, sy = box.h * scale / map.view.size;
  for (const selected of [false, true]) {
    for (let p = 0; p < x.length; p++) {
      if ((rank[p] <= k) !== selected || !n[p]) continue;
      const px = Math.round(left + (x[p] - map.view.x) * sx);
      const py = Math.round(bottom - (y[p] - map.view.y) * sy);
      if (px < left || px > right || py < top || py > bottom) continue;
      const r = Math.round(scale * Math.min(7, (selected ? 2.6 : 1.6) + 0.45 * Math.log2(n[p])));
      const colour = selected ? colours[way[p]] : faint;
      for (let dy = -r; dy <= r; dy++) {
        const reach = Math.round(Math.sqrt(r * r - dy * dy));
        const line = (py + dy) * width;
        if (py + dy >= 0 && py + dy < height) pixels.fill(colour, line + Math.max(0, px - reach), line + Math.min(width, px + reach + 1));
      }
    }
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.putImageData(image, 0, 0);
}

// Where the axes have their numbers: [place, text].
function ticks(which) {
  const { axes, c, m, most } = map.points;
  const inside = which === "y" ? store.pos[c] : store.documents - store.pos[c];
  if (axes === "rates") {
    const shares = near() ? [0, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1] : [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
    return shares.filter((share) => share === 0 || share * inside >= 1).map((share) => [near() ? signedLog(share * inside, inside) : share, percent(share)]);
  }
  if (axes === "frequency" && which === "x") {
    const counts = [1, 2, 5].flatMap((digit) => [0, 1, 2, 3, 4, 5, 6].map((power) => digit * 10 ** power)).sort((a, b) => a - b);
    return counts.filter((count) => count <= store.documents).map((count) => [signedLog(count - 1, store.documents - 1), number(count)]);
  }
  if (axes === "frequency") return [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1].map((part) => [0.5 + part / 2, String(+(Math.abs(part) * most).toPrecision(3))]);
  const ranks = [1, 10, 100, 1000, 10000, 100000].filter((rank) => rank < store.words.length);
  const away = (rank) => 0.5 * (1 - Math.log(rank) / Math.log(Math.max(2, store.words.length)));
  return [...ranks.map((rank) => [0.5 - away(rank), number(rank)]), ...[...ranks].reverse().map((rank) => [0.5 + away(rank), number(rank)])];
}

function axisTitles() {
  const { axes, c, m } = map.points;
  const name = (at) => (store.classes[at].length > 30 ? `${store.classes[at].slice(0, 29)}…` : store.classes[at]);
  if (axes === "rates") return ["rate in the other documents (fp)", `rate in ${name(c)} (tp)`];
  if (axes === "frequency") return ["documents with the word", `← against   score by ${store.metrics[m].name}   for →`];
  return [`rank: against ← ${name(c)} → for`, `rank: against ← ${name(otherClass())} → for`];
}

function drawAxes(look) {
  const box = plot();
  pen.font = "12px system-ui, sans-serif";
  pen.lineWidth = 1;
  pen.strokeStyle = look.line;
  pen.fillStyle = look.ink;
  pen.clearRect(0, MARGIN.top + box.h, mapCanvas.clientWidth, MARGIN.bottom);
  pen.clearRect(0, 0, MARGIN.left, mapCanvas.clientHeight);
  let last = -Infinity;
  pen.textAlign = "center";
  for (const [place, text] of ticks("x")) {
    const at = toX(place);
    const half = pen.measureText(text).width / 2 + 5;
    if (at < MARGIN.left - 1 || at > MARGIN.left + box.w + 1 || at - half < last) continue;
    last = at + half;
    pen.globalAlpha = 0.5;
    pen.strokeRect(at, MARGIN.top, 0, box.h);
    pen.globalAlpha = 1;
    pen.fillText(text, at, MARGIN.top + box.h + 16);
  }
  last = Infinity;
  pen.textAlign = "right";
  for (const [place, text] of ticks("y")) {
    const at = toY(place);
    if (at < MARGIN.top - 1 || at > MARGIN.top + box.h + 1 || at + 9 > last) continue;
    last = at - 9;
    pen.globalAlpha = 0.5;
    pen.strokeRect(MARGIN.left, at, box.w, 0);
    pen.globalAlpha = 1;
    pen.fillText(text, MARGIN.left - 6, at + 4);
  }
  const [along, up] = axisTitles();
  pen.textAlign = "center";
  pen.fillText(along, MARGIN.left + box.w / 2, MARGIN.top + box.h + 36, box.w);
  pen.save();
  pen.translate(13, MARGIN.top + box.h / 2);
  pen.rotate(-Math.PI / 2);
  pen.fillText(up, 0, 0, box.h);
  pen.restore();
}

// Keeps what is drawn until the next restore() within the plane.
function clipToPlane() {
  const box = plot();
  pen.save();
  pen.beginPath();
  pen.rect(MARGIN.left, MARGIN.top, box.w, box.h);
  pen.clip();
}

function drawPath(points) {
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(toX(x), toY(y)) : pen.moveTo(toX(x), toY(y))));
  pen.stroke();
}

// The dashed line of words that say nothing, and each metric's line of its k-th best word.
function drawLines(look) {
  const { c } = map.points;
  const outside = store.documents - store.pos[c];
  const place = (share, total) => (near() ? signedLog(share * total, total) : share);
  clipToPlane();
  pen.strokeStyle = look.soft;
  pen.setLineDash([4, 4]);
  const shares = [0, ...Array.from({ length: 80 }, (_, i) => 10 ** (-5 + i * 5 / 79))];
  drawPath(shares.map((share) => [place(share, outside), place(share, store.pos[c])]));
  pen.setLineDash([]);
  pen.lineWidth = 2;
  const undo = (place, total) => (near() ? place : Math.expm1(place * Math.log1p(Math.max(1, total))) / Math.max(1, total));
  let at = 0;
  for (const [m, k, n] of store.lines[c]) {
    const points = store.array[`lines${c}`].subarray(at, at + 2 * n);
    at += 2 * n;
    if (k !== Number(mapChoice("k")) || !document.getElementById(`map-line-${m}`).checked) continue;
    pen.strokeStyle = LINES[m % LINES.length];
    drawPath(Array.from({ length: n }, (_, i) => [undo(points[i] / LINE_STEPS, outside), undo(points[n + i] / LINE_STEPS, store.pos[c])]));
  }
  pen.restore();
}

const isShown = (name) => document.getElementById(`map-${name}`)?.checked ?? false;

// Where the words in so many documents stand: [x, y] along the plane.
function cutoffLine(cut) {
  const { axes, c } = map.points;
  if (axes === "frequency") return [-0.1, 1.1].map((y) => [signedLog(cut - 1, store.documents - 1), y]);
  const inside = store.pos[c], outside = store.documents - inside;
  const low = Math.max(0, cut - inside), length = Math.min(outside, cut) - low;
  // Near its ends a line bends where the axes are logarithmic.
  const steps = [0, ...Array.from({ length: 41 }, (_, i) => Math.max(1, length) ** (i / 40))].filter((step) => step <= length);
  const all = [...steps, ...steps.map((step) => length - step)].sort((a, b) => a - b);
  const place = (count, total) => (near() ? signedLog(count, total) : count / Math.max(1, total));
  return all.map((step) => [place(low + step, outside), place(cut - low - step, inside)]);
}

function drawCutoffs(look) {
  clipToPlane();
  pen.strokeStyle = pen.fillStyle = look.ink;
  pen.lineWidth = 1.5;
  pen.textAlign = "left";
  for (const cut of store.cutoffs) {
    const line = cutoffLine(cut);
    pen.setLineDash([1.5, 3]);
    drawPath(line);
    const [x, y] = line[0];
    pen.fillText(`in ${number(cut)}`, toX(x) + 4, Math.max(MARGIN.top + 11, toY(y) - 4));
  }
  pen.restore();
}

function drawStopWords(look) {
  clipToPlane();
  pen.strokeStyle = look.ink;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const p of map.points.stop) {
    const px = toX(map.points.x[p]), py = toY(map.points.y[p]);
    pen.moveTo(px - 4, py - 4);
    pen.lineTo(px + 4, py + 4);
    pen.moveTo(px - 4, py + 4);
    pen.lineTo(px + 4, py - 4);
  }
  pen.stroke();
  pen.restore();
}

const labelOf = (p) => {
  const { word, n } = map.points;
  const name = store.words[word[p]].length > 30 ? `${store.words[word[p]].slice(0, 29)}…` : store.words[word[p]];
  return n[p] > 1 ? `${name} +${number(n[p] - 1)}` : name;
};

// The best words get their labels first; a label that would lie over another one is left out.
function drawLabels(look) {
  const { x, y, order, rank, way, of } = map.points;
  const box = plot();
  const { x0, x1, y0, y1 } = span();
  const taken = [];
  const k = Number(mapChoice("k"));
  const free = (a) => a[0] >= MARGIN.left && a[2] <= MARGIN.left + box.w && a[1] >= MARGIN.top && a[3] <= MARGIN.top + box.h
    && taken.every((b) => a[0] > b[2] + LABEL_GAP || a[2] < b[0] - LABEL_GAP || a[1] > b[3] || a[3] < b[1]);
  const marked = new Set([...map.marked].slice(0, 300).map((word) => of[word]));
  const found = [...marked];
  map.labels = [];
  pen.textAlign = "left";
  let tried = 0;
  for (let i = 0; i < found.length + order.length; i++) {
    const p = i < found.length ? found[i] : order[i - found.length];
    if (tried > TRIED || taken.length > LABELS) break;
    if (x[p] < x0 || x[p] > x1 || y[p] < y0 || y[p] > y1) continue;
    tried += 1;
    const isMarked = marked.has(p);
    pen.font = isMarked ? "bold 13px system-ui, sans-serif" : "12px system-ui, sans-serif";
    const text = labelOf(p);
    if (!map.widths.has(text)) map.widths.set(text, pen.measureText(text).width);
    const width = map.widths.get(text) * (isMarked ? 1.15 : 1);
    const px = toX(x[p]), py = toY(y[p]);
    const places = [[px + 6, py - 7], [px - 6 - width, py - 7], [px - width / 2, py - 20], [px - width / 2, py + 6]];
    const spot = places.find(([left, up]) => free([left, up, left + width, up + 14]));
    if (isMarked) {
      pen.strokeStyle = look.ink;
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(px, py, 7, 0, 7);
      pen.stroke();
    }
    if (!spot) continue;
    const [left, up] = spot;
    taken.push([left, up, left + width, up + 14]);
    map.labels.push({ text, box: taken.at(-1) });
    pen.lineWidth = 3;
    pen.strokeStyle = look.card;
    pen.strokeText(text, left, up + 11);
    pen.fillStyle = isMarked ? look.ink : rank[p] <= k ? (way[p] > 0 ? look.for : way[p] < 0 ? look.against : look.soft) : look.soft;
    pen.fillText(text, left, up + 11);
  }
}

// The point nearest to a place of the canvas, or -1.
function pointAt(px, py) {
  const { x, y, n, rank } = map.points;
  let found = -1, least = REACH * REACH;
  for (let p = 0; p < x.length; p++) {
    if (!n[p]) continue;
    const dx = toX(x[p]) - px, dy = toY(y[p]) - py;
    const distance = dx * dx + dy * dy;
    if (distance < least || (distance === least && rank[p] < rank[found])) { least = distance; found = p; }
  }
  return found;
}

function wordsAt(p) {
  const words = [];
  map.points.of.forEach((point, word) => { if (point === p) words.push(word); });
  return words.sort((a, b) => store.array.df[b] - store.array.df[a]);
}

function tellPoint(p, px, py) {
  const tip = document.getElementById("map-tip");
  tip.hidden = p < 0;
  if (p < 0) return;
  const { c, m, row, n, rank } = map.points;
  const view = classView(c);
  const words = n[p] > 8 ? wordsAt(p).slice(0, 8) : wordsAt(p);
  const tp = view.tables.tp[row[p]], fp = view.tables.fp[row[p]];
  tip.replaceChildren(
    element("strong", {}, isolated(words.map((word) => store.words[word]).join(", ")), n[p] > words.length ? ` and ${number(n[p] - words.length)} more` : ""),
    element("span", {}, `${number(tp)} of ${number(store.pos[c])} documents of the class (${percent(tp / Math.max(1, store.pos[c]))}), ${number(fp)} others`),
    element("span", {}, `score ${+view.scores[m][row[p]].toPrecision(4)}, rank ${number(rank[p])} by ${store.metrics[m].name}`));
  tip.style.left = `${Math.max(0, Math.min(px + 14, mapCanvas.clientWidth - tip.offsetWidth - 4))}px`;
  tip.style.top = `${py + 16}px`;
}

function choosePoint(p) {
  const place = document.getElementById("map-here");
  place.replaceChildren();
  if (p < 0) return;
  const words = wordsAt(p);
  if (words.length === 1) { openWord(store.words[words[0]]); return; }
  const list = element("ul", { class: "chips" }, ...words.slice(0, LISTED).map((word) => element("li", {}, wordButton(store.words[word]))));
  place.append(element("p", {}, `${number(words.length)} words stand at this point:`), list);
  if (words.length > LISTED) {
    const more = element("button", { type: "button", onclick: () => { list.append(...words.slice(LISTED).map((word) => element("li", {}, wordButton(store.words[word])))); more.remove(); } }, `Show all ${number(words.length)}`);
    place.append(more);
  }
}

// The best words beside the map: for and against the class or, if two classes are compared, for each of them.
function listBest() {
  const { axes, c, m } = map.points;
  const lists = axes === "ranks" ? [[c, 1], [otherClass(), 1]] : [[c, 1], [c, -1]];
  document.getElementById("map-best").replaceChildren(...lists.map(([of, sign]) => {
    const view = classView(of);
    const items = bestTables(of, m, sign, BEST).map((t) => element("li", {}, wordButton(store.words[firstWords(view)[t]]), view.tables.n[t] > 1 ? ` +${number(view.tables.n[t] - 1)}` : ""));
    const title = element("h3", { class: sign > 0 ? "for" : "against" }, sign > 0 ? "For " : "Against ", isolated(store.classes[of]));
    return element("div", {}, title, items.length ? element("ol", {}, ...items) : element("p", { class: "hint" }, "no word"));
  }));
}

function markHits(words) {
  map.marked = words;
  redrawMap();
}

function fillMap() {
  if (!map.view) resetView();
  document.getElementById("map-other-part").hidden = mapChoice("axes") !== "ranks";
  document.getElementById("map-lines").hidden = mapChoice("axes") !== "rates";
  document.getElementById("map-cutoffs-part")?.toggleAttribute("hidden", mapChoice("axes") === "ranks");
  document.getElementById("map-near-part").hidden = mapChoice("axes") !== "rates";
  document.getElementById("map-here").replaceChildren();
  map.points = mapPoints();
  listBest();
  redrawMap();
}

const mapControls = () => all("#figure-map select, #figure-map input[type=checkbox]");
const controlValue = (control) => (control.type === "checkbox" ? String(control.checked) : control.value);
const usualValue = (control) => (control.type === "checkbox" ? String(control.defaultChecked) : (all("option", control).find((option) => option.defaultSelected) ?? control.options[0])?.value);

function mapFromAddress() {
  for (const control of mapControls()) {
    const text = address.get(control.dataset.name);
    if (control.type === "checkbox") control.checked = text === null ? control.defaultChecked : text === "true";
    else control.value = text !== null && [...control.options].some((option) => option.value === text) ? text : usualValue(control);
  }
}

function wordRows() {
  const c = classShown();
  const view = classView(c);
  const columns = ["word", "documents", "tp", "fp", ...store.metrics.flatMap(({ name }) => [`score ${name}`, `rank ${name}`])];
  const rows = store.words.map((word, i) => [word, store.array.df[i], view.tp[i], store.array.df[i] - view.tp[i],
    ...store.metrics.flatMap((_, m) => [+view.scores[m][view.row[i]].toPrecision(6), view.ranks[m].rank[view.row[i]]])]);
  return { columns, rows };
}

function saveMap(kind) {
  if (kind === "png") {
    mapCanvas.toBlob((blob) => saveBlob("wordmap.png", blob));
    return;
  }
  const { columns, rows } = wordRows();
  if (kind === "csv") download("words.csv", "text/csv;charset=utf-8", separated({ columns }, rows, ","));
  else download("words.json", "application/json", JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]])))));
}

const pointers = new Map(); // pointer id -> where it is, while it is down
let dragged = 0;

function placeOf(event) {
  const box = mapCanvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

mapCanvas.addEventListener("pointerdown", (event) => {
  pointers.set(event.pointerId, placeOf(event));
  mapCanvas.setPointerCapture(event.pointerId);
  dragged = 0;
});
mapCanvas.addEventListener("pointermove", (event) => {
  if (!map.points) return;
  const [px, py] = placeOf(event);
  const before = pointers.get(event.pointerId);
  if (!before) { tellPoint(pointAt(px, py), px, py); return; }
  const [dx, dy] = [px - before[0], py - before[1]];
  dragged += Math.hypot(dx, dy);
  const others = [...pointers].filter(([id]) => id !== event.pointerId);
  if (others.length) {
    const [ox, oy] = others[0][1];
    const ratio = Math.hypot(before[0] - ox, before[1] - oy) / Math.max(1, Math.hypot(px - ox, py - oy));
    zoomMap(ratio, (ox - MARGIN.left) / plot().w, 1 - (oy - MARGIN.top) / plot().h);
  } else {
    moveMap(-dx / plot().w, dy / plot().h);
  }
  pointers.set(event.pointerId, [px, py]);
});
for (const name of ["pointerup", "pointercancel"]) {
  mapCanvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    if (name === "pointerup" && dragged < 5 && map.points) choosePoint(pointAt(...placeOf(event)));
  });
}
mapCanvas.addEventListener("pointerleave", () => { document.getElementById("map-tip").hidden = true; });
mapCanvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey && !event.metaKey && document.activeElement !== mapCanvas) return; // the page scrolls
  event.preventDefault();
  const [px, py] = placeOf(event);
  zoomMap(Math.exp(event.deltaY / 400), (px - MARGIN.left) / plot().w, 1 - (py - MARGIN.top) / plot().h);
}, { passive: false });
mapCanvas.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
  if (steps[event.key]) moveMap(...steps[event.key]);
  else if (event.key === "+" || event.key === "=") zoomMap(0.7);
  else if (event.key === "-") zoomMap(1 / 0.7);
  else if (event.key === "0") { resetView(); redrawMap(); }
  else return;
  event.preventDefault();
});
for (const button of all("#figure-map button[data-zoom]")) {
  button.addEventListener("click", () => {
    if (button.dataset.zoom === "0") { resetView(); redrawMap(); } else zoomMap(Number(button.dataset.zoom));
  });
}
for (const button of all("#figure-map button[data-map]")) button.addEventListener("click", () => saveMap(button.dataset.map));
for (const control of mapControls()) {
  control.addEventListener("change", () => {
    remember(control.dataset.name, controlValue(control), usualValue(control));
    if (control.dataset.name === "axes" || control.dataset.name === "near") resetView();
    fillMap();
  });
}
window.addEventListener("resize", redrawMap);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawMap);
