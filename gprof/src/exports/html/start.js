// The views and the keys that lead to them.
const find = (selector) => document.querySelector(selector);

// What the tools at the top choose.
const filters = {
  test: null,
  image: -1,
  isThread: false,
  includesImage(at) { return this.image < 0 || data.image[at] === this.image; },
  includes(at) { return this.isUsed(at) && this.includesImage(at) && (!this.test || this.test(data.functions[at].name)); },
  isUsed(at) { return !this.isThread || data.own[at] + data.inclusive[at] + data.calls[at] + data.selfCalls[at] > 0; },
};

const trees = {
  cache: {},
  get(key, make) { return this.cache[key] || (this.cache[key] = make()); },
  get flame() { return this.get("flame", () => filtered(treeOf(data.flame), state)); },
  get byFile() { return this.get("byFile", () => grouped(this.flame, (subject) => (data.file[subject] < 0 ? "(no source file)" : data.files[data.file[subject]].name))); },
  get byObject() { return this.get("byObject", () => grouped(this.flame, imageName)); },
  get byThread() { return this.get("byThread", () => filtered(threadTree(), state)); },
  get inverted() { return this.get("inverted", () => inverted(this.flame)); },
  get dominators() { return this.get("dominators", () => treeOf(data.dominators)); },
};

const legends = {
  measured: "Measured from the stacks of the samples.",
  estimated: "Estimated from call counts: each caller gets a share of a function's time by its calls. Solid frames: only one path of calls leads there. Hatched: divided among callers.",
};

const flat = new FlatView(find("#rows"));
const flames = new FlameView(find("#flame .frames"), false);
const sandwich = new SandwichView(find("#sandwich"), trees);
const treemap = new TreemapView(find("#treemap .map"));
const dominators = new FlameView(find("#dominators .frames"), false);
const graph = new GraphView(find("#graph"));
const sources = new SourcesView(find("#sources"));
const none = { show() {}, search() {}, reset() {} };

const views = [
  { id: "flat", title: "Flat profile", show: () => flat.draw(), search: () => flat.update(), reset() {} },
  { id: "flame", title: "Flame graph", show: showFlame, search: (test) => flames.search(test), reset: () => flames.reset() },
  { id: "sandwich", title: "Function", show: () => sandwich.resize(), search: (test) => sandwich.search(test), reset: () => sandwich.reset() },
  { id: "treemap", title: "Treemap", show: () => treemap.resize(), search: (test) => treemap.search(test), reset: () => treemap.reset() },
  { id: "dominators", title: "Dominators", isOfAll: true, show: () => dominators.show(trees.dominators), search: (test) => dominators.search(test), reset: () => dominators.reset() },
  { id: "graph", title: "Call graph", isOfAll: true, show: () => graph.show(), search: (test) => graph.search(test), reset: () => graph.zoom(1) },
  { id: "sources", title: "Source", isOfAll: true, show: () => sources.show(), search() {}, reset() {} },
  { id: "accounts", title: "Accounts", isOfAll: true, ...none },
];
let active = null;
// What the fragment of the address says.
let state = null;
const fields = Object.fromEntries(["search", "thread", "image", "up", "colors", ...FILTERS].map((id) => [id, find("#" + id)]));

const rootTrees = { callers: "flame", callees: "inverted", files: "byFile", objects: "byObject", threads: "byThread" };
const rootNotes = {
  callers: "", callees: " Each function stands with its self time; below it are its callers.",
  files: " Frames are source files.", objects: " Frames are objects.", threads: " Each thread stands with its stacks.",
};

function showFlame() {
  flames.isUp = state.up === "1";
  find("#flame .legend").textContent = legends[data.flame.origin] + rootNotes[state.root] +
    (hasFilters(state) ? " Only the stacks and frames that the filters leave." : "") +
    (data.flame.certainty.includes(1) ? " Hatched: a tail call may have removed a frame." : "");
  flames.show(trees[rootTrees[state.root]]);
  flames.restore(Number(state.zoom) || 0);
}

function open(id) {
  active = views.find((view) => view.id === id && view.tab) || views[0];
  for (const view of views) {
    find("#" + view.id).hidden = view !== active;
    if (view.tab) view.tab.setAttribute("aria-selected", view === active);
  }
  for (const field of document.querySelectorAll("#thread, #filters input")) {
    field.disabled = Boolean(active.isOfAll);
    field.title = active.isOfAll ? "this view is about all threads and stacks" : "";
  }
  active.show();
}

function openFunction(subject) {
  change({ view: "sandwich", function: String(subject) });
}

