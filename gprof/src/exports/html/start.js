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
  get flame() { return this.get("flame", () => treeOf(data.flame)); },
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

function showFlame() {
  const isInverted = find("#flame [value=callees]").checked;
  flames.isUp = find("#up").checked;
  find("#flame .legend").textContent = legends[data.flame.origin] +
    (isInverted ? " Each function stands with its self time; below it are its callers." : "") +
    (data.flame.certainty.includes(1) ? " Hatched: a tail call may have removed a frame." : "");
  flames.show(isInverted ? trees.inverted : trees.flame);
}

function open(id) {
  active = views.find((view) => view.id === id && view.tab) || views[0];
  for (const view of views) {
    find("#" + view.id).hidden = view !== active;
    if (view.tab) view.tab.setAttribute("aria-selected", view === active);
  }
  find("#thread").disabled = active.isOfAll;
  find("#thread").title = active.isOfAll ? "this view is about all threads" : "";
  active.show();
}

function go(id) {
  if (location.hash.slice(1) === id) open(id);
  else location.hash = id;
}

function openFunction(subject) {
  sandwich.choose(subject);
  go("sandwich");
}

function chooseThread(at) {
  takeThread(at);
  trees.cache = {};
  flat.update();
  treemap.update();
  if (functionCount) sandwich.choose(sandwich.subject);
  active.show();
}

function search(text) {
  filters.test = matcher(text);
  flat.update();
  for (const view of views) view.search(filters.test);
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
  for (const hidden of ["#tabs", "#tools", ".keys"]) find(hidden).hidden = false;
  for (const view of views) {
    if (view.id === "sources" && !data.sources.length) continue;
    view.tab = element("button", { type: "button", role: "tab", "aria-controls": view.id }, view.title);
    view.tab.addEventListener("click", () => go(view.id));
    find("#tabs").append(view.tab);
  }
  find("#image").append(element("option", { value: -1 }, "all objects"),
    ...data.images.map((image, at) => element("option", { value: at }, image.name)));
  find("#image").hidden = data.images.length < 2;
  find("#image").addEventListener("change", (event) => {
    filters.image = Number(event.target.value);
    flat.update();
    treemap.update();
  });
  find("#thread").append(element("option", { value: -1 }, "all threads"),
    ...data.parts.map((part, at) => element("option", { value: at }, part.name)));
  find("#thread").hidden = data.parts.length < 2;
  find("#thread").addEventListener("change", (event) => chooseThread(Number(event.target.value)));
  find("#search").addEventListener("input", (event) => search(event.target.value));
  for (const choice of document.querySelectorAll("#flame input")) choice.addEventListener("change", showFlame);
  threads();
  flat.update();
  treemap.update();
  if (functionCount) sandwich.choose(0);
  // Without stacks, the first picture is one that needs no estimate.
  open(location.hash.slice(1) || (data.head.isMeasured ? "flat" : "treemap"));
}

window.addEventListener("hashchange", () => open(location.hash.slice(1)));
window.addEventListener("resize", () => active.show());
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => active.show());
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, select");
  if (event.key === "Escape") {
    if (find("#search").value) {
      find("#search").value = "";
      search("");
    }
    event.target.blur();
    active.reset();
  } else if (isTyping || event.ctrlKey || event.metaKey || event.altKey) {
    return;
  } else if (event.key === "/") {
    event.preventDefault();
    find("#search").focus();
  } else if (/^[1-8]$/.test(event.key)) {
    const view = views.filter((view) => view.tab)[event.key - 1];
    if (view) go(view.id);
  }
});
start();
