#!/bin/sh
# Compares estimates of calls with the truth in real runs: windows.sh [RUNS [SHARE [MILLISECONDS]]]
#
# Each run is one of tests/programs/estimated.c, which knows its calls: of functions that are called steadily, in a
# phase, and in bursts at random times. The script prints for each function how many intervals hold the truth, and the
# median and the extremes of the quotient of estimate and truth. The script compares nothing with a limit: the result
# depends on the machine and on chance. It needs `make dist` (or `make runtime tools` and GPROF_BIN) and python3.
set -eu
cd "$(dirname "$0")/.."
runs=${1:-40} share=${2:-25%} milliseconds=${3:-3000}
dist=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/dist
gprof=${GPROF_BIN:-$dist/bin/gprof}
work=$dist/../windows
export LC_ALL=C.UTF-8
mkdir -p "$work"
"$dist/bin/gmon-cc" --on-demand -O2 -I"$dist/include" tests/programs/estimated.c -o "$work/estimated" -lpthread
cd "$work"
rm -f run.*
for run in $(seq "$runs"); do
    GMON_CALLS=$share ./estimated "$milliseconds" >"run.$run.truth"
    "$gprof" -q -p --format=json estimated gmon.out >"run.$run.json"
done
python3 - <<'PYTHON'
import glob, json, statistics

found = {}
for path in glob.glob("run.*.truth"):
    truth = dict(line.split() for line in open(path))
    report = json.load(open(path.replace("truth", "json")))
    names = {function["id"]: function["name"] for function in report["functions"]}
    windows = report["calls_estimated"]["windows"]
    for row in report["flat_profile"]:
        name = names.get(row["function"])
        if name in truth and int(truth[name]) > 0:
            found.setdefault(name, []).append((row, int(truth[name]), windows))
for name, rows in found.items():
    with_interval = [(row, truth) for row, truth, _ in rows if row["calls_low"] is not None]
    right = sum(row["calls_low"] <= truth <= row["calls_high"] for row, truth in with_interval)
    quotients = sorted(row["calls_estimate"] / truth for row, truth in with_interval) or [0]
    lengths = [100 * (row["calls_high"] / row["calls_estimate"] - 1) for row, _ in with_interval] or [0]
    windows = statistics.median(windows for _, _, windows in rows)
    print(f"{name}: {right} of {len(with_interval)} intervals hold the truth; {len(rows)} runs of {windows:.0f} windows; "
          f"estimate/truth {quotients[0]:.3f} {statistics.median(quotients):.3f} {quotients[-1]:.3f}; "
          f"median interval ±{statistics.median(lengths):.1f} %")
PYTHON
