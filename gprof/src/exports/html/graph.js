// The call graph, which is already in the page: zoom, search, and links to functions.
class GraphView {
  constructor(section) {
    this.box = section.querySelector(".scroll");
    this.svg = section.querySelector("svg");
    this.size = ["width", "height"].map((side) => Number(this.svg.getAttribute(side)));
    this.scale = 1;
    this.boxes = Array.from(this.svg.querySelectorAll(".box"));
    // Names of functions need not differ; boxes and functions have the same numbers.
    this.functions = new Map(data.id.map((id, at) => [String(id), at]));
    for (const box of this.boxes) box.addEventListener("click", () => this.open(box));
    const button = (text, title, act) => {
      const made = element("button", { type: "button", title }, text);
      made.addEventListener("click", act);
      return made;
    };
    section.querySelector(".choices").append(
      button("−", "smaller", () => this.zoom(this.scale / 1.3)), button("+", "larger", () => this.zoom(this.scale * 1.3)),
      button("all", "fit the drawing into the window", () => this.zoom(this.fitting())), button("100 %", "full size", () => this.zoom(1)));
  }

  // At first, the function with the longest time is in the middle.
  show() {
    if (this.isShown || !this.boxes.length) return;
    this.isShown = true;
    const [shown, first] = [this.box.getBoundingClientRect(), this.boxes[0].getBoundingClientRect()];
    this.box.scrollLeft += first.left + first.width / 2 - shown.left - shown.width / 2;
  }

  fitting() {
    return Math.min(1, this.box.clientWidth / this.size[0], this.box.clientHeight / this.size[1]);
  }

  // Changes the size. What is in the middle stays there.
  zoom(scale) {
    const { box } = this, before = this.scale;
    const middle = [(box.scrollLeft + box.clientWidth / 2) / before, (box.scrollTop + box.clientHeight / 2) / before];
    this.scale = Math.max(0.02, Math.min(4, scale));
    ["width", "height"].forEach((side, at) => this.svg.setAttribute(side, this.size[at] * this.scale));
    box.scrollLeft = middle[0] * this.scale - box.clientWidth / 2;
    box.scrollTop = middle[1] * this.scale - box.clientHeight / 2;
  }

  functionOf(box) {
    return this.functions.get(box.getAttribute("data-function"));
  }

  open(box) {
    openFunction(this.functionOf(box));
  }

  search(test) {
    for (const box of this.boxes) box.classList.toggle("match", test !== null && test(data.functions[this.functionOf(box)].name));
  }
}
