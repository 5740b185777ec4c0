#!/bin/sh
# Changes the code in small ways and shows which changes no test notices: mutants.sh SECONDS [PART...]
# (`make mutants SECONDS=...`)
#
# The parts are the library (gmon), names (gmon-demangle), the reader's model (gprof/src/model and
# gprof/src/program/symbols), the walk through stacks (gmon-unwind), and those modules of the runtime that need no
# profiled program around them. Each part gets the same share of the time. Mutants are tried in random order, and a run
# continues where the earlier runs stopped, because target/mutants keeps the results. `rm -r target/mutants` removes the
# results.
#
# A survivor is a change that all tests of the part pass. tests/mutants.md explains the survivors that are no fault of
# the tests; the script prints the others, and fails if there are any.
set -eu
cd "$(dirname "$0")/.."
. tests/check/install.sh
cargo=${CARGO:-cargo}
seconds=${1:?"the number of seconds"}
shift
[ $# != 0 ] || set -- gmon gmon-demangle model unwind runtime

tool() { "$cargo" install --quiet --debug --locked --version 27.1.0 --root "$1" --target-dir "$1/build" cargo-mutants && rm -rf "$1/build"; }
keep tools/cargo-mutants 27.1.0 attempt tool || { echo "mutants: cargo-mutants cannot be installed" >&2; exit 1; }
PATH=$target/tools/cargo-mutants/bin:$PATH

# A copy of the sources, which cargo-mutants changes. Its compiled files stay for the next run.
work=$target/mutants
rm -rf "$work/sources"
sh tests/packages/copy-tree.sh "$work/sources"
export CARGO_TARGET_DIR="$work/target" CARGO_INCREMENTAL=1 PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261123}" LC_ALL=C.UTF-8

# mutate PART PACKAGE "FILE..." CARGO_TEST_ARGUMENT... A ! before a file excludes the file.
mutate() {
    part=$1 package=$2 files=$3
    shift 3
    # The shell would make a pattern the names of the files and folders that it matches now, and a folder's name matches
    # no file.
    set -f
    options=
    for file in $files; do
        case $file in
        !*) options="$options --exclude ${file#!}" ;;
        *) options="$options --file $file" ;;
        esac
    done
    # The tests must pass without a change.
    (cd "$work/sources" && "$cargo" test --quiet --package "$package" "$@") >"$work/$part.log" 2>&1 ||
        { cat "$work/$part.log"; echo "mutants: the tests of $part fail without a change" >&2; exit 1; }
    mkdir -p "$work/$part"
    # An interrupted run keeps what it has found. cargo-mutants fails if it finds survivors.
    timeout -s INT "$share" "$cargo" mutants --dir "$work/sources" --in-place --no-config --package "$package" $options --baseline skip \
        --timeout 120 --shuffle --iterate --colors never --no-times --output "$work/$part" -- "$@" >"$work/$part.log" 2>&1 || true
    # Each run has its own lists; these are the lists of all runs.
    for list in caught missed timeout unviable; do
        [ ! -e "$work/$part/mutants.out/$list.txt" ] || sort -u -o "$work/$part.$list" "$work/$part/mutants.out/$list.txt" \
            $([ ! -e "$work/$part.$list" ] || echo "$work/$part.$list")
    done
    set +f
}

# The other modules walk, count, and list in a process with a profiled program: its threads, signals, loaded objects,
# and files. Programs that the tests build and run try these modules, and unit tests cannot.
runtime="runtime/src/text.rs runtime/src/objects/headers.rs runtime/src/objects/program.rs runtime/src/objects/tally.rs"
runtime="$runtime runtime/src/mcount/** !runtime/src/mcount/threads.rs runtime/src/unwind/** !runtime/src/unwind/this_process.rs"
runtime="$runtime runtime/src/samples/** !runtime/src/samples/mod.rs !runtime/src/samples/contexts/mod.rs"
runtime="$runtime !runtime/src/samples/contexts/live.rs"

share=$((seconds / $#))
for part; do
    case $part in
    gmon) mutate gmon gmon "format/src/**" --lib --test all ;;
    gmon-demangle) mutate gmon-demangle gmon-demangle "gprof/demangle/src/**" --lib --test all ;;
    model) mutate model gprof "gprof/src/model/** gprof/src/program/symbols/**" --lib --test all ;;
    unwind) mutate unwind gmon-unwind "runtime/unwind/src/**" --lib ;;
    runtime) mutate runtime gmon-runtime "$runtime" --lib ;;
    *) echo "mutants: no part has the name $part" >&2; exit 2 ;;
    esac
done

# Without line and column, which change with each edit above.
named() { sed -E 's/^([^:]*):[0-9]+:[0-9]+: /\1: /'; }
sed -n 's/^\* `\(.*\)`:.*/\1/p' tests/mutants.md >"$work/explained"
survivors=$work/survivors
: >"$survivors"
printf '%-14s %8s %8s %8s %10s\n' part caught survived timeout "not viable"
for part; do
    count() { cat "$work/$part.$1" 2>/dev/null | wc -l; }
    printf '%-14s %8d %8d %8d %10d\n' "$part" "$(count caught)" "$(count missed)" "$(count timeout)" "$(count unviable)"
    [ ! -e "$work/$part.missed" ] || named <"$work/$part.missed" | grep -v -x -F -f "$work/explained" >>"$survivors" || true
done
if [ -s "$survivors" ]; then
    echo "These changes pass all tests, and tests/mutants.md does not explain them:"
    cat "$survivors"
    exit 1
fi
