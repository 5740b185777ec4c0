#!/bin/sh
# Builds Rust's library for a target that the compiler has none for: sysroot.sh TARGET DIRECTORY [core|std [FLAGS]]
#
# Debian's compiler and sources of the library are a matched pair (rustc-web, cargo-web, rust-web-src); RUSTC, CARGO and
# RUST_SRC say where others are. DIRECTORY becomes a link to a sysroot for `rustc --sysroot`, which is built once for
# each version of the compiler (tests/check/install.sh says where). By default, the sysroot has `core` alone, optimized
# and with bitcode, because the runtime is linked with that. With `std`, the sysroot has the whole library, built as
# fast as possible, because only tests use that library. FLAGS are options of the compiler that all crates of a program
# must share.
set -eu
. tests/check/install.sh
triple=$1
directory=$2
part=${3:-core}
shared=${4:-}
rustc=${RUSTC:-/usr/bin/rustc}
cargo=${CARGO:-/usr/bin/cargo}
rust=$("$rustc" --version | awk '{ print $2 }')
library=${RUST_SRC:-/usr/src/rustc-$rust/library}
case $part in
core) parts=core settings='panic = "abort"
opt-level = "s"
codegen-units = 1' attributes='#![no_std]' flags='-C embed-bitcode=yes' wanted='libcore-*.rlib libcompiler_builtins-*.rlib' ;;
std) parts=std,panic_unwind settings='opt-level = 0' attributes= flags= wanted='lib*.rlib' ;;
*) echo "sysroot.sh: $part is neither core nor std" >&2; exit 2 ;;
esac

build() { # build DIRECTORY
    libraries=$1/lib/rustlib/$triple/lib
    mkdir -p "$1/build/src" "$libraries"
    printf '%s\n' "$attributes" >"$1/build/src/lib.rs"
    # A workspace of its own: the project's packages are not in the directory of the library's.
    cat >"$1/build/Cargo.toml" <<END
[package]
name = "library-alone"
edition = "2024"
[workspace]
[profile.release]
$settings
END
    (
        cd "$1/build"
        RUSTC=$rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags $shared" CARGO_TARGET_DIR=target "$cargo" build --release --quiet \
            -Zbuild-std=$parts --target "$triple" --offline \
            --config 'source.crates-io.replace-with="library"' --config "source.library.directory=\"$library/vendor\""
    ) || return
    (
        cd "$1/build/target/$triple/release/deps"
        rm -f liblibrary_alone-*
        for file in $wanted; do
            cp "$file" "$libraries/" || exit
        done
    ) || return
    rm -rf "$1/build"
}

kept "rust-library/$triple-$part" "$rust-$(printf '%s' "$shared" | sha256sum | cut -c 1-8)" build
mkdir -p "$(dirname "$directory")"
link "$place" "$directory"
