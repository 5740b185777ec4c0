#!/bin/sh
# Runs the fuzz targets (`make fuzz SECONDS=...`).
#
#   sh tests/fuzz.sh run SECONDS [TARGET...]   fuzz the targets, all if none is named, and print a table
#   sh tests/fuzz.sh reduce [TARGET...]        reduce the inputs that were found to a small corpus in testdata/fuzz
#   sh tests/fuzz.sh build                     build the targets
#
# JOBS targets run at once (default 2). New inputs go to target/fuzz/corpus, and inputs that fail to
# target/fuzz/artifacts. A run first runs the inputs that failed before. Those that pass now go to the corpus. With 0
# SECONDS, a run checks the known inputs only.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}/fuzz
jobs=${JOBS:-2}
all="read detect rewrite sum side_file perf_map demangle symbols lines inlines tables walk run"

# build NAME: builds the targets to be fuzzed (`fuzzed`), or, in a fourth of the time, to run known inputs once
# (`known`).
#
# The options are those that cargo-fuzz passes, without the sanitizers, which need a nightly compiler. With trace-pc,
# the program calls a function before each basic block, which counts the steps of a check. The other options are for
# libFuzzer, which needs no coverage to run known inputs. The known inputs run in unoptimized programs, which share the
# build scripts and macros of the workspace's own programs.
build() {
    command -v "${CXX:-c++}" >/dev/null 2>&1 || { echo "fuzz: libFuzzer needs a C++ compiler: install one, or set CXX" >&2; exit 1; }
    host=$("${RUSTC:-rustc}" -vV | sed -n 's/^host: //p')
    coverage="--cfg fuzzing -C passes=sancov-module"
    case $1 in
    fuzzed) options="level=3 inline-8bit-counters pc-table trace-compares trace-pc" built=$target programs=$target/$host/release ;;
    known) options="level=2 trace-pc" built=${target%/fuzz} programs=${target%/fuzz}/$host/debug ;;
    esac
    for option in $options; do
        coverage="$coverage -C llvm-args=-sanitizer-coverage-$option"
    done
    [ "$1" = fuzzed ] && profile="--release" || profile="--features unoptimized"
    # With --target, the flags do not apply to build scripts.
    RUSTFLAGS="$coverage" "$cargo" build --quiet $profile --locked --manifest-path tests/fuzz/targets/Cargo.toml \
        --target "$host" --target-dir "$built"
}

# The longest input of a target in bytes.
longest() {
    case $1 in
    symbols | run) echo 4096 ;;
    lines | inlines | walk) echo 2048 ;;
    *) echo 512 ;;
    esac
}

# fuzz TARGET SECONDS: runs one target, first with the inputs that failed before, and again after each input that fails.
# Writes a row of the table, and the file TARGET.problem if the target fails without naming an input.
fuzz() {
    seeds=testdata/fuzz/$1 corpus=$target/corpus/$1 artifacts=$target/artifacts/$1 log=$target/$1.log problem=$target/$1.problem
    mkdir -p "$corpus" "$seeds" "$artifacts"
    rm -f "$problem"
    : >"$log"
    end=$(($(date +%s) + $2))
    start() {
        name=$1 known=$(inputs "$artifacts")
        shift
        "$programs/$name" "$@" -max_len="$(longest "$name")" -timeout=60 -rss_limit_mb=2048 -reload=0 -print_final_stats=1 \
            -artifact_prefix="$artifacts/" "$corpus" "$seeds" >>"$log" 2>&1 && return
        status=$?
        [ "$(inputs "$artifacts")" -gt "$known" ] || echo "it exits with $status: $log" >"$problem"
    }
    for input in "$artifacts"/*; do
        [ -f "$input" ] || continue
        if "$programs/$1" -timeout=60 -rss_limit_mb=2048 "$input" >>"$log" 2>&1; then mv "$input" "$corpus/"; fi
    done
    [ "$2" != 0 ] || start "$1" -runs=0
    # For libFuzzer, a time of 0 means no limit.
    while [ ! -e "$problem" ] && left=$((end - $(date +%s))) && [ "$left" -gt 0 ]; do start "$1" -max_total_time="$left"; done
    executions=$(awk '/^stat::number_of_executed_units/ { sum += $2 } END { printf "%d", sum }' "$log")
    edges=$(sed -n 's/.*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$log" | tail -n 1)
    coverage=$(sed -n "s/.* cov: \([0-9]*\) ft: \([0-9]*\) .*/\1 of $edges | \2/p" "$log" | tail -n 1)
    echo "$1 $executions" >>"$target/executions"
    all_runs=$(awk -v name="$1" '$1 == name { sum += $2 } END { printf "%d", sum }' "$target/executions")
    count=$(($(inputs "$corpus") + $(inputs "$seeds"))) findings=$(inputs "$artifacts")
    # After an input that fails, the other inputs do not run.
    if [ "$2" = 0 ] && [ "$findings" = 0 ] && [ ! -e "$problem" ] && { [ "$count" = 0 ] || [ "$executions" -lt "$count" ]; }; then
        echo "it runs $executions of $count inputs: $log" >"$problem"
    fi
    printf '| %s | %s | %s | %s | %s | %s |\n' "$1" "$executions" "$all_runs" "$count" "${coverage:-- | -}" "$findings" >"$target/$1.row"
}

