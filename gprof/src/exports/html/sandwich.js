// One function: its callers above, its callees below.
class SandwichView {
  constructor(section, trees) {
    this.section = section;
    this.trees = trees;
    this.subject = -1;
    this.up = new FlameView(section.querySelector(".frames.up"), true);
    this.down = new FlameView(section.querySelector(".frames.down"), false);
    const field = section.querySelector("#function"), names = section.querySelector("#names");
    field.addEventListener("input", () => {
      const exact = data.functions.findIndex((of) => of.name === field.value);
      if (exact >= 0) return openFunction(exact);
      const test = matcher(field.value);
      const found = data.functions.filter((of) => test && test(of.name)).slice(0, 50);
      names.replaceChildren(...found.map((of) => element("option", { value: of.name })));
    });
  }

  choose(subject) {
    this.subject = subject;
    const find = (selector) => this.section.querySelector(selector);
    find("h2").textContent = data.functions[subject].name;
    find("#function").value = data.functions[subject].name;
    const cycle = data.cycle[subject] ? ", member of cycle " + data.cycle[subject] : "";
    const recursive = data.selfCalls[subject] ? " and " + inWords(data.selfCalls[subject]) + " by itself" : "";
    const guess = hasFilters(state) ? "not known of some stacks" : estimate("estimates", subject);
    const calls = guess ? "calls: " + guess : data.calls[subject] || recursive ? inWords(data.calls[subject]) : "calls not counted";
    find(".times").textContent =
      "self " + withError(data.own[subject], data.ownError[subject]) + " " + unit + ", total " +
      withError(data.inclusive[subject], data.inclusiveError[subject]) + " " + unit +
      (data.head.isMeasured ? " (measured)" : " (estimated)") + (range(subject) && " " + range(subject)) + ", " + calls + recursive + cycle + ", " + imageName(subject) +
      (place(subject) ? ", " + place(subject) : "");
    this.resize();
    if (hasFilters(state)) {
      this.listFrames(find(".callers"), this.callers);
      this.listFrames(find(".callees"), this.callees);
    } else {
      this.list(find(".callers"), data.callee, data.caller);
      this.list(find(".callees"), data.caller, data.callee);
    }
  }

  // Lists the arcs whose end at this side is the function.
  list(box, ends, others) {
    const arcs = [];
    const isUsed = (at) => !filters.isThread || data.callTime[at] > 0 || data.callCount[at] > 0;
    ends.forEach((end, at) => { if (end === this.subject && isUsed(at)) arcs.push(at); });
    arcs.sort((a, b) => (data.callTime[b] || 0) - (data.callTime[a] || 0) || data.callCount[b] - data.callCount[a]);
    const row = (at) => {
      const other = others[at];
      const timeOf = data.callTime[at] === null ? "in cycle" : time(data.callTime[at]) + " " + unit;
      const made = element("tr", { title: data.functions[other].name },
        element("td", {}, timeOf),
        element("td", {}, estimate("callEstimates", at) || (data.callCount[at] ? count(data.callCount[at]) + "×" : "not counted")),
        element("td", { class: "text" }, data.functions[other].name));
      made.addEventListener("click", () => openFunction(other));
      return made;
    };
    const rows = arcs.slice(0, 12).map(row);
    if (arcs.length > 12) rows.push(element("tr", {}, element("td", { colspan: 3, class: "text" }, "… and " + (arcs.length - 12) + " more")));
    box.replaceChildren(rows.length ? element("table", { class: "list" }, ...rows) : "none");
  }

  // Lists the frames next to the function: with filters, the counted calls say nothing.
  listFrames(box, tree) {
    const rows = tree.nodes.filter((node) => node.depth === 1).slice(0, 12).map((node) => {
      const name = tree.name(node.subject);
      const made = element("tr", { title: name }, element("td", {}, time(node.time) + " " + unit), element("td", {}, ""), element("td", { class: "text" }, name));
      if (node.subject < functionCount) made.addEventListener("click", () => openFunction(node.subject));
      return made;
    });
    box.replaceChildren(rows.length ? element("table", { class: "list" }, ...rows) : "none");
  }

  resize() {
    if (this.subject < 0) return;
    const tree = this.trees.flame;
    if (this.shown !== this.subject || this.tree !== tree) {
      this.callers = callersOf(tree, this.subject);
      this.callees = calleesOf(tree, this.subject);
      [this.shown, this.tree] = [this.subject, tree];
    }
    for (const [view, tree] of [[this.up, this.callers], [this.down, this.callees]]) {
      view.box.style.height = Math.min(tree.rows * ROW + 2, window.innerHeight * 0.4) + "px";
      view.show(tree);
    }
  }

  search(test) {
    this.up.search(test);
    this.down.search(test);
  }

  reset() {
    this.up.reset();
    this.down.reset();
  }
}
