#!/bin/sh
# Measures, and records what came out in docs/BENCHMARKS.md: `make bench`.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
record=docs/BENCHMARKS.md

{
    cat <<EOF
# Benchmarks

Made by \`make bench\`, or one of its parts at a time. Alternatives take turns in one run, and figures are medians: trust the ratios and the differences,
not the nanoseconds.

* machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores
* system: $(uname -sr), $(cc --version | head -n 1)

## What a call costs

\`cargo bench --package gmon-tests --bench mcount\`: nanoseconds of the calling thread's CPU time for each call, loop
included, with no -pg, with an mcount that only returns (what -pg itself costs), with ours and with the C library's. (That
one loses most calls when two threads make them, which is why it then seems to get faster.)

EOF
    "$cargo" bench --quiet --package gmon-tests --bench mcount
    cat <<EOF

## What a program costs

\`cargo bench --package gmon-tests --bench sqlite\`: the work of \`make demo\` in seconds of CPU time. The last column is what our
runtime itself adds: the time with it, less what the calls of an empty mcount cost, over the time without -pg.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench sqlite
    cat <<EOF

## What sampling costs

\`cargo bench --package gmon-tests --bench sampling\`: a quarter of a second of work, and what the samples add to it; a
thread that makes one profiled call; a program with 100 MB of code of which next to nothing runs. The least of the turns.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench sampling
    cat <<EOF

## What reading a large profile costs

\`cargo bench --package gmon-tests --bench gprof\`: seconds of CPU time for reports on a large program, cargo itself, with made-up
profiles. \`nm -C\` only reads and prints the names.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench gprof
} >"$record.new"
mv "$record.new" "$record"
cat "$record"
