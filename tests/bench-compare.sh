#!/bin/sh
# Measures comparisons of several runs (`make bench-compare`): simulated comparisons, whose seeds are printed, and real
# runs of tests/programs/rates.c, which `gprof --repeat` makes in turns. $1 is the distribution. All of them take an
# hour and a half.
#
# EQUAL and CHANGED are the numbers of comparisons of equal programs and of programs of which one is slower, RUNS is the
# number of runs a side, ROUNDS the length of a run, and SIMULATED=no leaves out the simulated comparisons. Ends with
# status 1 if a program is called slower or faster more often than promised, or a change is found less often.
set -eu
cd "$(dirname "$0")/.."
dist=$1
cargo=${CARGO:-cargo}
runs=${RUNS:-10}
rounds=${ROUNDS:-60}
equal=${EQUAL:-100}
changed=${CHANGED:-20}
place=$(dirname "$dist")/bench-compare
mkdir -p "$place"

if [ "${SIMULATED:-yes}" = yes ]; then
    echo "## Simulated comparisons"
    echo
    "$cargo" test --quiet --workspace --test all -- --ignored --nocapture bench_compare | sed -n '/^|/p; /^Any/p; /^Largest/p'
    echo
fi

# A name, and what the compiler gets.
for build in base: same: five:-DR=105 more:-DR=125 calls:-DCALLS:-DR=125; do
    name=${build%%:*}
    flags=$(echo "${build#*:}" | tr : ' ')
    # shellcheck disable=SC2086 # several words
    ${GMON_CC:-"$dist/bin/gmon-cc"} -O1 -fno-ipa-icf $flags tests/programs/rates.c -o "$place/$name"
done

cd "$place"
gprof=${GPROF:-"$dist/bin/gprof"}
GMON_HZ=${GMON_HZ:-1000}
export GMON_HZ

# compare NAME: compares runs of base and NAME, prints the report, and leaves the profiles in runs.NAME.
compare() {
    rm -rf "runs.$1"
    "$gprof" -b --format=table -w 160 --repeat="$runs" -o "runs.$1" --against=./base -- "./$1" "$rounds" 2>messages ||
        { cat messages >&2 && exit 1; }
}

# judged NAME: what the last comparison says, for each function: name, whether the self time changed, whether it grew,
# and whether a growth by 5 % would have been visible.
judged() {
    "$gprof" @"runs.$1"/report --format=csv 2>/dev/null | awk -F, '
        NR == 1 { for (at = 1; at <= NF; at++) column[$at] = at; next }
        $column["presence"] == "both" {
            visible = $column["self_visible"]
            shows = visible != "" && visible <= 0.05 * $column["self_base"]
            print $1, $column["self_changed"], ($column["self_change"] > 0), shows
        }'
}

# many NAME COUNT: makes comparisons, prints the first, and leaves all judgements in judged.NAME, each line with the
# number of the comparison.
many() {
    : >"judged.$1"
    at=0
    while [ $at -lt "$2" ]; do
        at=$((at + 1))
        compare "$1" >report
        [ $at != 1 ] || { echo "### base and $1" && echo && cat report && echo; }
        judged "$1" | sed "s/^/$at /" >>"judged.$1"
    done
}

echo "## Real runs"
echo
echo "$runs runs a side, $rounds rounds, $GMON_HZ samples per second."
echo
many same "$equal"
many five "$changed"
many more "$changed"
many calls 1

echo "### Results"
echo
# The chance of more flags than the limit is below 0.001 if 1 comparison in 100 has one.
awk -v all="$equal" '
    $3 == "true" { flagged[$1] }
    END {
        part = chance = exp(all * log(0.99))
        for (limit = 0; 1 - chance > 0.001 && limit < all; limit++) {
            part *= (all - limit) / (limit + 1) / 99
            chance += part
        }
        for (at in flagged) count++
        printf "Equal programs: %d of %d comparisons call a function slower or faster (promised: 1 of 100; limit %d).\n",
            count, all, limit
        exit count > limit
    }' judged.same || failed=yes
awk -v all="$changed" '
    $2 == "changed" && $3 == "true" && $4 { found++ }
    END {
        printf "25 %% slower: found in %d of %d comparisons.\n", found, all
        exit found < all
    }' judged.more || failed=yes
awk -v all="$changed" '
    $2 == "changed" && $5 { could++; found += $3 == "true" && $4 }
    END {
        printf "5 %% slower: %d of %d comparisons could show 5 %%, and %d of them found the change.\n", could, all, found
        exit found < 0.8 * could
    }' judged.five || failed=yes
[ "${failed:-no}" = no ]