// The functions that the search finds, in the stacks that are left. A function inside another one that was found adds nothing to the sum.
function foundText() {
  let functions = 0, own = 0;
  for (let at = 0; at < functionCount; at++) {
    if (!filters.test(data.functions[at].name) || !filters.isUsed(at)) continue;
    functions += 1;
    own += data.own[at];
  }
  const tree = trees.flame, inTree = timesOf(tree).own;
  let sum = covered(tree, (node) => filters.test(tree.name(node.subject)));
  // Samples without a stack are not in the tree.
  if (tree.origin === "measured") for (let at = 0; at < functionCount; at++) if (filters.test(data.functions[at].name)) sum += Math.max(0, data.own[at] - inTree[at]);
  const share = (value) => time(value) + " " + unit + " (" + percent(value, total) + ")";
  return "found: " + count(functions) + (functions === 1 ? " function" : " functions") + ", self " + share(own) + ", total " + share(sum);
}

// Shows what the fragment of the address says. Only what differs from before is computed again.
function apply() {
  if (state && writtenState(state) === location.hash) return;
  const before = state;
  state = readState(location.hash);
  if (!Object.hasOwn(rootTrees, state.root) || (state.root === "threads" && data.parts.length < 2)) state.root = "callers";
  const differs = (...names) => !before || names.some((name) => before[name] !== state[name]);
  const thread = indexIn(data.parts, state.thread, -1);
  for (const [id, field] of Object.entries(fields)) {
    if (field.type === "checkbox") field.checked = state[id] === "1";
    else if (document.activeElement !== field || field.value !== state[id]) field.value = state[id];
  }
  find("#thread").value = thread;
  if (find("#image").selectedIndex < 0) find("#image").value = -1;
  find(`#flame [value=${state.root}]`).checked = true;
  if (hasFilters(state)) find("#filters").open = true;
  filters.image = indexIn(data.images, state.image, -1);
  filters.test = matcher(state.search);
  colors = state.colors;
  if (differs("thread", ...FILTERS)) {
    takeThread(thread);
    trees.cache = {};
    if (hasFilters(state)) takeTree(trees.flame);
  }
  if (differs("thread", "image", ...FILTERS)) treemap.update();
  if (functionCount && differs("function", "thread", ...FILTERS)) sandwich.choose(indexIn(data.functions, state.function, 0));
  if (differs("search", "image", "thread", ...FILTERS)) flat.update();
  open(state.view || (data.head.isMeasured ? "flat" : "treemap"));
  if (differs("search")) for (const view of views) view.search(filters.test);
  find("#found").textContent = filters.test ? foundText() : "";
}

function threads() {
  if (!data.threads.length) return;
  const row = (thread) => element("tr", {},
    element("td", { class: "text" }, thread.name), element("td", {}, thread.number === null ? "" : String(thread.number)),
    element("td", {}, thread.percent === null ? "" : thread.percent.toFixed(1) + " %"), element("td", {}, time(thread.time)), element("td", {}, count(thread.calls)));
  const head = ["thread", "number", "share", "self " + unit, "calls"].map((title, at) => element("th", { class: at ? "" : "text" }, title));
  find(".threads").append(element("table", {}, element("tr", {}, ...head), ...data.threads.map(row)));
}

function start() {
  document.body.className = "scripted";
  for (const hidden of ["#tabs", "#tools", "#filters", ".keys"]) find(hidden).hidden = false;
  for (const view of views) {
    if (view.id === "sources" && !data.sources.length) continue;
    view.tab = element("button", { type: "button", role: "tab", "aria-controls": view.id }, view.title);
    view.tab.addEventListener("click", () => change({ view: view.id }));
    find("#tabs").append(view.tab);
  }
  find("#image").append(element("option", { value: -1 }, "all objects"),
    ...data.images.map((image, at) => element("option", { value: at }, image.name)));
  find("#image").hidden = data.images.length < 2;
  find("#thread").append(element("option", { value: -1 }, "all threads"),
    ...data.parts.map((part, at) => element("option", { value: at }, part.name)));
  find("#thread").hidden = data.parts.length < 2;
  for (const [id, field] of Object.entries(fields)) {
    const value = () => (field.type === "checkbox" ? (field.checked ? "1" : "") : field.value);
    if (field.matches("input:not([type=checkbox])")) field.addEventListener("input", () => change({ [id]: value() }, true));
    else field.addEventListener("change", () => change({ [id]: value() === "-1" ? "" : value() }));
  }
  for (const choice of document.querySelectorAll("#flame [name=root]")) choice.addEventListener("change", () => change({ root: choice.value }));
  find("#flame [value=threads]").parentNode.hidden = data.parts.length < 2;
  flames.zoomTo = (at) => change({ zoom: at > 0 ? String(at) : "" });
  find("#link").addEventListener("click", copyLink);
  find("#about").open = false;
  window.addEventListener("beforeprint", preparePrint);
  threads();
  // Without stacks, the first picture is one that needs no estimate.
  apply();
}

window.addEventListener("hashchange", apply);
window.addEventListener("resize", () => active.show());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => active.show());
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select");
  if (event.key === "Escape") {
    event.target.blur();
    active.reset();
    change({ search: "", zoom: "" });
  } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    find("#search").focus();
  } else if (/^[1-8]$/.test(event.key)) {
    const view = views.filter((view) => view.tab)[event.key - 1];
    if (view) change({ view: view.id });
  }
});
start();