# The number of inputs in a directory.
inputs() { find "$1" -type f | wc -l; }

# reduce TARGET: keeps the inputs that libFuzzer did not name. Adds as few other inputs as reach the same edges, short
# inputs before long inputs, and keeps the shortest of these, 96 KiB together.
reduce() {
    seeds=testdata/fuzz/$1 corpus=$target/corpus/$1 short=$target/short log=$target/reduce.log
    mkdir -p "$corpus" "$seeds"
    found "$seeds" | while read -r input; do mv "$input" "$corpus/"; done
    for most in 512 1536 1000000; do
        rm -rf "$short"
        mkdir "$short"
        find "$corpus" -type f -size "-${most}c" -exec ln {} "$short/" \; 2>/dev/null || true # an input may be gone
        "$programs/$1" -max_len="$(longest "$1")" -timeout=60 -set_cover_merge=1 -use_counters=0 "$seeds" "$short" >"$log" 2>&1 || {
            tail -n 5 "$log"
            exit 1
        }
    done
    rm -rf "$short"
    found "$seeds" | xargs -r ls -l | sort -n -k 5 | awk '{ sum += $5 } sum > 98304 { print $NF }' | xargs -r rm
    echo "$1: $(inputs "$seeds") inputs"
}

# The inputs in a directory that libFuzzer named.
found() { find "$1" -type f | grep -E '/[0-9a-f]{40}$'; }

# targets TARGET...: checks the names of targets.
targets() {
    for name; do
        case " $all " in
        *" $name "*) ;;
        *) echo "fuzz: no target has the name '$name'; the targets are $all" >&2 && exit 2 ;;
        esac
    done
}

command=${1:?"run, reduce, or build"}
shift
case $command in
build) build fuzzed ;;
run)
    seconds=${1:?"the number of seconds"}
    shift
    [ $# != 0 ] || set -- $all
    targets "$@"
    if [ "$seconds" = 0 ]; then build known; else build fuzzed; fi
    # Each target gets the same part of the time. Jobs without a target do not lengthen the run.
    part=$((seconds * jobs / $#))
    [ "$part" -le "$seconds" ] || part=$seconds
    printf '%s\n' "$@" | PROGRAMS=$programs xargs -n 1 -P "$jobs" sh tests/fuzz.sh one "$part"
    echo "| target | executions | in all runs | inputs | edges | features | findings |"
    echo "|---|---|---|---|---|---|---|"
    failed=
    for name; do
        cat "$target/$name.row"
        [ "$(inputs "$target/artifacts/$name")" = 0 ] || failed="$failed $target/artifacts/$name"
    done
    [ -z "$failed" ] || echo "fuzz: the inputs that fail are in$failed" >&2
    for name; do
        [ ! -e "$target/$name.problem" ] || { failed=$name && echo "fuzz: $name fails: $(cat "$target/$name.problem")" >&2; }
    done
    [ -z "$failed" ] || exit 1
    ;;
one) programs=$PROGRAMS && fuzz "$2" "$1" ;;
reduce)
    [ $# != 0 ] || set -- $all
    targets "$@"
    build fuzzed
    for name; do reduce "$name"; done
    ;;
*) echo "fuzz: '$command' is neither run nor reduce nor build" >&2; exit 2 ;;
esac
