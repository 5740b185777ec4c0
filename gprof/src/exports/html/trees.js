// Trees of frames, and trees that are made of them.

// Makes a tree ready for drawing: each node behind its parent, the longest first, with its depth and its start.
function finished(nodes, name, origin) {
  const children = nodes.map(() => []);
  const roots = [];
  nodes.forEach((node, at) => (node.parent < 0 ? roots : children[node.parent]).push(at));
  const longest = (a, b) => nodes[b].time - nodes[a].time || a - b;
  const tree = { nodes: [], name, origin, rows: 0, total: roots.reduce((sum, at) => sum + nodes[at].time, 0) };
  const left = [];
  const push = (list, parent, depth, start) => {
    const placed = list.sort(longest).map((at) => {
      const entry = [at, parent, depth, start];
      start += nodes[at].time;
      return entry;
    });
    for (let at = placed.length - 1; at >= 0; at--) left.push(placed[at]);
  };
  push(roots, -1, 0, 0);
  while (left.length) {
    const [at, parent, depth, start] = left.pop();
    const index = tree.nodes.length;
    tree.nodes.push(Object.assign({}, nodes[at], { parent, depth, start }));
    tree.rows = Math.max(tree.rows, depth + 1);
    push(children[at], index, depth + 1, start);
  }
  return tree;
}

function treeOf(source) {
  const name = (subject) =>
    subject < functionCount ? data.functions[subject].name : source.names[subject - functionCount].name;
  const nodes = source.parent.map((parent, at) => ({
    parent, subject: source.subject[at], time: source.time[at], own: source.own[at], error: source.error[at],
    certainty: source.certainty[at], lower: source.lower[at], upper: source.upper[at],
  }));
  return finished(nodes, name, source.origin);
}

// The time of all frames that fit; a frame above which another one fits does not count again.
function covered(tree, fits) {
  let sum = 0;
  const isInside = new Uint8Array(tree.nodes.length);
  tree.nodes.forEach((node, at) => {
    const above = node.parent >= 0 && isInside[node.parent];
    const isFound = above || fits(node, at);
    if (isFound && !above) sum += node.time;
    isInside[at] = isFound ? 1 : 0;
  });
  return sum;
}

// Adds up nodes with the same subject below the same node.
class Merged {
  constructor() {
    this.nodes = [];
    this.known = new Map();
  }

  add(parent, node, time) {
    const key = (parent + 1) * 4194304 + node.subject;
    let at = this.known.get(key);
    if (at === undefined) {
      at = this.nodes.length;
      this.known.set(key, at);
      this.nodes.push({ parent, subject: node.subject, time: 0, own: 0, error: 0, certainty: 0, lower: null, upper: null });
    }
    this.nodes[at].time += time;
    this.nodes[at].certainty = Math.max(this.nodes[at].certainty, node.certainty);
    return at;
  }
}

const MOST_CALLERS = 128;

// Adds the callers of a node with a part of its time; the whole program is no caller.
function addCallers(merged, tree, at, node, time) {
  for (let level = 0; level < MOST_CALLERS && tree.nodes[at].parent > 0; level++) {
    at = tree.nodes[at].parent;
    node = merged.add(node, tree.nodes[at], time);
  }
}

// From each function down to its callers: whose self time it is, and who is responsible.
function inverted(tree) {
  const merged = new Merged();
  const root = merged.add(-1, tree.nodes[0] || { subject: 0, certainty: 0 }, tree.total);
  tree.nodes.forEach((node, at) => {
    if (at > 0 && node.own > 0) addCallers(merged, tree, at, merged.add(root, node, node.own), node.own);
  });
  return finished(merged.nodes, tree.name, tree.origin);
}

// The outermost nodes of a function.
function outermost(tree, subject) {
  const found = [];
  const isInside = new Uint8Array(tree.nodes.length);
  tree.nodes.forEach((node, at) => {
    const above = node.parent >= 0 && isInside[node.parent];
    if (!above && node.subject === subject) found.push(at);
    isInside[at] = above || node.subject === subject ? 1 : 0;
  });
  return found;
}

function callersOf(tree, subject) {
  const merged = new Merged();
  for (const at of outermost(tree, subject)) {
    addCallers(merged, tree, at, merged.add(-1, tree.nodes[at], tree.nodes[at].time), tree.nodes[at].time);
  }
  return finished(merged.nodes, tree.name, tree.origin);
}

function calleesOf(tree, subject) {
  const merged = new Merged();
  const mapped = new Map();
  for (const at of outermost(tree, subject)) mapped.set(at, -2);
  tree.nodes.forEach((node, at) => {
    const above = mapped.get(at) === -2 ? -1 : mapped.get(node.parent);
    if (above === undefined) return;
    const made = merged.add(above, node, node.time);
    merged.nodes[made].own += node.own;
    mapped.set(at, made);
  });
  return finished(merged.nodes, tree.name, tree.origin);
}
