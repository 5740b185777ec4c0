// A flame graph: frames on a canvas, with zoom, search, and keys.
const ROW = 19;
const LETTER = 7.3;

class FlameView {
  constructor(box, isUp) {
    this.box = box;
    this.isUp = isUp;
    this.zoomed = 0;
    this.current = -1;
    this.hovered = -1;
    this.isMatch = null;
    this.canvas = element("canvas", { role: "img" });
    this.space = element("div", {});
    this.space.append(this.canvas);
    this.detail = element("p", { class: "detail", "aria-live": "polite" });
    box.append(this.space);
    box.after(this.detail);
    box.tabIndex = 0;
    box.setAttribute("role", "application");
    box.setAttribute("aria-label", "flame graph; arrow keys choose a frame, Enter enlarges it");
    this.canvas.addEventListener("mousemove", (event) => this.hover(this.at(event)));
    this.canvas.addEventListener("mouseleave", () => this.hover(-1));
    this.canvas.addEventListener("click", (event) => this.click(this.at(event)));
    this.canvas.addEventListener("dblclick", (event) => this.open(this.at(event)));
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("keydown", (event) => this.key(event));
  }

  show(tree) {
    if (this.tree !== tree) {
      this.tree = tree;
      this.zoomed = 0;
      this.current = this.hovered = -1;
      this.search(this.test);
    }
    this.resize();
    if (this.isUp) this.box.scrollTop = this.box.scrollHeight;
    this.draw();
    this.tell();
  }

  search(test) {
    this.test = test;
    if (!this.tree) return;
    this.isMatch = test ? this.tree.nodes.map((node) => test(this.tree.name(node.subject))) : null;
    this.draw();
    this.tell();
  }

  resize() {
    if (!this.tree || !this.box.clientWidth) return;
    const height = this.tree.rows * ROW + 2;
    this.space.style.height = height + "px";
    this.width = this.box.clientWidth;
    this.height = Math.min(height, this.box.clientHeight || height, window.innerHeight);
    this.context = fit(this.canvas, this.width, this.height);
    this.canvas.setAttribute("aria-label", this.tree.nodes.length + " frames");
  }

  top(depth) {
    return (this.isUp ? this.tree.rows - 1 - depth : depth) * ROW - this.box.scrollTop;
  }

  // Returns the place of a frame: left edge and width, or null if the frame is not shown.
  span(node) {
    const zoomed = this.tree.nodes[this.zoomed], tiny = this.tree.total * 1e-9;
    if (node.depth < zoomed.depth) {
      const isAbove = node.start <= zoomed.start + tiny && node.start + node.time >= zoomed.start + zoomed.time - tiny;
      return isAbove ? [0, this.width] : null;
    }
    const scale = zoomed.time > 0 ? this.width / zoomed.time : 0;
    const left = (node.start - zoomed.start) * scale, size = node.time * scale;
    return left + size < 0.1 || left > this.width - 0.1 || size < 0.25 ? null : [Math.max(0, left), Math.min(size, this.width)];
  }

  draw() {
    if (!this.tree || !this.context || !this.box.clientWidth) return;
    const context = this.context, dark = isDark();
    context.clearRect(0, 0, this.width, this.height);
    context.font = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
    context.textBaseline = "middle";
    this.tree.nodes.forEach((node, at) => {
      const y = this.top(node.depth);
      if (y < -ROW || y > this.height) return;
      const span = this.span(node);
      if (span) this.frame(context, node, at, span, y, dark);
    });
  }

  frame(context, node, at, [x, width], y, dark) {
    const name = this.tree.name(node.subject);
    const isMatch = this.isMatch && this.isMatch[at];
    context.globalAlpha = node.depth < this.tree.nodes[this.zoomed].depth ? 0.55 : 1;
    context.fillStyle = isMatch ? "#0072b2" : frameColor(node.subject, name, this.tree.family);
    context.fillRect(x, y, Math.max(width - (width > 2 ? 0.7 : 0), 0.3), ROW - 1);
    if (node.certainty > 0 && !isMatch && width > 3) this.hatch(context, x, y, width);
    if (at === this.current || at === this.hovered) {
      context.strokeStyle = dark ? "#fff" : "#000";
      context.lineWidth = 1.5;
      context.strokeRect(x + 0.75, y + 0.75, Math.max(width - 1.5, 1), ROW - 2.5);
    }
    const text = fitted(name, Math.floor((width - 5) / LETTER));
    if (text) {
      context.fillStyle = isMatch ? "#fff" : "#111";
      context.fillText(text, x + 3, y + ROW / 2);
    }
    context.globalAlpha = 1;
  }

