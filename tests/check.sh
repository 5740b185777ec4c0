#!/bin/sh
# Runs the checks that a change must pass: check.sh linux|bsd... (`make check`, `make check-bsd`)
#
# As root on Debian, the first steps install the packages that the tests need. With INSTALL=no nothing is installed.
# Tests that lack something skip themselves, and the last lines of the output list them. With CI=true a missing tool and
# a skipped test are failures, except those that tests/may-be-missing.txt names. The output of the steps stays in
# target/check.
set -eu
cd "$(dirname "$0")/.."
for part; do
    case $part in linux | bsd) ;; *) echo "check.sh: $part is neither linux nor bsd" >&2; exit 2 ;; esac
done
parts=$*
cargo=${CARGO:-cargo}
. tests/check/steps.sh
. tests/check/install.sh
# The tests take the gprof and the gmon-run that the first lane compiles, and the objects that the second stages.
GPROF_BIN=$target/debug/gprof
GMON_STAGED="tools documents runtime"
is_checked() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac }
! is_checked bsd || GMON_STAGED="$GMON_STAGED $(printf 'runtime-%s ' freebsd-amd64 freebsd-aarch64 openbsd-amd64 openbsd-aarch64)"
GMON_RUN_BIN=$target/debug/gmon-run
export GPROF_BIN GMON_RUN_BIN GMON_STAGED

# All programs with tests but those for the BSDs. No binary has tests; gmon-run's would run instead.
others=$(for name in tests/tests/*/; do basename "$name"; done | grep -v '^bsd$')
others="--lib --examples --test all --test corpus --test large_images --test script $(printf -- '--test %s ' $others)"

compile() { "$cargo" test --workspace --no-run && "$cargo" build --workspace --bin gmon-run; }
bsd_tests() { sh tests/check/tests.sh bsd --test bsd; }

tests() {
    step "compilation of the tests" compile || return
    wait_for "tools" "start-up objects" || return
    ! has aarch64-linux-gnu-ld || GMON_STAGED="$GMON_STAGED runtime-aarch64"
    step "distribution" sh tests/check/distribution.sh || return
    if is_checked linux; then
        step "tests" sh tests/check/tests.sh linux $others
        step "examples in the documentation" sh tests/check/tests.sh documentation --doc
        is_checked bsd || step "tests of the BSDs without their tools" bsd_tests
    fi
}

everything_else() {
    step "Debian's packages" sh tests/check/packages.sh $parts || return
    step "tools" sh tests/check/tools.sh $parts || return
    step "start-up objects" sh tests/check/objects.sh $parts || return
    if is_checked bsd; then
        step "reader for the BSDs" sh tests/check/bsd-readers.sh
        step "lints for the BSDs" sh tests/check/bsd-lints.sh
    fi
    if is_checked linux; then
        step "lints and documentation" sh tests/check/lints.sh
        step "features of the library" env CARGO_TARGET_DIR="$target/lint" sh tests/features.sh
        step "packages of the crates" sh tests/check/crates.sh
        step "fuzz targets" sh tests/fuzz.sh run 0
        step "licenses and sources of the crates" sh tests/check/licenses.sh
    fi
    # These tests run beside the others.
    ! is_checked bsd || { wait_for "distribution" && step "tests of the BSDs" bsd_tests; }
}

rm -f "$lacking"
lanes tests everything_else
finish && status=0 || status=$?

printf '\n== time\n'
cat "$logs/times"
{
    [ ! -e "$lacking" ] || sed 's/^/SKIPPED: not found: /' "$lacking"
    cat "$logs"/*.tests "$logs"/*.log 2>/dev/null | grep -a -o 'SKIPPED:.*' || true
} | sort -u >"$logs/skipped"
if [ -s "$logs/skipped" ]; then
    printf '\n== SKIPPED, because this machine lacks something\n'
    cat "$logs/skipped"
    [ "${CI:-}" != true ] || sh tests/check/permitted.sh "$logs/skipped" || status=1
fi
[ "$status" = 0 ] || exit "$status"
# The programs and profiles of the tests take a gigabyte. After a failure they stay.
rm -rf "$target/debug/tmp/gmon-tests"
passed=$(cat "$logs"/*.tests | awk '/^test result/ { passed += $4 } END { print passed + 0 }')
[ "$passed" != 0 ] || { echo "check: no test has run" >&2; exit 1; }
printf '\n%s passed, 0 failed\n' "$passed"
