#!/bin/sh
# Builds the reader and the library crates for a BSD on another system: reader.sh link|check TARGET ZIG_TARGET DIRECTORY
# PYTHON
#
# With `link`, DIRECTORY/TARGET gets gprof and the examples of the library crates. PYTHON runs ziglang, which has the
# libraries of both systems as lists of symbols, and start-up code. With `check`, the script checks the crates and links
# nothing; an empty directory DIRECTORY/TARGET says that. The sysroot has `std`, see sysroot.sh. The dependencies come
# from cargo's cache.
set -eu
action=$1
target=$2
zig_target=$3
directory=$(mkdir -p "$4" && cd "$4" && pwd)
python=$5
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
rustc=${RUSTC:-/usr/bin/rustc}
cargo=${CARGO:-/usr/bin/cargo}
sh "$here/sysroot.sh" "$target" "$directory/std-$target" std

linker=$directory/linker-$target
libraries=$directory/libraries-$target
built=$directory/build/$target/debug
export CARGO_TARGET_DIR="$directory/build" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=0
# The cache stays beside zig, because all checkouts share zig.
ZIG_GLOBAL_CACHE_DIR=$(dirname "$python")/../cache
ZIG_LOCAL_CACHE_DIR=$directory/zig
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
run_cargo() {
    RUSTC=$rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="--sysroot $directory/std-$target -C linker=$linker" \
        "$cargo" "$1" --quiet --offline --locked --target "$target" --package gprof --package gmon --package gmon-demangle --lib --bins
}
case $action in
check)
    run_cargo check
    rm -rf "${directory:?}/$target"
    mkdir "$directory/$target"
    exit
    ;;
link) ;;
*) echo "reader.sh: $action is neither link nor check" >&2; exit 2 ;;
esac

# The tests find all programs or none, also if this script is interrupted.
new=$directory/new-$target
rm -rf "$new" "${directory:?}/$target"
mkdir -p "$libraries" "$new"
printf '#!/bin/sh\nexec "%s" -m ziglang cc -target %s -L"%s" "$@"\n' "$python" "$zig_target" "$libraries" >"$linker"
chmod 755 "$linker"
# The crate libc names these libraries of FreeBSD for programs that need them. ziglang lacks the libraries, and the
# reader needs none of them: empty libraries show that, because a function from one of them would be undefined.
case $target in
*freebsd)
    : >"$libraries/empty.c"
    for name in kvm memstat procstat devstat; do
        [ -e "$libraries/lib$name.so" ] || "$linker" -shared -nostdlib "$libraries/empty.c" -o "$libraries/lib$name.so"
    done ;;
esac
run_cargo build
cp "$built/gprof" "$new/"
# The examples of the libraries, as users build them: without what only tests depend on. Macros are in the directory of
# this system.
example() { # example CRATE FILE
    "$rustc" --edition 2024 --target "$target" --sysroot "$directory/std-$target" -C linker="$linker" -C panic=unwind \
        -L dependency="$built/deps" -L dependency="$directory/build/debug/deps" --extern "$1=$built/lib$1.rlib" "$2" -o "$new/$(basename "$2" .rs)"
}
example gmon format/examples/hottest.rs
example gmon_demangle gprof/demangle/examples/filter.rs
example gprof gprof/examples/ten_hottest.rs
mv "$new" "$directory/$target"
