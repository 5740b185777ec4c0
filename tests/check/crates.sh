#!/bin/sh
# The packages of the crates: crates.sh
set -eu
. tests/check/install.sh
oldest=$target/rust-1.85
[ -x "$oldest/run" ] || { echo "check: SKIPPED: gmon with its oldest Rust: no Rust 1.85"; oldest=; }
if "${CARGO:-cargo}" fetch --quiet --locked; then
    sh tests/packages/crates.sh "$target/crates" "$oldest"
else
    echo "check: SKIPPED: the packages of the crates: their sources cannot be fetched"
fi
