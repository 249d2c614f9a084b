// A box for a text: what is typed or pasted is scored in the page, and the terms that decided are marked.
// It needs `score` of scorer.js; `live.css` has its looks.
const MOST_TERMS = 50, MOST_CLASSES = 10;

/** Fill an element with the box for a model. */
function liveBox(place, model) {
  const signed = (value) => (value >= 0 ? "+" : "−") + Math.abs(value).toFixed(3);
  const two = model.decision === "two";
  let asked = null; // the class that the reader wants explained, or none: the class that was decided
  let opened = false; // whether all classes are listed

  function made(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const isolated = (text) => made("bdi", {}, String(text));

  function table(name, heads, rows) {
    const cell = (tag, content, i) => made(tag, { ...(i ? { class: "number" } : {}), ...(tag === "th" ? { scope: "col" } : {}) }, content);
    const head = made("tr", {}, ...heads.map((each, i) => cell("th", each, i)));
    const lines = rows.map((row) => made("tr", {}, ...row.map((content, i) => cell("td", content, i))));
    return made("table", { "aria-label": name }, made("thead", {}, head), made("tbody", {}, ...lines));
  }

  /** Return the class to explain, its row of the weights, and the sign of what speaks for it. */
  function explained(values) {
    const best = two ? Number(values[0] > 0) : values.indexOf(Math.max(...values));
    const at = asked ?? best;
    return { at, row: two ? 0 : at, sign: two && at === 0 ? -1 : 1 };
  }

  /** Return how clear the decision is. */
  function margin({ values, probabilities }) {
    const sure = (at) => (probabilities ? `, probability ${probabilities[at].toFixed(3)}` : "");
    if (two) return `margin ${Math.abs(values[0]).toFixed(3)}${sure(Number(values[0] > 0))}`;
    if (model.decision === "each") {
      const near = values.reduce((best, value, i) => (Math.abs(value) < Math.abs(values[best]) ? i : best), 0);
      return `labels with a value above 0; nearest to it is ${model.classes[near]}, ${signed(values[near])}`;
    }
    const order = [...values.keys()].sort((a, b) => values[b] - values[a]);
    if (order.length < 2) return "";
    const lead = (values[order[0]] - values[order[1]]).toFixed(3);
    return `margin ${lead} before ${model.classes[order[1]]}${sure(order[0])}`;
  }

  /** Return the text with its terms marked, stronger the more they add. */
  function marked(text, terms, { row, sign }) {
    const strongest = Math.max(1e-12, ...terms.map((each) => Math.abs(each.adds[row])));
    const adds = new Float64Array(text.length + 1);
    for (const { adds: values, places } of terms) {
      for (const [start, end] of places) for (let i = start; i < end; i++) adds[i] += sign * values[row];
    }
    const parts = [];
    for (let start = 0, end = 0; start < text.length; start = end) {
      while (end < text.length && adds[end] === adds[start]) end++;
      const part = text.slice(start, end);
      if (!adds[start]) {
        parts.push(part);
        continue;
      }
      const share = Math.round(10 + 40 * Math.min(1, Math.abs(adds[start]) / strongest));
      const colour = `color-mix(in srgb, var(--${adds[start] > 0 ? "for" : "against"}) ${share}%, transparent)`;
      const mark = made("mark", { title: `adds ${signed(adds[start])}`, "data-speaks": adds[start] > 0 ? "for" : "against" }, part);
      mark.style.background = colour;
      parts.push(mark);
    }
    return parts;
  }

  function classes(values, { at }) {
    const rows = two ? [[0, -values[0]], [1, values[0]]] : [...values.entries()];
    rows.sort((a, b) => b[1] - a[1]);
    const shown = opened ? rows : rows.filter(([i], place_) => place_ < MOST_CLASSES || i === at);
    return [shown.map(([i, value]) => {
      const button = made("button", { type: "button", "aria-pressed": String(i === at) }, isolated(model.classes[i]));
      button.addEventListener("click", () => { asked = i; show(); });
      return [button, signed(value)];
    }), rows.length - shown.length];
  }

  const given = made("textarea", { id: "live-given", rows: "6", dir: "auto", spellcheck: "false" });
  const decided = made("output", { id: "live-class", for: "live-given" });
  const clear = made("span", { id: "live-margin" });
  const said = made("p", { id: "live-said" });
  const text = made("div", { id: "live-text", dir: "auto" });
  const values = made("div", { id: "live-values" }), terms = made("div", { id: "live-terms" });
  const found = made("div", { hidden: "" },
    made("p", { "aria-live": "polite" }, model.decision === "each" ? "Labels: " : "Class: ", decided, " ", clear), said, text,
    made("div", { class: "live-tables" }, values, terms));

  function show() {
    const typed = given.value;
    found.hidden = typed.trim() === "";
    if (found.hidden) {
      asked = null;
      return;
    }
    const scored = score(model, typed), about = explained(scored.values), name = model.classes[about.at];
    const labels = Array.isArray(scored.class) ? scored.class : [scored.class];
    decided.replaceChildren(...(labels.length ? labels.flatMap((each, i) => [i ? ", " : "", isolated(each)]) : ["none"]));
    clear.textContent = `(${margin(scored)})`;
    said.replaceChildren(...(scored.terms.length
      ? [made("span", { "data-speaks": "for" }, "Blue"), " speaks for ", isolated(name), ", ",
        made("span", { "data-speaks": "against" }, "orange"), " against it; the stronger, the more a term adds."]
      : ["None of the model's terms is in the text, so it gets the same class as an empty text."]));
    text.replaceChildren(...marked(typed, scored.terms, about));
    const [rows, more] = classes(scored.values, about);
    values.replaceChildren(table("Decision values", ["class", "decision value"], rows));
    if (more) {
      const button = made("button", { type: "button" }, `Show ${more} more`);
      button.addEventListener("click", () => { opened = true; show(); });
      values.append(button);
    }
    const order = scored.terms.filter((each) => each.adds[about.row] !== 0)
      .sort((a, b) => Math.abs(b.adds[about.row]) - Math.abs(a.adds[about.row]));
    const start = about.sign * (model.intercepts[about.row] - model.thresholds[about.row]);
    terms.replaceChildren(table("Terms that decided", ["term", "times", "adds"], [
      ...order.slice(0, MOST_TERMS).map((each) => [isolated(each.term), String(each.count), signed(about.sign * each.adds[about.row])]),
      [made("em", {}, "any text"), "", signed(start)],
    ]));
    if (order.length > MOST_TERMS) terms.append(made("p", {}, `and ${order.length - MOST_TERMS} that add less`));
  }

  given.addEventListener("input", () => { asked = null; show(); });
  place.classList.add("live");
  place.replaceChildren(
    made("p", {}, made("label", { for: "live-given" }, "Type or paste a text. It is scored in this page and sent nowhere.")), given, found);
  show();
}
