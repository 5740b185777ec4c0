#!/bin/sh
# Tests the vendored sources and the packages of the crates, without a network: crates.sh DIRECTORY [OLDEST]. The script
# writes into DIRECTORY 450 MB of files, which stay there only after a failure. OLDEST is a directory that
# tests/oldest-rust.sh made.
#
# * The vendored sources (`make vendor`) are all that the workspace needs.
# * `cargo install` builds gprof from its .crate file, and the program reads a profile. With the options of `make dist`,
#   the program does not contain a path of this machine.
# * A program outside the workspace uses gmon from its .crate file, also with the oldest Rust and its cargo.
set -eu
work=$(mkdir -p "$1" && cd "$1" && pwd)
oldest=${2:+$(cd "$2" && pwd)}
cd "$(dirname "$0")/../.."
root=$(pwd)
cargo=${CARGO:-cargo}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

fail() {
    echo "crates: $*" >&2
    exit 1
}

remove_files() {
    for name in sources packages home target tree installed outside oldest log hottest hottest.oldest; do
        rm -rf "${work:?}/$name"
    done
}
remove_files
sh packaging/vendor.sh "$work/sources"
"$cargo" package --quiet --offline --allow-dirty --no-verify --target-dir "$work/packages" -p gmon -p gmon-demangle -p gprof 2>"$work/log" ||
    { cat "$work/log" >&2; exit 1; }

# Only root can run the commands below without a network device.
without_network=
! unshare -n true 2>/dev/null || without_network="unshare -n"
remap=$(sh packaging/remap.sh "$work")
# An empty cargo directory: cargo must not take sources from the user's.
export CARGO_HOME="$work/home" CARGO_TARGET_DIR="$work/target" CARGO_PROFILE_DEV_DEBUG=0
unset RUSTFLAGS
mkdir -p "$work/home" "$work/tree" "$work/outside/src"

# The workspace as a distributor unpacks it: the sources, and the vendored sources, which the user's tree may have too.
sh tests/packages/copy-tree.sh "$work/tree"
rm -rf "$work/tree/.cargo" "$work/tree/vendor"
cp -R "$work/sources/.cargo" "$work/tree/"
ln -s "$work/sources/vendor" "$work/tree/vendor"
(cd "$work/tree" && $without_network "$cargo" metadata --frozen --format-version 1 >/dev/null) || fail "the vendored sources do not suffice"

# The three packages join the vendored sources, as if a registry had them.
for package in gmon gmon-demangle gprof; do
    file=$work/packages/package/$package-$version.crate
    tar -x -f "$file" -C "$work/sources/vendor"
    for text in LICENSE README.md; do
        [ -s "$work/sources/vendor/$package-$version/$text" ] || fail "$file lacks $text"
    done
    printf '{"files":{},"package":"%s"}' "$(sha256sum "$file" | cut -d ' ' -f 1)" >"$work/sources/vendor/$package-$version/.cargo-checksum.json"
done
sed "s,\"vendor\",\"$work/sources/vendor\"," "$work/sources/.cargo/config.toml" >"$work/home/config.toml"

CARGO_ENCODED_RUSTFLAGS=$remap $without_network "$cargo" install --quiet --frozen --debug --root "$work/installed" --version "$version" gprof 2>"$work/log" ||
    { cat "$work/log" >&2; fail "cargo install does not build gprof from its package"; }
"$work/installed/bin/gprof" --version | grep -q -x "gprof (gmon toolchain) $version" || fail "the installed gprof has another version"
sh tests/packages/paths.sh "$work/installed"
cd "$root/testdata/bsd"
"$work/installed/bin/gprof" -b -p basic basic.gmon | grep -q ' burn$' || fail "the installed gprof cannot read a profile"

cat >"$work/outside/Cargo.toml" <<END
[package]
name = "outside"
edition = "2021"

[dependencies]
gmon = "$version"

[workspace]
END
cp "$root/format/examples/hottest.rs" "$work/outside/src/main.rs"
cd "$work/outside"
$without_network "$cargo" run --quiet --offline "$root/testdata/bsd/basic.gmon" >"$work/hottest" || fail "no program outside the workspace can use gmon"
[ "$(wc -l <"$work/hottest")" -gt 1 ] || fail "the program that uses gmon printed no bins"
if [ -n "$oldest" ]; then
    rm -f Cargo.lock
    CARGO_TARGET_DIR="$work/oldest" $without_network "$oldest/run" "$oldest/usr/bin/cargo" run --quiet --offline \
        "$root/testdata/bsd/basic.gmon" >"$work/hottest.oldest" || fail "$("$oldest/run" "$oldest/usr/bin/rustc" --version) cannot build gmon"
    cmp "$work/hottest" "$work/hottest.oldest" || fail "with the oldest Rust, the program that uses gmon prints something else"
fi
cd "$root"
# With the built crates, 265 MB, the next run would need 35 seconds of CPU time instead of 90.
remove_files
echo "The packages of gmon, gmon-demangle, and gprof $version build from their .crate files${without_network:+, without a network device}."
