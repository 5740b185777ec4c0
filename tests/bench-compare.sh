#!/bin/sh
# Measures comparisons of several runs (`make bench-compare`): simulated comparisons, whose seeds are printed, and real
# runs of tests/programs/rates.c, which take turns. $1 is the distribution. RUNS is the number of runs a side, ROUNDS
# the length of a run.
set -eu
cd "$(dirname "$0")/.."
dist=$1
cargo=${CARGO:-cargo}
runs=${RUNS:-10}
rounds=${ROUNDS:-60}
place=$(dirname "$dist")/bench-compare
mkdir -p "$place"

echo "## Simulated comparisons"
echo
"$cargo" test --quiet --workspace --test all -- --ignored --nocapture bench_compare | sed -n '/^|/p; /^Any/p; /^Largest/p'

# A name, and what the compiler gets.
for build in base: same: five:-DR=105 more:-DR=125 calls:-DCALLS:-DR=125; do
    name=${build%%:*}
    flags=$(echo "${build#*:}" | tr : ' ')
    # shellcheck disable=SC2086 # several words
    ${GMON_CC:-"$dist/bin/gmon-cc"} -O1 -fno-ipa-icf $flags tests/programs/rates.c -o "$place/$name"
done

echo
echo "## Real runs"
cd "$place"
gprof=${GPROF:-"$dist/bin/gprof"}
for name in same five more calls; do
    rm -f ./*.out ./*.out.side
    at=0
    while [ $at -lt "$runs" ]; do
        at=$((at + 1))
        # Which side is first changes from pair to pair.
        [ $((at % 2)) = 0 ] && order="base $name" || order="$name base"
        for side in $order; do
            # A file of its own for each run, with a side file that tells when the run began.
            (export GMON_HZ=1000 && "./$side" "$rounds")
            mv gmon.out "$side.$at.out"
            [ ! -f gmon.out.side ] || mv gmon.out.side "$side.$at.out.side"
        done
    done
    echo
    echo "### base and $name"
    echo
    status=0
    "$gprof" -b --table -w 160 --base=./base --base="$(echo base.*.out | tr ' ' ,)" "./$name" "$name".*.out \
        --fail-if=slower:3% --fail-if=calls:3% 2>&1 || status=$?
    echo "exit status: $status"
done
