#!/bin/sh
# Runs tests: tests.sh NAME OPTION... passes the options to `cargo test` and writes target/check/NAME.tests.
#
# The scripts of the checks have staged the distribution and compiled gprof, so the tests need not do that.
set -eu
. tests/check/install.sh
log=$target/check/$1.tests
shift
# Tests look for English words in the output of tools. Property tests have the same random inputs in each run;
# PROPTEST_RNG_SEED=NUMBER tries others.
export LC_ALL=C.UTF-8 PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261123}"
# More tests than processors, because many tests wait: for clocks, other processes, and the network device.
export RUST_TEST_THREADS="${RUST_TEST_THREADS:-4}"
# --no-fail-fast: one run shows all failures.
if "${CARGO:-cargo}" test --workspace --no-fail-fast "$@" -- --nocapture >"$log" 2>&1; then status=0; else status=$?; fi
grep -E '^(test result|     Running|   Doc-tests)' "$log" || true
if [ "$status" != 0 ]; then
    grep -n -E -A 20 '^(error|---- |failures:|test .* FAILED)|panicked at' "$log" | tail -n 200
    echo "check: tests failed; their output is in $log" >&2
    exit "$status"
fi
