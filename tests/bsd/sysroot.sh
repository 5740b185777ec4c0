#!/bin/sh
# Builds Rust's library for a target that the compiler has none for: sysroot.sh TARGET DIRECTORY [core|std [FLAGS]]
#
# Debian's compiler and sources of the library are a matched pair (rustc-web, cargo-web, rust-web-src); RUSTC, CARGO and RUST_SRC
# say where others are. The directory is a sysroot for `rustc --sysroot`. By default, the sysroot has `core` alone, optimized and
# with bitcode, because the runtime is linked with that. With `std`, the sysroot has the whole library, built as fast as possible,
# because only tests use that library. FLAGS are options of the compiler that all crates of a program must share.
set -eu
target=$1
directory=$(mkdir -p "$2" && cd "$2" && pwd)
part=${3:-core}
shared=${4:-}
rustc=${RUSTC:-/usr/bin/rustc}
cargo=${CARGO:-/usr/bin/cargo}
version=$("$rustc" --version | awk '{ print $2 }')
library=${RUST_SRC:-/usr/src/rustc-$version/library}
libraries=$directory/lib/rustlib/$target/lib
case $part in
core) parts=core settings='panic = "abort"
opt-level = "s"
codegen-units = 1' attributes='#![no_std]' flags='-C embed-bitcode=yes' wanted='libcore-*.rlib libcompiler_builtins-*.rlib' ;;
std) parts=std,panic_unwind settings='opt-level = 0' attributes= flags= wanted='lib*.rlib' ;;
*) echo "sysroot.sh: $part is neither core nor std" >&2; exit 2 ;;
esac
[ "$(cat "$directory/version" 2>/dev/null)" = "$version $target $shared" ] && exit
rm -rf "$directory"
mkdir -p "$directory/build/src" "$libraries"
printf '%s\n' "$attributes" >"$directory/build/src/lib.rs"
# A workspace of its own: the project's packages are not in the directory of the library's.
cat >"$directory/build/Cargo.toml" <<END
[package]
name = "library-alone"
edition = "2024"
[workspace]
[profile.release]
$settings
END
(
    cd "$directory/build"
    RUSTC=$rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$flags $shared" CARGO_TARGET_DIR=target "$cargo" build --release --quiet \
        -Zbuild-std=$parts --target "$target" --offline \
        --config 'source.crates-io.replace-with="library"' --config "source.library.directory=\"$library/vendor\""
)
(
    cd "$directory/build/target/$target/release/deps"
    rm -f liblibrary_alone-*
    for file in $wanted; do
        cp "$file" "$libraries/"
    done
)
rm -rf "$directory/build"
echo "$version $target $shared" >"$directory/version"
