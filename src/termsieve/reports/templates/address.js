// What was chosen and typed lives in the address, so that a link opens the same view and reload keeps it:
// #class=sport&metric=bns&k=50&search=goal&at=words
const address = new URLSearchParams();

function readAddress() {
  for (const name of [...address.keys()]) address.delete(name);
  if (!location.hash.includes("=")) return;
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) address.set(name, value);
}

function remember(name, value, usual) {
  if (String(value) === String(usual)) address.delete(name);
  else address.set(name, value);
  writeAddress();
}

function writeAddress() {
  const hash = address.toString();
  try {
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  } catch { /* a page inside another one, as in a notebook, may have no address of its own */ }
}

// A plain anchor, as of the index, moves the page; its place then joins the rest of the address.
function anchored() {
  const place = location.hash.slice(1);
  if (!place || place.includes("=")) return false;
  address.set("at", place);
  writeAddress();
  return true;
}

// What all parts of the page share.
let figures = {}; // figure id -> its variants
const hasExplorer = document.getElementById("store") !== null;
const views = {}; // figure id -> the Vega view
const chosen = {}; // chooser's key -> the position chosen
const all = (selector, place = document) => [...place.querySelectorAll(selector)];

// The bytes behind base64 of gzip, in which the page keeps its data.
async function unzipped(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

const unpackedText = async (id) => new TextDecoder().decode(await unzipped(document.getElementById(id).textContent));

// Vega's script, which defines vegaEmbed, and what it draws.
async function loadFigures() {
  const [script, data] = await Promise.all([unpackedText("vega"), unpackedText("data")]);
  (0, eval)(script); // in the global scope
  figures = JSON.parse(data);
}
