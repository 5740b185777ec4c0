#!/bin/sh
# Checks the crates gmon, gmon-demangle, and gmon-unwind with clippy, in all combinations of their features: for this
# machine, and without `std` for a machine that has no std. A warning is an error.
#
#     features.sh
#
# If rustup is there, the script installs Rust's library for the machine without std. With INSTALL=no the script
# installs nothing. Without the library, the script prints a line with SKIPPED.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
rustc=${RUSTC:-rustc}
bare=x86_64-unknown-none

# The combinations below have all features of the manifest.
features=$(sed -n '/^\[features\]/,/^\[dependencies\]/s/^\([a-z0-9_-]*\) = .*/\1/p' format/Cargo.toml | sort | tr '\n' ' ')
[ "$features" = "alloc default serde std " ] ||
    { echo "features: format/Cargo.toml has the features $features: add the combinations of the new feature to $0" >&2; exit 1; }

check() { # check PACKAGE FEATURES [OPTION]...: the options name a machine
    package=$1 features=$2
    shift 2
    "$cargo" clippy --quiet --locked "$@" --package "$package" --no-default-features --features "$features" -- -D warnings ||
        { echo "features: $package with the features '$features' cannot be compiled for ${2:-this machine}" >&2; exit 1; }
}

for features in "" alloc std serde serde,std; do
    check gmon "$features"
done
has_bare() { [ -d "$("$rustc" --print sysroot)/lib/rustlib/$bare" ]; }
if ! has_bare && [ "${INSTALL:-yes}" = yes ] && command -v rustup >/dev/null 2>&1; then
    echo "Installing Rust's library for $bare"
    rustup target add "$bare" 2>/dev/null || true
fi
if ! has_bare; then
    echo "SKIPPED: crates without std: Rust has no library for $bare: rustup target add $bare"
    exit 0
fi
for features in "" alloc serde; do
    check gmon "$features" --target "$bare"
done
check gmon-demangle "" --target "$bare"
check gmon-unwind "" --target "$bare"
echo "gmon, gmon-demangle, and gmon-unwind compile with all combinations of their features, and without std."
