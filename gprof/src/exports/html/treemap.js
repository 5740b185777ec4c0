// Self time as areas: objects, directories, files, and functions.
class TreemapView {
  constructor(box) {
    this.box = box;
    this.canvas = element("canvas", { role: "img", "aria-label": "self time by object, directory, file, and function" });
    this.detail = element("p", { class: "detail", "aria-live": "polite" });
    box.append(this.canvas);
    box.after(this.detail);
    this.path = [];
    this.canvas.addEventListener("mousemove", (event) => this.tell(this.at(event)));
    this.canvas.addEventListener("click", (event) => this.click(this.at(event)));
  }

  update() {
    const root = { name: "all", time: 0, children: new Map(), family: 3 };
    for (let at = 0; at < functionCount; at++) {
      if (!(data.own[at] > 0) || !filters.includesImage(at)) continue;
      const file = data.file[at] < 0 ? "" : data.files[data.file[at]].name;
      const slash = file.lastIndexOf("/");
      const steps = [imageName(at)];
      if (slash > 0) steps.push(file.slice(0, slash));
      if (file) steps.push(file.slice(slash + 1));
      let node = root;
      root.time += data.own[at];
      for (const step of steps) {
        if (!node.children.has(step)) node.children.set(step, { name: step, time: 0, children: new Map() });
        node = node.children.get(step);
        node.time += data.own[at];
      }
      node.children.set(at, { name: data.functions[at].name, time: data.own[at], subject: at });
    }
    this.root = root;
    this.path = [];
    this.resize();
  }

  resize() {
    if (!this.box.clientWidth || !this.root) return;
    this.width = this.box.clientWidth;
    this.height = Math.max(200, this.box.clientHeight);
    this.context = fit(this.canvas, this.width, this.height);
    this.draw();
  }

  search(test) {
    this.test = test;
    if (this.context) this.draw();
  }

  reset() {
    this.path.pop();
    if (this.context) this.draw();
  }

  draw() {
    this.areas = [];
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.textBaseline = "middle";
    const shown = this.path.length ? this.path[this.path.length - 1] : this.root;
    this.node(shown, [0, 0, this.width, this.height], 0);
    this.tell(null);
  }

  node(node, [x, y, width, height], depth) {
    if (width < 1 || height < 1) return;
    const context = this.context;
    this.areas.push({ node, x, y, width, height, depth });
    const isLeaf = node.subject !== undefined;
    const isMatch = isLeaf && this.test && this.test(node.name);
    context.fillStyle = isMatch ? "#0072b2" : isLeaf ? frameColor(node.subject, node.name) : isDark() ? "#2a2e36" : "#eceef1";
    context.fillRect(x, y, width - 1, height - 1);
    context.font = isLeaf ? '12px ui-monospace, "DejaVu Sans Mono", monospace' : "bold 12px system-ui, sans-serif";
    const hasRoom = height > 15 && width > 24;
    if (isLeaf) {
      if (hasRoom) {
        context.fillStyle = isMatch ? "#fff" : "#111";
        context.fillText(fitted(node.name, Math.floor((width - 6) / LETTER)), x + 3, y + Math.min(height / 2, 11));
        if (height > 32 && width > 60) context.fillText(percent(node.time, total), x + 3, y + 26);
      }
      return;
    }
    const head = hasRoom && height > 34 ? 18 : 0;
    if (head) {
      context.fillStyle = isDark() ? "#e8e8e8" : "#111";
      context.fillText(fitted(node.name, Math.floor((width - 8) / 8.8)), x + 4, y + 10);
    }
    const children = Array.from(node.children.values()).sort((a, b) => b.time - a.time);
    this.squares(children, node.time, [x + 2, y + head + 1, width - 4, height - head - 4], depth + 1);
  }

  // Divides an area among nodes, row by row, so that the parts are as square as possible.
  squares(nodes, sum, [x, y, width, height], depth) {
    let at = 0;
    while (at < nodes.length && sum > 0 && width > 1 && height > 1) {
      const short = Math.min(width, height), scale = (width * height) / sum;
      let row = [], rowSum = 0, worst = Infinity;
      while (at < nodes.length) {
        const next = rowSum + nodes[at].time, side = (next * scale) / short;
        const areas = row.concat(nodes[at]).map((node) => (node.time * scale) / side);
        const ratio = Math.max(...[areas[0], areas[areas.length - 1]].map((long) => Math.max(long / side, side / long)));
        if (ratio > worst) break;
        worst = ratio;
        rowSum = next;
        row.push(nodes[at++]);
      }
      const side = (rowSum * scale) / short;
      let along = 0;
      for (const node of row) {
        const size = (node.time * scale) / side;
        this.node(node, width >= height ? [x, y + along, side, size] : [x + along, y, size, side], depth);
        along += size;
      }
      if (width >= height) { x += side; width -= side; } else { y += side; height -= side; }
      sum -= rowSum;
    }
  }

  at(event) {
    return this.areas.findLast((area) =>
      event.offsetX >= area.x && event.offsetX < area.x + area.width && event.offsetY >= area.y && event.offsetY < area.y + area.height);
  }

  click(area) {
    if (!area) return;
    if (area.node.subject !== undefined) return openFunction(area.node.subject);
    if (area.depth > 0) {
      this.path.push(area.node);
      this.draw();
    }
  }

  tell(area) {
    const node = area ? area.node : this.path.length ? this.path[this.path.length - 1] : this.root;
    const error = node.subject === undefined ? 0 : data.ownError[node.subject];
    this.detail.textContent = node.name + " · self " + withError(node.time, error) + " " + unit + " (" + percent(node.time, total) + ")";
  }
}
