// Stacks and frames that filters keep, in the order in which pprof applies the filters.

// Returns the tree without what the filters leave out. A stack stays if `focus` fits a frame of it and `ignore` fits none;
// frames that `hide` fits disappear, and what they ran counts for their callers; the frames above the outermost one that
// `from` fits disappear, and so do stacks without such a frame.
function filtered(tree, by) {
  if (!hasFilters(by) || !tree.nodes.length) return tree;
  const [focus, ignore, hide, from] = FILTERS.map((name) => {
    const test = matcher(by[name]);
    const known = new Map();
    return test && ((subject) => known.has(subject) ? known.get(subject) : known.set(subject, test(tree.name(subject))).get(subject));
  });
  const merged = new Merged();
  const all = merged.add(-1, tree.nodes[0], 0);
  const paths = [{ isKept: !focus, isLost: false, isShown: !from, at: all, hasFrame: false }];
  tree.nodes.forEach((node, index) => {
    if (index === 0) return;
    const path = Object.assign({}, paths[node.parent]);
    paths[index] = path;
    path.isKept = path.isKept || focus(node.subject);
    path.isLost = path.isLost || Boolean(ignore && ignore(node.subject));
    if (path.isLost || (hide && hide(node.subject))) return void count(path, node);
    path.isShown = path.isShown || from(node.subject);
    path.hasFrame = path.hasFrame || path.isShown;
    if (path.isShown) path.at = merged.add(path.at, node, 0);
    count(path, node);
  });
  // A stack of which nothing is left is none.
  function count(path, node) {
    if (path.isKept && !path.isLost && path.hasFrame) merged.nodes[path.at].own += node.own;
  }
  return summed(merged, tree.name, tree.origin);
}

// Gives each frame the time of its own and of the frames below it, and leaves out frames without time.
function summed(merged, name, origin) {
  const { nodes } = merged;
  for (const node of nodes) node.time = node.own;
  for (let at = nodes.length - 1; at > 0; at--) nodes[nodes[at].parent].time += nodes[at].time;
  const places = [];
  const kept = nodes.filter((node, at) => {
    const isKept = at === 0 || node.time > 0;
    if (isKept) places[at] = places.count = (places.count ?? -1) + 1;
    return isKept;
  });
  for (const node of kept) if (node.parent >= 0) node.parent = places[node.parent];
  return finished(kept, name, origin);
}

// A tree whose frames are what `keyOf` says of functions. Neighbors with the same key are one frame.
function grouped(tree, keyOf) {
  if (!tree.nodes.length) return tree;
  const names = [], numbers = new Map();
  const subjectOf = (subject) => {
    const key = subject < functionCount ? keyOf(subject) : tree.name(subject);
    if (!numbers.has(key)) numbers.set(key, names.push(key) - 1);
    return functionCount + numbers.get(key);
  };
  const merged = new Merged(), places = [];
  tree.nodes.forEach((node, index) => {
    const subject = subjectOf(node.subject), above = node.parent < 0 ? -1 : places[node.parent];
    // Inlined functions are in the file and object of their caller.
    const isSame = above > 0 && (merged.nodes[above].subject === subject || tree.name(node.subject).endsWith("[inlined]"));
    places[index] = isSame ? above : merged.add(above, { subject, certainty: node.certainty }, 0);
    merged.nodes[places[index]].own += node.own;
  });
  return Object.assign(summed(merged, (subject) => names[subject - functionCount], tree.origin), { family: 0 });
}

// The stacks of all threads, each thread with its own.
function threadTree() {
  const names = [], numbers = new Map();
  const number = (name) => {
    if (!numbers.has(name)) numbers.set(name, names.push(name) - 1);
    return functionCount + numbers.get(name);
  };
  const merged = new Merged();
  const all = merged.add(-1, { subject: number("(all)"), certainty: 0 }, 0);
  data.parts.forEach((part, at) => {
    const tree = treeOf(part.flame), places = [];
    // Threads may have equal names.
    const isAlone = data.parts.findIndex((other) => other.name === part.name) === at;
    tree.nodes.forEach((node, index) => {
      const subject = index === 0 ? number("thread " + part.name + (isAlone ? "" : " #" + at)) : node.subject < functionCount ? node.subject : number(tree.name(node.subject));
      places[index] = merged.add(index === 0 ? all : places[node.parent], Object.assign({}, node, { subject }), 0);
      merged.nodes[places[index]].own += node.own;
    });
  });
  const name = (subject) => (subject < functionCount ? data.functions[subject].name : names[subject - functionCount]);
  return summed(merged, name, data.flame.origin);
}

// The times of functions in a tree. A function inside itself does not count again.
function timesOf(tree) {
  const own = new Array(functionCount).fill(0), inclusive = new Array(functionCount).fill(0), path = [];
  const depths = new Map();
  tree.nodes.forEach((node) => {
    while (path.length > node.depth) {
      const left = path.pop();
      depths.set(left, depths.get(left) - 1);
    }
    path.push(node.subject);
    const above = depths.get(node.subject) || 0;
    depths.set(node.subject, above + 1);
    if (node.subject < functionCount && !above) inclusive[node.subject] += node.time;
    // The time of inlined code is that of the function around it.
    const around = tree.name(node.subject).endsWith("[inlined]") ? path.findLast((subject) => subject < functionCount) : node.subject;
    if (around < functionCount) own[around] += node.own;
  });
  return { own, inclusive };
}

// Takes the times of functions from a tree. Calls are not known of stacks.
function takeTree(tree) {
  const none = new Array(functionCount).fill(0), { own, inclusive } = timesOf(tree);
  Object.assign(data, { own, inclusive, ownError: none, inclusiveError: none, calls: none, selfCalls: none });
  total = tree.total;
  filters.isThread = true;
}
