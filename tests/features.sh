#!/bin/sh
# Compiles the library gmon with each combination of its features: features.sh
#
# The combinations without `std` are compiled for a target that has no `std`, so a use of `std` in them is an error.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
CARGO_TARGET_DIR=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/features
export CARGO_TARGET_DIR
bare=x86_64-unknown-none

build() { # build FEATURES OPTION...
    features=$1
    shift
    "$cargo" clippy --quiet --package gmon --lib --no-default-features --features "$features" "$@" -- -D warnings
}
for features in "" alloc std serde serde,std; do
    build "$features"
done
if [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/$bare" ]; then
    for features in "" alloc serde; do
        build "$features" --target "$bare"
    done
else
    echo "SKIPPED: gmon without std: no Rust library for $bare"
fi
echo "gmon compiles with each combination of its features"
