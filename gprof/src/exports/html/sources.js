// Source files: the lines with time, and the lines around them.
class SourcesView {
  constructor(section) {
    this.choice = section.querySelector("select");
    this.box = section.querySelector(".scroll");
    data.sources.forEach((file, at) => {
      this.choice.append(element("option", { value: at }, file.path + " (" + time(file.time) + " " + unit + ")"));
    });
    this.choice.addEventListener("change", () => this.show());
  }

  show() {
    const file = data.sources[Number(this.choice.value)];
    if (!file || this.shown === file) return;
    this.shown = file;
    const most = Math.max(...file.lines.map((line) => line.time));
    const rows = [];
    let before = 0, longest = null;
    for (const line of file.lines) {
      if (before && line.line !== before + 1) rows.push(element("tr", {}, element("td", { class: "gap", colspan: 4 }, "⋯")));
      before = line.line;
      const share = element("td", { class: "share" }, line.time > 0 ? time(line.time) : "");
      if (line.time > 0) share.style.backgroundSize = (100 * line.time) / most + "% 70%";
      rows.push(element("tr", { id: "line" + line.line }, share, element("td", { class: "wide" }, line.calls === null ? line.estimate || "" : count(line.calls)),
        element("td", { class: "number" }, String(line.line)), element("td", { class: "text" }, line.text)));
      if (line.time > 0 && line.time === most) longest = longest || rows[rows.length - 1];
    }
    const head = ["self " + unit, "calls", "line", ""].map((title) => element("th", { class: title === "calls" ? "wide" : "", scope: "col" }, title));
    this.box.replaceChildren(element("table", { class: "code" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
    // The line with the longest time is in the middle.
    this.box.scrollTop = longest ? longest.offsetTop - this.box.clientHeight / 2 : 0;
  }
}