  hatch(context, x, y, width) {
    context.save();
    context.beginPath();
    context.rect(x, y, width - 0.7, ROW - 1);
    context.clip();
    context.strokeStyle = "rgba(255,255,255,.7)";
    context.lineWidth = 2;
    context.beginPath();
    // The lines of neighbors meet.
    for (let at = Math.floor((x - ROW) / 7) * 7; at < x + width; at += 7) {
      context.moveTo(at, y + ROW);
      context.lineTo(at + ROW, y);
    }
    context.stroke();
    context.restore();
  }

  at(event) {
    const depthAt = Math.floor((event.offsetY + this.box.scrollTop) / ROW);
    const depth = this.isUp ? this.tree.rows - 1 - depthAt : depthAt;
    return this.tree.nodes.findIndex((node) => {
      if (node.depth !== depth) return false;
      const span = this.span(node);
      return span && event.offsetX >= span[0] && event.offsetX < span[0] + span[1];
    });
  }

  hover(at) {
    if (at === this.hovered) return;
    this.hovered = at;
    this.draw();
    this.tell();
  }

  click(at) {
    if (at < 0) return;
    this.current = at;
    this.zoom(at);
  }

  zoom(at) {
    this.restore(at);
    if (this.zoomTo) this.zoomTo(at);
  }

  restore(at) {
    this.zoomed = at < this.tree.nodes.length ? at : 0;
    this.draw();
    this.tell();
  }

  open(at) {
    if (at >= 0 && this.tree.nodes[at].subject < functionCount) openFunction(this.tree.nodes[at].subject);
  }

  key(event) {
    if (!this.tree || !this.tree.nodes.length) return;
    const from = this.current >= 0 ? this.current : this.zoomed;
    const away = this.isUp ? "ArrowUp" : "ArrowDown", back = this.isUp ? "ArrowDown" : "ArrowUp";
    const nodes = this.tree.nodes;
    let to = -1;
    if (event.key === away) to = nodes.findIndex((node) => node.parent === from);
    else if (event.key === back) to = nodes[from].parent;
    else if (event.key === "ArrowRight") to = nodes.findIndex((node, at) => at > from && node.depth === nodes[from].depth);
    else if (event.key === "ArrowLeft") to = nodes.findLastIndex((node, at) => at < from && node.depth === nodes[from].depth);
    else if (event.key === "Enter") return event.shiftKey ? this.open(from) : this.zoom(from);
    else return;
    event.preventDefault();
    if (to < 0) return;
    this.current = to;
    const y = this.top(nodes[to].depth);
    if (y < 0 || y > this.height - ROW) this.box.scrollTop += y - this.height / 2;
    this.draw();
    this.tell();
  }

  reset() {
    this.current = -1;
    this.zoom(0);
  }

  tell() {
    if (!this.tree) return;
    const at = this.hovered >= 0 ? this.hovered : this.current;
    const parts = [];
    if (this.isMatch) parts.push("found: " + percent(covered(this.tree, (node, at) => this.isMatch[at]), this.tree.total));
    if (at >= 0) parts.push(this.describe(this.tree.nodes[at]));
    else if (this.zoomed > 0) parts.push("Escape shows all");
    else if (!this.tree.nodes.length) parts.push("no time");
    this.detail.textContent = parts.join(" · ");
  }

  describe(node) {
    const parts = [
      this.tree.name(node.subject),
      withError(node.time, node.error) + " " + unit + " (" + percent(node.time, this.tree.total) + "), self " + time(node.own) + " " + unit,
    ];
    if (node.upper !== null) {
      parts.push("[lower bound, estimate, upper bound] = [" + [node.lower, node.time, node.upper].map(time).join(", ") + "] " + unit);
    } else if (node.certainty === 2) parts.push("estimated from call counts");
    else if (node.certainty === 1) parts.push("a tail call may have removed another frame here");
    if (node.subject < functionCount && place(node.subject)) parts.push(place(node.subject));
    return parts.join(" · ");
  }
}
