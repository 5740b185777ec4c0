#!/bin/sh
# Tests the archives (`make check-packages`):
#
#     archives.sh PACKAGES
#
# `make tarball` runs in this source tree and in a copy of the tree, whose path has blanks, with another home directory,
# another directory of cargo, another umask, and another time zone. Both runs must give the same bytes. Then the script
# unpacks the archives in a directory whose name has a blank, and compiles and profiles programs with them. With the
# cross compiler, the script also tests the archive for AArch64. The script writes into PACKAGES, because it needs 700
# MB, and more for AArch64.
set -eu
packages=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
step() { printf '\n== %s\n' "$*"; }
fail() { echo "check-packages: $*" >&2; exit 1; }
cross=${CROSS:-aarch64-linux-gnu-}
archives=tarball
if command -v "${cross}gcc" >/dev/null && [ -d "$("${RUSTC:-rustc}" --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu" ]; then
    [ "$(uname -m)" = aarch64 ] || archives="tarball tarball-aarch64"
else
    echo "check-packages: SKIPPED: the archive for AArch64: ${cross}gcc or Rust's library for AArch64 is missing"
fi
work=$packages/check-packages
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
trap 'exit 129' HUP; trap 'exit 130' INT; trap 'exit 143' TERM

copy="$work/copy of/the tree"
mkdir -p "$copy" "$work/a home" "$work/a cargo"
sh tests/packages/copy-tree.sh "$copy"
step "the archives of this tree"
rm -f "$packages"/gmon-*.tar.gz
# The builds run one after the other and with the options of this script, whatever `make check-packages` was given.
build="env -u MAKEFLAGS make -j1 --no-print-directory $archives"
$build

step "the archives of the copy"
# A link: a copy would need 500 MB. cargo names the crates by the path of the link.
registry=${CARGO_HOME:-$HOME/.cargo}/registry
[ ! -d "$registry" ] || ln -s "$registry" "$work/a cargo/registry"
elsewhere() { # elsewhere COMMAND...: runs a command in the copy
    (cd "$copy" && umask 077 && env -u CARGO_TARGET_DIR RUSTUP_HOME="${RUSTUP_HOME:-$HOME/.rustup}" HOME="$work/a home" \
        CARGO_HOME="$work/a cargo" TZ=Asia/Kathmandu "$@")
}
elsewhere $build
for archive in "$packages"/gmon-*.tar.gz; do
    cmp "$archive" "$copy/target/packages/${archive##*/}" || {
        for each in "$packages" "$copy/target/packages"; do
            (cd "$each" && find "$(basename "$archive" .tar.gz)" -type f -exec sha256sum {} + | sort -k 2) >"$work/sums"
            [ -f "$work/first" ] || mv "$work/sums" "$work/first"
        done
        diff "$work/first" "$work/sums" || true
        fail "$archive: a build in another directory has other bytes"
    }
    sha256sum "$archive"
done

step "unpacked"
place="$work/an unpacked place"
mkdir "$place"
for archive in "$packages"/gmon-*.tar.gz; do
    tar -xzf "$archive" -C "$place"
done
sh tests/packages/paths.sh "$place"
elsewhere sh tests/packages/paths.sh "$place"
for program in "$place"/*/bin/gprof; do
    # The runtime also needs glibc 2.34, so gprof must not need a later version.
    needed=$(readelf -W --dyn-syms "$program" | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t . -k 2 -n | tail -n 1)
    [ "${needed#GLIBC_2.}" -le 34 ] || fail "$program needs $needed"
done

step "compile and profile"
profiles() { sh tests/packages/profiles.sh "$work/programs" "$@"; }
native=$(echo "$place"/*-"$(uname -m)")
readers=$native/bin/gprof
! gprof --version 2>/dev/null | grep -q '^GNU gprof' || readers=$readers:gprof
profiles "$readers" "$native/bin/gmon-cc" -DWITH_HEADER
profiles "$readers" "$native/bin/gmon-cc" -DWITH_HEADER -static
GMON_CXX=cc profiles "$readers" "$native/bin/gmon-c++"
profiles "$readers" cc -pg "-B$native/lib/gmon"
if command -v pkg-config >/dev/null; then
    # pkg-config escapes the blank.
    export PKG_CONFIG_PATH="$native/lib/pkgconfig"
    profiles "$readers" sh -c 'eval "cc -DWITH_HEADER $(pkg-config --cflags --libs gmon)" "$@"' cc
else
    echo "check-packages: SKIPPED: pkg-config is not here"
fi
[ "$archives" != tarball ] || exit 0
command -v qemu-aarch64 >/dev/null || { echo "check-packages: SKIPPED: programs for AArch64: no qemu-aarch64"; exit 0; }
foreign=$(echo "$place"/*-aarch64)
printf '#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu "%s/bin/gprof" "$@"\n' "$foreign" >"$work/gprof-aarch64"
chmod 755 "$work/gprof-aarch64"
# Each gmon-cc links for both machines, and each gprof reads the profiles of both.
for prefix in "$native" "$foreign"; do
    profiles "$native/bin/gprof:$work/gprof-aarch64" "$prefix/bin/gmon-cc" -DWITH_HEADER
    RUN=qemu-aarch64 GMON_CC=${cross}gcc profiles "$native/bin/gprof:$work/gprof-aarch64" "$prefix/bin/gmon-cc" -DWITH_HEADER -static
done
