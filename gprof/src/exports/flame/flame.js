// Fits the flame graph into the window, zooms, and searches.
(function () {
  "use strict";
  const MARGIN = 8, HEAD = 72, ROW = 18, LETTER = 7.3;
  const svg = document.documentElement;
  const rows = Number(svg.dataset.rows);
  const detail = document.getElementById("detail");
  const legend = document.getElementById("legend");
  const legendText = legend.textContent;
  // A frame's row is known by its place at the start: row 0 is the lowest.
  const frames = Array.from(document.getElementById("frames").children, (node) => {
    const [title, rect, text] = node.children;
    const lines = title.textContent.split("\n");
    return {
      node, rect, text, name: lines[0], lines,
      start: Number(node.dataset.s), time: Number(node.dataset.t),
      row: rows - 1 - Math.round((Number(rect.getAttribute("y")) - HEAD) / ROW),
    };
  });
  if (!frames.length) return;
  const all = frames[0];
  const tiny = all.time * 1e-9;
  let zoomed = all, test = null;

  // Divides a text into lines at blanks, and returns the number of lines below the first.
  function wrap(element, text, letters) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + 1 + word.length > letters) lines.push(word);
      else lines[lines.length - 1] = last ? last + " " + word : word;
    }
    element.replaceChildren(...lines.map((line, at) => {
      const part = document.createElementNS("http://www.w3.org/2000/svg", "tspan");
      part.setAttribute("x", MARGIN);
      part.setAttribute("dy", at ? 18 : 0);
      part.textContent = line;
      return part;
    }));
    return lines.length - 1;
  }

  function contains(outer, inner) {
    return outer.start <= inner.start + tiny && inner.start + inner.time <= outer.start + outer.time + tiny;
  }

  function layout() {
    const width = Math.max(200, window.innerWidth);
    const height = HEAD + rows * ROW + 12;
    svg.setAttribute("width", width);
    const inner = width - 2 * MARGIN;
    const scale = zoomed.time > 0 ? inner / zoomed.time : 0;
    for (const frame of frames) {
      const isBelow = frame.row < zoomed.row && contains(frame, zoomed);
      const isShown = isBelow || (frame.row >= zoomed.row && contains(zoomed, frame));
      const x = isBelow ? 0 : (frame.start - zoomed.start) * scale;
      const size = isBelow ? inner : frame.time * scale;
      frame.node.classList.toggle("hidden", !isShown || size < 0.2);
      frame.node.classList.toggle("below", isBelow);
      if (!isShown) continue;
      frame.rect.setAttribute("x", MARGIN + x);
      frame.rect.setAttribute("width", Math.max(0, size));
      frame.text.setAttribute("x", MARGIN + x + 3);
      frame.text.textContent = fitted(frame.name, Math.floor((size - 4) / LETTER));
    }
    const extra = wrap(legend, legendText, Math.floor(inner / LETTER)) * 18;
    svg.setAttribute("viewBox", "0 0 " + width + " " + (height + extra));
    svg.setAttribute("height", height + extra);
    document.getElementById("frames").setAttribute("transform", "translate(0 " + extra + ")");
    detail.setAttribute("y", 62 + extra);
    const field = document.getElementById("field");
    field.setAttribute("width", Math.min(300, width / 2));
    field.setAttribute("x", width - MARGIN - Math.min(300, width / 2));
    tell(chosen.frame);
  }

  function tell(frame) {
    const letters = Math.floor((window.innerWidth - 2 * MARGIN) / LETTER);
    const found = test ? "found: " + percent(matched()) + "  " : "";
    detail.textContent = fitted(found + (frame ? frame.lines.join("  ") : zoomed !== all ? "Escape shows all" : ""), letters);
  }

  function percent(time) {
    return (all.time > 0 ? (100 * time) / all.time : 0).toFixed(1) + " %";
  }

  // The time of all frames that match; a frame above another one that matches does not count again.
  function matched() {
    let sum = 0, end = -Infinity;
    const found = frames.filter((frame) => frame.isMatch).sort((a, b) => a.start - b.start || b.time - a.time);
    for (const frame of found) {
      if (frame.start + frame.time <= end + tiny) continue;
      sum += frame.time;
      end = frame.start + frame.time;
    }
    return sum;
  }

  function search(text) {
    test = matcher(text);
    for (const frame of frames) {
      frame.isMatch = test !== null && test(frame.name);
      frame.node.classList.toggle("match", frame.isMatch);
    }
    tell(chosen.frame);
  }

  function zoom(frame) {
    zoomed = frame;
    layout();
  }

  function near(key, current) {
    const from = current || zoomed;
    const row = from.row + (key === "ArrowUp" ? 1 : key === "ArrowDown" ? -1 : 0);
    const around = frames.filter((frame) => frame.row === row && (contains(zoomed, frame) || contains(frame, zoomed)));
    if (key === "ArrowUp") return around.find((frame) => contains(from, frame));
    if (key === "ArrowDown") return around.find((frame) => contains(frame, from));
    return around[around.indexOf(from) + (key === "ArrowRight" ? 1 : -1)];
  }

  const field = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
  field.setAttribute("id", "field");
  field.setAttribute("y", 6);
  field.setAttribute("height", 28);
  const input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
  input.setAttribute("type", "search");
  input.setAttribute("placeholder", "search (/)");
  input.setAttribute("aria-label", "search for functions");
  field.appendChild(input);
  svg.appendChild(field);

  const chosen = choosing(frames, input, { click: zoom, tell, zoom, search, near });
  window.addEventListener("resize", layout);
  layout();
})();
