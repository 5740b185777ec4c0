// Zooms and searches in the flame graph, and sorts and filters the table.
(function () {
  "use strict";
  const find = (selector) => document.querySelector(selector);
  const detail = find("#detail"), search = find("#search"), widths = find("#widths");
  const frames = Array.from(find("#frames").children, (node, at) => ({
    node, at,
    parent: node.dataset.parent === undefined ? null : Number(node.dataset.parent),
    base: Number(node.dataset.base), now: Number(node.dataset.now),
    lines: node.querySelector("title").textContent.split("\n"),
    children: [], depth: 0, end: at + 1,
  }));
  for (const frame of frames) {
    if (frame.parent === null) continue;
    frame.depth = frames[frame.parent].depth + 1;
    frames[frame.parent].children.push(frame);
  }
  // A frame's callees come right behind it.
  for (const frame of frames.slice().reverse()) {
    if (frame.parent !== null) frames[frame.parent].end = Math.max(frames[frame.parent].end, frame.end);
  }
  let zoomed = frames[0];

  const width = (frame) => (widths.value === "both" ? frame.base + frame.now : frame[widths.value]);

  function layout() {
    if (!zoomed) return;
    // Where each frame begins, and where its next callee begins.
    const whole = width(zoomed), starts = [], next = [];
    let deepest = 0;
    for (const frame of frames) {
      const start = frame.parent === null ? 0 : next[frame.parent];
      starts.push(start);
      next.push(start);
      if (frame.parent !== null) next[frame.parent] += width(frame);
    }
    for (const frame of frames) {
      const isInside = frame.at >= zoomed.at && frame.at < zoomed.end;
      const isBelow = frame.at < zoomed.at && zoomed.at < frame.end;
      const x = isBelow ? 0 : whole > 0 ? (100 * (starts[frame.at] - starts[zoomed.at])) / whole : 0;
      const size = isBelow ? 100 : whole > 0 ? (100 * width(frame)) / whole : 0;
      const isShown = isBelow || (isInside && size > 0.02);
      frame.node.classList.toggle("hidden", !isShown);
      frame.node.classList.toggle("below", isBelow);
      if (!isShown) continue;
      deepest = Math.max(deepest, frame.depth);
      frame.node.setAttribute("x", x.toFixed(3) + "%");
      frame.node.setAttribute("width", size.toFixed(3) + "%");
    }
    find("#frames").setAttribute("height", (deepest + 1) * 18);
  }

  function tell(frame) {
    detail.textContent = frame ? frame.lines.join("\n") : "";
  }

  function zoom(frame) {
    zoomed = frame;
    layout();
  }

  const body = find("#rows tbody"), rows = Array.from(body.rows);

  function filter(text) {
    const test = matcher(text);
    for (const frame of frames) frame.node.classList.toggle("other", test !== null && !test(frame.lines[0]));
    for (const row of rows) row.hidden = test !== null && !test(row.cells[0].textContent);
  }

  // The first click on a title sorts by size, the next click turns the order around.
  let sorted = -1, turned = false;
  function sort(column) {
    turned = column === sorted && !turned;
    sorted = column;
    const text = (row) => row.cells[column].textContent;
    const number = (row) => Math.abs(parseFloat(text(row).replace(/[±<]/, ""))) || 0;
    const isText = column < 2;
    rows.sort((a, b) => (isText ? text(a).localeCompare(text(b)) : number(b) - number(a)) * (turned ? -1 : 1));
    body.replaceChildren(...rows);
  }

  function near(key, current) {
    const from = current || zoomed, siblings = from.parent === null ? [from] : frames[from.parent].children;
    if (key === "ArrowUp") return frames[from.parent];
    if (key === "ArrowDown") return from.children[0];
    return siblings[siblings.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }

  // A click on the frame that fills the graph shows all frames again.
  const click = (frame) => zoom(frame === zoomed ? frames[0] : frame);
  choosing(frames, search, { click, tell, zoom, search: filter, near });
  if (rows.length) {
    Array.from(find("#rows thead tr").cells).forEach((cell, column) => {
      const button = document.createElement("button");
      button.textContent = cell.textContent;
      button.addEventListener("click", () => sort(column));
      cell.replaceChildren(button);
    });
  }
  widths.addEventListener("change", layout);
  find("#tools").hidden = false;
  document.body.classList.add("scripted");
  layout();
})();
