// What a printer gets: the head, the first rows of the flat profile, and the flame graph, on one page.
const PRINTED_ROWS = 15, PRINTED_FRAMES = 16, PRINTED_WIDTH = 1000;

function preparePrint() {
  find("#about").open = true;
  const box = find("#print");
  const shown = columns.filter((column) => !(column.class || "").includes("text wide"));
  const cell = (column, at) => element("td", { class: column.class === "text" ? "text" : "" },
    (column.text ? fitted(column.text(at), 90) : time(column.value(at))) + (column.error && column.error(at) > 0 ? " ±" + time(column.error(at)) : ""));
  const rows = flat.rows.slice(0, PRINTED_ROWS).map((at) => element("tr", {}, ...shown.map((column) => cell(column, at))));
  const head = element("tr", {}, ...shown.map((column) => element("th", { class: column.class === "text" ? "text" : "" }, column.title)));
  const frames = element("div", { class: "frames" });
  const left = flat.rows.length - rows.length;
  box.replaceChildren(element("table", {}, head, ...rows), element("p", {}, left > 0 ? "and " + count(left) + " more functions" : ""),
    element("p", {}, find("#flame .legend").textContent || legends[data.flame.origin]), element("div", {}, frames));
  const view = new FlameView(frames, false);
  frames.style.width = PRINTED_WIDTH + "px";
  const tree = trees[rootTrees[state.root]];
  frames.style.height = Math.min(tree.rows, PRINTED_FRAMES) * ROW + 2 + "px";
  view.test = filters.test;
  view.show(tree);
}
