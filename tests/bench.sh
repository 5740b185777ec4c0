#!/bin/sh
# Runs all benchmarks and records the results in docs/BENCHMARKS.md (`make bench`). Sections that were measured by hand
# stay.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
record=docs/BENCHMARKS.md

{
    cat <<EOF
# Benchmarks

\`make bench\` measures everything up to "Measured by hand". The commands below measure one part each. Alternatives take turns in one run, and figures are medians
unless stated otherwise. Trust the ratios and the differences more than the absolute times.

* machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores
* system: $(uname -sr), $(cc --version | head -n 1)

## What a call costs

\`cargo bench --package gmon-tests --bench mcount\` measures nanoseconds of the calling thread's CPU time per call, loop
included: without -pg, with an mcount that only returns (the cost of -pg itself), with our mcount, and with the C library's. (The C library's
mcount seems to get faster with two threads because it loses most of their calls.)

EOF
    "$cargo" bench --quiet --package gmon-tests --bench mcount
    cat <<EOF

## What a program costs

\`cargo bench --package gmon-tests --bench sqlite\` measures the work of \`make demo\` in seconds of CPU time. The last column shows the cost of our
runtime alone: the time with the runtime minus the cost of the calls of an empty mcount, divided by the time without -pg.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench sqlite
    cat <<EOF

## What calls on demand cost

\`cargo bench --package gmon-tests --bench on_demand\` measures the CPU time of programs as multiples of the time without profiling: compiled with
\`gmon-cc --on-demand\` while nobody asks (off) and with \`GMON_CALLS=on\`, and with -pg. All are sampled 100 times in a second. The second table
has the time for switching many functions at once.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench on_demand
    cat <<EOF

## What sampling costs

\`cargo bench --package gmon-tests --bench sampling\` measures three things and reports the minimum of the turns: what the samples add to a quarter of a second of work,
the cost of a thread that makes one profiled call, and a program with 100 MB of code that runs almost none of it.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench sampling
    cat <<EOF

## What a short program costs

\`cargo bench --package gmon-tests --bench start\` runs a program that prints one line 1,000 times, linked without -pg, with our runtime, and with
the C library's. The figures are milliseconds from the start of the program to its end; the two last ones are medians of the differences of pairs.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench start
    cat <<EOF

## What gmon-run costs

\`cargo bench --package gmon-tests --bench gmon_run\` runs programs without -pg, alone and by \`gmon-run\`; words after \`--\` choose rows
(\`short\`, \`cc1\`, \`python3\`). The first table has the time from the start to the end of \`/bin/true\`, alone and with the runtime of \`gmon-run\`,
in turns; the second has the time for each process of a shell's loop, with the sum that \`gmon-run\` makes of the profiles. The third has the CPU
time of programs and of all that they start, gmon-run included: seconds alone, and with gmon-run as a multiple. Its figures are minimums of 20
turns.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench gmon_run
    cat <<EOF

## Stacks of installed programs

\`cargo bench --package gmon-tests --bench stacks_of_programs\` runs programs with \`gmon-run\`. The table has the share of samples whose stacks
are whole, up to \`_start\` or the start of a thread, and where the others are cut: the innermost function without a caller, the code of the
reason ([side-file.md](side-file.md)), and the number of samples. "Measured by hand" has the reasons in words.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench stacks_of_programs
    cat <<EOF

## Inclusive times

\`cargo bench --package gmon-tests --bench contexts\` measures everything in this section; a word after \`--\` chooses one table: \`truth\`,
\`perf\`, \`callgrind\`, \`whole\`, or \`cost\`.

The program \`tests/programs/contexts/direct.c\` measures the inclusive time of its function \`dear\` by its own clock. The table shows the mean of
the runs in seconds, and how often that truth was within one and within two standard errors of the measured time. Chance alone gives 68 % and
95 %, with a standard error of 7 % and 3 % for 50 runs.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench contexts -- truth
    cat <<EOF

Inclusive times of real programs as shares of \`main\`, beside those of two other tools for the same code with an \`mcount\` that only returns:
\`perf record --call-graph fp\`, and valgrind's callgrind with its model of caches, which counts instructions and estimates cycles. Compared are
all functions of the program in which the other tool sees 1 % or more. perf does not see functions that ended in a tail call, which gprof adds.
The programs are those of the crates libsqlite3-sys, lua-src, and zstd-sys, and
\`tests/benches/contexts/rules.cc\`, which throws 32,000 exceptions. All are compiled with -O2.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench contexts -- perf
    echo
    "$cargo" bench --quiet --package gmon-tests --bench contexts -- callgrind
    cat <<EOF

The stacks of the same programs at 1,000 samples per second, and the codes of the reasons for which chains were cut ([side-file.md](side-file.md)):

EOF
    "$cargo" bench --quiet --package gmon-tests --bench contexts -- whole
    cat <<EOF

CPU time of pairs of runs, with stacks and with \`GMON_STACKS=0\`, by \`GMON_CLOCK=wall\`. The differences are medians of the pairs' ratios. The last
column divides the difference by the rate.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench contexts -- cost
    cat <<EOF

## What reading a large profile costs

\`cargo bench --package gmon-tests --bench gprof\` measures seconds of CPU time for reports on a large program, cargo itself, with synthetic
profiles. \`nm -C\` only reads and prints the names.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench gprof
    cat <<EOF

## Orders for linkers

\`cargo bench --package gmon-tests --bench orders\` links SQLite (-O2) and gprof with lld and the orders of \`gprof --order\`, and runs them under
valgrind's callgrind: SQLite does the work of \`make demo\`, gprof prints its own flat profile. The table shows the pages of 4 KiB that the program's own
code touches, and the lines of code that a simulated cache of instructions (32 KiB) misses. These figures do not depend on the machine's load.

EOF
    "$cargo" bench --quiet --package gmon-tests --bench orders
    echo
    sed -n '/^## Measured by hand$/,$p' "$record"
} >"$record.new"
mv "$record.new" "$record"
cat "$record"
