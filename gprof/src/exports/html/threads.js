// The numbers of one thread in place of those of all threads.
const ofAll = {
  total, own: data.own, ownError: data.ownError, inclusive: data.inclusive, inclusiveError: data.inclusiveError,
  calls: data.calls, selfCalls: data.selfCalls, callTime: data.callTime, callCount: data.callCount, flame: data.flame,
};

// The columns of a thread have only what is not 0.
function spread(length, places, values) {
  const all = new Array(length).fill(0);
  places.forEach((place, at) => { all[place] = values[at]; });
  return all;
}

function numbersOf(part) {
  if (!part) return ofAll;
  const numbers = { flame: part.flame };
  for (const column of ["own", "ownError", "inclusive", "inclusiveError", "calls", "selfCalls"]) {
    numbers[column] = spread(functionCount, part.functions, part[column]);
  }
  for (const column of ["callTime", "callCount"]) numbers[column] = spread(data.caller.length, part.arcs, part[column]);
  numbers.total = numbers.own.reduce((sum, time) => sum + time, 0);
  return numbers;
}

// Takes the numbers of the thread with this index; -1 stands for all threads.
function takeThread(at) {
  const { total: time, ...columns } = numbersOf(data.parts[at]);
  total = time;
  Object.assign(data, columns);
  filters.isThread = at >= 0;
}
