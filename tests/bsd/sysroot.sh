#!/bin/sh
# Builds Rust's `core` for a target for which the compiler has no prebuilt `core`: sysroot.sh TARGET DIRECTORY
#
# The compiler and the sources of the library must have the same version, as Debian's rustc-web, cargo-web and rust-web-src do. RUSTC,
# CARGO and RUST_SRC select others. DIRECTORY becomes a sysroot for `rustc --sysroot` that has only `core`.
set -eu
target=$1
directory=$2
rustc=${RUSTC:-/usr/bin/rustc}
cargo=${CARGO:-/usr/bin/cargo}
version=$("$rustc" --version | awk '{ print $2 }')
library=${RUST_SRC:-/usr/src/rustc-$version/library}
libraries=$directory/lib/rustlib/$target/lib
[ "$(cat "$directory/version" 2>/dev/null)" = "$version $target" ] && exit
rm -rf "$directory"
mkdir -p "$directory/build/src" "$libraries"
printf '#![no_std]\n' >"$directory/build/src/lib.rs"
# A separate workspace, because the library's vendor directory lacks the project's packages. The runtime's link-time optimization needs
# bitcode.
cat >"$directory/build/Cargo.toml" <<EOF
[package]
name = "core-alone"
edition = "2024"
[workspace]
[profile.release]
panic = "abort"
opt-level = "s"
codegen-units = 1
EOF
(
    cd "$directory/build"
    RUSTC=$rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="-C embed-bitcode=yes" CARGO_TARGET_DIR=target "$cargo" build --release --quiet \
        -Zbuild-std=core --target "$target" --offline \
        --config 'source.crates-io.replace-with="library"' --config "source.library.directory=\"$library/vendor\""
)
cp "$directory/build/target/$target"/release/deps/libcore-*.rlib "$libraries/"
cp "$directory/build/target/$target"/release/deps/libcompiler_builtins-*.rlib "$libraries/"
rm -rf "$directory/build"
echo "$version $target" >"$directory/version"
