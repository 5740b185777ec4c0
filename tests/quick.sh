#!/bin/sh
# The quick tier of the tests (`make test`): an answer within two minutes after a change of one crate. `make check` runs
# all tests.
#
# * the unit tests and the tests beside each crate
# * goldens, and parity with GNU gprof and the BSDs' gprof
# * programs of each kind with our start-up object: C and C++, each link mode, threads, forks, ends, shared objects,
#   samples
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
export LC_ALL=C.UTF-8 PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-20261123}" RUST_TEST_THREADS="${RUST_TEST_THREADS:-4}"
began=$(date +%s)
text="gnu_goldens:: machine_goldens:: bsd_text:: tables:: matrix::c matrix::cpp matrix::aliases differential:: corrections::"
runtime="counts::in_ counts::four_ counts::from_ counts::when_ endings::by_ children::all_children_are_in_one_sum_in_every_form
    samples::each_sample objects_outside::in_an_object_that_is_linked objects::the_common_path objects::no_call_leaves contexts::"
status=0
"$cargo" test --workspace --no-fail-fast --lib --test all || status=$?
# The names are those of modules and tests, as `cargo test -- --list` prints them.
"$cargo" test --workspace --no-fail-fast --test text --test runtime -- $text $runtime || status=$?
echo "the quick tier took $(($(date +%s) - began)) s"
exit "$status"
