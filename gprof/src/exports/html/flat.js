// The flat profile: a table that makes only the rows that are on the screen.
const LINE = 24;

const columns = [
  { title: "self", class: "share", width: "76px", value: (at) => data.own[at], text: (at) => percent(data.own[at], total) },
  { title: "self " + unit, width: "130px", value: (at) => data.own[at], error: (at) => data.ownError[at] },
  { title: "total", class: "share wide", width: "76px", value: (at) => data.inclusive[at], text: (at) => percent(data.inclusive[at], total) },
  { title: "total " + unit, class: "wide", width: "130px", value: (at) => data.inclusive[at], error: (at) => data.inclusiveError[at], isInclusive: true },
  { title: "calls", class: "wide", width: "120px", value: (at) => data.calls[at] + data.selfCalls[at], text: (at) => estimate("estimates", at) || times(data.calls[at] + data.selfCalls[at]) },
  { title: "name", class: "text", width: "auto", value: (at) => data.functions[at].name, text: (at) => data.functions[at].name },
  { title: "object", class: "text wide", width: "140px", value: (at) => imageName(at), text: (at) => imageName(at) },
];

// The least and the longest total time, where a tail call leaves a doubt.
function range(at) {
  const isInDoubt = data.least && data.least[at] !== null;
  if (!isInDoubt) return "";
  // The two times are those of all threads.
  return filters.isThread ? "(?)" : "(?) " + time(data.least[at]) + " to " + time(data.most[at]) + " " + unit;
}

function imageName(at) {
  const image = data.images[data.image[at]];
  return image ? image.name : "";
}

class FlatView {
  constructor(box) {
    this.box = box;
    this.sorted = 0;
    this.isDescending = true;
    this.chosen = -1;
    this.rows = [];
    this.body = element("tbody", {});
    this.heads = columns.map((column, at) => this.head(column, at));
    this.heads.forEach((head, at) => { head.style.width = columns[at].width; });
    box.append(element("table", {}, element("thead", {}, element("tr", {}, ...this.heads)), this.body));
    box.addEventListener("scroll", () => this.draw());
    box.addEventListener("keydown", (event) => this.key(event));
  }

  head(column, at) {
    const button = element("button", { type: "button", title: "sort by " + column.title }, column.title);
    button.addEventListener("click", () => {
      this.isDescending = this.sorted === at ? !this.isDescending : !(column.class || "").includes("text");
      this.sorted = at;
      this.update();
    });
    return element("th", { class: column.class && !column.class.startsWith("share") ? column.class : (column.class || "").replace("share", "") , scope: "col" }, button);
  }

  // Chooses the rows and sorts them.
  update() {
    const { value } = columns[this.sorted];
    const sign = this.isDescending ? -1 : 1;
    this.rows = [];
    for (let at = 0; at < functionCount; at++) {
      if (!filters.includes(at)) continue;
      this.rows.push(at);
    }
    const keys = this.rows.map((at) => [value(at), at]);
    keys.sort((a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]));
    this.rows = keys.map((key) => key[1]);
    this.heads.forEach((head, at) => {
      head.setAttribute("aria-sort", at !== this.sorted ? "none" : this.isDescending ? "descending" : "ascending");
      head.firstChild.textContent = columns[at].title + (at !== this.sorted ? "" : this.isDescending ? " ▼" : " ▲");
    });
    this.chosen = -1;
    this.draw();
  }

  draw() {
    if (!this.box.clientHeight) return;
    const first = Math.max(0, Math.floor(this.box.scrollTop / LINE) - 5);
    const last = Math.min(this.rows.length, first + Math.ceil(this.box.clientHeight / LINE) + 10);
    const space = (rows) => {
      const cell = element("td", {});
      cell.style.height = rows * LINE + "px";
      return element("tr", {}, cell);
    };
    const made = [];
    for (let at = first; at < last; at++) made.push(this.row(at));
    this.body.replaceChildren(...(first ? [space(first)] : []), ...made, ...(last < this.rows.length ? [space(this.rows.length - last)] : []));
  }

  row(index) {
    const at = this.rows[index];
    const row = element("tr", { class: "row" + (index === this.chosen ? " chosen" : ""), title: data.functions[at].name + "\n" + place(at) + (range(at) && "\ntotal in doubt because of a tail call: " + range(at)) });
    for (const column of columns) {
      const cell = element("td", { class: column.class || "" }, column.text ? column.text(at) : time(column.value(at)));
      const error = column.error ? column.error(at) : 0;
      if (column.isInclusive && range(at)) cell.append(element("span", { class: "error" }, " (?)"));
      if (error > 0) cell.append(element("span", { class: "error" }, " ±" + time(error)));
      if ((column.class || "").startsWith("share") && total > 0) {
        cell.style.backgroundSize = Math.min(100, (100 * column.value(at)) / total) + "% 70%";
      }
      row.append(cell);
    }
    row.addEventListener("click", () => openFunction(at));
    return row;
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" && this.chosen >= 0 && event.target === this.box) openFunction(this.rows[this.chosen]);
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.chosen = Math.max(0, Math.min(this.rows.length - 1, this.chosen + steps[event.key]));
    const y = this.chosen * LINE;
    if (y < this.box.scrollTop) this.box.scrollTop = y;
    else if (y + 3 * LINE > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = y + 3 * LINE - this.box.clientHeight;
    this.draw();
  }
}
