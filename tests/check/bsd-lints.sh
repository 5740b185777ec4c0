#!/bin/sh
# Lints of the runtime's folders for FreeBSD and OpenBSD: bsd-lints.sh
#
# Clippy has no library for these systems. The runtime with the folders of one of these systems in the place of Linux's
# compiles for Linux too, as long as nobody links that.
set -eu
. tests/check/install.sh
cargo=${CARGO:-cargo}
for system in freebsd openbsd; do
    lint=$target/bsd/lint-$system
    rm -rf "$lint"
    mkdir -p "$lint"
    cp -R Cargo.toml Cargo.lock clippy.toml format runtime "$lint/"
    sed -i 's|^members = .*|members = ["format", "runtime", "runtime/unwind"]|' "$lint/Cargo.toml"
    for seam in os entry kernel; do
        sed -i -e "s/^#\[cfg_attr(target_os = \"$system\", \(path = \".*\"\))\]/#[\1]/" -e '/target_os = /d' "$lint/runtime/src/$seam/mod.rs"
    done
    for feature in start runtime; do
        CARGO_TARGET_DIR=$target/bsd/lint-target "$cargo" clippy --quiet --offline --manifest-path "$lint/Cargo.toml" \
            --package gmon-runtime --features $feature -- -D warnings -A dead_code -A unused_imports
    done
done
echo "no warnings"
