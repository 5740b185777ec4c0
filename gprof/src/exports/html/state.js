// The state of the page, which is in the fragment of the address: links, reloads, and the keys "back" and "forward" lead to it.
// The fragment is VIEW&name=value&name=value; what is as at the start is left out.
const FILTERS = ["focus", "ignore", "hide", "from"];
const STATE = ["search", "thread", "image", "function", "root", "up", "colors", "zoom", ...FILTERS];
const DEFAULTS = { root: "callers", colors: "kind" };

function readState(hash) {
  const [view, ...rest] = hash.replace(/^#/, "").split("&");
  const given = new URLSearchParams(rest.join("&"));
  const read = { view };
  for (const name of STATE) read[name] = given.get(name) || DEFAULTS[name] || "";
  return read;
}

function writtenState(from) {
  const given = new URLSearchParams();
  for (const name of STATE) if (from[name] && from[name] !== DEFAULTS[name]) given.set(name, from[name]);
  const text = given.toString();
  return "#" + (from.view || (text && active.id)) + (text && "&" + text);
}

// The index that a text of the address is, or another one if the list has no such index.
function indexIn(list, text, other) {
  return /^\d{1,9}$/.test(text) && Number(text) < list.length ? Number(text) : other;
}

function hasFilters(of) {
  return FILTERS.some((name) => of[name]);
}

// Changes a part of the state. What a person types makes one step of the history.
function change(part, isTyped) {
  const next = Object.assign({}, state, part);
  // A frame has its number in one tree only.
  if (["thread", "root", ...FILTERS].some((name) => next[name] !== state[name])) next.zoom = "";
  const hash = writtenState(next), typed = isTyped ? Object.keys(part)[0] : "";
  if (hash === writtenState(state)) return;
  if (isTyped && change.typed === typed) location.replace(hash);
  else location.hash = hash;
  change.typed = typed;
  apply();
}

function copyLink() {
  const told = (text) => { find("#link").textContent = text; setTimeout(() => { find("#link").textContent = "copy link"; }, 2000); };
  const byHand = () => window.prompt("the link to this view", location.href);
  if (!navigator.clipboard) byHand();
  else navigator.clipboard.writeText(location.href).then(() => told("copied"), byHand);
}
