// What all views use: the numbers, texts, and elements.
const data = JSON.parse(document.getElementById("data").textContent);
// Characters that change how others are shown, such as the direction of writing, are visible, as in all other outputs.
function showControls(of, key) {
  of[key] = of[key].replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (sign) => "\\u{" + sign.charCodeAt(0).toString(16) + "}");
}
const withNames = [data.functions, data.files, data.images, data.threads, data.parts, data.flame.names, data.dominators.names, ...data.parts.filter((part) => part.flame).map((part) => part.flame.names)];
for (const list of withNames) for (const of of list) showControls(of, "name");
for (const file of data.sources) {
  showControls(file, "path");
  for (const line of file.lines) showControls(line, "text");
}
const functionCount = data.functions.length;
const unit = data.head.unit === "seconds" ? "s" : data.head.unit;
let total = data.head.total || 0;

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") made.className = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// One sample has two digits at least.
const decimals = Math.max(2, Math.min(9, Math.ceil(Math.log10(data.head.rate || 1)) + 1));

function time(value) {
  return (value || 0).toFixed(decimals);
}

function withError(value, error) {
  return time(value) + (error > 0 ? " ±" + time(error) : "");
}

function percent(value, whole) {
  return (whole > 0 ? (100 * value) / whole : 0).toFixed(2) + " %";
}

function count(value) {
  return (value || 0).toLocaleString("en-US");
}

// A function that was never counted may have been called.
function times(value) {
  return value ? count(value) : "–";
}

// The text of an estimate in a list of the page; empty where calls were counted. Estimates are those of all threads.
function estimate(list, at) {
  return !filters.isThread && data[list] ? data[list][at].text : "";
}

function inWords(value) {
  return value === 1 ? "1 call" : count(value) + " calls";
}

function isDark() {
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

// The colors of the program, of its shared objects, of inlined functions and cycles, and of other code. They differ for people
// who do not see red or green.
const families = [
  ["#fdcd86", "#fdba65", "#f7d4a0"], ["#9ecae1", "#85badb", "#b7d6ea"], ["#bcbddc", "#adaed1", "#cdcde6"], ["#d9d9d9", "#cdcdcd", "#e4e4e4"],
];

function colorOf(name, family) {
  let sum = 0;
  for (let at = 0; at < name.length; at++) sum = (sum * 31 + name.charCodeAt(at)) >>> 0;
  return families[family][sum % 3];
}

function familyOf(subject, name) {
  if (subject < functionCount) return data.image[subject] === 0 ? 0 : 1;
  return name.startsWith("<cycle") || name.endsWith("[inlined]") ? 2 : 3;
}

// What the colors of frames stand for: "kind", "object", or "file".
let colors = "kind";

function frameColor(subject, name, family) {
  if (colors === "kind" || subject >= functionCount) return colorOf(name, family === undefined ? familyOf(subject, name) : family);
  const key = colors === "object" ? imageName(subject) : place(subject).split(":")[0];
  let sum = 0;
  for (let at = 0; at < key.length; at++) sum = (sum * 31 + key.charCodeAt(at)) >>> 0;
  return "hsl(" + ((sum * 137) % 360) + " 60% 78%)";
}

function place(subject) {
  const file = data.file[subject];
  return file < 0 ? "" : data.files[file].name + ":" + data.line[subject];
}

// A canvas as sharp as the screen.
function fit(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
