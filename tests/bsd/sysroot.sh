#!/bin/sh
# Builds Rust's `core` for a target that the compiler has none for: sysroot.sh TARGET DIRECTORY
#
# Debian's compiler and sources of the library are a matched pair (rustc-web, cargo-web, rust-web-src); RUSTC, CARGO and RUST_SRC
# say where others are. The directory is a sysroot for `rustc --sysroot`, with `core` and nothing else.
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
# A workspace of its own: the project's packages are not in the directory of the library's. Bitcode, because the runtime is
# linked with it.
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
