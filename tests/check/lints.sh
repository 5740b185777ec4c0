#!/bin/sh
# Formatting, lints, and documentation.
set -eu
. tests/check/install.sh
cargo=${CARGO:-cargo}
# A directory of its own: these commands do not wait for the compilation of the tests, and the tests do not wait for
# them.
export CARGO_TARGET_DIR="$target/lint"

"$cargo" fmt --all --check
"$cargo" clippy --workspace --all-targets --quiet -- -D warnings
# The other configurations: the runtime with and without its start-up code, and as a shared object.
# tests/features.sh has those of the library.
for features in start runtime preload; do
    "$cargo" clippy --package gmon-runtime --features "$features" --quiet -- -D warnings
done
# Types of the system differ between machines, and with them what clippy says.
if [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu" ]; then
    for features in start runtime preload; do
        "$cargo" clippy --package gmon-runtime --target aarch64-unknown-linux-gnu --features "$features" --quiet -- -D warnings
    done
else
    echo "check: SKIPPED: lints for AArch64: no Rust library for it"
fi
# The fuzz targets are a workspace of their own. clippy links nothing, so a path that does not exist saves the
# compilation of libFuzzer.
fuzz=tests/fuzz/targets/Cargo.toml
if "$cargo" fetch --quiet --manifest-path "$fuzz" --locked 2>"$target/check/fetch"; then
    CUSTOM_LIBFUZZER_PATH=/nonexistent/libFuzzer.a "$cargo" clippy --manifest-path "$fuzz" --locked --quiet -- -D warnings
else
    cat "$target/check/fetch"
    ! grep -q 'cannot update the lock file' "$target/check/fetch" || exit 1
    echo "check: SKIPPED: lints of the fuzz targets: their crates cannot be fetched"
fi

export RUSTDOCFLAGS="-D warnings"
"$cargo" doc --workspace --no-deps --quiet
# The runtime has only private items.
"$cargo" doc --package gmon-runtime --features start --no-deps --document-private-items --quiet
"$cargo" doc --package gmon-unwind --no-deps --document-private-items --quiet
"$cargo" doc --package gmon-profil --no-deps --document-private-items --quiet
