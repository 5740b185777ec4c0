#!/bin/sh
# Prints the options of rustc that keep the paths of this machine out of a program:
#
#     remap.sh TARGET_DIRECTORY
#
# The script runs in the source tree. The messages of panics contain the names of source files. With these options the names are the
# same in every directory and for every user.
set -eu
rustc=${RUSTC:-rustc}
home=${CARGO_HOME:-${HOME:-}/.cargo}
about=$("$rustc" -vV)
fact() { printf '%s\n' "$about" | sed -n "s/^$1: //p"; }
remap() { printf ' --remap-path-prefix=%s=%s' "$1" "$2"; }

# The name of the directory with the crates' sources depends on the registry, and only exists when cargo has fetched crates.
[ -d "$home/registry/src" ] || "${CARGO:-cargo}" fetch --locked --quiet --target "$(fact host)" || true

# rustc takes the last option whose path matches.
remap "$(pwd -P)" gmon
remap "$1" target
remap "$home" cargo
for registry in "$home"/registry/src/*; do
    [ ! -d "$registry" ] || remap "$registry" crates
done
# Where Rust's own sources are installed, rustc names them by their real paths.
remap "$("$rustc" --print sysroot)/lib/rustlib/src/rust" "/rustc/$(fact commit-hash)"
